/* Operands that threads copy row by row, from any places: c = a' b, where a' has the rows of a from the last to the first.
   Tiles of 128 x 64; rows of a begin at multiples of 16, 8 or 4 bytes, rows of b at multiples of 16.
   ring $a 3 { %x: bf16<i: 128, p: 64> #k128 rows %a }
   ring $b 3 { %y: bf16<p: 64, j: 64> #mn128 rows %b } */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include "roles.h"

enum {
    rows_LANES = 64,
    rows_A_BYTES = 128 * 128,
    rows_B = 3 * rows_A_BYTES,
    rows_A_FULL = rows_B + 3 * TILE_PANEL_MN,
    rows_B_FULL = rows_A_FULL + TILE_RING_BARRIERS(3)
};

typedef struct {
    tile_ring a, b;
    int first, step, rows, tasks, steps;
} rows_all;

TILE_FN rows_all rows_begin(roles_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    rows_all all = {};
    all.a = {at, at + rows_A_FULL, 3, rows_A_BYTES};
    all.b = {at + rows_B, at + rows_B_FULL, 3, TILE_PANEL_MN};
    all.first = (int)tile_group();
    all.step = (int)tile_groups();
    all.rows = (int)((call.M + 127) / 128);
    all.tasks = all.rows * (int)((call.N + 63) / 64);
    all.steps = (int)((call.K + 63) / 64);
    return all;
}

/* role gather warp 2 lanes 64 */
TILE_FN void rows_gather(const rows_all *all, roles_call call, int size, int thread) {
    tile_ring_end a_end = tile_ring_writer(), b_end = tile_ring_writer();
    const int lanes = 128 / size;
    const int64_t stride = (call.N + 7) / 8 * 8;
    for (int task = all->first; task < all->tasks; task += all->step) {
        const int i0 = task % all->rows * 128, j0 = task / all->rows * 64;
#pragma unroll 1
        for (int p0 = 0; p0 < 64 * all->steps; p0 += 64) {
            const uint32_t a = tile_ring_open(&all->a, &a_end);
            const int p = thread % lanes * (size / 2), left = (int)call.K - p0 - p;
#pragma unroll 4
            for (int line = thread / lanes; line < 128; line += rows_LANES / lanes) {
                const bool here = i0 + line < call.M && left > 0;
                const uint16_t *from = (const uint16_t *)call.a + (call.M - 1 - i0 - line) * call.K + p0 + p;
                tile_line_copy(a, line, 2 * p, here ? from : call.a, size, here ? 2 * left : 0);
            }
            tile_ring_copied(&all->a, &a_end);
            const uint32_t b = tile_ring_open(&all->b, &b_end);
            const int j = thread % 8 * 8;
#pragma unroll 4
            for (int line = thread / 8; line < 64; line += rows_LANES / 8) {
                const bool here = p0 + line < call.K && j0 + j < call.N;
                const uint16_t *from = (const uint16_t *)call.b + (p0 + line) * stride + j0 + j;
                tile_line_copy(b, line, 2 * j, here ? from : call.b, 16, here ? 16 : 0);
            }
            tile_ring_copied(&all->b, &b_end);
        }
    }
    tile_ring_drain(&all->a, &a_end);
    tile_ring_drain(&all->b, &b_end);
}

TILE_FN void rows_multiply(const rows_all *all, roles_call call, int group, int thread) {
    tile_ring_end a_end = tile_ring_reader(), b_end = tile_ring_reader();
    const int64_t stride = (call.N + 3) / 4 * 4;
    float s[32];
    for (int task = all->first; task < all->tasks; task += all->step) {
        const int i = task % all->rows * 128 + 64 * group, j = task / all->rows * 64;
        tile_mma_zero(s, 64);
        for (int p = 0; p < all->steps; p++) {
            const uint32_t a = tile_ring_get_copied(&all->a, &a_end), b = tile_ring_get_copied(&all->b, &b_end);
            tile_mma_bf16_01(s, 64, a + 64 * 128 * group, b, p > 0);
            tile_wgmma_commit();
            tile_mma_wait(1);
            if (p > 0) tile_ring_free(&all->a, &a_end, 1, thread);
            if (p > 0) tile_ring_free(&all->b, &b_end, 1, thread);
        }
        tile_mma_ready(s, 64);
        if (all->steps > 0) tile_ring_free(&all->a, &a_end, 1, thread);
        if (all->steps > 0) tile_ring_free(&all->b, &b_end, 1, thread);
        tile_sums_pairs((float *)call.c + i * stride + j, stride, s, 64, (int)call.M - i, (int)call.N - j, thread);
    }
}

TILE_KERNEL_CLUSTER(rows, roles_call, 384, 1) {
    TILE_LDS(lds, 0);
    const rows_all all = rows_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        tile_ring_make(&all.a, rows_LANES, 2);
        tile_ring_make(&all.b, rows_LANES, 2);
        tile_mbar_init_done();
    }
    tile_sync();
    tile_follow();
    if (group == 0) {
        tile_regs_give(72);
        if (thread >= 64 && call.K % 8 == 0) rows_gather(&all, call, 16, thread - 64);
        if (thread >= 64 && call.K % 8 == 4) rows_gather(&all, call, 8, thread - 64);
        if (thread >= 64 && call.K % 4 == 2) rows_gather(&all, call, 4, thread - 64);
    } else {
        tile_regs_take(216);
        rows_multiply(&all, call, group - 1, thread);
    }
}
