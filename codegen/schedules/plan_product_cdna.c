/* plan_product_cdna.c: products of two matrices by the schedule of a machine whose threads load the operands: which
 * sizes and types it takes, and in which tiles. */
#include "codegen/schedules/arms.h"

#include <string.h>

static int64_t rows_of(const Kernel *k) { return k->range.p[0].of.c; }
static int64_t columns_of(const Kernel *k) { return k->range.p[1].of.c; }

/* Of a result, in a tile: two sums have half a tile each. */
static int64_t wide_of(const MatrixSchedule *s, const Product *f) { return s->columns / f->sums; }

static int64_t tiles_of(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    return ceil_div(rows_of(k), s->rows) * ceil_div(columns_of(k), wide_of(s, f));
}

static double time_of(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    return s->cost * (double)ceil_div(tiles_of(k, f, s), s->resident_groups);
}

static const MatrixSchedule *fastest(const Kernel *k, const Product *f, const MatrixTarget *t) {
    const MatrixSchedule *best = NULL;
    for (const MatrixSchedule *s = t->schedule; s->name; s++) {
        if (strcmp(s->name, "product") || (k->plan.columns && wide_of(s, f) != k->plan.columns)) continue;
        if (!best || time_of(k, f, s) < time_of(k, f, best)) best = s;
    }
    return best;
}

/* Into floats and integers of up to 32 bits that the text stores four at a time, two results of one type. */
static bool types_fit(const Kernel *k, const MatrixTarget *t, const MatrixSchedule *s, const Product *f) {
    Elem c = k->param.p[f->c[0]].elem;
    for (int i = 1; i < f->stores; i++)
        if (k->param.p[f->c[i]].elem != c) return false;
    bool fits = c == ELEM_I8 || c == ELEM_I32 || (elem_is_float(c) && elem_bits(c) >= 8 && elem_bits(c) <= 32);
    return fits && product_op(t, s, k, f);
}

/* Rows of a tile are addressed by 32 bits. */
static bool rows_are_near(const Param *p) {
    enum { LONGEST = 1 << 22 }; /* elements of up to 16 bits */
    return p->dim[1].c < LONGEST;
}

/* What keeps an operand from being copied. */
static Reason operands_refused(const Kernel *k, const Product *f, int align) {
    int param[MOST_OPERANDS], n = product_operands(f, param);
    const Param *first = &k->param.p[f->b[0]];
    for (int i = 0; i < n; i++) {
        const Param *p = &k->param.p[param[i]];
        if (!rows_align(p, align)) return reason_rows;
        if (!rows_are_near(p)) return (Reason){.words = "its rows are too long"};
        if (i && (p->dim[0].c != first->dim[0].c || p->dim[1].c != first->dim[1].c))
            return (Reason){.words = "its two matrices differ in shape"};
    }
    return (Reason){0};
}

/* With fewer tiles than a quarter of the processors smaller ones, and parts of sums, use more of the machine. */
static bool is_small(const Kernel *k, const MatrixTarget *t, const Product *f, const MatrixSchedule *s) {
    if (columns_of(k) < wide_of(s, f)) return true;
    return !k->plan.columns && (rows_of(k) < s->rows / 2 || 4 * tiles_of(k, f, s) < t->processors);
}

/* No words: a schedule takes it, if its tiles fit. */
static Reason refused(const Kernel *k, const MatrixTarget *t, const Product *f) {
    const MatrixSchedule *s = matrix_schedule(t, "product", 0);
    if (!types_fit(k, t, s, f)) return reason_types;
    return operands_refused(k, f, s->align);
}

/* No words: the schedule for many rows takes it. */
static Reason tiles_refused(const Kernel *k, const MatrixTarget *t, const Product *f, const MatrixSchedule *s) {
    if (!s) return reason_tile;
    return (Reason){.words = is_small(k, t, f, s) ? "the result is small" : NULL};
}

enum { FEW_ROWS = 64, SOME_ROWS = 128 }; /* that go by the schedule for few; or do where another takes none */

static bool are_some(const Kernel *k) { return rows_of(k) > FEW_ROWS && rows_of(k) <= SOME_ROWS; }

Planned product_plan_cdna(PassContext *c, const Kernel *k, const MatrixTarget *t, const Product *f) {
    const MatrixSchedule *s = NULL;
    Reason why = refused(k, t, f);
    Planned few = plan_refused("");
    if (!why.words && rows_of(k) <= FEW_ROWS) few = skinny_plan_cdna(c, k, t, f);
    if (!few.why.words) return few;
    if (!why.words) s = fastest(k, f, t), why = tiles_refused(k, t, f, s);
    if (s && why.words && are_some(k)) few = skinny_plan_cdna(c, k, t, f);
    if (!few.why.words) return few;
    if (why.words) return arm_refused(k, f, matrix_schedule(t, "product", 0)->align, why);
    MatrixSchedule tile = *s;
    tile.columns = (int)wide_of(s, f);
    return arm_planned(c, k, &tile, 0, 1);
}
