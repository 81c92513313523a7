/* dot.c: contractions. Operands are brought to x[batch][M][K], y[batch][K][N]. Each element of the result starts at
   acc and adds its products one by one in ascending order of K, rounding after each. The sizes of tiles make no
   difference. */
#include "ir/interp/state.h"

#include <math.h>
#include <string.h>

/* Ranges by where they occur. Those of acc alone are a batch in which x and y repeat. */
typedef struct {
    int16_t x[MAX_RANGES], y[MAX_RANGES], z[MAX_RANGES];
    int nx, ny, nz;
    Product size;
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
    Shape s = {
        .size = {ranges_count(t, b, nb), ranges_count(t, m, nm), ranges_count(t, n, nn), ranges_count(t, k, nk)}};
    append(s.x, &s.nx, b, nb), append(s.x, &s.nx, m, nm), append(s.x, &s.nx, k, nk);
    append(s.y, &s.ny, b, nb), append(s.y, &s.ny, k, nk), append(s.y, &s.ny, n, nn);
    append(s.z, &s.nz, b, nb), append(s.z, &s.nz, m, nm), append(s.z, &s.nz, n, nn);
    return s;
}

static void lane_set(Lane l, void *p, int64_t i, double x) {
    if (l == LANE_DOUBLE)
        ((double *)p)[i] = x;
    else
        ((float *)p)[i] = (float)x;
}

typedef enum { OF_VALUES, OF_BOUNDS, OF_BOTH } Part2; /* magnitudes, bounds, their sums */

static double operand_at(Lane l, const Tile *v, Part2 part, int64_t i) {
    return (part == OF_BOUNDS ? 0 : fabs(lane_get(l, v->data, i))) + (part == OF_VALUES ? 0 : v->bound[i]);
}

/* The largest that is finite; 1 without any. */
static double operand_scale(Lane l, const Tile *v, Part2 part) {
    double most = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double x = operand_at(l, v, part, i);
        if (isfinite(x) && x > most) most = x;
    }
    return most > 0 ? most : 1;
}

static bool has_bounds(const Tile *v) {
    for (int64_t i = 0; i < v->n; i++)
        if (v->bound[i] != 0) return true;
    return false;
}

/* Of integers in f64. */
static Lane bound_lane(Lane l) { return l == LANE_INT ? LANE_DOUBLE : l; }

/* As a tile of its own, in parts of the scale; squared where errors add as their squares do. */
static void operand_make(Task *t, Lane l, const Tile *v, Part2 part, bool squared, double scale, int temp) {
    Tile *out = &t->temp[temp];
    tile_reserve(t->w, out, v->n);
    for (int64_t i = 0; i < v->n; i++) {
        double x = operand_at(l, v, part, i) / scale;
        lane_set(bound_lane(l), out->data, i, squared ? x * x : x);
    }
}

/* The sums of products of parts of the operands: sum |x||y| of magnitudes; squared: sqrt(sum |x|^2 |y|^2). Each, times
   the factor, joins the bound of its element, with 1 % for the roundings of these sums themselves. */
static void bound_product(Task *t, Lane l, const Product *s, const Tile *x, Part2 of_x, const Tile *y, Part2 of_y,
                          bool squared, double factor, Tile *z) {
    double scale_x = squared ? operand_scale(l, x, of_x) : 1, scale_y = squared ? operand_scale(l, y, of_y) : 1;
    Tile *sum = &t->temp[5];
    operand_make(t, l, x, of_x, squared, scale_x, 3);
    operand_make(t, l, y, of_y, squared, scale_y, 4);
    tile_reserve(t->w, sum, z->n);
    memset(sum->data, 0, (size_t)z->n * lane_bytes(bound_lane(l)));
    product_add(bound_lane(l), s, t->temp[3].data, t->temp[4].data, sum->data);
    for (int64_t i = 0; i < z->n; i++) {
        double own = lane_get(bound_lane(l), sum->data, i), b = squared ? scale_x * scale_y * sqrt(own) : own;
        b = bound_join(t->w, z->bound[i], 1.01 * factor * b);
        z->bound[i] = isnan(b) ? INFINITY : b;
    }
}

/* To the bound of acc: n eps (|acc| + sum |x||y|) + sum |x| by + sum bx (|y| + by); expected, sqrt(n) for n and roots
   of sums of squares. */
static void bound_dot(Task *t, Lane l, const Product *s, const Tile *x, const Tile *y, Tile *z) {
    double eps = bound_own(t->w, (double)(s->k + 1), lane_eps(l));
    bool squared = t->w->expected;
    for (int64_t i = 0; i < z->n; i++) z->bound[i] = bound_join(t->w, z->bound[i], eps * fabs(lane_get(l, z->data, i)));
    if (l != LANE_INT) bound_product(t, l, s, x, OF_VALUES, y, OF_VALUES, false, eps, z);
    if (has_bounds(y)) bound_product(t, l, s, x, OF_VALUES, y, OF_BOUNDS, squared, 1, z);
    if (has_bounds(x)) bound_product(t, l, s, x, OF_BOUNDS, y, OF_BOTH, squared, 1, z);
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
    tile_reserve(t->w, sum, s.size.batch * s.size.m * s.size.n);
    if (op->arg.n < 3)
        tile_zero(sum);
    else
        tile_reorder(t, l, tile_of(t, op->arg.p[2]), op->arg.p[2]->type.range, op->arg.p[2]->type.nrange, sum, s.z,
                     s.nz);
    if (sum->bound) bound_dot(t, l, &s.size, x, y, sum);
    product_add(l, &s.size, x->data, y->data, sum->data);
    tile_reorder(t, l, sum, s.z, s.nz, tile_make(t, r), r->type.range, r->type.nrange);
    if (l == LANE_INT) tile_wrap(r->type.elem, tile_of(t, r));
}
