/* prefetch.c: as a workgroup begins with its row, that of one further on is brought to the L2: else memory waits
   while rows are reduced. For kernels of a row a task, on machines that can. */
#include "codegen/gpu/hip.h"

#include <inttypes.h>

/* Rows for each processor, bytes of a row; chosen: no measurement is recorded. */
enum { LEAST_ROUNDS = 4, LEAST_BYTES = 4096 };

/* The grid's only range with more than one task, over positions; -1: another grid. */
static int row_range(const Fn *f) {
    const Kernel *k = f->k;
    int row = -1;
    for (int i = 0; i < k->ngrid; i++) {
        const Range *r = &k->range.p[i];
        if (r->kind == RANGE_WHOLE) continue;
        if (row >= 0 || r->kind != RANGE_POSITION || r->owner >= 0) return -1;
        row = i;
    }
    bool many = row >= 0 && size_most(f->m, k->range.p[row].of) >= LEAST_ROUNDS * f->hip->target->processors;
    return many ? row : -1;
}

/* Rows are read, reduced and written, without a loop. */
static bool is_reduction(const Kernel *k) {
    bool reduces = false;
    for (const Op *op = k->body->first; op; op = op->next) {
        OpClass class = op_info[op->kind].class;
        if (class == CLASS_CONTROL || class == CLASS_DOT || class == CLASS_SYNC) return false;
        reduces |= class == CLASS_REDUCE;
    }
    return reduces;
}

/* The position of this range, or so many further on, so that a later task's is inside of the tensor or behind it. */
static bool is_row(const Affine *a, int row) {
    const Term *t = &a->term[0];
    return a->nterm == 1 && a->c >= 0 && t->kind == TERM_POS && t->id == row && t->mul == 1 && t->div == 1;
}

/* Bytes of the row that a load takes as a whole; 0: it takes something else. */
static int64_t row_bytes(const Fn *f, const Op *op, int row) {
    const Param *p = &f->k->param.p[op->param];
    if (op->kind != OP_LOAD || p->ndim != 2 || p->ranks >= 0 || op->sub.n != p->ndim || elem_is_packed(p->elem)) return 0;
    int column = affine_position(&op->sub.p[1].lo);
    Size width = p->dim[1];
    bool whole = column >= 0 && size_is_number(width) && f->k->range.p[column].kind == RANGE_WHOLE &&
                 size_equal(f->k->range.p[column].of, width);
    return whole && is_row(&op->sub.p[0].lo, row) ? width.c * elem_bits(p->elem) / 8 : 0;
}

static void prefetch_row(Fn *f, const Op *op, int row, int64_t bytes) {
    RangeText *r = &f->range[row], *c = &f->range[op->sub.p[1].lo.term[0].id], row_was = *r, column_was = *c;
    Nest n = nest_new(f, NULL, 0);
    r->pos = cexpr_number(f, f->hip->target->processors);
    c->pos = cexpr_number(f, 0);
    fn_line(f, "if (%s < %s)", cexpr_bare(nest_affine(&n, &op->sub.p[0].lo))->text,
            size_text(f, f->k->param.p[op->param].dim[0])->text);
    fn_line(f, "    tile_prefetch(&%s, %" PRId64 ");", nest_element(&n, op)->text, bytes);
    *r = row_was;
    *c = column_was;
}

void hip_prefetch(Fn *f) {
    int row = f->hip->target->prefetch && f->hip->ticket < 0 && is_reduction(f->k) ? row_range(f) : -1;
    for (const Op *op = f->k->body->first; op && row >= 0; op = op->next) {
        int64_t bytes = row_bytes(f, op, row);
        if (bytes >= LEAST_BYTES) prefetch_row(f, op, row, bytes);
    }
}
