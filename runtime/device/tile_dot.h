/* tile_dot.h: products of small matrices: c[m][n] += a[m][k] b[k][n]. Rows are lda, ldb, ldc elements apart. A block of
   TILE_ROWS rows and TILE_ACROSS vectors stays in registers while k runs. Vectors are as wide as the machine that the
   code is compiled for. */
#ifndef TILE_DEVICE_TILE_DOT_H
#define TILE_DEVICE_TILE_DOT_H

/* Bytes of a vector register; vectors of a block: with those of b and one of a, they fit the 32 or 16 registers that
   there are, and a step loads fewer than it multiplies. */
#if defined __AVX512F__
enum { TILE_VECTOR = 64, TILE_ROWS = 6, TILE_ACROSS = 4 };
#elif defined __AVX__
enum { TILE_VECTOR = 32, TILE_ROWS = 6, TILE_ACROSS = 2 };
#elif defined __aarch64__
enum { TILE_VECTOR = 16, TILE_ROWS = 6, TILE_ACROSS = 4 };
#elif defined __arm__ && !defined __ARM_NEON /* no vectors: what 16 registers hold */
enum { TILE_VECTOR = 8, TILE_ROWS = 2, TILE_ACROSS = 1 };
#else
enum { TILE_VECTOR = 16, TILE_ROWS = 6, TILE_ACROSS = 2 };
#endif

#define TILE_INLINE static inline __attribute__((always_inline))

enum { TILE_CACHE_LINE = 64 }; /* bytes of a cache line */

/* Rows in memory that are fetched into the cache, a line a step of a product's blocks, `share` lines a block. A fetch
   of what is not there does nothing. */
typedef struct {
    const char *at;
    int64_t left, bytes, jump; /* bytes that are left of the row, and of a row; from its end to the next one */
    int64_t lines, share;
} tile_fetch;

TILE_INLINE tile_fetch tile_fetch_of(const void *from, int64_t rows, int64_t bytes, int64_t stride, int64_t blocks) {
    const int64_t whole = (bytes + TILE_CACHE_LINE - 1) / TILE_CACHE_LINE * TILE_CACHE_LINE;
    const int64_t lines = rows * whole / TILE_CACHE_LINE;
    return (tile_fetch){(const char *)from, whole, whole, stride - whole, lines, (lines + blocks - 1) / blocks};
}

/* tile_dot_NAME and its parts for one element type.
   _step: one of k, for `rows` rows and `vectors` vectors, constants both; _block: all of them; _columns: all rows;
   _edge: the last columns, fewer than a vector. */
