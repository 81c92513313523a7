/* warn.c: performance warnings about kernels of many products that no schedule computes, with the reason and what
   helps. Takes: a kernel that `pipe` has looked at. Changes nothing. */
#include "ir/match.h"
#include "ir/size.h"
#include "passes/plan/plan.h"

#include <math.h>
#include <string.h>

/* From so many products on: below, a plain kernel takes microseconds, as launches do. */
static const double LEAST_PRODUCTS = 5e8;

/* ---- the contraction ---- */

/* Two tiles of ranges of their own, summed over the range of a loop around. */
static bool is_product_of_tiles(const Op *op) {
    if (op->kind != OP_DOT || op->nover != 1) return false;
    const Type *a = &op->arg.p[0]->type, *b = &op->arg.p[1]->type;
    int own[2] = {0};
    for (int i = 0; i < a->nrange; i++) own[0] += a->range[i] != op->over[0] && !type_has(*b, a->range[i]);
    for (int i = 0; i < b->nrange; i++) own[1] += b->range[i] != op->over[0] && !type_has(*a, b->range[i]);
    return own[0] && own[1];
}

/* Positions of a range, at most. */
static double length_of(const Module *m, const Kernel *k, int range) {
    const Op *loop = kernel_loop(k, range);
    int64_t n = loop ? value_most(m, k, loop->arg.p[1]) : size_most(m, k->range.p[range].of);
    return n < 1 ? 1 : (double)n;
}

/* Multiplications of all its tasks on a rank. */
static double products_of(const Module *m, const Kernel *k, const Op *dot) {
    double n = 1;
    Type t = type_union(dot->arg.p[0]->type, dot->arg.p[1]->type);
    for (int i = 0; i < k->ngrid; i++) n *= length_of(m, k, i);
    for (int i = 0; i < t.nrange; i++)
        if (t.range[i] >= k->ngrid) n *= length_of(m, k, t.range[i]);
    return n;
}

/* Those of a kernel: the longest product, and how many multiplications all of them do. */
typedef struct {
    const Op *longest;
    double most, all;
} Products;

static void count_products(const Module *m, const Kernel *k, const Region *r, bool in_loop, Products *p) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (in_loop && is_product_of_tiles(op)) {
            const double n = products_of(m, k, op);
            p->all += n;
            if (n > p->most) p->longest = op, p->most = n;
        }
        for (int i = 0; i < 2; i++) count_products(m, k, op->region[i], in_loop || op->kind == OP_FOR, p);
    }
}

/* ---- what keeps it from a schedule, and the fix, where no way to compute it says so ---- */

static bool has_runtime_size(const Kernel *k) {
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].of.sym >= 0) return true;
    for (int i = 0; i < k->param.n; i++)
        for (int d = 0; d < k->param.p[i].ndim; d++)
            if (k->param.p[i].dim[d].sym >= 0) return true;
    return false;
}

static const Param *loaded(const Kernel *k, const Value *v) {
    const Op *load = match_op(v, OP_LOAD);
    return load ? &k->param.p[load->param] : NULL;
}

static Elem operand_elem(const Kernel *k, const Value *v) {
    const Param *p = loaded(k, v);
    return p ? p->elem : v->type.elem;
}

static const Op *load_of(const Value *v) { return match_op(v, OP_LOAD); }

/* The type of at most 16 bits of a tensor that an expression in f32 is computed from; ELEM_COUNT: there is none. */
static Elem computed_from(const Kernel *k, const Value *v) {
    const Op *op = v->def;
    if (op && op->kind == OP_LOAD) {
        const Elem e = k->param.p[op->param].elem;
        return elem_is_float(e) && elem_bits(e) <= 16 ? e : ELEM_COUNT;
    }
    for (int i = 0; op && op_is_elementwise(op) && i < op->arg.n; i++) {
        const Elem e = computed_from(k, op->arg.p[i]);
        if (e != ELEM_COUNT) return e;
    }
    return ELEM_COUNT;
}

