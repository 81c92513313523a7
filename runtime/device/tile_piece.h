/* tile_piece.h: `mma` and `ready` of the form roles on sm_90a: products of a warpgroup over 128 bytes of k, operands in
   panels that boxes wrote (tile_box.h). The sums of 64 rows and n columns are n / 2 floats a lane: an array that only
   constants index, with n a constant where the function is called.

   tile_mma_TYPE_AB(d, n, a, b, add): d = a b, plus d where `add` is not 0. A, B: 0 for panels K, 1 for panels MN. a:
   the address of 64 rows, b: of n columns. 8-bit types have panels K alone: tile_mma_TYPE of two operands of one type,
   tile_mma_TYPE_TYPE of two; sums of s8 and u8 are int32_t. The products of a piece of a loop's body are one group, ended by
   tile_wgmma_commit. Then neither sums nor operands may be touched until a wait: tile_mma_wait(but), where `but` groups
   came later. tile_mma_ready also keeps what reads the sums behind it. */
#ifndef TILE_DEVICE_TILE_PIECE_H
#define TILE_DEVICE_TILE_PIECE_H

/* What schedules do not have (tile_wgmma.h): of 16-bit types, the first operand across k beside more than 128 columns,
   and both operands across k. */
#define TILE_WGMMA_BOTH(n)                                                                                             \
    TILE_WGMMA_SS(n, 16, bf16, 1, 1)                                                                                   \
    TILE_WGMMA_SS(n, 16, f16, 1, 1)
#define TILE_WGMMA_WIDE(n)                                                                                             \
    TILE_WGMMA_SS(n, 16, bf16, 1, 0)                                                                                   \
    TILE_WGMMA_SS(n, 16, f16, 1, 0)                                                                                    \
    TILE_WGMMA_BOTH(n)
TILE_WGMMA_BOTH(8)
TILE_WGMMA_BOTH(16)
TILE_WGMMA_BOTH(24)
TILE_WGMMA_BOTH(32)
TILE_WGMMA_BOTH(40)
TILE_WGMMA_BOTH(48)
TILE_WGMMA_BOTH(56)
TILE_WGMMA_BOTH(64)
TILE_WGMMA_BOTH(72)
TILE_WGMMA_BOTH(80)
TILE_WGMMA_BOTH(88)
TILE_WGMMA_BOTH(96)
TILE_WGMMA_BOTH(104)
TILE_WGMMA_BOTH(112)
TILE_WGMMA_BOTH(120)
TILE_WGMMA_BOTH(128)
TILE_WGMMA_WIDE(144)
TILE_WGMMA_WIDE(160)
TILE_WGMMA_WIDE(176)
TILE_WGMMA_WIDE(192)
TILE_WGMMA_WIDE(208)
TILE_WGMMA_WIDE(224)
TILE_WGMMA_WIDE(240)
TILE_WGMMA_WIDE(256)

/* Multiples of 8 up to 128, of 16 up to 256; of 8-bit floats, whose sums are added up elsewhere, up to 192; of integers. */
#define TILE_WIDTHS_NARROW(each, op)                                                                                   \
    each(8, op) each(16, op) each(24, op) each(32, op) each(40, op) each(48, op) each(56, op) each(64, op)             \
        each(72, op) each(80, op) each(88, op) each(96, op) each(104, op) each(112, op) each(120, op) each(128, op)
#define TILE_WIDTHS_EIGHT(each, op)                                                                                    \
    TILE_WIDTHS_NARROW(each, op) each(144, op) each(160, op) each(176, op) each(192, op)
#define TILE_WIDTHS(each, op) TILE_WIDTHS_EIGHT(each, op) each(208, op) each(224, op) each(240, op) each(256, op)
#define TILE_WIDTHS_WHOLE(each, op)                                                                                    \
    each(8, op) each(16, op) each(24, op) each(32, op) each(48, op) each(64, op) each(80, op) each(96, op)             \
        each(112, op) each(128, op) each(144, op) each(160, op) each(176, op) each(192, op) each(208, op)              \
            each(224, op) each(240, op) each(256, op)

/* Two 8-bit types; of one type schedules have 64 and 128 columns. */
#define TILE_WGMMA_E4M3(n, op) TILE_WGMMA_SS8(n, op, e4m3, e4m3)
#define TILE_WGMMA_E5M2(n, op) TILE_WGMMA_SS8(n, op, e5m2, e5m2)
#define TILE_WGMMA_E4M3_E5M2(n, op) TILE_WGMMA_SS8(n, op, e4m3, e5m2)
#define TILE_WGMMA_E5M2_E4M3(n, op) TILE_WGMMA_SS8(n, op, e5m2, e4m3)
#define TILE_WGMMA_S8(n, op) TILE_WGMMA_SSI(n, op, s8, s8)
#define TILE_WGMMA_U8(n, op) TILE_WGMMA_SSI(n, op, u8, u8)
#define TILE_WGMMA_S8_U8(n, op) TILE_WGMMA_SSI(n, op, s8, u8)
#define TILE_WGMMA_U8_S8(n, op) TILE_WGMMA_SSI(n, op, u8, s8)
#define TILE_WIDTHS_MORE(each, op)                                                                                     \
    each(8, op) each(16, op) each(24, op) each(32, op) each(40, op) each(48, op) each(56, op) each(72, op)             \
        each(80, op) each(88, op) each(96, op) each(104, op) each(112, op) each(120, op) each(144, op) each(160, op)   \
            each(176, op) each(192, op)
