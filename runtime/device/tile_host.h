/* tile_host.h: what the C of the CPU target calls: memory, integers that wrap, small floats.
   tile_math.h has functions of floats, tile_dot.h products of matrices. Compile with -O3 -march=native -fopenmp-simd:
   the loops of generated code are marked for vectors. */
#ifndef TILE_DEVICE_TILE_HOST_H
#define TILE_DEVICE_TILE_HOST_H

#include "device/host.h"

#include <math.h>

typedef uint16_t tile_bf16;
typedef _Float16 tile_f16;
typedef uint8_t tile_f8e4m3;
typedef uint8_t tile_f8e5m2;
typedef uint8_t tile_f8e4m3fnuz;

/* ---- memory and extents ---- */

static inline void *tile_at(void *base, size_t bytes) { return (char *)base + bytes; }

static inline int64_t tile_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tile_most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t tile_ceil_div(int64_t n, int64_t d) { return n <= 0 ? 0 : (n - 1) / d + 1; }
static inline bool tile_inside(int64_t i, int64_t n) { return (uint64_t)i < (uint64_t)n; }

/* Elements of the block of n that the rank at a coordinate owns: [coord B, min(n, (coord + 1) B)), B = ceil(n / ranks).
 */
static inline int64_t tile_share(int64_t n, int64_t ranks, int64_t coord) {
    int64_t block = tile_ceil_div(n, ranks);
    return tile_most(0, tile_least(block, n - coord * block));
}

/* ---- integers: they wrap; division is floor, by zero it gives 0; shifts happen in 64 bits, modulo 64 ---- */

#define TILE_INTEGER(name, T, U, LEAST)                                                                                \
    static inline T tile_add_##name(T a, T b) { return (T)((U)a + (U)b); }                                             \
    static inline T tile_sub_##name(T a, T b) { return (T)((U)a - (U)b); }                                             \
    static inline T tile_mul_##name(T a, T b) { return (T)((uint64_t)a * (uint64_t)b); }                               \
    static inline T tile_min_##name(T a, T b) { return a < b ? a : b; }                                                \
    static inline T tile_max_##name(T a, T b) { return a > b ? a : b; }                                                \
    static inline T tile_abs_##name(T a) { return a < 0 ? (T)((U)0 - (U)a) : a; }                                      \
    static inline T tile_div_##name(T a, T b) {                                                                        \
        if (b == 0) return 0;                                                                                          \
        if (LEAST < 0 && b == (T)-1) return (T)((U)0 - (U)a);                                                          \
        return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));                                                        \
    }                                                                                                                  \
    static inline T tile_mod_##name(T a, T b) {                                                                        \
        if (b == 0 || (LEAST < 0 && b == (T)-1)) return 0;                                                             \
        T r = (T)(a % b);                                                                                              \
        return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                                          \
    }                                                                                                                  \
    static inline T tile_shl_##name(T a, T b) { return (T)((uint64_t)a << (b & 63)); }                                 \
    static inline T tile_shr_##name(T a, T b) { return (T)((int64_t)a >> (b & 63)); }

#define TILE_MIN_i64 INT64_MIN
#define TILE_MAX_i64 INT64_MAX
#define TILE_MIN_i32 INT32_MIN
#define TILE_MAX_i32 INT32_MAX
#define TILE_MIN_i16 INT16_MIN
#define TILE_MAX_i16 INT16_MAX
#define TILE_MIN_i8 INT8_MIN
#define TILE_MAX_i8 INT8_MAX
#define TILE_MIN_u8 0
#define TILE_MAX_u8 UINT8_MAX
#define TILE_MIN_bool 0
#define TILE_MAX_bool 1

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits" /* signs of unsigned numbers */
TILE_INTEGER(i64, int64_t, uint64_t, INT64_MIN)
TILE_INTEGER(i32, int32_t, uint32_t, INT32_MIN)
TILE_INTEGER(i16, int16_t, uint16_t, INT16_MIN)
TILE_INTEGER(i8, int8_t, uint8_t, INT8_MIN)
TILE_INTEGER(u8, uint8_t, uint8_t, 0)
#pragma GCC diagnostic pop

static inline uint8_t tile_min_bool(uint8_t a, uint8_t b) { return a & b; }
static inline uint8_t tile_max_bool(uint8_t a, uint8_t b) { return a | b; }

/* ---- bits, and floats of 16 and 8 bits: conversions round to nearest even; the small ones go through f32 ---- */

