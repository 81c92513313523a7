/* tile_chain.h: `mma` of the form roles on sm_90a of products in a chain: operands lie in several panels of a slot
   (tile_box.h), 64 positions of a row each, or the first one in registers. Included behind tile_piece.h.

   tile_chain_ss_TYPE_B(d, n, k, a, a_step, b, b_step, add): d = a b over k positions, a multiple of 16; plus d where
   `add` is not 0. a: the address of 64 rows along k, whose panels lie a_step bytes apart. b: likewise of n rows, where B
   is 0; of k rows along n, where B is 1. tile_chain_rs_TYPE_B(d, n, k, a, b, b_step, add): a is k / 4 words a lane
   (tile_sums_words_TYPE). Sums, operands and groups of products: as in tile_piece.h. */
#ifndef TILE_DEVICE_TILE_CHAIN_H
#define TILE_DEVICE_TILE_CHAIN_H

#define TILE_CHAIN_RS(n)                                                                                               \
    TILE_WGMMA_RS(n, 16, bf16, 0)                                                                                      \
    TILE_WGMMA_RS(n, 16, f16, 0)
TILE_CHAIN_RS(64)
TILE_CHAIN_RS(80)
TILE_CHAIN_RS(96)
TILE_CHAIN_RS(112)
TILE_CHAIN_RS(128)
/* Of widths that tile_wgmma.h has not with an operand in registers. */
#define TILE_CHAIN_WIDE(n)                                                                                             \
    TILE_CHAIN_RS(n)                                                                                                   \
    TILE_WGMMA_RS(n, 16, bf16, 1)                                                                                      \
    TILE_WGMMA_RS(n, 16, f16, 1)
TILE_CHAIN_WIDE(8)
TILE_CHAIN_WIDE(16)
TILE_CHAIN_WIDE(24)
TILE_CHAIN_WIDE(32)
TILE_CHAIN_WIDE(40)
TILE_CHAIN_WIDE(48)
TILE_CHAIN_WIDE(56)
TILE_CHAIN_WIDE(72)
TILE_CHAIN_WIDE(88)
TILE_CHAIN_WIDE(104)
TILE_CHAIN_WIDE(120)
TILE_CHAIN_WIDE(144)
TILE_CHAIN_WIDE(160)
TILE_CHAIN_WIDE(176)
TILE_CHAIN_WIDE(192)
TILE_CHAIN_WIDE(208)
TILE_CHAIN_WIDE(224)
TILE_CHAIN_WIDE(240)
TILE_CHAIN_WIDE(256)

/* Of an operand's descriptor that of 16 positions of k from 16 u on: the low word counts 16 bytes. */
TILE_FN uint64_t tile_chain_part(uint64_t first, int across, int step, int u) {
    const int bytes = across ? 2048 * u : (u >> 2) * step + 32 * (u & 3);
    return (first >> 32 << 32) | (uint32_t)((uint32_t)first + (uint32_t)(bytes / 16));
}

#define TILE_CHAIN_SS_CASE(n, op)                                                                                      \
    case n:                                                                                                            \
        tile_wgmma_ss_n##n##_##op(d, x, y, add | u);                                                                   \
        break;
#define TILE_CHAIN_RS_CASE(n, op)                                                                                      \
    case n:                                                                                                            \
        tile_wgmma_rs_n##n##_##op(d, a + 4 * u, y, add | u);                                                           \
        break;
