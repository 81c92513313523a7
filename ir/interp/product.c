/* product.c: z[b][m][n] += x[b][m][k] y[b][k][n], dense and row-major, each sum in ascending order of k and
   rounded after every product and addition: blocks of 4 rows by one vector, in the widest vectors of the machine. The
   results are the same on all machines; the build forbids fused operations. */
#include "ir/interp/state.h"

#define INLINE static inline __attribute__((always_inline))

typedef float Floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef double Doubles __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint64_t Ints __attribute__((vector_size(64), aligned(8), may_alias));

#define PRODUCT(name, T, V)                                                                                            \
    INLINE void name##_block(const Product *s, const T *x, const T *y, T *z) {                                         \
        int64_t n = s->n, k = s->k;                                                                                    \
        V z0 = *(V *)z, z1 = *(V *)(z + n), z2 = *(V *)(z + 2 * n), z3 = *(V *)(z + 3 * n);                            \
        for (int64_t p = 0; p < k; p++) {                                                                              \
            V row = *(const V *)(y + p * n);                                                                           \
            z0 += x[p] * row;                                                                                          \
            z1 += x[k + p] * row;                                                                                      \
            z2 += x[2 * k + p] * row;                                                                                  \
            z3 += x[3 * k + p] * row;                                                                                  \
        }                                                                                                              \
        *(V *)z = z0;                                                                                                  \
        *(V *)(z + n) = z1;                                                                                            \
        *(V *)(z + 2 * n) = z2;                                                                                        \
        *(V *)(z + 3 * n) = z3;                                                                                        \
    }                                                                                                                  \
    /* Rows and columns that fill no block. */                                                                         \
    INLINE void name##_edge(const Product *s, const T *x, const T *y, T *restrict z, int64_t rows, int64_t columns) {  \
        for (int64_t r = 0; r < rows; r++)                                                                             \
            for (int64_t p = 0; p < s->k; p++)                                                                         \
                for (int64_t j = 0; j < columns; j++) z[r * s->n + j] += x[r * s->k + p] * y[p * s->n + j];            \
    }                                                                                                                  \
    INLINE void name##_rows(const Product *s, const T *x, const T *y, T *z) {                                          \
        const int64_t lanes = (int64_t)(sizeof(V) / sizeof(T));                                                        \
        int64_t j = 0;                                                                                                 \
        for (; j + lanes <= s->n; j += lanes) name##_block(s, x, y + j, z + j);                                        \
        name##_edge(s, x, y + j, z + j, 4, s->n - j);                                                                  \
    }                                                                                                                  \
    INLINE void name##_all(const Product *s, const T *x, const T *y, T *z) {                                           \
        for (int64_t b = 0; b < s->batch; b++, x += s->m * s->k, y += s->k * s->n, z += s->m * s->n) {                 \
            int64_t i = 0;                                                                                             \
            for (; i + 4 <= s->m; i += 4) name##_rows(s, x + i * s->k, y, z + i * s->n);                               \
            name##_edge(s, x + i * s->k, y, z + i * s->n, s->m - i, s->n);                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_plain(const Product *s, const T *x, const T *y, T *z) { name##_all(s, x, y, z); }               \
    VARIANTS(name, T)

#ifdef __x86_64__
#define VARIANTS(name, T)                                                                                              \
    __attribute__((target("avx2"))) static void name##_256(const Product *s, const T *x, const T *y, T *z) {           \
        name##_all(s, x, y, z);                                                                                        \
    }                                                                                                                  \
    __attribute__((target("avx512f"))) static void name##_512(const Product *s, const T *x, const T *y, T *z) {        \
        name##_all(s, x, y, z);                                                                                        \
    }                                                                                                                  \
    static void name(const Product *s, const T *x, const T *y, T *z) {                                                 \
        if (__builtin_cpu_supports("avx512f"))                                                                         \
            name##_512(s, x, y, z);                                                                                    \
        else if (__builtin_cpu_supports("avx2"))                                                                       \
            name##_256(s, x, y, z);                                                                                    \
        else                                                                                                           \
            name##_plain(s, x, y, z);                                                                                  \
    }
#else
#define VARIANTS(name, T)                                                                                              \
    static void name(const Product *s, const T *x, const T *y, T *z) { name##_plain(s, x, y, z); }
#endif

PRODUCT(product_float, float, Floats)
PRODUCT(product_double, double, Doubles)
PRODUCT(product_int, uint64_t, Ints)

void product_add(Lane l, const Product *s, const void *x, const void *y, void *z) {
    if (l == LANE_FLOAT)
        product_float(s, x, y, z);
    else if (l == LANE_DOUBLE)
        product_double(s, x, y, z);
    else
        product_int(s, x, y, z);
}
