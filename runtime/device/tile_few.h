/* tile_few.h: few rows x of float32 times a matrix in memory whose rows run along the sum: y[i][j] += sum over p of
   x[i][p] w[j][p]. The matrix is of any type of tile_codes.h and is read once, in the order in which it lies. */
#ifndef TILE_DEVICE_TILE_FEW_H
#define TILE_DEVICE_TILE_FEW_H

#include "device/tile_codes.h"

/* Bytes of a part of x that is multiplied at a time: half of a first-level cache of 48 KB is left for w. */
enum { TILE_FEW_BYTES = 24576, TILE_FEW_FLOATS = TILE_FEW_BYTES / 4 };

/* Rows of w whose sums stay in registers beside those of m rows of x, m a constant. */
#if defined __AVX512F__ || defined __aarch64__
enum { TILE_FEW_SUMS = 24, TILE_FEW_ACROSS = 8 };
#else
enum { TILE_FEW_SUMS = 8, TILE_FEW_ACROSS = 4 };
#endif
TILE_INLINE int tile_few_across(bool scaled, int m) {
    const int most = TILE_FEW_SUMS / m / (scaled ? 2 : 1);
    return most >= TILE_FEW_ACROSS ? TILE_FEW_ACROSS : most >= 4 ? 4 : most > 0 ? most : 1;
}

/* What a product reads: chunks of x in their order, rows of lx floats; rows of w, lw bytes apart. Scaled: sums of
   `each` chunks of row j times scale[j * ls], .. */
typedef struct {
    const float *x;
    int64_t lx, chunks, rest; /* whole chunks; bytes of the one after them */
    const char *w;
    int64_t lw;
    const float *scale;
    int64_t ls, each;
} tile_few;

/* Chunks of a row, fewer than which the machine does not fetch ahead by itself; the next call goes on behind them. */
enum { TILE_FEW_SHORT = 4 };

TILE_INLINE void tile_few_chunk(tile_codes c, int m, int n, const tile_few *f, const float *x, const tile_words *v,
                                const char *const *at, tile_row_vector (*s)[8]) {
    _Pragma("GCC unroll 16") for (int u = 0; u < tile_codes_vectors(c); u++) {
        tile_row_vector w[8];
        _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) w[r] = tile_codes_vector(c, v[r], at[r], u);
        _Pragma("GCC unroll 8") for (int i = 0; i < m; i++) {
            const tile_row_vector a = tile_row_load(x + i * f->lx + u * TILE_ROW_LANES);
            _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) s[i][r] += w[r] * a;
        }
    }
}

/* y[i][j] += sum of s[i][j] */
TILE_INLINE void tile_few_store(int m, int n, tile_row_vector (*s)[8], float *y, int64_t ly) {
    _Pragma("GCC unroll 8") for (int i = 0; i < m; i++) {
        _Pragma("GCC unroll 2") for (int r = 0; r + 4 <= n; r += 4) tile_row_four_sums(s[i] + r, y + i * ly + r);
        _Pragma("GCC unroll 4") for (int r = n - n % 4; r < n; r++) y[i * ly + r] += tile_row_sum(s[i][r]);
    }
}

/* Chunks from .. to - 1, of which the last may be short. */
TILE_INLINE void tile_few_run(tile_codes c, int m, int n, const tile_few *f, int64_t j, int64_t from, int64_t to,
                              tile_row_vector (*s)[8]) {
    const char *w = f->w + j * f->lw + from * TILE_VECTOR, *at[8];
    tile_words v[8];
    const float *x = f->x + from * tile_codes_chunk(c);
    const bool ahead = m * tile_codes_vectors(c) >= 4; /* (with less to do, fetches would take the loads' places) */
    const int64_t whole = to < f->chunks ? to : f->chunks;
    for (int64_t q = from; q < whole; q++, w += TILE_VECTOR, x += tile_codes_chunk(c)) {
        _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) at[r] = w + r * f->lw, v[r] = *(const tile_words *)at[r];
        _Pragma("GCC unroll 8") for (int r = 0; ahead && r < n; r++) __builtin_prefetch(at[r] + n * f->lw, 0, 2);
        tile_few_chunk(c, m, n, f, x, v, at, s);
    }
    if (to <= f->chunks) return;
    _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) v[r] = tile_words_part(w + r * f->lw, f->rest);
    _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) at[r] = (const char *)&v[r];
    tile_few_chunk(c, m, n, f, x, v, at, s);
}