#define TILE_CHAIN(type, across)                                                                                       \
    TILE_FN void tile_chain_ss_##type##_##across(float *d, int n, int k, uint32_t a, int a_step, uint32_t b,           \
                                                 int b_step, int add) {                                                \
        const uint64_t of_a = tile_wgmma_panel(a, 0), of_b = tile_wgmma_panel(b, across ? b_step : 0);                 \
        tile_wgmma_fence();                                                                                            \
        _Pragma("unroll") for (int u = 0; u < k / 16; u++) {                                                           \
            const uint64_t x = tile_chain_part(of_a, 0, a_step, u), y = tile_chain_part(of_b, across, b_step, u);      \
            switch (n) { TILE_WIDTHS(TILE_CHAIN_SS_CASE, type##_0##across) }                                     \
        }                                                                                                              \
    }                                                                                                                  \
    TILE_FN void tile_chain_rs_##type##_##across(float *d, int n, int k, const uint32_t *a, uint32_t b, int b_step,    \
                                                 int add) {                                                            \
        const uint64_t of_b = tile_wgmma_panel(b, across ? b_step : 0);                                                \
        tile_wgmma_fence();                                                                                            \
        _Pragma("unroll") for (int u = 0; u < k / 16; u++) {                                                           \
            const uint64_t y = tile_chain_part(of_b, across, b_step, u);                                               \
            switch (n) { TILE_WIDTHS(TILE_CHAIN_RS_CASE, type##_##across) }                                      \
        }                                                                                                              \
    }
TILE_CHAIN(bf16, 0)
TILE_CHAIN(bf16, 1)
TILE_CHAIN(f16, 0)
TILE_CHAIN(f16, 1)

/* x / y, 2^x, e^x, tanh(x) of scores, whose own error is larger: within 2^-22 of the result, (1 + |x|) 2^-22 of e^x, and
   2^-21 of tanh(x). What is below the normal range becomes 0. */
TILE_FN float tile_div_near(float x, float y) {
    const float down = fabsf(y) > 8.50705917e37f ? 0.25f : 1.0f; /* 2^126: 1 / y stays in the normal range */
    return x * tile_rcp_fast(y * down) * down;
}
TILE_FN float tile_exp2_near(float x) { return tile_exp2_fast(x); }
TILE_FN float tile_exp_near(float x) { return tile_exp2_fast(x * 1.44269504f); }
TILE_FN float tile_tanh_near(float x) {
    return fmaf(-2.0f, tile_rcp_fast(tile_exp2_fast(x * 2.88539008f) + 1.0f), 1.0f);
}

/* tanh(x by) where |x by| is at most TILE_TANH_SMALL, within 2^-21: of least relative error in polynomials of these
   degrees. by: a constant, so that its powers are some. */
#define TILE_TANH_SMALL 0.45f
TILE_FN float tile_tanh_small(float x, float by) {
    const float t = x * x, u = by * by;
    const float least = fmaf(t, -0.0460281931f * (u * u * u * by), 0.132363692f * (u * u * by));
    return x * fmaf(t, fmaf(t, least, -0.33329466f * (u * by)), 0.999999762f * by);
}

/* Elements of 16 bits, as sums lie in registers, as words of the first operand. */
TILE_FN void tile_chain_words(uint32_t *w, const uint16_t *x, int n) {
#pragma unroll
    for (int i = 0; i < n / 4; i++) w[i] = x[2 * i] | (uint32_t)x[2 * i + 1] << 16;
}

/* A tile of `columns` columns from `column` on and `rows` rows from `row` on to byte `to` of the slot: a panel for 64
   columns, of all rows. The map's box is {64, rows}. */
TILE_FN void tile_box_panels(tile_slot slot, int to, tile_boxes x, int column, int row, int columns, int rows) {
#pragma unroll
    for (int u = 0; u < (columns + 63) / 64; u++)
        tile_box_load(slot, to + 128 * rows * u, x, column + 64 * u, row, 1);
}

/* Rows from `first` on of such a tile become zeros: they lie behind the end of what is summed. By all threads of the
   groups that read the slot, or those of one group for the others, which wait for it; before these products and behind
   others that read the slot. Threads meet at the barrier `bar`. */
TILE_FN void tile_chain_clear(uint32_t at, int panels, int first, int rows, int bar, int threads, int thread) {
    const int chunks = 8 * (rows - first); /* of 16 bytes, in a panel */
    tile_bar_sync(bar, threads);
    for (int i = thread; i < panels * chunks; i += threads)
        tile_shared_zero16(at + i / chunks * rows * 128 + first * 128 + i % chunks * 16);
    tile_async_fence();
    tile_bar_sync(bar, threads);
}

#endif