/* An operand whose computation made f32 of narrower elements; the other one follows. */
static bool widened_reason(PassContext *c, const Kernel *k, const Op *dot, Reason *r) {
    for (int i = 0; i < 2; i++) {
        const Op *made = dot->arg.p[i]->def;
        const bool computed = made && op_is_elementwise(made) && made->kind != OP_CAST && made->kind != OP_BROADCAST;
        const Elem e = computed ? computed_from(k, dot->arg.p[i]) : ELEM_COUNT;
        if (e == ELEM_COUNT || dot->arg.p[i]->type.elem != ELEM_F32) continue;
        *r = (Reason){.words = arena_format(c->m->arena, "an operand is computed from %s, in f32", elem_text(e)),
                      .fix = arena_format(c->m->arena,
                                          "round it, %s(..), by a kernel of its own: what is computed of %s is f32",
                                          elem_text(e), elem_text(e)),
                      .loc = made->loc};
        return true;
    }
    return false;
}

static Reason types_reason(PassContext *c, const Kernel *k, const Op *dot, Elem a, Elem b) {
    Reason widened;
    if (widened_reason(c, k, dot, &widened)) return widened;
    const Op *load = load_of(dot->arg.p[elem_bits(a) <= 16 && elem_is_float(a)]);
    return (Reason){
        .words = arena_format(c->m->arena, "its operands are %s and %s", elem_text(a), elem_text(b)),
        .fix = "schedules multiply two tensors of bf16, of f16 or of an 8-bit float: convert them before, bf16(x)",
        .loc = load ? load->loc : dot->loc};
}

/* Roles multiply them; no other schedule does. */
static bool are_small_integers(Elem a, Elem b) {
    return elem_bits(a) == 8 && elem_bits(b) == 8 && !elem_is_float(a) && !elem_is_float(b);
}

static int count_dots(const Kernel *k) {
    int n = 0;
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body)) n += op->kind == OP_DOT;
    return n;
}

static Reason reason_of(PassContext *c, const Kernel *k, const Op *dot, Reason why) {
    Elem a = operand_elem(k, dot->arg.p[0]), b = operand_elem(k, dot->arg.p[1]);
    bool floats = elem_is_float(a) && elem_is_float(b), said = why.words && *why.words;
    if (said && are_small_integers(a, b)) return why;
    if (elem_bits(a) > 16 || elem_bits(b) > 16 || a != b || !floats) return types_reason(c, k, dot, a, b);
    if (said) return why;
    if (has_runtime_size(k))
        return (Reason){.words = "its sizes are known at run time only",
                        .fix = "make them numbers: dim N = 4096, or -D N=4096"};
    for (int i = 0; i < 2; i++)
        if (!loaded(k, dot->arg.p[i]))
            return (Reason){.words = "an operand is computed in the kernel",
                            .fix = "store what is multiplied first, by a kernel of its own",
                            .loc = dot->arg.p[i]->def ? dot->arg.p[i]->def->loc : dot->loc};
    if (k->ngrid > 2 && count_dots(k) > 1)
        return (Reason){.words = "its code around the products is none that the schedule of attention takes",
                        .fix = "the schedule takes kernels such as 'attention' of std/attention.tile: put what is done behind the loop into a "
                               "kernel of its own"};
    if (k->ngrid != 2)
        return (Reason){
            .words = arena_format(c->m->arena, "its grid has %d ranges", k->ngrid),
            .fix = "schedules take a grid of rows and columns: call it for each matrix, or put their rows together"};
    return (Reason){.words = "its loop does not sum the products of two whole matrices alone",
                    .fix = "acc += a[i, p] @ b[p, j] over all p, from 0, and nothing else in the loop"};
}

/* Where the user's own text is: the call, of a kernel from another file. */
static Loc place_of(const Module *m, const Kernel *k, Loc loc) {
    for (int i = 0; i < m->program.n; i++)
        for (int n = 0; n < m->program.p[i]->node.n; n++) {
            const Node *node = m->program.p[i]->node.p[n];
            if (node->kernel == k) return node->loc.file == loc.file ? loc : node->loc;
        }
    return loc;
}

void pipe_warn(PassContext *c, const Kernel *k, Reason why) {
    Products p = {0};
    if (k->plan.lowering == LOWER_OPEN) count_products(c->m, k, k->body, false, &p);
    if (p.all < LEAST_PRODUCTS) return;
    Reason r = reason_of(c, k, p.longest, why);
    Loc loc = place_of(c->m, k, r.loc.file ? r.loc : p.longest->loc);
    diag_perf(c->m->diags, loc, "plain-products", "'%s' multiplies without a schedule of %s: %s", k->name,
              c->options->target, r.words);
    if (r.fix) diag_note(c->m->diags, loc, "%s", r.fix);
}
