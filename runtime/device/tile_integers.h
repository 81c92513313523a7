/* tile_integers.h: sums of products of 8-bit integers in 32 bits, y[i][j] += sum over p of x[i][p] w[j][p], which wrap.
   Rows of both run along the sum. Vectors are widened to 16 bits and multiplied in pairs: VNNI, AVX-512, AVX2; NEON has
   products of four bytes. */
#ifndef TILE_DEVICE_TILE_INTEGERS_H
#define TILE_DEVICE_TILE_INTEGERS_H

/* Elements of a step; the rows of x and of w whose sums stay in registers. */
#if defined __AVX512BW__
enum { TILE_I8_STEP = 32, TILE_I8_ROWS = 4, TILE_I8_ACROSS = 4 };
#elif defined __AVX2__
enum { TILE_I8_STEP = 16, TILE_I8_ROWS = 2, TILE_I8_ACROSS = 4 };
#elif defined __ARM_FEATURE_DOTPROD
#include <arm_neon.h>
enum { TILE_I8_STEP = 16, TILE_I8_ROWS = 4, TILE_I8_ACROSS = 4 };
#else
enum { TILE_I8_STEP = 8, TILE_I8_ROWS = 1, TILE_I8_ACROSS = 1 };
#endif

typedef int8_t tile_i8_bytes __attribute__((vector_size(TILE_I8_STEP), aligned(1), may_alias));
#if defined __ARM_FEATURE_DOTPROD
typedef int8x16_t tile_i8_words;
typedef uint32x4_t tile_i8_sums;
TILE_INLINE tile_i8_words tile_i8_load(const int8_t *p) { return vld1q_s8(p); }
TILE_INLINE tile_i8_sums tile_i8_add(tile_i8_sums s, tile_i8_words a, tile_i8_words b) {
    return vreinterpretq_u32_s32(vdotq_s32(vreinterpretq_s32_u32(s), a, b));
}
#else
typedef int16_t tile_i8_words __attribute__((vector_size(2 * TILE_I8_STEP)));
typedef uint32_t tile_i8_sums __attribute__((vector_size(2 * TILE_I8_STEP)));
typedef int32_t tile_i8_signed __attribute__((vector_size(2 * TILE_I8_STEP)));
TILE_INLINE tile_i8_words tile_i8_load(const int8_t *p) {
    return __builtin_convertvector(*(const tile_i8_bytes *)p, tile_i8_words);
}
TILE_INLINE tile_i8_sums tile_i8_add(tile_i8_sums s, tile_i8_words a, tile_i8_words b) {
#if defined __AVX512VNNI__ && defined __AVX512BW__ && defined __clang__
    return (tile_i8_sums)__builtin_ia32_vpdpwssd512((tile_i8_signed)s, (tile_i8_signed)a, (tile_i8_signed)b);
#elif defined __AVX512VNNI__ && defined __AVX512BW__
    return (tile_i8_sums)__builtin_ia32_vpdpwssd_v16si((tile_i8_signed)s, (tile_i8_signed)a, (tile_i8_signed)b);
#elif defined __AVX512BW__ && defined __clang__
    return s + (tile_i8_sums)__builtin_ia32_pmaddwd512(a, b);
#elif defined __AVX512BW__
    return s + (tile_i8_sums)__builtin_ia32_pmaddwd512_mask(a, b, (tile_i8_signed){0}, 0xffff);
#elif defined __AVX2__
    return s + (tile_i8_sums)__builtin_ia32_pmaddwd256(a, b);
#else
    for (int i = 0; i < TILE_I8_STEP; i++) s[i / 2] += (uint32_t)(a[i] * b[i]);
    return s;
#endif
}
#endif
typedef uint32_t tile_i8_four __attribute__((vector_size(16)));
TILE_INLINE uint32_t tile_i8_total(tile_i8_sums s) {
    tile_i8_four part[sizeof s / sizeof(tile_i8_four)], sum = {0};
    __builtin_memcpy(part, &s, sizeof s);
    for (int i = 0; i < (int)(sizeof s / sizeof sum); i++) sum += part[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* The first n elements, then zeros. */
TILE_INLINE tile_i8_words tile_i8_part(const int8_t *p, int64_t n) {
    int8_t part[TILE_I8_STEP] = {0};
    __builtin_memcpy(part, p, (size_t)n);
    return tile_i8_load(part);
}

/* A step of m rows of x and n of w, of which `left` elements are there; m and n are constants. */
TILE_INLINE void tile_i8_step(bool whole, int m, int n, int64_t left, const int8_t *x, int64_t lx, const int8_t *w,
                              int64_t lw, tile_i8_sums (*s)[2 * TILE_I8_ACROSS]) {
    tile_i8_words a[TILE_I8_ROWS];
    _Pragma("GCC unroll 4") for (int i = 0; i < m; i++) a[i] =
        whole ? tile_i8_load(x + i * lx) : tile_i8_part(x + i * lx, left);
    _Pragma("GCC unroll 8") for (int j = 0; j < n; j++) {
        if (whole && m == 1) __builtin_prefetch(w + (n + j) * lw, 0, 2); /* the rows after these */
        const tile_i8_words b = whole ? tile_i8_load(w + j * lw) : tile_i8_part(w + j * lw, left);
        _Pragma("GCC unroll 4") for (int i = 0; i < m; i++) s[i][j] = tile_i8_add(s[i][j], a[i], b);
    }
}

TILE_INLINE void tile_i8_block(int m, int n, int64_t k, const int8_t *x, int64_t lx, const int8_t *w, int64_t lw,
                               int32_t *y, int64_t ly) {
    tile_i8_sums s[TILE_I8_ROWS][2 * TILE_I8_ACROSS] = {{{0}}};
    int64_t p = 0;
    for (; p + TILE_I8_STEP <= k; p += TILE_I8_STEP) tile_i8_step(true, m, n, 0, x + p, lx, w + p, lw, s);
    if (p < k) tile_i8_step(false, m, n, k - p, x + p, lx, w + p, lw, s);
    _Pragma("GCC unroll 4") for (int i = 0; i < m; i++)
        _Pragma("GCC unroll 8") for (int j = 0; j < n; j++) y[i * ly + j] =
            (int32_t)((uint32_t)y[i * ly + j] + tile_i8_total(s[i][j]));
}

TILE_INLINE void tile_i8_rows(int m, int64_t n, int64_t k, const int8_t *x, int64_t lx, const int8_t *w, int64_t lw,
                              int32_t *y, int64_t ly) {
    const int across = m == 1 ? 2 * TILE_I8_ACROSS : TILE_I8_ACROSS;
    const int64_t whole = n - n % across; /* (of numbers gcc takes "j < n" for a loop that may not end) */
    for (int64_t j = 0; j < whole; j += across) tile_i8_block(m, across, k, x, lx, w + j * lw, lw, y + j, ly);
    for (int64_t j = whole; j < whole + n % across; j++) tile_i8_block(m, 1, k, x, lx, w + j * lw, lw, y + j, ly);
}

/* m rows of x, n rows of w, both of k; rows are lx, lw, ly elements apart. */
static __attribute__((noinline, unused)) void tile_dots_i8(int64_t m, int64_t n, int64_t k, const int8_t *x, int64_t lx,
                                                           const int8_t *w, int64_t lw, int32_t *y, int64_t ly) {
    const int64_t whole = m - m % TILE_I8_ROWS; /* as in tile_i8_rows */
    for (int64_t i = 0; i < whole; i += TILE_I8_ROWS)
        tile_i8_rows(TILE_I8_ROWS, n, k, x + i * lx, lx, w, lw, y + i * ly, ly);
    for (int64_t i = whole; i < whole + m % TILE_I8_ROWS; i++)
        tile_i8_rows(1, n, k, x + i * lx, lx, w, lw, y + i * ly, ly);
}

#endif