static inline uint32_t tile_bits_of_f32(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float tile_f32_of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Rounded to odd: rounding the result once more gives what rounding x once would give. */
static inline float tile_f32_odd(double x) {
    float near = (float)x;
    uint32_t u = tile_bits_of_f32(near);
    bool inexact = (double)near != x && x == x && fabsf(near) <= 3.40282347e38f;
    u -= inexact && fabs((double)near) > fabs(x);
    return tile_f32_of_bits(inexact ? u | 1u : u);
}

static inline float tile_f32_of_bf16(tile_bf16 x) { return tile_f32_of_bits((uint32_t)x << 16); }

static inline tile_bf16 tile_bf16_of_f32(float x) {
    uint32_t u = tile_bits_of_f32(x), nan = (u & 0x7fffffffu) > 0x7f800000u;
    uint32_t rounded = u + 0x7fffu + (u >> 16 & 1u);
    return (tile_bf16)((nan ? u | 0x400000u : rounded) >> 16);
}

static inline float tile_f32_of_f16(tile_f16 x) { return (float)x; }
static inline tile_f16 tile_f16_of_f32(float x) { return (tile_f16)x; }

/* A format of 8 bits with `mantissa` bits below `bias`; the code all-ones in exponent and mantissa and what is beyond
   `most` decide its specials. */
static inline float tile_f32_of_f8(uint8_t x, int mantissa, int bias) {
    int exponent = (x & 0x7f) >> mantissa, fraction = x & ((1 << mantissa) - 1);
    float value = exponent ? ldexpf((float)(fraction | 1 << mantissa), exponent - bias - mantissa)
                           : ldexpf((float)fraction, 1 - bias - mantissa);
    return x & 0x80 ? -value : value;
}

/* The nearest code of a finite |x| below the overflow limit. */
static inline uint8_t tile_f8_of_f32(float x, int mantissa, int bias) {
    int exponent;
    frexpf(x, &exponent);
    int unit = (x == 0 || exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - mantissa; /* of 0 the exponent is 0 */
    int steps = (int)rintf(ldexpf(x, -unit));
    return (uint8_t)(steps + ((unit + mantissa - (1 - bias)) << mantissa));
}

static inline float tile_f32_of_f8e4m3(tile_f8e4m3 x) { return (x & 0x7f) == 0x7f ? NAN : tile_f32_of_f8(x, 3, 7); }
static inline float tile_f32_of_f8e5m2(tile_f8e5m2 x) {
    if ((x & 0x7f) > 0x7c) return NAN;
    return (x & 0x7f) == 0x7c ? (x & 0x80 ? -INFINITY : INFINITY) : tile_f32_of_f8(x, 2, 15);
}
static inline float tile_f32_of_f8e4m3fnuz(tile_f8e4m3fnuz x) { return x == 0x80 ? NAN : tile_f32_of_f8(x, 3, 8); }

/* Too large: the largest finite value. */
static inline tile_f8e4m3 tile_f8e4m3_of_f32(float x) {
    uint8_t sign = signbit(x) ? 0x80 : 0;
    return isnan(x) ? sign | 0x7f : sign | tile_f8_of_f32(fminf(fabsf(x), 448), 3, 7);
}
static inline tile_f8e5m2 tile_f8e5m2_of_f32(float x) {
    uint8_t sign = signbit(x) ? 0x80 : 0;
    return isnan(x) ? sign | 0x7e : sign | tile_f8_of_f32(fminf(fabsf(x), 57344), 2, 15);
}
static inline tile_f8e4m3fnuz tile_f8e4m3fnuz_of_f32(float x) {
    uint8_t code = isnan(x) ? 0x80 : tile_f8_of_f32(fminf(fabsf(x), 240), 3, 8);
    return code && code != 0x80 && signbit(x) ? code | 0x80 : code;
}

/* Floats to integers: toward zero, cut to what fits; NaN gives 0. */
#define TILE_INTEGER_OF(name, T, LEAST, MOST)                                                                          \
    static inline T tile_##name##_of_f64(double x) {                                                                   \
        return x != x ? 0 : x <= (double)LEAST ? LEAST : x >= (double)MOST ? MOST : (T)x;                              \
    }                                                                                                                  \
    static inline T tile_##name##_of_f32(float x) {                                                                    \
        return x != x ? 0 : x <= (float)LEAST ? LEAST : x >= (float)MOST ? MOST : (T)x;                                \
    }

TILE_INTEGER_OF(i64, int64_t, INT64_MIN, INT64_MAX)
TILE_INTEGER_OF(i32, int32_t, INT32_MIN, INT32_MAX)
TILE_INTEGER_OF(i16, int16_t, INT16_MIN, INT16_MAX)
TILE_INTEGER_OF(i8, int8_t, INT8_MIN, INT8_MAX)
TILE_INTEGER_OF(u8, uint8_t, 0, UINT8_MAX)

/* ---- sums into memory that other tasks also add to ---- */

#define TILE_ATOMIC_ADD(name, T, PLUS)                                                                                 \
    static inline void tile_atomic_add_##name(T *to, T x) {                                                            \
        T seen, sum;                                                                                                   \
        __atomic_load(to, &seen, __ATOMIC_RELAXED);                                                                    \
        do sum = PLUS;                                                                                                 \
        while (!__atomic_compare_exchange(to, &seen, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));                 \
    }

TILE_ATOMIC_ADD(f32, float, seen + x)
TILE_ATOMIC_ADD(f64, double, seen + x)
TILE_ATOMIC_ADD(i32, int32_t, tile_add_i32(seen, x))
TILE_ATOMIC_ADD(i64, int64_t, tile_add_i64(seen, x))

#include "device/tile_math.h"

#include "device/tile_dot.h"

#include "device/tile_past.h"

#endif