/* Each group's sums, scaled, are added to s. */
TILE_INLINE void tile_few_groups(tile_codes c, int m, int n, const tile_few *f, int64_t j, int64_t chunks,
                                 tile_row_vector (*s)[8]) {
    for (int64_t e = 0, from = 0; from < chunks; e++, from += f->each) {
        tile_row_vector part[8][8] = {{{0}}};
        tile_few_run(c, m, n, f, j, from, from + f->each < chunks ? from + f->each : chunks, part);
        _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) {
            const float scale = f->scale[(j + r) * f->ls + e];
            _Pragma("GCC unroll 8") for (int i = 0; i < m; i++) s[i][r] += part[i][r] * scale;
        }
    }
}

/* m rows of x, n rows of w, both constants */
TILE_INLINE void tile_few_block(tile_codes c, bool scaled, int m, int n, const tile_few *f, int64_t j, float *y,
                                int64_t ly) {
    tile_row_vector s[8][8] = {{{0}}};
    const int64_t chunks = f->chunks + (f->rest > 0);
    if (scaled)
        tile_few_groups(c, m, n, f, j, chunks, s);
    else
        tile_few_run(c, m, n, f, j, 0, chunks, s);
    if (chunks < TILE_FEW_SHORT)
        _Pragma("GCC unroll 8") for (int r = 0; r < n; r++)
            __builtin_prefetch(f->w + (j + r) * f->lw + f->chunks * TILE_VECTOR);
    tile_few_store(m, n, s, y + j, ly);
}

TILE_INLINE void tile_few_rows(tile_codes c, bool scaled, int m, int64_t n, const tile_few *f, float *y, int64_t ly) {
    const int across = tile_few_across(scaled, m);
    const int64_t whole = n - n % across; /* (of numbers gcc takes "j < n" for a loop that may not end) */
    for (int64_t j = 0; j < whole; j += across) tile_few_block(c, scaled, m, across, f, j, y, ly);
    for (int64_t j = whole; j < whole + n % across; j++) tile_few_block(c, scaled, m, 1, f, j, y, ly);
}

/* Elements from .. from + k of a row, in the order of chunks, zeros up to the end of the last one. */
TILE_INLINE void tile_few_order(tile_codes c, int64_t k, const float *from, float *to) {
    const int chunk = tile_codes_chunk(c), vectors = tile_codes_interleaved(c) ? tile_codes_vectors(c) : 1;
    float last[TILE_MOST_VECTORS * TILE_LANES_f32] = {0};
    const int64_t whole = k - k % chunk;
    for (int64_t p = 0; p < whole; p += vectors * TILE_ROW_LANES) tile_codes_order(vectors, from + p, to + p);
    if (whole == k) return;
    __builtin_memcpy(last, from + whole, (size_t)(k - whole) * sizeof *last);
    for (int64_t p = 0; p < chunk; p += vectors * TILE_ROW_LANES) tile_codes_order(vectors, last + p, to + whole + p);
}

/* A part of k; rows of x in groups that the registers have. */
TILE_INLINE void tile_few_part(tile_codes c, bool scaled, int64_t m, int64_t n, const tile_few *whole, float *y,
                               int64_t ly) {
    tile_few f = *whole;
    int64_t i = 0;
    for (; i + 8 <= m; i += 8, f.x += 8 * f.lx) tile_few_rows(c, scaled, 8, n, &f, y + i * ly, ly);
    for (; i + 4 <= m; i += 4, f.x += 4 * f.lx) tile_few_rows(c, scaled, 4, n, &f, y + i * ly, ly);
    for (; i + 2 <= m; i += 2, f.x += 2 * f.lx) tile_few_rows(c, scaled, 2, n, &f, y + i * ly, ly);
    for (; i < m; i++, f.x += f.lx) tile_few_rows(c, scaled, 1, n, &f, y + i * ly, ly);
}

/* Element `first` of w is its first one; rows are ld elements apart. Those that do not begin with a byte are taken one
   by one. */
TILE_INLINE void tile_few_odd(tile_codes c, int64_t m, int64_t n, int64_t k, const float *x, int64_t lx, const void *w,
                              int64_t first, int64_t ld, float *y, int64_t ly) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = first + j * ld;
            float s = 0;
            for (int64_t p = 0; p < k; p++)
                s += x[i * lx + p] * (float)(c == TILE_CODES_i4 ? tile_i4_at((const tile_packed *)w, at + p)
                                                                : tile_t2_at((const tile_packed *)w, at + p));
            y[i * ly + j] += s;
        }
}