TILE_WIDTHS_MORE(TILE_WGMMA_E4M3, e4m3)
TILE_WIDTHS_MORE(TILE_WGMMA_E5M2, e5m2)
TILE_WIDTHS_EIGHT(TILE_WGMMA_E4M3_E5M2, e4m3_e5m2)
TILE_WIDTHS_EIGHT(TILE_WGMMA_E5M2_E4M3, e5m2_e4m3)
TILE_WIDTHS_WHOLE(TILE_WGMMA_S8, s8)
TILE_WIDTHS_WHOLE(TILE_WGMMA_U8, u8)
TILE_WIDTHS_WHOLE(TILE_WGMMA_S8_U8, s8_u8)
TILE_WIDTHS_WHOLE(TILE_WGMMA_U8_S8, u8_s8)

/* Step u within panels: 32 bytes of k along a row of a panel K, 16 rows of a panel MN. The address of a descriptor counts
   16 bytes, and is the end of a word that has room for it: the steps of a product differ by one addition. */
TILE_FN uint64_t tile_piece_part(uint32_t panel, int mn, int u) {
    const uint64_t first = mn ? tile_wgmma_panel(panel, TILE_PANEL_MN) : tile_wgmma_panel(panel, 0);
    return first >> 32 << 32 | (uint32_t)((uint32_t)first + (mn ? 2048 : 32) / 16 * u);
}

#define TILE_PIECE_CASE(n, op)                                                                                         \
    case n:                                                                                                            \
        tile_wgmma_ss_n##n##_##op(d, x, y, add | u);                                                                   \
        break;
#define TILE_PIECE(op, sum, across_a, across_b, WIDTHS)                                                                \
    TILE_FN void tile_mma_##op(sum *d, int n, uint32_t a, uint32_t b, int add) {                                       \
        tile_wgmma_fence();                                                                                            \
        _Pragma("unroll") for (int u = 0; u < 4; u++) {                                                                \
            const uint64_t x = tile_piece_part(a, across_a, u), y = tile_piece_part(b, across_b, u);                   \
            switch (n) { WIDTHS(TILE_PIECE_CASE, op) }                                                                 \
        }                                                                                                              \
    }

TILE_PIECE(bf16_00, float, 0, 0, TILE_WIDTHS)
TILE_PIECE(bf16_01, float, 0, 1, TILE_WIDTHS)
TILE_PIECE(bf16_10, float, 1, 0, TILE_WIDTHS)
TILE_PIECE(bf16_11, float, 1, 1, TILE_WIDTHS)
TILE_PIECE(f16_00, float, 0, 0, TILE_WIDTHS)
TILE_PIECE(f16_01, float, 0, 1, TILE_WIDTHS)
TILE_PIECE(f16_10, float, 1, 0, TILE_WIDTHS)
TILE_PIECE(f16_11, float, 1, 1, TILE_WIDTHS)
TILE_PIECE(e4m3, float, 0, 0, TILE_WIDTHS_EIGHT)
TILE_PIECE(e5m2, float, 0, 0, TILE_WIDTHS_EIGHT)
TILE_PIECE(e4m3_e5m2, float, 0, 0, TILE_WIDTHS_EIGHT)
TILE_PIECE(e5m2_e4m3, float, 0, 0, TILE_WIDTHS_EIGHT)
TILE_PIECE(s8, int32_t, 0, 0, TILE_WIDTHS_WHOLE)
TILE_PIECE(u8, int32_t, 0, 0, TILE_WIDTHS_WHOLE)
TILE_PIECE(s8_u8, int32_t, 0, 0, TILE_WIDTHS_WHOLE)
TILE_PIECE(u8_s8, int32_t, 0, 0, TILE_WIDTHS_WHOLE)

/* tile_mma_pair_TYPE_AB(d, e, n, a, b, add): d and e = a b, n columns each, of which those of e lie right behind those
   of d: one instruction reads a once for both. Panels MN have whole 64 columns. */
#define TILE_PAIRS_OF(type, a, b)                                                                                      \
    TILE_WGMMA_PAIR(64, 128, 16, type, a, b)                                                                           \
    TILE_WGMMA_PAIR(80, 160, 16, type, a, b)                                                                           \
    TILE_WGMMA_PAIR(96, 192, 16, type, a, b)                                                                           \
    TILE_WGMMA_PAIR(112, 224, 16, type, a, b)                                                                          \
    TILE_WGMMA_PAIR(128, 256, 16, type, a, b)
