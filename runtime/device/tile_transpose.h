/* tile_transpose.h: matrices of f32 transposed in registers: four columns of as many rows as a vector has lanes become
   four rows. */
#ifndef TILE_DEVICE_TILE_TRANSPOSE_H
#define TILE_DEVICE_TILE_TRANSPOSE_H

#include "device/tile_dot.h"

/* Four elements of each of TILE_LANES rows, those of a group of four rows `ld` * 4 apart: of every four lanes, one
   row's. gcc makes shuffles of what clang sees to be loads into a part of a register. */
typedef float tile_four __attribute__((vector_size(16), aligned(4), may_alias));
typedef float tile_eight __attribute__((vector_size(32), aligned(4), may_alias));

TILE_INLINE tile_vector_f32 tile_fours(const float *from, int64_t ld) {
    const tile_four a = *(const tile_four *)from;
#if defined __AVX512F__ && !defined __clang__
    tile_vector_f32 v = __builtin_ia32_broadcastf32x4_512(a, (tile_vector_f32){0}, 0xffff);
    v = __builtin_ia32_insertf32x4_mask(v, *(const tile_four *)(from + 4 * ld), 1, v, 0xffff);
    v = __builtin_ia32_insertf32x4_mask(v, *(const tile_four *)(from + 8 * ld), 2, v, 0xffff);
    return __builtin_ia32_insertf32x4_mask(v, *(const tile_four *)(from + 12 * ld), 3, v, 0xffff);
#elif defined __AVX512F__
    const tile_four b = *(const tile_four *)(from + 4 * ld), c = *(const tile_four *)(from + 8 * ld);
    const tile_four d = *(const tile_four *)(from + 12 * ld);
    const tile_eight ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    const tile_eight cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#elif defined __AVX__
    return __builtin_shufflevector(a, *(const tile_four *)(from + 4 * ld), 0, 1, 2, 3, 4, 5, 6, 7);
#else
    (void)ld;
    return a;
#endif
}

/* Of each four lanes the lower (o = 0) or upper (o = 2) two, of x and y in turns; the same as pairs. */
#if defined __AVX512F__
#define TILE_UNPACK(x, y, o)                                                                                           \
    __builtin_shufflevector(x, y, o, o + 16, o + 1, o + 17, o + 4, o + 20, o + 5, o + 21, o + 8, o + 24, o + 9,        \
                            o + 25, o + 12, o + 28, o + 13, o + 29)
#define TILE_HALVES(x, y, o)                                                                                           \
    __builtin_shufflevector(x, y, o, o + 1, o + 16, o + 17, o + 4, o + 5, o + 20, o + 21, o + 8, o + 9, o + 24,        \
                            o + 25, o + 12, o + 13, o + 28, o + 29)
#elif defined __AVX__
#define TILE_UNPACK(x, y, o) __builtin_shufflevector(x, y, o, o + 8, o + 1, o + 9, o + 4, o + 12, o + 5, o + 13)
#define TILE_HALVES(x, y, o) __builtin_shufflevector(x, y, o, o + 1, o + 8, o + 9, o + 4, o + 5, o + 12, o + 13)
#else
#define TILE_UNPACK(x, y, o) __builtin_shufflevector(x, y, o, o + 4, o + 1, o + 5)
#define TILE_HALVES(x, y, o) __builtin_shufflevector(x, y, o, o + 1, o + 4, o + 5)
#endif

/* Four columns of TILE_LANES rows become four rows. */
TILE_INLINE void tile_transpose_fours(const float *from, int64_t ld_from, float *to, int64_t ld_to) {
    tile_vector_f32 r[4], s[4];
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) r[i] = tile_fours(from + i * ld_from, ld_from);
    s[0] = TILE_UNPACK(r[0], r[1], 0), s[1] = TILE_UNPACK(r[0], r[1], 2);
    s[2] = TILE_UNPACK(r[2], r[3], 0), s[3] = TILE_UNPACK(r[2], r[3], 2);
    *(tile_vector_f32 *)to = TILE_HALVES(s[0], s[2], 0);
    *(tile_vector_f32 *)(to + ld_to) = TILE_HALVES(s[0], s[2], 2);
    *(tile_vector_f32 *)(to + 2 * ld_to) = TILE_HALVES(s[1], s[3], 0);
    *(tile_vector_f32 *)(to + 3 * ld_to) = TILE_HALVES(s[1], s[3], 2);
}

/* to[columns][rows] = from[rows][columns] transposed */
static __attribute__((noinline, unused)) void tile_transpose_f32(int64_t rows, int64_t columns, const float *from,
                                                                 int64_t ld_from, float *to, int64_t ld_to) {
    const int64_t i_end = rows - rows % TILE_LANES_f32, j_end = columns - columns % 4;
    for (int64_t i = 0; i < i_end; i += TILE_LANES_f32)
        for (int64_t j = 0; j < j_end; j += 4)
            tile_transpose_fours(from + i * ld_from + j, ld_from, to + j * ld_to + i, ld_to);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i < i_end ? j_end : 0; j < columns; j++) to[j * ld_to + i] = from[i * ld_from + j];
}

#endif
