/* bound.c: beside each float, by how much two legal evaluations may differ.
   An operation passes on what its operands differ by (derivative or interval) and adds c eps |result|; where operands
   cannot differ and the operation is exact, neither does the result. */
#include "ir/interp/state.h"

#include <math.h>

static double eps_of(Lane l) { return l == LANE_DOUBLE ? 0x1p-52 : 0x1p-23; }

/* ---- unary: z = f(x), |dx| <= b ---- */

/* Far below 0 no difference matters: the result's neighbours are 0 too. */
static double away_exp(const World *w, double x, double z, double b) {
    return bound_is_linear(w, 1, b) ? fabs(z) * b : fmin(fabs(z) * expm1(b), exp(x + b));
}

static double away_log(const World *w, double x, double b) {
    if (x > 0 && bound_is_linear(w, x, b)) return b / x;
    return x > b ? -log1p(-b / x) : INFINITY;
}

static double away_sqrt(double x, double b) { return x > b ? b / (sqrt(x) + sqrt(x - b)) : sqrt(x + b); }

static double away_rsqrt(const World *w, double x, double z, double b) {
    if (x > 0 && bound_is_linear(w, x, b)) return z * b / (2 * x);
    return x > b ? 1 / sqrt(x - b) - z : INFINITY;
}

static double away_step(OpKind op, double x, double b) {
    double lo = x - b, hi = x + b;
    if (op == OP_FLOOR) return floor(hi) - floor(lo);
    return op == OP_CEIL ? ceil(hi) - ceil(lo) : rint(hi) - rint(lo);
}

/* The steepest tanh is in the interval is at the point nearest to 0. */
static double away_tanh(double x, double b) {
    double nearest = fabs(x) > b ? tanh(fabs(x) - b) : 0;
    return fmin(2, b * (1 - nearest * nearest));
}

static double unary_away(const World *w, OpKind op, double x, double z, double b) {
    switch (op) {
    case OP_EXP: return away_exp(w, x, z, b);
    case OP_EXP2: return away_exp(w, x * 0.6931471805599453, z, b * 0.6931471805599454);
    case OP_LOG: return away_log(w, x, b);
    case OP_LOG2: return away_log(w, x, b) * 1.4426950408889635;
    case OP_SQRT: return away_sqrt(x, b);
    case OP_RSQRT: return away_rsqrt(w, x, z, b);
    case OP_SIN:
    case OP_COS: return fmin(2, b);
    case OP_TANH: return away_tanh(x, b);
    case OP_ERF: return fmin(2, b * 1.1283791670955126);
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND: return away_step(op, x, b);
    default: return b;
    }
}

/* In units of eps |z|: what a good library or a short polynomial may be off by, twice. */
static double unary_own(OpKind op) {
    switch (op) {
    case OP_SQRT: return 1;
    case OP_RSQRT: return 4;
    case OP_EXP:
    case OP_EXP2:
    case OP_LOG:
    case OP_LOG2:
    case OP_TANH:
    case OP_ERF: return 8;
    case OP_SIN:
    case OP_COS: return 8;
    default: return 0;
    }
}

/* Near its zero a function's own error is not relative to its value: logarithms and sines are off by eps of 1. */
static double unary_floor(OpKind op) {
    bool absolute = op == OP_SIN || op == OP_COS || op == OP_LOG || op == OP_LOG2;
    return absolute ? 1 : unary_own(op) > 1 ? 0x1p-100 : 0;
}

void bound_unary(const World *w, OpKind op, Lane l, const Tile *x, Tile *z) {
    double own = unary_own(op) * eps_of(l), least = unary_floor(op) * eps_of(l);
    for (int64_t i = 0; i < z->n; i++) {
        double value = lane_get(l, z->data, i), b = x->bound[i];
        double away = b == 0 ? 0 : unary_away(w, op, lane_get(l, x->data, i), value, b);
        z->bound[i] = bound_settle(value, bound_join(w, away, bound_own(w, 1, own * fabs(value) + least)));
    }
}

/* ---- binary ---- */

static double away_div(const World *w, double y, double z, double bx, double by) {
    if (bound_is_linear(w, y, by)) return bound_join(w, bx, fabs(z) * by) / fabs(y);
    return fabs(y) > by ? bound_join(w, bx, fabs(z) * by) / (fabs(y) - by) : bx == 0 && by == 0 ? 0 : INFINITY;
}

/* |z| ((1 + bx / |x|)^|y| - 1): of a base of either sign, for a whole exponent. */
static double away_power(double x, double y, double z, double bx) {
    if (y == 0) return 0;
    if (fabs(x) <= bx) return y > 0 ? 2 * pow(fabs(x) + bx, y) : INFINITY;
    return fabs(z) * (y > 0 ? pow(1 + bx / fabs(x), y) - 1 : pow(1 - bx / fabs(x), y) - 1);
}

static double away_pow(const World *w, double x, double y, double z, double bx, double by) {
    if (bx == 0 && by == 0) return 0;
    if (by == 0 && y == rint(y)) return away_power(x, y, z, bx);
    return x > 0 ? away_exp(w, y * log(x), z, fabs(y) * away_log(w, x, bx) + fabs(log(x)) * by + bx * by) : INFINITY;
}

/* By interval: a value clearly beyond what it is clamped to passes on nothing. */
static double away_least(double x, double y, double bx, double by) {
    double z = fmin(x, y), lo = fmin(x - bx, y - by), hi = fmin(x + bx, y + by);
    return bx == 0 && by == 0 ? 0 : fmax(z - lo, hi - z);
}

static double binary_away(const World *w, OpKind op, double x, double y, double z, double bx, double by) {
    switch (op) {
    case OP_ADD:
    case OP_SUB: return bound_join(w, bx, by);
    case OP_MUL: return bound_join(w, bx ? bx * fabs(y) : 0, by ? by * fabs(x) : 0) + (bx && by ? bx * by : 0);
    case OP_DIV: return away_div(w, y, z, bx, by);
    case OP_MOD: return bx == 0 && by == 0 ? 0 : fabs(y) + by + bx;
    case OP_POW: return away_pow(w, x, y, z, bx, by);
    case OP_MIN: return away_least(x, y, bx, by);
    default: return away_least(-x, -y, bx, by); /* max */
    }
}

static double binary_own(OpKind op) {
    switch (op) {
    case OP_MIN:
    case OP_MAX: return 0;
    case OP_POW: return 16;
    case OP_DIV: return 2;
    default: return 1;
    }
}

/* Of exact operands; the product of two floats is exact in double. */
static bool product_exact(OpKind op, Lane l, double x, double y, double z) { return op == OP_MUL && l == LANE_FLOAT && x * y == z; }

void bound_binary(const World *w, OpKind op, Lane l, const Tile *x, const Tile *y, Tile *z) {
    double own = binary_own(op) * eps_of(l);
    for (int64_t i = 0; i < z->n; i++) {
        double value = lane_get(l, z->data, i);
        double a = lane_get(l, x->data, i), b = lane_get(l, y->data, i);
        double away = binary_away(w, op, a, b, value, x->bound[i], y->bound[i]);
        bool exact = away == 0 && product_exact(op, l, a, b, value);
        z->bound[i] = exact ? 0 : bound_settle(value, bound_join(w, away, bound_own(w, 1, own * fabs(value))));
    }
}
