/* reduce.c: reductions and prefixes, in ascending order of position.
   The reduced ranges are brought innermost, so each result is made from one contiguous row. */
#include "ir/interp/state.h"

#include <math.h>

/* The operand with the ranges that are kept first and those reduced last. */
static const Tile *rows_of(Task *t, const Op *op, int64_t *rows, int64_t *each, int16_t *order) {
    const Value *v = op->arg.p[0];
    int n = 0;
    Type kept = v->type;
    for (int i = 0; i < op->nover; i++) kept = type_without(kept, op->over[i]);
    for (int i = 0; i < kept.nrange; i++) order[n++] = kept.range[i];
    for (int i = 0; i < v->type.nrange; i++)
        if (!type_has(kept, v->type.range[i])) order[n++] = v->type.range[i];
    *rows = ranges_count(t, order, kept.nrange);
    *each = ranges_count(t, order + kept.nrange, n - kept.nrange);
    return tile_over(t, v, order, n, 0);
}

static float sum_float(const float *x, int64_t n) {
    float s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}

static double sum_double(const double *x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}

static int64_t sum_int(const int64_t *x, int64_t n) {
    uint64_t s = 0;
    for (int64_t i = 0; i < n; i++) s += (uint64_t)x[i];
    return (int64_t)s;
}

/* Position of the largest (sign 1) or smallest (-1) element, the first of equals, a NaN before all; -1 in an empty row.
 */
static int64_t extreme(Lane l, const void *row, int64_t n, int sign) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        if (l == LANE_INT) {
            const int64_t *x = row;
            if (best < 0 || (sign > 0 ? x[i] > x[best] : x[i] < x[best])) best = i;
            continue;
        }
        double x = lane_get(l, row, i);
        if (isnan(x)) return i;
        if (best < 0 || (sign > 0 ? x > lane_get(l, row, best) : x < lane_get(l, row, best))) best = i;
    }
    return best;
}

static int64_t int_identity(Elem e, int sign) {
    int64_t top = e == ELEM_BOOL || e == ELEM_T2 ? 1 : (int64_t)(((uint64_t)1 << (elem_bits(e) - (e != ELEM_U8))) - 1);
    int64_t bottom = e == ELEM_BOOL || e == ELEM_U8 ? 0 : -top - 1;
    return sign > 0 ? bottom : top;
}

static void set_extreme(Elem e, const void *row, int64_t n, int sign, void *z, int64_t r) {
    Lane l = lane_of(e);
    int64_t at = extreme(l, row, n, sign);
    double none = sign > 0 ? -INFINITY : INFINITY;
    if (l == LANE_INT)
        ((int64_t *)z)[r] = at < 0 ? int_identity(e, sign) : ((const int64_t *)row)[at];
    else if (l == LANE_DOUBLE)
        ((double *)z)[r] = at < 0 ? none : ((const double *)row)[at];
    else
        ((float *)z)[r] = at < 0 ? (float)none : ((const float *)row)[at];
}

static void set_sum(Lane l, Elem e, const void *row, int64_t n, void *z, int64_t r) {
    if (l == LANE_FLOAT)
        ((float *)z)[r] = sum_float(row, n);
    else if (l == LANE_DOUBLE)
        ((double *)z)[r] = sum_double(row, n);
    else
        ((int64_t *)z)[r] = int_wrap(e, sum_int(row, n));
}

static int64_t all_or_any(OpKind op, const int64_t *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if ((x[i] != 0) != (op == OP_ALL)) return op == OP_ANY;
    return op == OP_ALL;
}

static void reduce_row(const Task *t, const Op *op, const void *row, int64_t n, void *z, int64_t r) {
    Elem from = op->arg.p[0]->type.elem, to = op->res.p[0]->type.elem;
    int64_t at;
    switch (op->kind) {
    case OP_SUM: set_sum(lane_of(from), to, row, n, z, r); break;
    case OP_RMAX: set_extreme(from, row, n, 1, z, r); break;
    case OP_RMIN: set_extreme(from, row, n, -1, z, r); break;
    case OP_ARGMAX:
    case OP_ARGMIN:
        at = extreme(lane_of(from), row, n, op->kind == OP_ARGMAX ? 1 : -1);
        ((int64_t *)z)[r] = t->range[op->over[0]].begin + (at < 0 ? 0 : at);
        break;
    default: ((int64_t *)z)[r] = all_or_any(op->kind, row, n); break;
    }
}

/* The largest value, and where it may lie. */
typedef struct {
    double value, low, high;
} Largest;

static const Largest largest_of_none = {-INFINITY, -INFINITY, -INFINITY};

static void largest_take(Largest *m, double x, double b) {
    m->value = fmax(m->value, x);
    m->low = fmax(m->low, x - b);
    m->high = fmax(m->high, x + b);
}

