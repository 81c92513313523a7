/* Products of every kind over 128 bytes of k a step (tile_piece.h): c = a b of one tile, 64 rows by a width of the
   call, sums of f32. */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include "roles.h"

typedef struct {
    tile_tensor_map map[4];
} piece_00_maps;
typedef piece_00_maps piece_01_maps;
typedef piece_00_maps piece_10_maps;
typedef piece_00_maps piece_11_maps;
typedef piece_00_maps piece_half_maps;
typedef piece_00_maps piece_e4m3_maps;
typedef piece_00_maps piece_e5m2_maps;
typedef piece_00_maps piece_e4m3_e5m2_maps;
typedef piece_00_maps piece_e5m2_e4m3_maps;
typedef piece_00_maps piece_s8_maps;
typedef piece_00_maps piece_u8_maps;
typedef piece_00_maps piece_s8_u8_maps;
typedef piece_00_maps piece_u8_s8_maps;

enum { piece_Y = 64 * 128, piece_BYTES = piece_Y + 256 * 128, piece_FULL = 2 * piece_BYTES };

TILE_FN void piece_copy(roles_call call, const tile_ring *ring, const piece_00_maps *maps, int depth, bool a_mn,
                        bool b_mn) {
    const tile_boxes a = {&maps->map[0], 2, 0}, b = {&maps->map[1], 2, 0};
    const int n = (int)call.N, bytes = piece_Y + (b_mn ? (n + 63) / 64 * 64 : n) * 128;
    tile_ring_end end = tile_ring_writer();
    for (int k = 0; k < call.K; k += depth) {
        const tile_slot slot = tile_ring_put(ring, &end, bytes);
        if (a_mn)
            tile_box_mn(slot, 0, a, k, 0, 64, 0, 1);
        else
            tile_box_k(slot, 0, a, k, 0, 64, 0, 1);
        if (b_mn)
            tile_box_mn(slot, piece_Y, b, k, 0, n, 0, 1);
        else
            tile_box_k(slot, piece_Y, b, k, 0, n, 0, 1);
    }
    tile_ring_drain(ring, &end);
}

template <typename T> TILE_FN void piece_floats(float *x, const T *s, int n) {
    for (int i = 0; i < n; i++) x[i] = (float)s[i];
}

/* The kernel NAME by tile_mma_OP, `depth` positions of k a step. */
#define PIECE_CASE(n, op)                                                                                              \
    case n:                                                                                                            \
        for (int i = 0; i < n / 2; i++) s[i] = 0;                                                                      \
        for (int k = 0; k < call.K; k += depth) {                                                                      \
            const uint32_t at = tile_ring_get(&ring, &end);                                                            \
            tile_mma_##op(s, n, at, at + piece_Y, k > 0);                                                              \
            tile_wgmma_commit();                                                                                       \
            tile_mma_ready(s, n);                                                                                      \
            tile_ring_free(&ring, &end, 1, thread);                                                                    \
        }                                                                                                              \
        piece_floats(x, s, n / 2);                                                                                     \
        tile_sums_pairs((float *)call.c, (call.N + 3) / 4 * 4, x, n, (int)call.M, (int)call.N, thread);                \
        break;
#define PIECE_KERNEL(name, op, sum, WIDTHS, positions, a_mn, b_mn)                                                     \
    TILE_KERNEL_MAPS(name, roles_call, 384, 1) {                                                                       \
        TILE_LDS(lds, 0);                                                                                              \
        const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;                                                        \
        const tile_ring ring = {at, at + piece_FULL, 2, piece_BYTES};                                                  \
        const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127, depth = positions;       \
        if (tile_thread() == 0) {                                                                                      \
            tile_ring_make(&ring, 1, 1);                                                                               \
            tile_mbar_init_done();                                                                                     \
        }                                                                                                              \
        tile_sync();                                                                                                   \
        tile_follow();                                                                                                 \
        if (tile_thread() == 0) piece_copy(call, &ring, &maps, depth, a_mn, b_mn);                                     \
        if (group != 1) return;                                                                                        \
        tile_ring_end end = tile_ring_reader();                                                                        \
        sum s[128];                                                                                                    \
        float x[128];                                                                                                  \
        switch (call.N) { WIDTHS(PIECE_CASE, op) }                                                                     \
    }

PIECE_KERNEL(piece_00, bf16_00, float, TILE_WIDTHS, 64, false, false)
PIECE_KERNEL(piece_01, bf16_01, float, TILE_WIDTHS, 64, false, true)
PIECE_KERNEL(piece_10, bf16_10, float, TILE_WIDTHS, 64, true, false)
PIECE_KERNEL(piece_11, bf16_11, float, TILE_WIDTHS, 64, true, true)
PIECE_KERNEL(piece_half, f16_00, float, TILE_WIDTHS, 64, false, false)
PIECE_KERNEL(piece_e4m3, e4m3, float, TILE_WIDTHS_EIGHT, 128, false, false)
PIECE_KERNEL(piece_e5m2, e5m2, float, TILE_WIDTHS_EIGHT, 128, false, false)
PIECE_KERNEL(piece_e4m3_e5m2, e4m3_e5m2, float, TILE_WIDTHS_EIGHT, 128, false, false)
PIECE_KERNEL(piece_e5m2_e4m3, e5m2_e4m3, float, TILE_WIDTHS_EIGHT, 128, false, false)
PIECE_KERNEL(piece_s8, s8, int32_t, TILE_WIDTHS_WHOLE, 128, false, false)
PIECE_KERNEL(piece_u8, u8, int32_t, TILE_WIDTHS_WHOLE, 128, false, false)
PIECE_KERNEL(piece_s8_u8, s8_u8, int32_t, TILE_WIDTHS_WHOLE, 128, false, false)
PIECE_KERNEL(piece_u8_s8, u8_s8, int32_t, TILE_WIDTHS_WHOLE, 128, false, false)
