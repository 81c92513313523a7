/* tile_dot.h: products of small matrices in scratch memory: c[m][n] += a[m][k] b[k][n]. Rows are lda, ldb, ldc
   elements apart. A block of TILE_ROWS rows and two vectors stays in registers while k runs. Vectors are as wide as
   the machine that the code is compiled for. */
#ifndef TILE_DEVICE_TILE_DOT_H
#define TILE_DEVICE_TILE_DOT_H

/* Bytes of a vector register, and rows of a block: with two vectors each, and three for operands, they fit the 32 or
   16 registers that there are. */
#if defined __AVX512F__
enum { TILE_VECTOR = 64, TILE_ROWS = 8 };
#elif defined __AVX__
enum { TILE_VECTOR = 32, TILE_ROWS = 6 };
#elif defined __aarch64__
enum { TILE_VECTOR = 16, TILE_ROWS = 8 };
#else
enum { TILE_VECTOR = 16, TILE_ROWS = 6 };
#endif

#define TILE_INLINE static inline __attribute__((always_inline))

/* tile_dot_NAME and its parts for one element type.
   _block: `rows` rows (a constant) and `vectors` vectors (a constant) of c; _columns: all rows of them;
   _edge: the last columns, fewer than a vector. */
#define TILE_DOT(NAME, T)                                                                                              \
    typedef T tile_vector_##NAME __attribute__((vector_size(TILE_VECTOR), aligned(sizeof(T)), may_alias));             \
    enum { TILE_LANES_##NAME = TILE_VECTOR / sizeof(T) };                                                              \
                                                                                                                       \
    TILE_INLINE void tile_block_##NAME(int rows, int vectors, int64_t k, const T *a, int64_t lda, const T *b,          \
                                       int64_t ldb, T *c, int64_t ldc) {                                               \
        tile_vector_##NAME s[TILE_ROWS][2];                                                                            \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++) s[r][v] =                                        \
                *(const tile_vector_##NAME *)(c + r * ldc + v * TILE_LANES_##NAME);                                    \
        for (int64_t p = 0; p < k; p++) {                                                                              \
            tile_vector_##NAME y[2];                                                                                   \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++) y[v] =                                           \
                *(const tile_vector_##NAME *)(b + p * ldb + v * TILE_LANES_##NAME);                                    \
            _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                     \
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++) s[r][v] += a[r * lda + p] * y[v];            \
        }                                                                                                              \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++) *                                            \
            (tile_vector_##NAME *)(c + r * ldc + v * TILE_LANES_##NAME) = s[r][v];                                     \
    }                                                                                                                  \
                                                                                                                       \
    TILE_INLINE void tile_columns_##NAME(int vectors, int64_t m, int64_t k, const T *a, int64_t lda, const T *b,       \
                                         int64_t ldb, T *c, int64_t ldc) {                                             \
        int64_t i = 0;                                                                                                 \
        for (; i + TILE_ROWS <= m; i += TILE_ROWS)                                                                     \
            tile_block_##NAME(TILE_ROWS, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);                      \
        for (; i + 2 <= m; i += 2) tile_block_##NAME(2, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);       \
        if (i < m) tile_block_##NAME(1, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);                       \
    }                                                                                                                  \
                                                                                                                       \
    static inline void tile_edge_##NAME(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b,          \
                                        int64_t ldb, T *c, int64_t ldc) {                                              \
        for (int64_t i = 0; i < m; i++) {                                                                              \
            T s[TILE_LANES_##NAME] = {0};                                                                              \
            for (int64_t p = 0; p < k; p++)                                                                            \
                for (int64_t j = 0; j < n; j++) s[j] += a[i * lda + p] * b[p * ldb + j];                               \
            for (int64_t j = 0; j < n; j++) c[i * ldc + j] += s[j];                                                    \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __attribute__((noinline, unused)) void tile_dot_##NAME(                                                     \
        int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {        \
        const int64_t wide = 2 * TILE_LANES_##NAME;                                                                    \
        int64_t j = 0;                                                                                                 \
        for (; j + wide <= n; j += wide) tile_columns_##NAME(2, m, k, a, lda, b + j, ldb, c + j, ldc);                 \
        if (j + TILE_LANES_##NAME <= n) {                                                                              \
            tile_columns_##NAME(1, m, k, a, lda, b + j, ldb, c + j, ldc);                                              \
            j += TILE_LANES_##NAME;                                                                                    \
        }                                                                                                              \
        if (j < n) tile_edge_##NAME(m, n - j, k, a, lda, b + j, ldb, c + j, ldc);                                      \
    }

TILE_DOT(f32, float)
TILE_DOT(f64, double)
TILE_DOT(u32, uint32_t)

/* The same bits as unsigned, which wraps. */
TILE_INLINE void tile_dot_i32(int64_t m, int64_t n, int64_t k, const int32_t *a, int64_t lda, const int32_t *b,
                              int64_t ldb, int32_t *c, int64_t ldc) {
    tile_dot_u32(m, n, k, (const uint32_t *)a, lda, (const uint32_t *)b, ldb, (uint32_t *)c, ldc);
}

/* to[columns][rows] = from[rows][columns] transposed, 8 by 8 in registers. */
typedef float tile_eight __attribute__((vector_size(32), aligned(4), may_alias));

TILE_INLINE void tile_transpose_8x8(const float *from, int64_t ld_from, float *to, int64_t ld_to) {
    tile_eight r[8], s[8], q[8];
    for (int i = 0; i < 8; i++) r[i] = *(const tile_eight *)(from + i * ld_from);
    for (int i = 0; i < 4; i++) {
        s[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        s[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < 2; i++) {
            q[4 * h + 2 * i] = __builtin_shufflevector(s[4 * h + i], s[4 * h + 2 + i], 0, 1, 8, 9, 4, 5, 12, 13);
            q[4 * h + 2 * i + 1] = __builtin_shufflevector(s[4 * h + i], s[4 * h + 2 + i], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        *(tile_eight *)(to + i * ld_to) = __builtin_shufflevector(q[i], q[4 + i], 0, 1, 2, 3, 8, 9, 10, 11);
        *(tile_eight *)(to + (4 + i) * ld_to) = __builtin_shufflevector(q[i], q[4 + i], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

static __attribute__((noinline, unused)) void tile_transpose_f32(int64_t rows, int64_t columns, const float *from,
                                                                 int64_t ld_from, float *to, int64_t ld_to) {
    int64_t j8 = columns / 8 * 8, i8 = rows / 8 * 8;
    for (int64_t j = 0; j < j8; j += 8)
        for (int64_t i = 0; i < i8; i += 8)
            tile_transpose_8x8(from + i * ld_from + j, ld_from, to + j * ld_to + i, ld_to);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i < i8 ? j8 : 0; j < columns; j++) to[j * ld_to + i] = from[i * ld_from + j];
}

#endif