static double largest_bound(const Largest *m) {
    return bound_settle(m->value, fmax(m->value - m->low, m->high - m->value));
}

static double extreme_bound(double sign, Lane l, const Tile *x, int64_t begin, int64_t n) {
    Largest m = largest_of_none;
    for (int64_t i = begin; i < begin + n; i++) largest_take(&m, sign * lane_get(l, x->data, i), x->bound[i]);
    return largest_bound(&m);
}

/* Tiles of another size would be as right: one element may be a part of a longer sum, rounded before it goes where
   sums are wider. */
static bool may_be_longer(const Task *t, const Op *op) {
    for (int i = 0; i < op->nover; i++)
        if (t->k->range.p[op->over[i]].tunable) return true;
    return false;
}

/* n eps sum |x| for a sum in any order; extremes by interval; what is decided is as it falls. */
static double row_bound(const Task *t, const Op *op, Lane l, const Tile *x, int64_t begin, int64_t n) {
    const World *w = t->w;
    if (op->kind != OP_SUM && op->kind != OP_RMIN && op->kind != OP_RMAX) return 0;
    double sum = 0, bounds = 0, count = n > 1 || may_be_longer(t, op) ? (double)n : 0;
    if (op->kind != OP_SUM) return extreme_bound(op->kind == OP_RMIN ? -1 : 1, l, x, begin, n);
    for (int64_t i = begin; i < begin + n; i++) {
        sum += fabs(lane_get(l, x->data, i));
        bounds = bound_join(w, bounds, x->bound[i]);
    }
    double b = bound_join(w, bounds, bound_own(w, count, lane_eps(l) * sum));
    return isnan(b) ? INFINITY : b;
}

void eval_reduce(Task *t, const Op *op) {
    int64_t rows, each;
    int16_t order[MAX_RANGES];
    const Tile *x = rows_of(t, op, &rows, &each, order);
    Tile *z = tile_make(t, op->res.p[0]);
    Lane l = lane_of(op->arg.p[0]->type.elem);
    for (int64_t r = 0; r < rows; r++) {
        reduce_row(t, op, (const char *)x->data + (size_t)(r * each) * lane_bytes(l), each, z->data, r);
        if (z->bound) z->bound[r] = row_bound(t, op, l, x, r * each, each);
    }
    if (lane_of(op->res.p[0]->type.elem) == LANE_INT) tile_wrap(op->res.p[0]->type.elem, z);
}

#define PREFIX(name, T, U)                                                                                             \
    static void name(OpKind op, T *x, int64_t n) {                                                                     \
        for (int64_t i = 1; i < n; i++) {                                                                              \
            if (op == OP_CUMSUM)                                                                                       \
                x[i] = (T)((U)x[i - 1] + (U)x[i]);                                                                     \
            else if (x[i - 1] > x[i] || x[i - 1] != x[i - 1])                                                          \
                x[i] = x[i - 1];                                                                                       \
        }                                                                                                              \
    }

PREFIX(prefix_float, float, float)
PREFIX(prefix_double, double, double)
PREFIX(prefix_int, int64_t, uint64_t)

static void prefix_bounds(const World *w, const Op *op, Lane l, Tile *x, int64_t begin, int64_t n) {
    double sum = 0, bounds = 0, eps = lane_eps(l);
    Largest most = largest_of_none;
    for (int64_t i = begin; i < begin + n; i++) {
        sum += fabs(lane_get(l, x->data, i));
        bounds = bound_join(w, bounds, x->bound[i]);
        largest_take(&most, lane_get(l, x->data, i), x->bound[i]);
        double own = bound_own(w, (double)(i - begin), eps * sum),
               b = op->kind == OP_CUMMAX ? largest_bound(&most) : bound_join(w, bounds, own);
        x->bound[i] = isnan(b) ? INFINITY : b;
    }
}

void eval_prefix(Task *t, const Op *op) {
    int64_t rows, each;
    int16_t order[MAX_RANGES];
    const Value *r = op->res.p[0];
    Lane l = lane_of(r->type.elem);
    const Tile *x = rows_of(t, op, &rows, &each, order);
    Tile *row = &t->temp[1];
    tile_copy(t->w, l, x, row);
    for (int64_t i = 0; i < rows; i++) {
        void *at = (char *)row->data + (size_t)(i * each) * lane_bytes(l);
        if (row->bound) prefix_bounds(t->w, op, l, row, i * each, each);
        if (l == LANE_FLOAT)
            prefix_float(op->kind, at, each);
        else if (l == LANE_DOUBLE)
            prefix_double(op->kind, at, each);
        else
            prefix_int(op->kind, at, each);
    }
    tile_reorder(t, l, row, order, r->type.nrange, tile_make(t, r), r->type.range, r->type.nrange);
    if (l == LANE_INT) tile_wrap(r->type.elem, tile_of(t, r));
}
