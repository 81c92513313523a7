/* pipe_product_threads.c: products of two matrices by the schedule of a machine whose threads load the operands: which
 * sizes and types it takes, and in which tiles. */
#include "passes/pipe.h"

#include <string.h>

static int64_t rows_of(const Kernel *k) { return k->range.p[0].of.c; }
static int64_t columns_of(const Kernel *k) { return k->range.p[1].of.c; }

static int64_t tiles_of(const Kernel *k, const MatrixSchedule *s) {
    return ceil_div(rows_of(k), s->rows) * ceil_div(columns_of(k), s->columns);
}

static int64_t time_of(const Kernel *k, const MatrixSchedule *s) {
    return s->cost * ceil_div(tiles_of(k, s), s->at_once);
}

static const MatrixSchedule *fastest(const Kernel *k, const MatrixTarget *t) {
    const MatrixSchedule *best = NULL;
    for (const MatrixSchedule *s = t->schedule; s->name; s++) {
        if (strcmp(s->name, "product") || (k->choice.columns && s->columns != k->choice.columns)) continue;
        if (!best || time_of(k, s) < time_of(k, best)) best = s;
    }
    return best;
}

/* Into floats, or the sums as they are. */
static bool types_fit(const Kernel *k, const MatrixTarget *t, const Product *f) {
    Elem c = k->param.p[f->c[0]].elem;
    bool floats = elem_is_float(c) && (elem_bits(c) == 16 || elem_bits(c) == 32);
    return product_op(t, k, f) && (floats || (f->plain && c == f->loop->res.p[0]->type.elem));
}

static bool rows_align(const Param *p, int bytes) { return p->dim[1].c * elem_bits(p->elem) / 8 % bytes == 0; }

/* Rows of a tile are addressed by 32 bits. */
static bool rows_are_near(const Param *p) {
    enum { LONGEST = 1 << 22 }; /* elements of up to 16 bits */
    return p->dim[1].c < LONGEST;
}

/* With fewer tiles than a quarter of the processors smaller ones, and parts of sums, use more of the machine. */
static bool is_small(const Kernel *k, const MatrixTarget *t, const MatrixSchedule *s) {
    if (columns_of(k) < s->columns) return true;
    return !k->choice.columns && (rows_of(k) < s->rows / 2 || 4 * tiles_of(k, s) < t->processors);
}

/* NULL: the schedule takes it. */
static const char *refused(const Kernel *k, const MatrixTarget *t, const Product *f, const MatrixSchedule *s) {
    const Param *a = &k->param.p[f->a], *b = &k->param.p[f->b[0]];
    if (k->choice.plain || !s) return "the file of sizes wants another";
    if (f->sums > 1 || f->stores > 1) return "it has two sums or results";
    if (!types_fit(k, t, f)) return "its operands and result have not the types of one";
    if (!rows_align(a, s->align) || !rows_align(b, s->align)) return "rows are not multiples of 16 bytes";
    if (!rows_are_near(a) || !rows_are_near(b)) return "its rows are too long";
    return is_small(k, t, s) ? "the result is small" : NULL;
}

void pipe_product_threads(PassContext *c, Kernel *k, const MatrixTarget *t, const Product *f) {
    const MatrixSchedule *s = fastest(k, t);
    const char *why = refused(k, t, f, s);
    if (why)
        pipe_refuse(c, k, why);
    else
        pipe_mark(c, k, s, 0, 1);
}
