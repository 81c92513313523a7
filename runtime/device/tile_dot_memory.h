/* tile_dot_memory.h: products whose right operand is in memory, c[m][n] += a[m][k] b, as tile_dot.h has them. A panel
   of columns at a time is copied to `panel`, TILE_PANEL_f32 * TILE_STEP elements, or less for a smaller k; NULL: it is
   read where it is. Meanwhile the next panel is fetched, or that of the next step along k. */
#ifndef TILE_DEVICE_TILE_DOT_MEMORY_H
#define TILE_DEVICE_TILE_DOT_MEMORY_H

#include "device/tile_few.h"

/* Columns of a panel, and its rows at most: 64 KB, of which the second-level cache has many. */
enum { TILE_PANEL_f32 = TILE_ACROSS * TILE_LANES_f32, TILE_STEP = 256 };

TILE_INLINE void tile_panel_copy_f32(int64_t n, int64_t k, const float *b, int64_t ldb, float *panel) {
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < n; j++) panel[p * TILE_PANEL_f32 + j] = b[p * ldb + j];
}

/* All at once: the few rows of a leave no time beside their products. */
TILE_INLINE void tile_fetch_all(const tile_fetch *f) {
    const char *at = f->at;
    for (int64_t n = f->lines; n > 0; at += f->bytes + f->jump)
        for (int64_t byte = 0; byte < f->bytes; byte += TILE_CACHE_LINE, n--) __builtin_prefetch(at + byte);
}

TILE_INLINE void tile_dot_panels_f32(bool turned, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                                     const float *b, int64_t ldb, float *c, int64_t ldc, float *panel) {
    const int64_t along = turned ? ldb : 1, down = turned ? 1 : ldb, blocks = m < TILE_ROWS ? 1 : m / TILE_ROWS;
    for (int64_t j = 0; j < n; j += TILE_PANEL_f32) {
        const int64_t w = n - j < TILE_PANEL_f32 ? n - j : TILE_PANEL_f32, rows = turned ? w : k;
        const float *at = b + j * along, *next = j + w < n ? at + w * along : b + k * down;
        const tile_fetch fetch = tile_fetch_of(next, rows, 4 * (turned ? k : w), 4 * ldb, blocks);
        if (turned)
            tile_transpose_f32(w, k, at, ldb, panel, TILE_PANEL_f32);
        else if (panel)
            tile_panel_copy_f32(w, k, at, ldb, panel);
        if (m < TILE_ROWS) tile_fetch_all(&fetch);
        tile_panel_f32(m, w, k, a, lda, panel ? panel : at, panel ? TILE_PANEL_f32 : ldb, c + j, ldc, fetch);
    }
}

/* So few rows of a that copying b, or transposing it, would take longer than the products (bench/cpu/log.md). */
enum { TILE_FEW_ROWS = 4, TILE_FEW_TURNED = 16 };

TILE_INLINE void tile_dot_few_f32(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b,
                                  int64_t ldb, float *c, int64_t ldc) {
    const tile_fetch next = tile_fetch_of(b + k * ldb, k, 4 * n, 4 * ldb, 1);
    tile_fetch_all(&next);
    for (int64_t i = 0; i < m; i++) tile_row_sums(n, k, k, a + i * lda, b, ldb, c + i * ldc);
}

/* In steps along k, so that a panel stays in the cache. */
TILE_INLINE void tile_dot_steps_f32(bool turned, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                                    const float *b, int64_t ldb, float *c, int64_t ldc, float *panel) {
    for (int64_t p = 0; p < k; p += TILE_STEP) {
        const int64_t step = k - p < TILE_STEP ? k - p : TILE_STEP;
        const float *at = turned ? b + p : b + p * ldb;
        if (!turned && m <= TILE_FEW_ROWS)
            tile_dot_few_f32(m, n, step, a + p, lda, at, ldb, c, ldc);
        else
            tile_dot_panels_f32(turned, m, n, step, a + p, lda, at, ldb, c, ldc, panel);
    }
}

/* b: k rows of n */
static __attribute__((noinline, unused)) void tile_dot_rows_f32(int64_t m, int64_t n, int64_t k, const float *a,
                                                                int64_t lda, const float *b, int64_t ldb, float *c,
                                                                int64_t ldc, float *panel) {
    tile_dot_steps_f32(false, m, n, k, a, lda, b, ldb, c, ldc, panel);
}

/* b: n rows of k */
static __attribute__((noinline, unused)) void tile_dot_turned_f32(int64_t m, int64_t n, int64_t k, const float *a,
                                                                  int64_t lda, const float *b, int64_t ldb, float *c,
                                                                  int64_t ldc, float *panel) {
    if (m <= TILE_FEW_TURNED)
        tile_few_f32(m, n, n, k, a, lda, b, ldb, c, ldc);
    else
        tile_dot_steps_f32(true, m, n, k, a, lda, b, ldb, c, ldc, panel);
}

#endif
