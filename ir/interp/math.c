/* math.c: what elementwise operations compute: the functions that rows of ops.def name, and loops over dense lanes.
   f32 arithmetic is C's float, f64 double; integers are computed in 64 bits and wrapped by the caller. */
#include "ir/interp/state.h"

#include <math.h>

/* ---- one element ---- */

float neg_f32(float x) { return -x; }
double neg_f64(double x) { return -x; }
int64_t neg_i64(int64_t x) { return (int64_t)(0 - (uint64_t)x); }
int64_t not_i64(int64_t x) { return ~x; } /* the caller's wrap leaves one bit of a bool */
int64_t abs_i64(int64_t x) { return x < 0 ? neg_i64(x) : x; }
float rsqrt_f32(float x) { return 1.0f / sqrtf(x); }
double rsqrt_f64(double x) { return 1.0 / sqrt(x); }

float add_f32(float x, float y) { return x + y; }
double add_f64(double x, double y) { return x + y; }
int64_t add_i64(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
float sub_f32(float x, float y) { return x - y; }
double sub_f64(double x, double y) { return x - y; }
int64_t sub_i64(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
float mul_f32(float x, float y) { return x * y; }
double mul_f64(double x, double y) { return x * y; }
int64_t mul_i64(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
float div_f32(float x, float y) { return x / y; }
double div_f64(double x, double y) { return x / y; }

int64_t div_i64(int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (y == -1) return neg_i64(x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

float mod_f32(float x, float y) { return x - floorf(x / y) * y; }
double mod_f64(double x, double y) { return x - floor(x / y) * y; }

int64_t mod_i64(int64_t x, int64_t y) {
    if (y == 0 || y == -1) return 0;
    int64_t r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* A NaN on either side gives NaN. */
float min_f32(float x, float y) { return x < y || x != x ? x : y; }
double min_f64(double x, double y) { return x < y || x != x ? x : y; }
int64_t min_i64(int64_t x, int64_t y) { return x < y ? x : y; }
float max_f32(float x, float y) { return x > y || x != x ? x : y; }
double max_f64(double x, double y) { return x > y || x != x ? x : y; }
int64_t max_i64(int64_t x, int64_t y) { return x > y ? x : y; }

int64_t and_i64(int64_t x, int64_t y) { return x & y; }
int64_t or_i64(int64_t x, int64_t y) { return x | y; }
int64_t xor_i64(int64_t x, int64_t y) { return x ^ y; }
int64_t shl_i64(int64_t x, int64_t y) { return (int64_t)((uint64_t)x << (y & 63)); }
int64_t shr_i64(int64_t x, int64_t y) { return x >> (y & 63); }

/* ---- lanes ---- */

/* z[i] = value for each of n elements, of operands x (and y) whose elements have type T. */
#define EACH1(T, f)                                                                                                    \
    for (int64_t i = 0; i < n; i++) ((T *)z)[i] = (f)(((const T *)x)[i])
#define EACH2(T, f)                                                                                                    \
    for (int64_t i = 0; i < n; i++) ((T *)z)[i] = (f)(((const T *)x)[i], ((const T *)y)[i])

void math_unary(OpKind op, Lane l, int64_t n, const void *x, void *z) {
    const UnaryValue *value = &op_info[op].unary;
    switch (l) {
    case LANE_FLOAT: EACH1(float, value->f32); break;
    case LANE_DOUBLE: EACH1(double, value->f64); break;
    case LANE_INT: EACH1(int64_t, value->i64); break;
    }
}

void math_binary(OpKind op, Lane l, int64_t n, const void *x, const void *y, void *z) {
    const BinaryValue *value = &op_info[op].binary;
    switch (l) {
    case LANE_FLOAT: EACH2(float, value->f32); break;
    case LANE_DOUBLE: EACH2(double, value->f64); break;
    case LANE_INT: EACH2(int64_t, value->i64); break;
    }
}

#define OUTCOME(x, y) ((x) < (y) ? IF_LESS : (x) == (y) ? IF_EQUAL : (x) > (y) ? IF_GREATER : IF_UNORDERED)
#define COMPARE(T)                                                                                                     \
    for (int64_t i = 0; i < n; i++) z[i] = (holds & OUTCOME(((const T *)x)[i], ((const T *)y)[i])) != 0

void math_compare(OpKind op, Lane l, int64_t n, const void *x, const void *y, int64_t *z) {
    const int holds = op_info[op].holds;
    switch (l) {
    case LANE_FLOAT: COMPARE(float); break;
    case LANE_DOUBLE: COMPARE(double); break;
    case LANE_INT: COMPARE(int64_t); break;
    }
}
