/* tile_scalar.h: arithmetic of single elements as the language defines it, for every target: integers that wrap,
   conversions, small floats. The including header may have defined TILE_FN, what functions are declared with. C11 and
   C++. */
#ifndef TILE_DEVICE_TILE_SCALAR_H
#define TILE_DEVICE_TILE_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#ifndef TILE_FN
#define TILE_FN static inline
#endif

typedef uint16_t tile_bf16;
typedef uint8_t tile_f8e4m3;
typedef uint8_t tile_f8e5m2;
typedef uint8_t tile_f8e4m3fnuz;

/* ---- packed integers: two i4 or four t2 a byte, the first in the lowest bits ---- */

typedef uint8_t tile_packed;

TILE_FN int8_t tile_i4_at(const tile_packed *p, int64_t i) {
    return (int8_t)((int8_t)(uint8_t)(p[i >> 1] << (4 - 4 * (i & 1))) >> 4);
}

TILE_FN int8_t tile_t2_at(const tile_packed *p, int64_t i) {
    return (int8_t)((int8_t)(uint8_t)(p[i >> 2] << (6 - 2 * (i & 3))) >> 6);
}

/* A byte's elements are stored by one task, one after the other. */
TILE_FN void tile_i4_put(tile_packed *p, int64_t i, int8_t x) {
    const int at = 4 * (int)(i & 1);
    p[i >> 1] = (tile_packed)((p[i >> 1] & ~(15 << at)) | (x & 15) << at);
}

TILE_FN void tile_t2_put(tile_packed *p, int64_t i, int8_t x) {
    const int at = 2 * (int)(i & 3);
    p[i >> 2] = (tile_packed)((p[i >> 2] & ~(3 << at)) | (x & 3) << at);
}

TILE_FN int8_t tile_i4_wrap(int64_t x) { return (int8_t)((int8_t)(uint8_t)((uint64_t)x << 4) >> 4); }
TILE_FN int8_t tile_t2_wrap(int64_t x) { return (int8_t)((int8_t)(uint8_t)((uint64_t)x << 6) >> 6); }

/* ---- extents ---- */

TILE_FN int64_t tile_least(int64_t a, int64_t b) { return a < b ? a : b; }
TILE_FN int64_t tile_most(int64_t a, int64_t b) { return a > b ? a : b; }
TILE_FN int64_t tile_ceil_div(int64_t n, int64_t d) { return n <= 0 ? 0 : (n - 1) / d + 1; }
TILE_FN bool tile_inside(int64_t i, int64_t n) { return (uint64_t)i < (uint64_t)n; }
TILE_FN bool tile_inside_i32(int32_t i, int64_t n) { return (uint32_t)i < (uint32_t)n; } /* n < 2^31 */

/* Elements of n in the block that the rank at a coordinate owns: [coord B, min(n, (coord + 1) B)). */
TILE_FN int64_t tile_part(int64_t n, int64_t block, int64_t coord) {
    return tile_most(0, tile_least(block, n - coord * block));
}

/* The same where B = ceil(n / ranks). */
TILE_FN int64_t tile_share(int64_t n, int64_t ranks, int64_t coord) {
    return tile_part(n, tile_ceil_div(n, ranks), coord);
}

/* ---- integers: they wrap; division is floor, by zero it gives 0; shifts happen in 64 bits, modulo 64 ---- */

#define TILE_INTEGER(name, T, U, LEAST)                                                                                \
    TILE_FN T tile_add_##name(T a, T b) { return (T)((U)a + (U)b); }                                                   \
    TILE_FN T tile_sub_##name(T a, T b) { return (T)((U)a - (U)b); }                                                   \
    TILE_FN T tile_mul_##name(T a, T b) { return (T)((uint64_t)a * (uint64_t)b); }                                     \
    TILE_FN T tile_min_##name(T a, T b) { return a < b ? a : b; }                                                      \
    TILE_FN T tile_max_##name(T a, T b) { return a > b ? a : b; }                                                      \
    TILE_FN T tile_abs_##name(T a) { return a < 0 ? (T)((U)0 - (U)a) : a; }                                            \
    TILE_FN T tile_div_##name(T a, T b) {                                                                              \
        if (b == 0) return 0;                                                                                          \
        if (LEAST < 0 && b == (T)-1) return (T)((U)0 - (U)a);                                                          \
        return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));                                                        \
    }                                                                                                                  \
    TILE_FN T tile_mod_##name(T a, T b) {                                                                              \
        if (b == 0 || (LEAST < 0 && b == (T)-1)) return 0;                                                             \
        T r = (T)(a % b);                                                                                              \
        return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                                          \
    }                                                                                                                  \
    TILE_FN T tile_shl_##name(T a, T b) { return (T)((uint64_t)a << (b & 63)); }                                       \
    TILE_FN T tile_shr_##name(T a, T b) { return (T)((int64_t)a >> (b & 63)); }

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

TILE_FN uint8_t tile_min_bool(uint8_t a, uint8_t b) { return a & b; }
TILE_FN uint8_t tile_max_bool(uint8_t a, uint8_t b) { return a | b; }

/* ---- bits, and floats of 16 and 8 bits: conversions round to nearest even; the small ones go through f32 ---- */

