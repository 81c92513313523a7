/* o = (q k^T) v, two chained products whose loop runs in turns: the scores of step j are multiplied beside the results
   of step j - 1, as in attention. Rows of q and k: 64; the scores become the second product's operand in registers.
   ring $q 1 { %q: bf16<i: 128, c> #k128 box %q }   ring $k 2 { %k: bf16<j: 64, c> #k128 box %k }
   ring $v 3 { %v: bf16<j: 64, n: 128> #mn128 box %v }
   for j: 64 with (%o = zero) turns A E@1 B F@1 D {
     A: %k = get $k ; %s0 = mma %q, %k over c    B: %s = ready %s0 ; free $k    D: %p = cast %s
     E: %v = get $v ; %o0 = mma %p, %v, %o over j    F: %o1 = ready %o0 ; free $v } */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include "roles.h"

typedef struct {
    tile_tensor_map map[4]; /* q, k, -, v */
} chain_maps;

enum {
    chain_Q_BYTES = 128 * 128,
    chain_K = chain_Q_BYTES,
    chain_K_BYTES = 64 * 128,
    chain_V = chain_K + 2 * chain_K_BYTES,
    chain_V_BYTES = 2 * TILE_PANEL_MN,
    chain_Q_FULL = chain_V + 3 * chain_V_BYTES,
    chain_K_FULL = chain_Q_FULL + TILE_RING_BARRIERS(1),
    chain_V_FULL = chain_K_FULL + TILE_RING_BARRIERS(2)
};

typedef struct {
    tile_ring q, k, v;
    int first, step, tasks, steps;
} chain_all;

TILE_FN chain_all chain_begin(roles_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    return {{at, at + chain_Q_FULL, 1, chain_Q_BYTES},
            {at + chain_K, at + chain_K_FULL, 2, chain_K_BYTES},
            {at + chain_V, at + chain_V_FULL, 3, chain_V_BYTES},
            (int)tile_group(),
            (int)tile_groups(),
            (int)((call.M + 127) / 128),
            (int)((call.K + 63) / 64)};
}

TILE_FN void chain_copy(const chain_all *all, const chain_maps *maps) {
    const tile_boxes q = {&maps->map[0], 2, 0}, k = {&maps->map[1], 2, 0}, v = {&maps->map[3], 2, 0};
    tile_ring_end to_q = tile_ring_writer(), to_k = tile_ring_writer(), to_v = tile_ring_writer();
    for (int task = all->first; task < all->tasks; task += all->step) {
        tile_box_k(tile_ring_put(&all->q, &to_q, chain_Q_BYTES), 0, q, 0, 128 * task, 128, 0, 1);
#pragma unroll 1
        for (int j = 0; j < all->steps; j++) {
            tile_box_k(tile_ring_put(&all->k, &to_k, chain_K_BYTES), 0, k, 0, 64 * j, 64, 0, 1);
            tile_box_mn(tile_ring_put(&all->v, &to_v, chain_V_BYTES), 0, v, 64 * j, 0, 128, 0, 1);
        }
    }
    tile_ring_drain(&all->q, &to_q);
    tile_ring_drain(&all->k, &to_k);
    tile_ring_drain(&all->v, &to_v);
}

/* now: pieces A, B, D of this step; old: E, F of the one before. */
TILE_FN void chain_turn(const chain_all *all, tile_ring_end *k, tile_ring_end *v, uint32_t q, float o[64],
                        uint32_t p[16], bool now, bool old, int thread) {
    float s[32];
    if (now) {
        tile_mma_bf16_00(s, 64, q, tile_ring_get(&all->k, k), 0);
        tile_wgmma_commit();
    }
    if (old) {
        tile_mma_rs_bf16_1(o, 128, p, tile_ring_get(&all->v, v), 1);
        tile_wgmma_commit();
    }
    if (now) {
        if (old)
            tile_mma_ready1(s, 64);
        else
            tile_mma_ready(s, 64);
        tile_ring_free(&all->k, k, 1, thread);
    }
    if (old) {
        tile_mma_ready(o, 128);
        tile_ring_free(&all->v, v, 1, thread);
    }
    if (now) tile_sums_words_bf16(p, s, 64);
}

TILE_FN void chain_sums(const chain_all *all, tile_ring_end *q, tile_ring_end *k, tile_ring_end *v, float o[64],
                        int group, int thread) {
    const uint32_t rows = tile_ring_get(&all->q, q) + 64 * 128 * group;
    uint32_t p[16];
    chain_turn(all, k, v, rows, o, p, true, false, thread);
    for (int j = 1; j < all->steps; j++) chain_turn(all, k, v, rows, o, p, true, true, thread);
    chain_turn(all, k, v, rows, o, p, false, true, thread);
    tile_ring_free(&all->q, q, 1, thread);
}

TILE_FN void chain_multiply(const chain_all *all, roles_call call, int group, int thread) {
    tile_ring_end q = tile_ring_reader(), k = tile_ring_reader(), v = tile_ring_reader();
    float o[64];
    for (int task = all->first; task < all->tasks; task += all->step) {
        const int i = 128 * task + 64 * group;
        tile_mma_zero(o, 128);
        if (all->steps > 0)
            chain_sums(all, &q, &k, &v, o, group, thread);
        else
            tile_ring_skip(&all->q, &q, 1, 1, 1 + group, thread);
        tile_sums_pairs((float *)call.c + i * call.N, call.N, o, 128, (int)call.M - i, (int)call.N, thread);
    }
}

TILE_KERNEL_MAPS(chain, roles_call, 384, 1) {
    TILE_LDS(lds, 0);
    const chain_all all = chain_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0);
    if (tile_thread() == 0) {
        tile_ring_make(&all.q, 1, 2);
        tile_ring_make(&all.k, 1, 2);
        tile_ring_make(&all.v, 1, 2);
        tile_mbar_init_done();
    }
    tile_sync();
    tile_follow();
    if (tile_thread() == 0) chain_copy(&all, &maps);
    if (group > 0) chain_multiply(&all, call, group - 1, tile_thread() & 127);
}