/* Scales of groups of `width` places: row j's group e has scale[j * ls + e]. Without scales, width is a chunk. */
typedef struct {
    const float *scale;
    int64_t ls, width;
} tile_few_scales;

/* So few rows that some places of each fit the part. */
TILE_INLINE void tile_few_steps(tile_codes c, bool scaled, const tile_few_scales *g, int64_t m, int64_t n, int64_t k,
                                const float *x, int64_t lx, const void *w, int64_t first, int64_t ld, float *y,
                                int64_t ly) {
    const int bits = tile_codes_bits(c), chunk = tile_codes_chunk(c);
    float part[TILE_FEW_FLOATS] __attribute__((aligned(64)));
    const int64_t step = TILE_FEW_FLOATS / m / g->width * g->width;
    for (int64_t p = 0; p < k; p += step) {
        const int64_t now = k - p < step ? k - p : step, padded = (now + chunk - 1) / chunk * chunk;
        const int64_t bytes = (now * bits + 7) / 8;
        tile_few f = {part,
                      padded,
                      now / chunk,
                      bytes - now / chunk * TILE_VECTOR,
                      (const char *)w + (first + p) * bits / 8,
                      ld * bits / 8,
                      scaled ? g->scale + p / g->width : NULL,
                      g->ls,
                      g->width / chunk};
        for (int64_t i = 0; i < m; i++) tile_few_order(c, now, x + i * lx + p, part + i * padded);
        tile_few_part(c, scaled, m, n, &f, y, ly);
    }
}

/* Rows of x that are multiplied together: a chunk of each fits the part. */
enum { TILE_FEW_GROUP = 16 };

TILE_INLINE void tile_few_dots(tile_codes c, int64_t m, int64_t n, int64_t inside, int64_t k, const float *x,
                               int64_t lx, const void *w, int64_t first, int64_t ld, float *y, int64_t ly) {
    const int64_t all = inside < n ? inside < 0 ? 0 : inside : n, bits = tile_codes_bits(c);
    const bool odd = bits < 8 && (first * bits % 8 || ld * bits % 8);
    for (int64_t i = 0; i < m; i += TILE_FEW_GROUP) {
        const int64_t rows = m - i < TILE_FEW_GROUP ? m - i : TILE_FEW_GROUP;
        if (odd)
            tile_few_odd(c, rows, all, k, x + i * lx, lx, w, first, ld, y + i * ly, ly);
        else
            tile_few_steps(c, false, &(const tile_few_scales){NULL, 0, tile_codes_chunk(c)}, rows, all, k, x + i * lx,
                           lx, w, first, ld, y + i * ly, ly);
    }
    for (int64_t i = 0; i < m && all < n; i++) {
        const float zero = tile_row_zero(0, k, x + i * lx);
        for (int64_t j = all; j < n; j++) y[i * ly + j] += zero;
    }
}

/* Rows of w that groups of any width are summed for at a time. */
enum { TILE_FEW_BLOCK = 32 };

typedef void (*tile_few_product)(int64_t m, int64_t n, int64_t inside, int64_t k, const float *x, int64_t lx,
                                 const void *w, int64_t first, int64_t ld, float *y, int64_t ly);

/* A group at a time: the width is no multiple of a chunk, or rows of w do not begin with a byte. */
TILE_INLINE void tile_few_uneven(tile_few_product product, const tile_few_scales *g, int64_t m, int64_t n, int64_t k,
                                 const float *x, int64_t lx, const void *w, int64_t first, int64_t ld, float *y,
                                 int64_t ly) {
    for (int64_t p = 0; p < k; p += g->width) {
        float part[TILE_FEW_GROUP * TILE_FEW_BLOCK] = {0};
        const int64_t now = k - p < g->width ? k - p : g->width;
        product(m, n, n, now, x + p, lx, w, first + p, ld, part, TILE_FEW_BLOCK);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                y[i * ly + j] += part[i * TILE_FEW_BLOCK + j] * g->scale[j * g->ls + p / g->width];
    }
}

