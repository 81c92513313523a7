/* tile_row.h: products of a matrix in memory and one row x, added to y; both contiguous, float32. The matrix is read
   once, in the order in which it lies, rows ld elements apart. Rows from `inside` on lie beyond the tensor: they
   count as zeros and are not read. */
#ifndef TILE_DEVICE_TILE_ROW_H
#define TILE_DEVICE_TILE_ROW_H

#include "device/tile_transpose.h"

typedef tile_vector_f32 tile_row_vector;
/* Elements of a vector; sums side by side, which hide the latency of one. */
enum { TILE_ROW_LANES = TILE_LANES_f32, TILE_ROW_BLOCK = 8 };

TILE_INLINE tile_row_vector tile_row_load(const float *p) { return *(const tile_row_vector *)p; }

#if defined __AVX512F__
TILE_INLINE uint16_t tile_row_mask(int64_t n) { return (uint16_t)((1u << n) - 1); }
#elif defined __AVX__
typedef int tile_row_lanes __attribute__((vector_size(32)));
TILE_INLINE tile_row_lanes tile_row_mask(int64_t n) { return (tile_row_lanes){0, 1, 2, 3, 4, 5, 6, 7} < (int)n; }
#endif

/* The first n elements (at most a vector), the rest zero and not read. */
TILE_INLINE tile_row_vector tile_row_part(const float *p, int64_t n) {
#if defined __AVX512F__
    return __builtin_ia32_loadups512_mask((const void *)p, (tile_row_vector){0}, tile_row_mask(n));
#elif defined __AVX__
    return __builtin_ia32_maskloadps256((const void *)p, tile_row_mask(n));
#else
    tile_row_vector v = {0};
    for (int i = 0; i < TILE_ROW_LANES; i++) v[i] = i < n ? p[i] : 0;
    return v;
#endif
}

TILE_INLINE void tile_row_store_part(float *p, tile_row_vector v, int64_t n) {
#if defined __AVX512F__
    __builtin_ia32_storeups512_mask((void *)p, v, tile_row_mask(n));
#elif defined __AVX__
    __builtin_ia32_maskstoreps256((void *)p, tile_row_mask(n), v);
#else
    for (int i = 0; i < TILE_ROW_LANES; i++)
        if (i < n) p[i] = v[i];
#endif
}

/* Of each four lanes: the sums of neighbours in a, then those in b. */
TILE_INLINE tile_row_vector tile_row_pairs(tile_row_vector a, tile_row_vector b) {
#if defined __AVX512F__
    return __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
           __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
#elif defined __AVX__
    return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
#else
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
#endif
}

typedef float tile_row_four __attribute__((vector_size(16), aligned(4), may_alias));

/* The sum of the vector's groups of four lanes. */
TILE_INLINE tile_row_four tile_row_fold(tile_row_vector v) {
#if defined __AVX512F__
    tile_eight h = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
#elif defined __AVX__
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
    return v;
#endif
}

/* y[r] += sum of s[r], r < 4 */
TILE_INLINE void tile_row_four_sums(const tile_row_vector *s, float *y) {
    *(tile_row_four *)y += tile_row_fold(tile_row_pairs(tile_row_pairs(s[0], s[1]), tile_row_pairs(s[2], s[3])));
}

TILE_INLINE float tile_row_sum(tile_row_vector v) {
    tile_row_four f = tile_row_fold(v);
    return f[0] + f[1] + f[2] + f[3];
}

/* rows: a constant, 8, 4 or 1 */
TILE_INLINE void tile_row_dots_block(int rows, int64_t k, const float *x, const float *w, int64_t ld, float *y) {
    tile_row_vector s[TILE_ROW_BLOCK] = {{0}};
    int64_t p = 0;
    for (; p + TILE_ROW_LANES <= k; p += TILE_ROW_LANES) {
        tile_row_vector v = tile_row_load(x + p);
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) s[r] += tile_row_load(w + r * ld + p) * v;
    }
    if (p < k) {
        tile_row_vector v = tile_row_part(x + p, k - p);
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) s[r] += tile_row_part(w + r * ld + p, k - p) * v;
    }
    if (rows == 1) *y += tile_row_sum(s[0]);
    for (int r = 0; r + 4 <= rows; r += 4) tile_row_four_sums(s + r, y + r);
}

