/* interp_dot.c: contractions. Operands are brought to x[batch][M][K], y[batch][K][N]; each element of the result starts
   at acc and adds its products one by one in ascending order of K, rounding after each, whatever the tiles are. */
#include "ir/interp_state.h"

#include <math.h>
#include <string.h>

/* Ranges by where they occur. Those of acc alone are a batch in which x and y repeat. */
typedef struct {
    int16_t x[MAX_RANGES], y[MAX_RANGES], z[MAX_RANGES];
    int nx, ny, nz;
    int64_t batch, m, n, k;
} Shape;

static bool is_over(const Op *op, int range) {
    for (int i = 0; i < op->nover; i++)
        if (op->over[i] == range) return true;
    return false;
}

typedef enum { RANGE_BATCH, RANGE_M, RANGE_N } Part3;

static Part3 part_of(const Op *op, int range) {
    bool x = type_has(op->arg.p[0]->type, range), y = type_has(op->arg.p[1]->type, range);
    return x == y ? RANGE_BATCH : x ? RANGE_M : RANGE_N;
}

static int pick(const Op *op, Part3 part, int16_t *out) {
    const Type *z = &op->res.p[0]->type;
    int n = 0;
    for (int i = 0; i < z->nrange; i++)
        if (part_of(op, z->range[i]) == part) out[n++] = z->range[i];
    return n;
}

static void append(int16_t *to, int *n, const int16_t *from, int count) {
    memcpy(to + *n, from, (size_t)count * sizeof *to);
    *n += count;
}

static Shape shape_of(const Task *t, const Op *op) {
    int16_t b[MAX_RANGES], m[MAX_RANGES], n[MAX_RANGES], k[MAX_RANGES];
    int nb = pick(op, RANGE_BATCH, b), nm = pick(op, RANGE_M, m), nn = pick(op, RANGE_N, n), nk = 0;
    const Type *x = &op->arg.p[0]->type;
    for (int i = 0; i < x->nrange; i++)
        if (is_over(op, x->range[i])) k[nk++] = x->range[i];
    Shape s = {.batch = ranges_count(t, b, nb),
               .m = ranges_count(t, m, nm),
               .n = ranges_count(t, n, nn),
               .k = ranges_count(t, k, nk)};
    append(s.x, &s.nx, b, nb), append(s.x, &s.nx, m, nm), append(s.x, &s.nx, k, nk);
    append(s.y, &s.ny, b, nb), append(s.y, &s.ny, k, nk), append(s.y, &s.ny, n, nn);
    append(s.z, &s.nz, b, nb), append(s.z, &s.nz, m, nm), append(s.z, &s.nz, n, nn);
    return s;
}

/* z[m][n] += x[m][k] y[k][n]. Four rows at a time share what is read of y; the order of the additions is that of k. */
#define DOT(name, T)                                                                                                   \
    static void name##_rows(const T *x, const T *y, T *restrict z, int64_t rows, int64_t n, int64_t k) {               \
        for (int64_t p = 0; p < k; p++)                                                                                \
            for (int64_t r = 0; r < rows; r++) {                                                                       \
                T a = x[r * k + p];                                                                                    \
                for (int64_t j = 0; j < n; j++) z[r * n + j] += a * y[p * n + j];                                      \
            }                                                                                                          \
    }                                                                                                                  \
    static void name(const Shape *s, const T *x, const T *y, T *z) {                                                   \
        for (int64_t b = 0; b < s->batch; b++)                                                                         \
            for (int64_t i = 0; i < s->m; i += 4)                                                                      \
                name##_rows(x + (b * s->m + i) * s->k, y + b * s->k * s->n, z + (b * s->m + i) * s->n,                 \
                            s->m - i < 4 ? s->m - i : 4, s->n, s->k);                                                  \
    }

DOT(dot_float, float)
DOT(dot_double, double)
DOT(dot_int, uint64_t)

static void dot_any(Lane l, const Shape *s, const void *x, const void *y, void *z) {
    if (l == LANE_FLOAT)
        dot_float(s, x, y, z);
    else if (l == LANE_DOUBLE)
        dot_double(s, x, y, z);
    else
        dot_int(s, x, y, z);
}

/* |x|, or |x| + b: what the products may be made of. */
static const double *magnitudes(Task *t, Lane l, const Tile *x, bool grown, int temp) {
    Tile *out = &t->temp[temp];
    tile_reserve(t->w, out, x->n);
    double *z = out->data;
    for (int64_t i = 0; i < x->n; i++) z[i] = fabs(lane_get(l, x->data, i)) + (grown ? x->bound[i] : 0);
    return z;
}

/* Sums of products of magnitudes. */
static const double *magnitude_dot(Task *t, Lane l, const Shape *s, const Tile *x, const Tile *y, bool grown,
                                   int temp) {
    Tile *out = &t->temp[temp];
    tile_reserve(t->w, out, s->batch * s->m * s->n);
    memset(out->data, 0, (size_t)out->n * sizeof(double));
    dot_double(s, magnitudes(t, l, x, grown, 3), magnitudes(t, l, y, grown, 4), out->data);
    return out->data;
}

/* n eps (|acc| + sum |x||y|), plus what differs already: sum (|x| + bx)(|y| + by) - |x||y|, plus the bound of acc. */
static void bound_dot(Task *t, Lane l, const Shape *s, const Tile *x, const Tile *y, Tile *z) {
    const double *plain = magnitude_dot(t, l, s, x, y, false, 5), *grown = magnitude_dot(t, l, s, x, y, true, 6);
    double eps = (double)(s->k + 1) * (l == LANE_DOUBLE ? 0x1p-52 : 0x1p-23);
    for (int64_t i = 0; i < z->n; i++) {
        double b = z->bound[i] + eps * (fabs(lane_get(l, z->data, i)) + plain[i]) + fmax(0, grown[i] - plain[i]);
        z->bound[i] = isnan(b) ? INFINITY : b;
    }
}

static void tile_zero(Tile *z) {
    memset(z->data, 0, (size_t)z->n * 8);
    if (z->bound) memset(z->bound, 0, (size_t)z->n * sizeof(double));
}

void eval_dot(Task *t, const Op *op) {
    const Value *r = op->res.p[0];
    Shape s = shape_of(t, op);
    Lane l = lane_of(r->type.elem);
    const Tile *x = tile_over(t, op->arg.p[0], s.x, s.nx, 0), *y = tile_over(t, op->arg.p[1], s.y, s.ny, 1);
    Tile *sum = &t->temp[2];
    tile_reserve(t->w, sum, s.batch * s.m * s.n);
    if (op->arg.n < 3)
        tile_zero(sum);
    else
        tile_reorder(t, l, tile_of(t, op->arg.p[2]), op->arg.p[2]->type.range, op->arg.p[2]->type.nrange, sum, s.z,
                     s.nz);
    if (sum->bound && l != LANE_INT) bound_dot(t, l, &s, x, y, sum);
    dot_any(l, &s, x->data, y->data, sum->data);
    tile_reorder(t, l, sum, s.z, s.nz, tile_make(t, r), r->type.range, r->type.nrange);
    if (l == LANE_INT) ints_wrap(r->type.elem, sum->n, tile_of(t, r)->data);
}
