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

static const Op *product_in(const Region *r, bool in_loop) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (in_loop && is_product_of_tiles(op)) return op;
        for (int i = 0; i < 2; i++) {
            const Op *found = product_in(op->region[i], in_loop || op->kind == OP_FOR);
            if (found) return found;
        }
    }
    return NULL;
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

/* ---- what keeps it from a schedule, and the fix ---- */

typedef struct {
    const char *why, *fix; /* fix: or NULL */
} Reason;

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

/* Reasons that a schedule gives, with what helps against each. */
static const Reason known[] = {
    {"rows are not multiples of 16 bytes", "pad the rows: to multiples of 8 elements of 16 bits, of 16 of 8 bits"},
    {"what is done with the sums is not done element by element, and stored once",
     "end the kernel with the sums, and go on in another one"},
    {"its operands and result have not the types of one",
     "two operands of one type, bf16, f16 or an 8-bit float, and a result of it or f32: convert them before, bf16(x)"},
    {"the number of its keys is known at run time only", "make it a number: dim N = 4096, or -D N=4096"},
};

static Reason reason_said(const char *why) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].why, why) == 0) return known[i];
    return (Reason){why, NULL};
}

static Reason reason_of(PassContext *c, const Kernel *k, const Op *dot, const char *why) {
    Elem a = operand_elem(k, dot->arg.p[0]), b = operand_elem(k, dot->arg.p[1]);
    bool floats = elem_is_float(a) && elem_is_float(b);
    if (elem_bits(a) > 16 || elem_bits(b) > 16 || a != b || !floats)
        return (Reason){arena_format(c->m->arena, "its operands are %s and %s", elem_text(a), elem_text(b)),
                        "schedules multiply two tensors of bf16, of f16 or of an 8-bit float: convert them before, bf16(x)"};
    if (*why) return reason_said(why);
    if (has_runtime_size(k))
        return (Reason){"its sizes are known at run time only", "make them numbers: dim N = 4096, or -D N=4096"};
    if (!loaded(k, dot->arg.p[0]) || !loaded(k, dot->arg.p[1]))
        return (Reason){"an operand is computed in the kernel", "store what is multiplied first, by a kernel of its own"};
    if (k->ngrid != 2)
        return (Reason){arena_format(c->m->arena, "its grid has %d ranges", k->ngrid),
                        "schedules take a grid of rows and columns: call it for each matrix, or put their rows together"};
    return (Reason){"its loop does not sum the products of two whole matrices alone",
                    "acc += a[i, p] @ b[p, j] over all p, from 0, and nothing else in the loop"};
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

void pipe_warn(PassContext *c, const Kernel *k, const char *why) {
    const Op *dot = k->plan.lowering == LOWER_OPEN ? product_in(k->body, false) : NULL;
    if (!dot || products_of(c->m, k, dot) < LEAST_PRODUCTS) return;
    Reason r = reason_of(c, k, dot, why);
    Loc loc = place_of(c->m, k, dot->loc);
    diag_perf(c->m->diags, loc, "plain-products", "'%s' multiplies without a schedule of %s: %s", k->name, c->options->target, r.why);
    if (r.fix) diag_note(c->m->diags, loc, "%s", r.fix);
}
