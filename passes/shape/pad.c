/* pad.c: products whose operands have rows that a schedule of the machine cannot copy, as they begin at no multiples of
   16 bytes: such an operand is copied first, into a temporary with rows of the next length that is one, zeros behind
   the old ones. Takes: value form without flags or collectives. Gives: the same results, a node more for each operand
   that is copied. */
#include "passes/fuse/inline.h"
#include "passes/plan/plan.h"

/* Products of up to 8 rows take 0.8 of what they take with copies; with copies others take 0.2 to 1.0 of what they take
   without. Measured on an H200: 129 x 257 x 1001 31 us, with copies 7.7; 17 x 333 x 555 9.7 and 4.9; 200 x 3001 x 999
   43 and 14. Of AMD's machines it is a guess. */
enum { FEW_ROWS = 8 };

/* By parameter: the kernel that copies what it is given; NULL: as it is. */
typedef struct {
    Kernel *from; /* of the copies; NULL: none */
    Kernel **copy;
} Padded;

static int64_t columns_padded(const Param *p, int align) {
    int64_t elements = (int64_t)align * 8 / elem_bits(p->elem);
    return (p->dim[1].c + elements - 1) / elements * elements;
}

/* ---- the product, with longer rows ---- */

static Op *loop_of(const Kernel *k) {
    Op *op = k->body->first;
    while (op->kind != OP_FOR) op = op->next;
    return op;
}

static void loop_set_end(Module *m, Kernel *k, int64_t end) {
    Op *loop = loop_of(k);
    Region aside = {0};
    Builder b = {.m = m, .k = k, .at = &aside, .loc = loop->loc};
    loop->arg.p[1] = build_const_i(&b, ELEM_I64, end);
    region_splice_before(loop, &aside);
    kernel_remove_dead(k);
}

/* Sums go on over the zeros; what of the other operand is not there is zero as well. */
static void product_pad(Module *m, Kernel *k, const Planned *f) {
    const Param *first = &k->param.p[f->operand[0]];
    int64_t depth = first->dim[1].c;
    for (int i = 0; i < f->operands; i++) {
        Param *p = &k->param.p[f->operand[i]];
        p->dim[1].c = columns_padded(p, f->align);
    }
    if (first->dim[1].c != depth) loop_set_end(m, k, first->dim[1].c);
}

/* ---- the copies ---- */

static int copy_range(Module *m, Kernel *k, const char *name, int64_t size, int64_t of) {
    Range r = {.name = name_of(m->names, name),
               .kind = RANGE_TILE,
               .size = size,
               .of = size_number(of),
               .owner = -1,
               .grid = true,
               .tunable = true,
               .loc = k->loc};
    return kernel_range(m, k, r);
}

/* What lies behind a row is read as 0. A thread has 16 elements on their way: with 64 it is few workgroups a processor,
   or spills. */
static Kernel *copy_make(Module *m, const Kernel *k, int param, int64_t columns) {
    Param in = k->param.p[param], out = in;
    const char *name = arena_format(m->arena, "%s_%s_padded", k->name, in.name);
    Kernel *copy = kernel_new(m, name_of(m->names, name), k->loc);
    out.name = name_of(m->names, arena_format(m->arena, "%s_padded", in.name));
    out.out = true;
    out.dim[1].c = columns;
    kernel_param(m, copy, in);
    kernel_param(m, copy, out);
    int i = copy_range(m, copy, "i", 16, in.dim[0].c), j = copy_range(m, copy, "j", 256, columns);
    Builder b = {.m = m, .k = copy, .at = copy->body, .loc = k->loc};
    const Span at[2] = {span_of(affine_term(TERM_POS, i, 1, 1)), span_of(affine_term(TERM_POS, j, 1, 1))};
    build_store(&b, 1, at, 2, build_load(&b, 0, at, 2), STORE_SET);
    return copy;
}

/* ---- whether ---- */

static bool is_worth(const Kernel *k, const Planned *f) {
    bool copied = false;
    for (int i = 0; i < f->operands; i++) {
        const Param *p = &k->param.p[f->operand[i]];
        copied |= columns_padded(p, f->align) != p->dim[1].c;
    }
    return copied && k->range.p[0].of.c > FEW_ROWS;
}

static bool has_plan(PassContext *c, const Kernel *k, const Planned *f) {
    PassContext t = pass_trial(c);
    Kernel *copy = kernel_clone(t.m, k);
    product_pad(t.m, copy, f);
    return plan_takes(&t, copy);
}

/* Longer rows are all that keeps the kernel from a plan, and worth their copies. */
static bool is_wanted(PassContext *c, const Kernel *k, Planned *f) {
    *f = plan_of(c, k);
    return f->align && is_worth(k, f) && has_plan(c, k, f);
}

static void pad_operands(PassContext *c, Kernel *k) {
    Planned f;
    if (is_wanted(c, k, &f)) product_pad(c->m, k, &f);
}

static void pad_kernel(PassContext *c, Kernel *k, Padded *to) {
    Planned f;
    if (!is_wanted(c, k, &f)) return;
    *to = (Padded){k, ARENA_ARRAY(c->m->arena, Kernel *, k->param.n)};
    for (int i = 0; i < f.operands; i++) {
        const int param = f.operand[i];
        const Param *p = &k->param.p[param];
        int64_t columns = columns_padded(p, f.align);
        if (columns == p->dim[1].c || to->copy[param]) continue;
        to->copy[param] = copy_make(c->m, k, param, columns);
        remark(c, "pad", k->loc, "'%s': '%s' is copied first, into rows of %lld", k->name, p->name, (long long)columns);
    }
    product_pad(c->m, k, &f);
}

/* ---- nodes ---- */

/* The argument is copied by a node, which is added, and becomes the copy. */
static void arg_pad(Module *m, Program *p, const Node *n, Kernel *copy, Arg *arg) {
    Node first = {.kind = NODE_CALL, .loc = n->loc, .kernel = copy, .src = -1, .dst = -1, .when = n->when};
    Arg whole = arg_whole(program_tensor(m, p, tensor_temp(m, &copy->param.p[1])));
    vec_push(m->arena, &first.arg, *arg);
    vec_push(m->arena, &first.arg, whole);
    program_node(m, p, first);
    *arg = whole;
}

static void program_pad(Module *m, Program *p, const Padded *padded) {
    Node **node = p->node.p;
    int n = p->node.n;
    p->node.p = NULL, p->node.n = p->node.cap = 0;
    for (int i = 0; i < n; i++) {
        const Padded *by = &padded[node[i]->kernel->id];
        for (int a = 0; by->from && a < node[i]->arg.n; a++)
            if (by->copy[a]) arg_pad(m, p, node[i], by->copy[a], &node[i]->arg.p[a]);
        program_node(m, p, *node[i]);
    }
}

static bool pad_run(PassContext *c) {
    Module *m = c->m;
    int n = m->kernel.n;
    Padded *padded = ARENA_ARRAY(m->arena, Padded, n + 1);
    for (int i = 0; i < m->program.n; i++)
        if (!collectives_gone(c, m->program.p[i], "pad")) return false;
    for (int i = 0; i < n; i++) pad_kernel(c, m->kernel.p[i], &padded[i]);
    for (int i = 0; i < m->program.n; i++) program_pad(m, m->program.p[i], padded);
    return true;
}

const Pass pass_pad = {
    .name = "pad",
    .help = "copy operands of products into rows that a schedule can copy",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = pad_run,
    .kernel = pad_operands,
};
