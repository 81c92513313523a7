/* tile_gathered.h: sums of products of neighbours in memory and elements that lie anywhere, as a row of a sparse matrix
   times a vector. Positions outside a tensor read 0. */
#ifndef TILE_DEVICE_TILE_GATHERED_H
#define TILE_DEVICE_TILE_GATHERED_H

#include "device/tile_row.h"

/* x[i], and 0 outside of it; unsigned, or gcc takes half as long again. */
TILE_INLINE float tile_gather_one(const float *x, uint32_t i, uint32_t n) { return i < n ? x[i] : 0; }

TILE_INLINE float tile_gathered_few(int64_t n, const float *a, const int32_t *index, const float *x, uint32_t nx) {
    float even = 0, odd = 0;
    int64_t p = 0;
    for (; p + 2 <= n; p += 2) {
        even += a[p] * tile_gather_one(x, (uint32_t)index[p], nx);
        odd += a[p + 1] * tile_gather_one(x, (uint32_t)index[p + 1], nx);
    }
    if (p < n) even += a[p] * tile_gather_one(x, (uint32_t)index[p], nx);
    return even + odd;
}

#if defined __AVX2__
typedef int tile_eight_ints __attribute__((vector_size(32), aligned(4), may_alias));
typedef unsigned tile_eight_unsigned __attribute__((vector_size(32)));
typedef float tile_eight_whole __attribute__((vector_size(32)));
typedef int tile_eight_index __attribute__((vector_size(32)));

TILE_INLINE tile_eight_whole tile_gather_eight(const float *x, tile_eight_index i, uint32_t n) {
#if defined __AVX512VL__
    const uint8_t inside = (uint8_t)__builtin_ia32_ucmpd256_mask(i, (tile_eight_index){0} + (int)n, 1, 0xff);
    return __builtin_ia32_gather3siv8sf((tile_eight_whole){0}, x, i, inside, 4);
#elif defined __clang__
    return __builtin_ia32_gatherd_ps256((tile_eight_whole){0}, x, i, (tile_eight_whole)((tile_eight_unsigned)i < n), 4);
#else
    return __builtin_ia32_gathersiv8sf((tile_eight_whole){0}, x, i, (tile_eight_whole)((tile_eight_unsigned)i < n), 4);
#endif
}

/* Eight at a time: 16 take longer where rows are short, and no less time where they are long. */
TILE_INLINE float tile_gathered_many(int64_t n, const float *a, const int32_t *index, const float *x, uint32_t nx) {
    tile_eight_whole s = {0};
    int64_t p = 0;
    for (; p + 8 <= n; p += 8)
        s += *(const tile_eight *)(a + p) * tile_gather_eight(x, *(const tile_eight_ints *)(index + p), nx);
    tile_row_four h = __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
    h += __builtin_shufflevector(h, h, 2, 3, 2, 3);
    float sum = h[0] + h[1];
    for (; p < n; p++) sum += a[p] * tile_gather_one(x, (uint32_t)index[p], nx);
    return sum;
}
#else
#define tile_gathered_many tile_gathered_few
#endif

/* The sum over p < n of a[at + p] x[index[at + p]]; a and index have na elements, x has nx < 2^31. What lies outside of
   a and index adds 0 x[0]: nothing, or NaN. */
TILE_INLINE float tile_dot_gathered(int64_t n, int64_t at, int64_t na, const float *a, const int32_t *index,
                                    const float *x, int64_t nx) {
    float none = 0;
    if (__builtin_expect(at < 0 || at + n > na, 0)) {
        const int64_t end = tile_least(at + n, na);
        none = n > 0 ? tile_gather_one(x, 0, (uint32_t)nx) * 0 : 0;
        at = tile_most(at, 0);
        n = end - at;
    }
    return none + (n < 8 ? tile_gathered_few(n, a + at, index + at, x, (uint32_t)nx)
                         : tile_gathered_many(n, a + at, index + at, x, (uint32_t)nx));
}

#endif
