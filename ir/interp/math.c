/* math.c: elementwise operations over dense lanes, one loop for each operation and lane.
   f32 arithmetic is C's float, f64 double; integers are computed in 64 bits and wrapped by the caller. */
#include "ir/interp/state.h"

#include <math.h>

/* One loop over z[i] in terms of x[i] and y[i]. */
#define EACH(expression)                                                                                               \
    for (int64_t i = 0; i < n; i++) z[i] = (expression);                                                               \
    break

static void unary_float(OpKind op, int64_t n, const float *x, float *z) {
    switch (op) {
    case OP_NEG: EACH(-x[i]);
    case OP_ABS: EACH(fabsf(x[i]));
    case OP_EXP: EACH(expf(x[i]));
    case OP_EXP2: EACH(exp2f(x[i]));
    case OP_LOG: EACH(logf(x[i]));
    case OP_LOG2: EACH(log2f(x[i]));
    case OP_SQRT: EACH(sqrtf(x[i]));
    case OP_RSQRT: EACH(1.0f / sqrtf(x[i]));
    case OP_SIN: EACH(sinf(x[i]));
    case OP_COS: EACH(cosf(x[i]));
    case OP_TANH: EACH(tanhf(x[i]));
    case OP_ERF: EACH(erff(x[i]));
    case OP_FLOOR: EACH(floorf(x[i]));
    case OP_CEIL: EACH(ceilf(x[i]));
    case OP_ROUND: EACH(rintf(x[i]));
    default: break;
    }
}

static void unary_double(OpKind op, int64_t n, const double *x, double *z) {
    switch (op) {
    case OP_NEG: EACH(-x[i]);
    case OP_ABS: EACH(fabs(x[i]));
    case OP_EXP: EACH(exp(x[i]));
    case OP_EXP2: EACH(exp2(x[i]));
    case OP_LOG: EACH(log(x[i]));
    case OP_LOG2: EACH(log2(x[i]));
    case OP_SQRT: EACH(sqrt(x[i]));
    case OP_RSQRT: EACH(1.0 / sqrt(x[i]));
    case OP_SIN: EACH(sin(x[i]));
    case OP_COS: EACH(cos(x[i]));
    case OP_TANH: EACH(tanh(x[i]));
    case OP_ERF: EACH(erf(x[i]));
    case OP_FLOOR: EACH(floor(x[i]));
    case OP_CEIL: EACH(ceil(x[i]));
    case OP_ROUND: EACH(rint(x[i]));
    default: break;
    }
}

static int64_t int_negate(int64_t x) { return (int64_t)(0 - (uint64_t)x); }

/* NOT is bitwise; the caller's wrap leaves one bit of a bool. */
static void unary_int(OpKind op, int64_t n, const int64_t *x, int64_t *z) {
    switch (op) {
    case OP_NEG: EACH(int_negate(x[i]));
    case OP_ABS: EACH(x[i] < 0 ? int_negate(x[i]) : x[i]);
    case OP_NOT: EACH(~x[i]);
    default: EACH(x[i]); /* floor, ceil and round of integers */
    }
}

void math_unary(OpKind op, Lane l, int64_t n, const void *x, void *z) {
    if (l == LANE_FLOAT)
        unary_float(op, n, x, z);
    else if (l == LANE_DOUBLE)
        unary_double(op, n, x, z);
    else
        unary_int(op, n, x, z);
}

/* A NaN on either side gives NaN. */
static void binary_float(OpKind op, int64_t n, const float *x, const float *y, float *z) {
    switch (op) {
    case OP_ADD: EACH(x[i] + y[i]);
    case OP_SUB: EACH(x[i] - y[i]);
    case OP_MUL: EACH(x[i] * y[i]);
    case OP_DIV: EACH(x[i] / y[i]);
    case OP_MOD: EACH(x[i] - floorf(x[i] / y[i]) * y[i]);
    case OP_MIN: EACH(x[i] < y[i] || x[i] != x[i] ? x[i] : y[i]);
    case OP_MAX: EACH(x[i] > y[i] || x[i] != x[i] ? x[i] : y[i]);
    case OP_POW: EACH(powf(x[i], y[i]));
    default: break;
    }
}