/* What `from` .. `k` of x times zeros add up to: 0 or NaN. */
TILE_INLINE float tile_row_zero(int64_t from, int64_t k, const float *x) {
    float s = 0;
    for (int64_t p = from; p < k; p++) s += x[p] * 0;
    return s;
}

/* y[j] += sum over p of w[j][p] x[p], for n rows of k. */
static __attribute__((noinline, unused)) void tile_row_dots(int64_t n, int64_t inside, int64_t k, const float *x,
                                                            const float *w, int64_t ld, float *y) {
    int64_t j = 0, all = inside < n ? inside < 0 ? 0 : inside : n;
    for (; j + 8 <= all; j += 8) tile_row_dots_block(8, k, x, w + j * ld, ld, y + j);
    for (; j + 4 <= all; j += 4) tile_row_dots_block(4, k, x, w + j * ld, ld, y + j);
    for (; j < all; j++) tile_row_dots_block(1, k, x, w + j * ld, ld, y + j);
    for (; j < n; j++) y[j] += tile_row_zero(0, k, x);
}

/* Columns of TILE_ROW_BLOCK vectors; the sums stay in registers. */
TILE_INLINE void tile_row_sums_wide(int64_t k, const float *x, const float *w, int64_t ld, float *y) {
    tile_row_vector s[TILE_ROW_BLOCK];
    _Pragma("GCC unroll 8") for (int v = 0; v < TILE_ROW_BLOCK; v++) s[v] = tile_row_load(y + v * TILE_ROW_LANES);
    for (int64_t p = 0; p < k; p++)
        _Pragma("GCC unroll 8") for (int v = 0; v < TILE_ROW_BLOCK; v++) s[v] +=
            tile_row_load(w + p * ld + v * TILE_ROW_LANES) * x[p];
    _Pragma("GCC unroll 8") for (int v = 0; v < TILE_ROW_BLOCK; v++) * (tile_row_vector *)(y + v * TILE_ROW_LANES) =
        s[v];
}

/* Up to a vector of columns; four sums at a time, of every fourth row. */
TILE_INLINE void tile_row_sums_narrow(int64_t n, int64_t k, const float *x, const float *w, int64_t ld, float *y) {
    tile_row_vector s[4] = {{0}};
    const int64_t fours = k - k % 4; /* (of numbers gcc takes "p < k" for a loop that may not end) */
    for (int64_t p = 0; p < fours; p += 4)
        _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) s[v] += tile_row_part(w + (p + v) * ld, n) * x[p + v];
    for (int64_t p = fours; p < fours + k % 4; p++) s[0] += tile_row_part(w + p * ld, n) * x[p];
    tile_row_store_part(y, tile_row_part(y, n) + (s[0] + s[1] + (s[2] + s[3])), n);
}

/* y[j] += sum over p of x[p] w[p][j], for k rows of n. */
static __attribute__((noinline, unused)) void tile_row_sums(int64_t n, int64_t inside, int64_t k, const float *x,
                                                            const float *w, int64_t ld, float *y) {
    enum { WIDE = TILE_ROW_BLOCK * TILE_ROW_LANES };
    int64_t j = 0, all = inside < k ? inside < 0 ? 0 : inside : k;
    for (; j + WIDE <= n; j += WIDE) tile_row_sums_wide(all, x, w + j, ld, y + j);
    for (; j < n; j += TILE_ROW_LANES)
        tile_row_sums_narrow(n - j < TILE_ROW_LANES ? n - j : TILE_ROW_LANES, all, x, w + j, ld, y + j);
    if (all == k) return;
    float zero = tile_row_zero(all, k, x);
    for (j = 0; j < n; j++) y[j] += zero;
}

#endif