#define TILE_PAIR_CASE(n, op)                                                                                          \
    case n:                                                                                                            \
        tile_wgmma_pair_n##n##_##op(d, e, x, y, add | u);                                                              \
        break;
#define TILE_PAIR(type, across_a, across_b)                                                                            \
    TILE_PAIRS_OF(type, across_a, across_b)                                                                            \
    TILE_FN void tile_mma_pair_##type##_##across_a##across_b(float *d, float *e, int n, uint32_t a, uint32_t b,        \
                                                             int add) {                                                \
        tile_wgmma_fence();                                                                                            \
        _Pragma("unroll") for (int u = 0; u < 4; u++) {                                                                \
            const uint64_t x = tile_piece_part(a, across_a, u), y = tile_piece_part(b, across_b, u);                   \
            switch (n) { TILE_WIDTHS_PAIR(TILE_PAIR_CASE, type##_##across_a##across_b) }                               \
        }                                                                                                              \
    }
#define TILE_WIDTHS_PAIR(each, op) each(64, op) each(80, op) each(96, op) each(112, op) each(128, op)

#define TILE_PAIR8(type)                                                                                               \
    TILE_WGMMA_PAIR8(64, 128, type)                                                                                    \
    TILE_WGMMA_PAIR8(80, 160, type)                                                                                    \
    TILE_WGMMA_PAIR8(96, 192, type)                                                                                    \
    TILE_FN void tile_mma_pair_##type(float *d, float *e, int n, uint32_t a, uint32_t b, int add) {                    \
        tile_wgmma_fence();                                                                                            \
        _Pragma("unroll") for (int u = 0; u < 4; u++) {                                                                \
            const uint64_t x = tile_piece_part(a, 0, u), y = tile_piece_part(b, 0, u);                                 \
            switch (n) { TILE_PAIR_CASE(64, type) TILE_PAIR_CASE(80, type) TILE_PAIR_CASE(96, type) }                  \
        }                                                                                                              \
    }
TILE_PAIR(bf16, 0, 0)
TILE_PAIR(bf16, 0, 1)
TILE_PAIR(bf16, 1, 0)
TILE_PAIR(bf16, 1, 1)
TILE_PAIR(f16, 0, 0)
TILE_PAIR(f16, 0, 1)
TILE_PAIR(f16, 1, 0)
TILE_PAIR(f16, 1, 1)
TILE_PAIR8(e4m3)
TILE_PAIR8(e5m2)

/* tile_mma_rs_TYPE_B(d, n, a, b, add): the same with the 64 rows of the first operand in registers
   (tile_sums_words_TYPE), 16 words a lane, which nothing may touch until the wait either. */
#define TILE_PIECE_RS_CASE(n, op)                                                                                      \
    case n:                                                                                                            \
        tile_wgmma_rs_n##n##_##op(d, a + 4 * u, y, add | u);                                                           \
        break;
#define TILE_PIECE_RS(op, across_b, WIDTHS)                                                                            \
    TILE_FN void tile_mma_rs_##op(float *d, int n, const uint32_t *a, uint32_t b, int add) {                           \
        tile_wgmma_fence();                                                                                            \
        _Pragma("unroll") for (int u = 0; u < 4; u++) {                                                                \
            const uint64_t y = tile_piece_part(b, across_b, u);                                                        \
            switch (n) { WIDTHS(TILE_PIECE_RS_CASE, op) }                                                              \
        }                                                                                                              \
    }
#define TILE_WIDTHS_RS(each, op) each(64, op) each(80, op) each(96, op) each(112, op) each(128, op)

TILE_PIECE_RS(bf16_1, 1, TILE_WIDTHS_RS)
TILE_PIECE_RS(f16_1, 1, TILE_WIDTHS_RS)

/* Sums of no products. Also at the head of each task that products with add = 0 begin: else sums count as alive around
   the loop of tasks, and kernels of several bodies spill. */
TILE_FN void tile_mma_zero(float *d, int n) {
#pragma unroll
    for (int i = 0; i < n / 2; i++) d[i] = 0;
}

/* Until at most `but` groups of this warpgroup are under way: 0 or 1. */
TILE_FN void tile_mma_wait(int but) {
    float none[1] = {0};
    if (but)
        tile_wgmma_wait1(none, 0);
    else
        tile_wgmma_wait0(none, 0);
}
/* All are done; the sums may be read behind this. */
template <typename T> TILE_FN void tile_mma_ready(T *d, int n) { tile_wgmma_wait0(d, n / 2); }
/* All but the last group, of other sums. */
template <typename T> TILE_FN void tile_mma_ready1(T *d, int n) { tile_wgmma_wait1(d, n / 2); }

#endif