static void binary_double(OpKind op, int64_t n, const double *x, const double *y, double *z) {
    switch (op) {
    case OP_ADD: EACH(x[i] + y[i]);
    case OP_SUB: EACH(x[i] - y[i]);
    case OP_MUL: EACH(x[i] * y[i]);
    case OP_DIV: EACH(x[i] / y[i]);
    case OP_MOD: EACH(x[i] - floor(x[i] / y[i]) * y[i]);
    case OP_MIN: EACH(x[i] < y[i] || x[i] != x[i] ? x[i] : y[i]);
    case OP_MAX: EACH(x[i] > y[i] || x[i] != x[i] ? x[i] : y[i]);
    case OP_POW: EACH(pow(x[i], y[i]));
    default: break;
    }
}

/* Division by zero gives 0; the smallest number by -1 wraps. */
static int64_t int_div(int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (y == -1) return int_negate(x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t int_mod(int64_t x, int64_t y) {
    if (y == 0 || y == -1) return 0;
    int64_t r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static void binary_int(OpKind op, int64_t n, const int64_t *x, const int64_t *y, int64_t *z) {
    switch (op) {
    case OP_ADD: EACH((int64_t)((uint64_t)x[i] + (uint64_t)y[i]));
    case OP_SUB: EACH((int64_t)((uint64_t)x[i] - (uint64_t)y[i]));
    case OP_MUL: EACH((int64_t)((uint64_t)x[i] * (uint64_t)y[i]));
    case OP_DIV: EACH(int_div(x[i], y[i]));
    case OP_MOD: EACH(int_mod(x[i], y[i]));
    case OP_MIN: EACH(x[i] < y[i] ? x[i] : y[i]);
    case OP_MAX: EACH(x[i] > y[i] ? x[i] : y[i]);
    case OP_AND: EACH(x[i] & y[i]);
    case OP_OR: EACH(x[i] | y[i]);
    case OP_XOR: EACH(x[i] ^ y[i]);
    case OP_SHL: EACH((int64_t)((uint64_t)x[i] << (y[i] & 63)));
    case OP_SHR: EACH(x[i] >> (y[i] & 63));
    default: break;
    }
}

void math_binary(OpKind op, Lane l, int64_t n, const void *x, const void *y, void *z) {
    if (l == LANE_FLOAT)
        binary_float(op, n, x, y, z);
    else if (l == LANE_DOUBLE)
        binary_double(op, n, x, y, z);
    else
        binary_int(op, n, x, y, z);
}

#define COMPARE(name, T)                                                                                               \
    static void name(OpKind op, int64_t n, const T *x, const T *y, int64_t *z) {                                       \
        switch (op) {                                                                                                  \
        case OP_EQ: EACH(x[i] == y[i]);                                                                                \
        case OP_NE: EACH(x[i] != y[i]);                                                                                \
        case OP_LT: EACH(x[i] < y[i]);                                                                                 \
        case OP_LE: EACH(x[i] <= y[i]);                                                                                \
        case OP_GT: EACH(x[i] > y[i]);                                                                                 \
        case OP_GE: EACH(x[i] >= y[i]);                                                                                \
        default: break;                                                                                                \
        }                                                                                                              \
    }

COMPARE(compare_float, float)
COMPARE(compare_double, double)
COMPARE(compare_int, int64_t)

void math_compare(OpKind op, Lane l, int64_t n, const void *x, const void *y, int64_t *z) {
    if (l == LANE_FLOAT)
        compare_float(op, n, x, y, z);
    else if (l == LANE_DOUBLE)
        compare_double(op, n, x, y, z);
    else
        compare_int(op, n, x, y, z);
}