#define TILE_DOT(NAME, T)                                                                                              \
    typedef T tile_vector_##NAME __attribute__((vector_size(TILE_VECTOR), aligned(sizeof(T)), may_alias));             \
    enum { TILE_LANES_##NAME = TILE_VECTOR / sizeof(T) };                                                              \
                                                                                                                       \
    TILE_INLINE void tile_step_##NAME(int rows, int vectors, tile_vector_##NAME(*s)[TILE_ACROSS], const T *low,        \
                                      const T *high, int64_t lda, const T *b) {                                        \
        tile_vector_##NAME y[TILE_ACROSS];                                                                             \
        _Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++) y[v] =                                               \
            *(const tile_vector_##NAME *)(b + v * TILE_LANES_##NAME);                                                  \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++) s[r][v] +=                                       \
            (r < 3 ? low[r * lda] : high[(r - 3) * lda]) * y[v];                                                       \
    }                                                                                                                  \
                                                                                                                       \
    TILE_INLINE void tile_block_##NAME(int rows, int vectors, int64_t k, const T *a, int64_t lda, const T *b,          \
                                       int64_t ldb, T *c, int64_t ldc, tile_fetch *f) {                                \
        tile_vector_##NAME s[TILE_ROWS][TILE_ACROSS];                                                                  \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++) s[r][v] =                                        \
                *(const tile_vector_##NAME *)(c + r * ldc + v * TILE_LANES_##NAME);                                    \
        const T *low = a, *high = a + 3 * lda, *end = a + k; /* two pointers and one distance: registers are few */    \
        const int64_t lines = f->lines < f->share ? f->lines : f->share;                                               \
        if (rows == TILE_ROWS && lines > 0) {                                                                          \
            const char *at = f->at;                                                                                    \
            int64_t left = f->left;                                                                                    \
            for (const T *stop = lines < k ? a + lines : end; low < stop; low++, high++, b += ldb) {                   \
                __builtin_prefetch(at);                                                                                \
                at += TILE_CACHE_LINE, left -= TILE_CACHE_LINE;                                                        \
                at += left ? 0 : f->jump, left = left ? left : f->bytes;                                               \
                tile_step_##NAME(rows, vectors, s, low, high, lda, b);                                                 \
            }                                                                                                          \
            f->at = at, f->left = left, f->lines -= lines;                                                             \
        }                                                                                                              \
        for (; low < end; low++, high++, b += ldb) tile_step_##NAME(rows, vectors, s, low, high, lda, b);              \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
                _Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++) *                                            \
            (tile_vector_##NAME *)(c + r * ldc + v * TILE_LANES_##NAME) = s[r][v];                                     \
    }                                                                                                                  \
                                                                                                                       \
    TILE_INLINE void tile_columns_##NAME(int vectors, int64_t m, int64_t k, const T *a, int64_t lda, const T *b,       \
                                         int64_t ldb, T *c, int64_t ldc, tile_fetch *f) {                              \
        int64_t i = 0;                                                                                                 \
        for (; i + TILE_ROWS <= m; i += TILE_ROWS)                                                                     \
            tile_block_##NAME(TILE_ROWS, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, f);                   \
        if (TILE_ROWS > 4 && i + 4 <= m) {                                                                             \
            tile_block_##NAME(4, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, f);                           \
            i += 4;                                                                                                    \
        }                                                                                                              \
        if (TILE_ROWS > 2 && i + 2 <= m) {                                                                             \
            tile_block_##NAME(2, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, f);                           \
            i += 2;                                                                                                    \
        }                                                                                                              \
        if (i < m) tile_block_##NAME(1, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, f);                    \
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
    /* At most TILE_ACROSS vectors of columns. */                                                                      \
    static __attribute__((noinline, unused)) void tile_panel_##NAME(int64_t m, int64_t n, int64_t k, const T *a,       \
                                                                    int64_t lda, const T *b, int64_t ldb, T *c,        \
                                                                    int64_t ldc, tile_fetch f) {                       \
        int64_t j = 0;                                                                                                 \
        if (n == TILE_ACROSS * TILE_LANES_##NAME) {                                                                    \
            tile_columns_##NAME(TILE_ACROSS, m, k, a, lda, b, ldb, c, ldc, &f);                                        \
            return;                                                                                                    \
        }                                                                                                              \
        for (; TILE_ACROSS > 2 && j + 2 * TILE_LANES_##NAME <= n; j += 2 * TILE_LANES_##NAME)                          \
            tile_columns_##NAME(2, m, k, a, lda, b + j, ldb, c + j, ldc, &f);                                          \
        for (; j + TILE_LANES_##NAME <= n; j += TILE_LANES_##NAME)                                                     \
            tile_columns_##NAME(1, m, k, a, lda, b + j, ldb, c + j, ldc, &f);                                          \
        if (j < n) tile_edge_##NAME(m, n - j, k, a, lda, b + j, ldb, c + j, ldc);                                      \
    }                                                                                                                  \
                                                                                                                       \
    static __attribute__((unused)) void tile_dot_##NAME(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda,      \
                                                        const T *b, int64_t ldb, T *c, int64_t ldc) {                  \
        const int64_t wide = TILE_ACROSS * TILE_LANES_##NAME;                                                          \
        for (int64_t j = 0; j < n; j += wide)                                                                          \
            tile_panel_##NAME(m, n - j < wide ? n - j : wide, k, a, lda, b + j, ldb, c + j, ldc, (tile_fetch){0});     \
    }

TILE_DOT(f32, float)
TILE_DOT(f64, double)
TILE_DOT(u32, uint32_t)

/* The same bits as unsigned, which wraps. */
TILE_INLINE void tile_dot_i32(int64_t m, int64_t n, int64_t k, const int32_t *a, int64_t lda, const int32_t *b,
                              int64_t ldb, int32_t *c, int64_t ldc) {
    tile_dot_u32(m, n, k, (const uint32_t *)a, lda, (const uint32_t *)b, ldb, (uint32_t *)c, ldc);
}

#endif
