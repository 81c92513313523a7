/* pipe.c: a kernel that the machine has a pipelined schedule for is computed by that: copies, products and stores of
   different tiles at the same time. So far: the product of two matrices.
   Takes: value form without flags. Gives: the same, kernels marked with their schedule, its tiles in their grids. */
#include "passes/pipe.h"

/* ---- c[i, j] = sum of a[i, p] * b over p, b[p, j] or b[j, p] ---- */

typedef struct {
    const Kernel *k;
    const Op *loop, *dot;
} Product;

static const Op *only_user(const Region *r, const Value *v) {
    const Op *found = NULL;
    for (const Op *op = r->first; op; op = op->next)
        for (int i = 0; i < op->arg.n; i++)
            if (op->arg.p[i] == v) {
                if (found) return NULL;
                found = op;
            }
    return found;
}

static int count_ops(const Region *r, OpKind kind) {
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) n += op->kind == kind;
    return n;
}

static const Op *first_op(const Region *r, OpKind kind) {
    const Op *op = r->first;
    while (op && op->kind != kind) op = op->next;
    return op;
}

/* [row, column] = [pos of that range, pos of this one], nothing else. */
static bool reads_ranges(const Op *access, int row, int column) {
    Affine want[2] = {affine_term(TERM_POS, row, 1, 1), affine_term(TERM_POS, column, 1, 1)};
    return access->sub.n == 2 && affine_equal(&access->sub.p[0].lo, &want[0]) &&
           affine_equal(&access->sub.p[1].lo, &want[1]);
}

static bool is_number(const Value *v, int64_t n) {
    return v->def && v->def->kind == OP_CONST && v->def->imm == n && v->def->fimm == 0;
}

static bool is_zero(const Value *v) {
    if (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return is_number(v, 0);
}

static bool grid_fits(const Kernel *k) {
    if (k->ngrid != 2 || k->param.n != 3) return false;
    for (int i = 0; i < 2; i++)
        if (k->range.p[i].kind != RANGE_TILE || k->range.p[i].owner >= 0) return false;
    return true;
}

static bool params_fit(const Kernel *k) {
    for (int i = 0; i < 3; i++) {
        const Param *p = &k->param.p[i];
        if (p->ndim != 2 || p->ranks >= 0 || p->inout || p->out != (i == 2) || p->elem != k->param.p[0].elem)
            return false;
        if (!size_is_number(p->dim[0]) || !size_is_number(p->dim[1])) return false;
    }
    return k->param.p[0].elem == ELEM_BF16 || k->param.p[0].elem == ELEM_F16;
}

static bool loop_fits(Product *f) {
    const Region *body = f->k->body, *inner;
    f->loop = first_op(body, OP_FOR);
    if (!f->loop || count_ops(body, OP_FOR) != 1 || f->loop->res.n != 1 || !is_zero(f->loop->arg.p[2])) return false;
    inner = f->loop->region[0];
    f->dot = first_op(inner, OP_DOT);
    if (!f->dot || count_ops(inner, OP_LOAD) != 2 || count_ops(inner, OP_YIELD) != 1 || f->dot->arg.n != 3)
        return false;
    int ops = 0;
    for (const Op *op = inner->first; op; op = op->next) ops++;
    return ops == 4 && f->dot->arg.p[2] == inner->arg.p[0] && inner->last->arg.p[0] == f->dot->res.p[0];
}

/* Over all of k, from the first position on. */
static bool loop_is_whole(const Product *f) {
    return is_number(f->loop->arg.p[0], 0) && is_number(f->loop->arg.p[1], f->k->param.p[0].dim[1].c);
}

static bool operands_fit(const Product *f) {
    const Op *a = f->dot->arg.p[0]->def, *b = f->dot->arg.p[1]->def;
    int p = f->loop->range;
    if (!a || !b || a->kind != OP_LOAD || b->kind != OP_LOAD || a->param != 0 || b->param != 1) return false;
    return reads_ranges(a, 0, p) && (reads_ranges(b, p, 1) || reads_ranges(b, 1, p));
}

static bool store_fits(const Product *f) {
    const Op *store = only_user(f->k->body, f->loop->res.p[0]);
    return store && store->kind == OP_STORE && count_ops(f->k->body, OP_STORE) == 1 &&
           count_ops(f->k->body, OP_LOAD) == 0 && store->mode == STORE_SET && reads_ranges(store, 0, 1);
}

static bool is_product(Product *f) {
    return grid_fits(f->k) && params_fit(f->k) && loop_fits(f) && loop_is_whole(f) && operands_fit(f) && store_fits(f);
}

/* ---- the pass ---- */

static bool rows_align(const Kernel *k, int bytes) {
    for (int i = 0; i < 3; i++)
        if (k->param.p[i].dim[1].c * elem_bits(k->param.p[i].elem) / 8 % bytes) return false;
    return true;
}

static bool is_large(const Kernel *k, const MatrixSchedule *s) {
    return k->param.p[2].dim[0].c >= s->rows && k->param.p[2].dim[1].c >= s->columns;
}

void pipe_refuse(PassContext *c, const Kernel *k, const char *why) {
    remark(c, "pipe", k->loc, "'%s': no schedule: %s", k->name, why);
}

void pipe_mark(PassContext *c, Kernel *k, const MatrixSchedule *s, int row, int column) {
    k->schedule = name_of(c->m->names, s->name);
    k->range.p[row].size = s->rows;
    k->range.p[column].size = s->columns;
    remark(c, "pipe", k->loc, "'%s': the schedule '%s', tiles of %d x %d", k->name, s->name, s->rows, s->columns);
}

static void product_take(PassContext *c, Kernel *k, const MatrixTarget *t) {
    Product f = {.k = k};
    const MatrixSchedule *s = matrix_schedule(t, "product", 0);
    if (!s || !is_product(&f)) return;
    if (!rows_align(k, s->align))
        pipe_refuse(c, k, "rows are not multiples of 16 bytes");
    else if (!is_large(k, s))
        pipe_refuse(c, k, "the result is smaller than a tile");
    else
        pipe_mark(c, k, s, 0, 1);
}

static bool pipe_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    for (int i = 0; target && !c->options->emulated && i < c->m->kernel.n; i++) {
        product_take(c, c->m->kernel.p[i], target);
        pipe_attention(c, c->m->kernel.p[i], target);
    }
    return true;
}

const Pass pass_pipe = {
    .name = "pipe",
    .help = "compute kernels by the machine's pipelined schedules, where it has one",
    .needs = 0,
    .breaks = FORM_FLAGS | FORM_LAYOUT,
    .run = pipe_run,
};