TILE_FN uint32_t tile_bits_of_f32(float x) {
    uint32_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

TILE_FN float tile_f32_of_bits(uint32_t u) {
    float x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

/* Values of records (tile_print.h). */
TILE_FN uint64_t tile_shown_f32(float x) { return tile_bits_of_f32(x); }
TILE_FN uint64_t tile_shown_i64(int64_t x) { return (uint64_t)x; }
TILE_FN uint64_t tile_shown_bool(uint8_t x) { return x; }

TILE_FN uint64_t tile_shown_f64(double x) {
    uint64_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

/* Rounded to odd: rounding the result once more gives what rounding x once would give. */
TILE_FN float tile_f32_odd(double x) {
    float near = (float)x;
    uint32_t u = tile_bits_of_f32(near);
    bool inexact = (double)near != x && x == x && near >= -3.40282347e38f && near <= 3.40282347e38f;
    u -= inexact && (x < 0 ? (double)near < x : (double)near > x);
    return tile_f32_of_bits(inexact ? u | 1u : u);
}

TILE_FN float tile_f32_of_bf16(tile_bf16 x) { return tile_f32_of_bits((uint32_t)x << 16); }

#ifndef TILE_OWN_BF16 /* the machine has an instruction */
TILE_FN tile_bf16 tile_bf16_of_f32(float x) {
    uint32_t u = tile_bits_of_f32(x), nan = (u & 0x7fffffffu) > 0x7f800000u;
    uint32_t rounded = u + 0x7fffu + (u >> 16 & 1u);
    return (tile_bf16)((nan ? u | 0x400000u : rounded) >> 16);
}
#endif

/* A format of 8 bits with `mantissa` bits below `bias`: its bits are those of a float, up to a power of two. */
TILE_FN float tile_f32_of_f8(uint8_t x, int mantissa, int bias) {
    float value = tile_f32_of_bits((x & 0x7fu) << (23 - mantissa)) * tile_f32_of_bits((uint32_t)(254 - bias) << 23);
    return x & 0x80 ? -value : value;
}

/* The nearest code of a finite x >= 0 below the overflow limit. Below the normal range, adding a number whose last
   bit is the format's smallest step rounds to such steps. */
TILE_FN uint32_t tile_small_of_f32(float x, int mantissa, int bias) {
    uint32_t u = tile_bits_of_f32(x), cut = (uint32_t)(23 - mantissa);
    uint32_t stepper = (uint32_t)(151 - bias - mantissa) << 23;
    if (u < (uint32_t)(128 - bias) << 23) return tile_bits_of_f32(x + tile_f32_of_bits(stepper)) - stepper;
    u += (1u << (cut - 1)) - 1 + (u >> cut & 1u);
    return (u >> cut) - ((uint32_t)(127 - bias) << mantissa);
}

#ifndef TILE_OWN_F8 /* the machine has instructions */
TILE_FN float tile_f32_of_f8e4m3(tile_f8e4m3 x) { return (x & 0x7f) == 0x7f ? NAN : tile_f32_of_f8(x, 3, 7); }
TILE_FN float tile_f32_of_f8e5m2(tile_f8e5m2 x) {
    if ((x & 0x7f) > 0x7c) return NAN;
    return (x & 0x7f) == 0x7c ? (x & 0x80 ? -INFINITY : INFINITY) : tile_f32_of_f8(x, 2, 15);
}
#endif
TILE_FN float tile_f32_of_f8e4m3fnuz(tile_f8e4m3fnuz x) { return x == 0x80 ? NAN : tile_f32_of_f8(x, 3, 8); }

/* The magnitude of x, at most `most`: what is too large becomes the largest finite value. */
TILE_FN float tile_f8_range(float x, float most) {
    float size = tile_f32_of_bits(tile_bits_of_f32(x) & 0x7fffffffu);
    return size > most ? most : size;
}
TILE_FN uint8_t tile_f8_sign(float x) { return (uint8_t)(tile_bits_of_f32(x) >> 24 & 0x80u); }

#ifndef TILE_OWN_F8
TILE_FN tile_f8e4m3 tile_f8e4m3_of_f32(float x) {
    return (uint8_t)(tile_f8_sign(x) | (x != x ? 0x7f : tile_small_of_f32(tile_f8_range(x, 448), 3, 7)));
}
TILE_FN tile_f8e5m2 tile_f8e5m2_of_f32(float x) {
    return (uint8_t)(tile_f8_sign(x) | (x != x ? 0x7e : tile_small_of_f32(tile_f8_range(x, 57344), 2, 15)));
}
#endif
TILE_FN tile_f8e4m3fnuz tile_f8e4m3fnuz_of_f32(float x) {
    uint8_t code = (uint8_t)(x != x ? 0x80 : tile_small_of_f32(tile_f8_range(x, 240), 3, 8));
    return code && code != 0x80 ? code | tile_f8_sign(x) : code;
}

/* Floats to integers: toward zero, cut to what fits; NaN gives 0. */
#define TILE_INTEGER_OF(name, T, LEAST, MOST)                                                                          \
    TILE_FN T tile_##name##_of_f64(double x) {                                                                         \
        return x != x ? 0 : x <= (double)LEAST ? LEAST : x >= (double)MOST ? MOST : (T)x;                              \
    }                                                                                                                  \
    TILE_FN T tile_##name##_of_f32(float x) {                                                                          \
        return x != x ? 0 : x <= (float)LEAST ? LEAST : x >= (float)MOST ? MOST : (T)x;                                \
    }

TILE_INTEGER_OF(i64, int64_t, INT64_MIN, INT64_MAX)
TILE_INTEGER_OF(i32, int32_t, INT32_MIN, INT32_MAX)
TILE_INTEGER_OF(i16, int16_t, INT16_MIN, INT16_MAX)
TILE_INTEGER_OF(i8, int8_t, INT8_MIN, INT8_MAX)
TILE_INTEGER_OF(u8, uint8_t, 0, UINT8_MAX)

#endif