TILE_INLINE void tile_few_scaled(tile_codes c, tile_few_product product, int64_t m, int64_t n, int64_t k, int64_t width,
                                 const float *x, int64_t lx, const void *w, int64_t first, int64_t ld,
                                 const float *scale, int64_t ls, float *y, int64_t ly) {
    const int bits = tile_codes_bits(c);
    const bool odd = bits < 8 && (first * bits % 8 || ld * bits % 8);
    const bool even = !odd && width % tile_codes_chunk(c) == 0 && width <= TILE_FEW_FLOATS;
    const int64_t fit = even ? TILE_FEW_FLOATS / width : TILE_FEW_GROUP,
                  most = fit < TILE_FEW_GROUP ? fit : TILE_FEW_GROUP;
    for (int64_t i = 0; i < m; i += most) {
        const int64_t rows = m - i < most ? m - i : most, step = even ? n : TILE_FEW_BLOCK;
        for (int64_t j = 0; j < n; j += step) {
            const tile_few_scales g = {scale + j * ls, ls, width};
            const int64_t now = n - j < step ? n - j : step, at = first + j * ld;
            if (even)
                tile_few_steps(c, true, &g, rows, now, k, x + i * lx, lx, w, at, ld, y + i * ly + j, ly);
            else
                tile_few_uneven(product, &g, rows, now, k, x + i * lx, lx, w, at, ld, y + i * ly + j, ly);
        }
    }
}

#define TILE_FEW_ANY(NAME)                                                                                             \
    static __attribute__((noinline, unused)) void tile_few_any_##NAME(                                                 \
        int64_t m, int64_t n, int64_t inside, int64_t k, const float *x, int64_t lx, const void *w, int64_t first,     \
        int64_t ld, float *y, int64_t ly) {                                                                            \
        tile_few_dots(TILE_CODES_##NAME, m, n, inside, k, x, lx, w, first, ld, y, ly);                                 \
    }                                                                                                                  \
    static __attribute__((noinline, unused)) void tile_few_any_scaled_##NAME(                                          \
        int64_t m, int64_t n, int64_t k, int64_t width, const float *x, int64_t lx, const void *w, int64_t first,      \
        int64_t ld, const float *scale, int64_t ls, float *y, int64_t ly) {                                            \
        tile_few_scaled(TILE_CODES_##NAME, tile_few_any_##NAME, m, n, k, width, x, lx, w, first, ld, scale, ls, y,     \
                        ly);                                                                                           \
    }

TILE_FEW_ANY(f32)
TILE_FEW_ANY(bf16)
TILE_FEW_ANY(f16)
TILE_FEW_ANY(i8)
TILE_FEW_ANY(i4)
TILE_FEW_ANY(t2)

/* m rows x; n rows w of k, of which `inside` are in the tensor. Rows are lx, ld, ly elements apart. _scaled: the sum of
   each `width` places of row j is multiplied by scale[j * ls], scale[j * ls + 1], .. */
#define TILE_FEW(NAME, T)                                                                                              \
    TILE_INLINE void tile_few_##NAME(int64_t m, int64_t n, int64_t inside, int64_t k, const float *x, int64_t lx,      \
                                     const T *w, int64_t ld, float *y, int64_t ly) {                                   \
        tile_few_any_##NAME(m, n, inside, k, x, lx, w, 0, ld, y, ly);                                                  \
    }                                                                                                                  \
    TILE_INLINE void tile_few_scaled_##NAME(int64_t m, int64_t n, int64_t k, int64_t width, const float *x,            \
                                            int64_t lx, const T *w, int64_t ld, const float *scale, int64_t ls,        \
                                            float *y, int64_t ly) {                                                    \
        tile_few_any_scaled_##NAME(m, n, k, width, x, lx, w, 0, ld, scale, ls, y, ly);                                 \
    }

TILE_FEW(f32, float)
TILE_FEW(bf16, tile_bf16)
TILE_FEW(f16, tile_f16)
TILE_FEW(i8, int8_t)

/* The same; w begins with element `first`. Rows that do not begin with a byte are slow. */
#define TILE_FEW_PACKED(NAME)                                                                                          \
    TILE_INLINE void tile_few_##NAME(int64_t m, int64_t n, int64_t inside, int64_t k, const float *x, int64_t lx,      \
                                     const tile_packed *w, int64_t first, int64_t ld, float *y, int64_t ly) {          \
        tile_few_any_##NAME(m, n, inside, k, x, lx, w, first, ld, y, ly);                                              \
    }                                                                                                                  \
    TILE_INLINE void tile_few_scaled_##NAME(int64_t m, int64_t n, int64_t k, int64_t width, const float *x,            \
                                            int64_t lx, const tile_packed *w, int64_t first, int64_t ld,               \
                                            const float *scale, int64_t ls, float *y, int64_t ly) {                    \
        tile_few_any_scaled_##NAME(m, n, k, width, x, lx, w, first, ld, scale, ls, y, ly);                             \
    }

TILE_FEW_PACKED(i4)
TILE_FEW_PACKED(t2)

#endif
