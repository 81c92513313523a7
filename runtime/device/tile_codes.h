/* tile_codes.h: elements of a row in memory as vectors of float32. A chunk is a vector's bytes of them; its vector s
   has the elements s, s + S, s + 2 S, .. where a chunk becomes S vectors and the type is interleaved, else the s-th
   lanes of the chunk in their order. Factors of such vectors are put into the same order once. */
#ifndef TILE_DEVICE_TILE_CODES_H
#define TILE_DEVICE_TILE_CODES_H

#include "device/tile_row.h"

/* By the C names of the element types. */
typedef enum {
    TILE_CODES_f32,
    TILE_CODES_bf16,
    TILE_CODES_f16,
    TILE_CODES_i8,
    TILE_CODES_i4,
    TILE_CODES_t2
} tile_codes;

typedef uint32_t tile_words __attribute__((vector_size(TILE_VECTOR), aligned(1), may_alias));
typedef int32_t tile_signed __attribute__((vector_size(TILE_VECTOR), aligned(1), may_alias));
typedef char tile_bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef _Float16 tile_halves __attribute__((vector_size(TILE_VECTOR / 2), aligned(1), may_alias));
typedef short tile_shorts __attribute__((vector_size(TILE_VECTOR / 2), aligned(1), may_alias));

/* bits of an element; vectors of a chunk; elements of a chunk */
TILE_INLINE int tile_codes_bits(tile_codes c) {
    return c == TILE_CODES_f32 ? 32 : c == TILE_CODES_i8 ? 8 : c == TILE_CODES_i4 ? 4 : c == TILE_CODES_t2 ? 2 : 16;
}
TILE_INLINE int tile_codes_vectors(tile_codes c) { return 32 / tile_codes_bits(c); }
TILE_INLINE int tile_codes_chunk(tile_codes c) { return TILE_LANES_f32 * tile_codes_vectors(c); }
TILE_INLINE bool tile_codes_interleaved(tile_codes c) {
    return c == TILE_CODES_bf16 || c == TILE_CODES_i4 || c == TILE_CODES_t2;
}

enum { TILE_MOST_VECTORS = 16 }; /* of a chunk: those of t2 */

/* Every second lane of x and y. */
#if defined __AVX512F__
#define TILE_EVEN(x, y) __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define TILE_ODD(x, y) __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#elif defined __AVX__
#define TILE_EVEN(x, y) __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14)
#define TILE_ODD(x, y) __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15)
#else
#define TILE_EVEN(x, y) __builtin_shufflevector(x, y, 0, 2, 4, 6)
#define TILE_ODD(x, y) __builtin_shufflevector(x, y, 1, 3, 5, 7)
#endif

/* Signed integers of so many bits, the s-th of each word. */
TILE_INLINE tile_row_vector tile_codes_small(tile_words v, int bits, int s) {
#if defined __AVX512F__
    /* The low four bits of a lane choose; of two bits, both values of the upper two have the same entry. */
    const tile_row_vector four = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
    const tile_row_vector two = {0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1};
    const tile_row_vector table = bits == 4 ? four : two;
    const tile_signed at = (tile_signed)(v >> (bits * s));
#if defined __clang__
    return (tile_row_vector)__builtin_ia32_permvarsf512(table, at);
#else
    return (tile_row_vector)__builtin_shuffle(table, at);
#endif
#else
    return __builtin_convertvector((tile_signed)(v << (32 - bits - bits * s)) >> (32 - bits), tile_row_vector);
#endif
}

TILE_INLINE tile_row_vector tile_codes_halves(const char *at) {
#if defined __AVX512F__
    return __builtin_ia32_vcvtph2ps512_mask(*(const tile_shorts *)at, (tile_row_vector){0}, 0xffff, 4);
#elif defined __F16C__ && !defined __clang__
    return __builtin_ia32_vcvtph2ps256(*(const tile_shorts *)at);
#else
    return __builtin_convertvector(*(const tile_halves *)at, tile_row_vector);
#endif
}

/* As many bytes as a vector has lanes. gcc makes single elements of a conversion from bytes. */
TILE_INLINE tile_row_vector tile_codes_bytes(const char *at) {
#if defined __AVX512F__ && !defined __clang__
    const tile_bytes b = *(const tile_bytes *)at;
    return __builtin_convertvector((tile_signed)__builtin_ia32_pmovsxbd512_mask(b, (tile_signed){0}, 0xffff),
                                   tile_row_vector);
#elif defined __AVX2__ && !defined __clang__
    typedef long long tile_pair __attribute__((vector_size(16)));
    int64_t eight;
    __builtin_memcpy(&eight, at, sizeof eight);
    const tile_pair both = {eight, 0};
    return __builtin_convertvector((tile_signed)__builtin_ia32_pmovsxbd256((tile_bytes)both), tile_row_vector);
#else
    typedef signed char tile_small __attribute__((vector_size(TILE_VECTOR / 4)));
    tile_small b;
    __builtin_memcpy(&b, at, sizeof b);
    return __builtin_convertvector(b, tile_row_vector);
#endif
}

/* Vector s of the chunk at `at`, which is also v. */
TILE_INLINE tile_row_vector tile_codes_vector(tile_codes c, tile_words v, const char *at, int s) {
    if (c == TILE_CODES_f32) return (tile_row_vector)v;
    if (c == TILE_CODES_bf16 && s) return (tile_row_vector)(v & 0xffff0000u);
    if (c == TILE_CODES_bf16) return (tile_row_vector)(v << 16);
    if (c == TILE_CODES_f16) return tile_codes_halves(at + s * (TILE_VECTOR / 2));
    if (c == TILE_CODES_i8) return tile_codes_bytes(at + s * (TILE_VECTOR / 4));
    return tile_codes_small(v, tile_codes_bits(c), s);
}

/* The first `bytes`, one to a vector's; the rest is zero and not read. */
TILE_INLINE tile_words tile_words_part(const char *at, int64_t bytes) {
#if defined __AVX512BW__
    typedef char tile_chars __attribute__((vector_size(64)));
    return (tile_words)__builtin_ia32_loaddquqi512_mask((const void *)at, (tile_chars){0}, ~0ull >> (64 - bytes));
#else
    tile_words v = {0};
    __builtin_memcpy(&v, at, (size_t)bytes);
    return v;
#endif
}

/* A chunk of what is multiplied by such elements, in their order; `vectors` of a chunk are a power of two. Each step
   puts lanes of even numbers in the first half, as if all vectors were one. */
TILE_INLINE void tile_codes_order(int vectors, const float *from, float *to) {
    tile_row_vector a[TILE_MOST_VECTORS], b[TILE_MOST_VECTORS];
    _Pragma("GCC unroll 16") for (int i = 0; i < vectors; i++) a[i] = tile_row_load(from + i * TILE_ROW_LANES);
    _Pragma("GCC unroll 4") for (int step = 1; step < vectors; step *= 2) {
        _Pragma("GCC unroll 8") for (int i = 0; i < vectors / 2; i++) {
            b[i] = TILE_EVEN(a[2 * i], a[2 * i + 1]);
            b[vectors / 2 + i] = TILE_ODD(a[2 * i], a[2 * i + 1]);
        }
        _Pragma("GCC unroll 16") for (int i = 0; i < vectors; i++) a[i] = b[i];
    }
    _Pragma("GCC unroll 16") for (int i = 0; i < vectors; i++) * (tile_row_vector *)(to + i * TILE_ROW_LANES) = a[i];
}

#endif
