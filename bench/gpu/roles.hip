/* roles.hip: c = a b or a b^T in the form roles over the device library, in the variants between which the design has
   to choose; roles.py sets the macros. Tiles of 128 x WIDE, 64 positions of k a step. */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#ifndef WIDE
#define WIDE 256 /* columns of a tile */
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef CLUSTER
#define CLUSTER 2
#endif
#ifndef BESIDE
#define BESIDE 0 /* tiles of a cluster lie beside each other and share a; 0: above each other, they share b */
#endif
#ifndef ACROSS
#define ACROSS 0 /* b is [k, n] */
#endif
#ifndef TURNS
#define TURNS                                                                                                          \
    1 /* the second group ends its steps behind the first, so that one stores while the other multiplies: a token      \
         orders them; 2: a named barrier, where steps fill the ring; 0: they do not */
#endif
#ifndef OUT
#define OUT 64 /* columns of a slot of results */
#endif
#ifndef OUTS
#define OUTS 2 /* slots */
#endif
#ifndef STORE_WARP
#define STORE_WARP 0 /* a spare warp for each group stores; 0: the group's first thread */
#endif
#ifndef TICKET
#define TICKET 0 /* tasks by a counter; 0: static */
#endif
#ifndef EDGES
#define EDGES 0 /* tiles over the edge come last, groups without rows skip the products */
#endif
#ifdef FIXED_M /* sizes that the compiler knows; else those of the run */
#define SIZES(call)                                                                                                    \
    { FIXED_M, FIXED_N, FIXED_K }
#else
#define SIZES(call)                                                                                                    \
    { (int)call.M, (int)call.N, (int)call.K }
#endif

typedef struct {
    int64_t M, N, K;
    uint64_t *ticket; /* 0 between launches */
} product_call;

typedef struct {
    tile_tensor_map map[3]; /* a, b, c */
} product_maps;

enum {
    Y = 128 * 128,
    BYTES = Y + (WIDE + 63) / 64 * 64 * 128, /* of a stage */
    RESULTS = STAGES * BYTES,
    OUT_BYTES = 64 * 2 * OUT,
    FULL = RESULTS + 2 * OUTS * OUT_BYTES,
    OUT_FULL = FULL + TILE_RING_BARRIERS(STAGES),
    TASK_FULL = OUT_FULL + 2 * TILE_RING_BARRIERS(OUTS),
    TURN_FULL = TASK_FULL + TILE_RING_BARRIERS(2),
    TASK = TURN_FULL + TILE_RING_BARRIERS(1),
    SHARE_A = BESIDE ? CLUSTER : 1,
    SHARE_B = BESIDE ? 1 : CLUSTER
};

typedef struct {
    int rank, cluster, clusters, size[3], rows, columns, tasks, steps;
    uint32_t lds;
    tile_ring ab, task, turn;
} product_all;

TILE_FN product_all product_begin(product_call call, const char *lds) {
    const int size[3] = SIZES(call);
    product_all all = {};
    for (int i = 0; i < 3; i++) all.size[i] = size[i];
    all.lds = (tile_shared(lds) + 1023) & ~1023u;
    all.rank = CLUSTER > 1 ? tile_cluster_rank() : 0;
    all.cluster = (int)tile_group() / CLUSTER;
    all.clusters = (int)tile_groups() / CLUSTER;
    all.rows = (size[0] + 128 * SHARE_B - 1) / (128 * SHARE_B);
    all.columns = (size[1] + WIDE * SHARE_A - 1) / (WIDE * SHARE_A);
    all.tasks = all.rows * all.columns;
    all.steps = (size[2] + 63) / 64;
    all.ab = {all.lds, all.lds + FULL, STAGES, BYTES};
    all.turn = {0, all.lds + TURN_FULL, 1, 0};
    all.task = {all.lds + TASK, all.lds + TASK_FULL, 2, 4};
    return all;
}

TILE_FN tile_ring product_out(const product_all *all, int group) {
    return {all->lds + RESULTS + OUTS * OUT_BYTES * group, all->lds + OUT_FULL + TILE_RING_BARRIERS(OUTS) * group, OUTS,
            OUT_BYTES};
}

TILE_FN tile_place product_place(const product_all *all, int task) {
    const int band = BESIDE ? 12 : 8;
    const tile_place t = EDGES ? tile_order_edges_last(task, all->rows, all->columns, all->size[0] / (128 * SHARE_B),
                                                       all->size[1] / (WIDE * SHARE_A), band)
                               : tile_order_raster(task, all->rows, all->columns, band);
    return {(t.i * SHARE_B + (BESIDE ? 0 : all->rank)) * 128, (t.j * SHARE_A + (BESIDE ? all->rank : 0)) * WIDE};
}

/* ---- tasks ---- */

/* The next task of a role, -1 behind the last one; warp: all lanes of the warp ask. */
TILE_FN int product_task(const product_all *all, tile_ring_end *e, int before, bool warp) {
    if (TICKET) return tile_ticket_next(&all->task, e, warp);
    const int task = before < 0 ? all->cluster : before + all->clusters;
    return task < all->tasks ? task : -1;
}

#define TASKS(task, warp)                                                                                              \
    tile_ring_end tasks = tile_ring_reader();                                                                          \
    for (int task = -1; (task = product_task(all, &tasks, task, warp)) >= 0;)

/* ---- roles ---- */

TILE_FN void product_copy(const product_all *all, const product_maps *maps) {
    const tile_boxes a = {&maps->map[0], 2, 0}, b = {&maps->map[1], 2, 0};
    tile_ring_end ab = tile_ring_writer();
    TASKS(task, false) {
        const tile_place at = product_place(all, task);
#pragma unroll 1
        for (int p = 0; p < all->steps; p++) {
            const tile_slot slot = tile_ring_put(&all->ab, &ab, ACROSS ? BYTES : Y + WIDE * 128);
            tile_box_k(slot, 0, a, 64 * p, at.i, 128, all->rank, SHARE_A);
            if (ACROSS)
                tile_box_mn(slot, Y, b, 64 * p, at.j, WIDE, all->rank, SHARE_B);
            else
                tile_box_k(slot, Y, b, 64 * p, at.j, WIDE, all->rank, SHARE_B);
        }
    }
    tile_ring_drain(&all->ab, &ab);
}

TILE_FN void product_step(const product_all *all, tile_ring_end *ab, float *s, int add, bool now, bool old, int group,
                          int thread) {
    if (now) {
        const uint32_t slot = tile_ring_get(&all->ab, ab);
        if (ACROSS)
            tile_mma_bf16_01(s, WIDE, slot + 64 * 128 * group, slot + Y, add);
        else
            tile_mma_bf16_00(s, WIDE, slot + 64 * 128 * group, slot + Y, add);
        tile_wgmma_commit();
    }
    if (old) {
        tile_mma_wait(now);
        tile_ring_free(&all->ab, ab, CLUSTER, thread);
    }
}

TILE_FN void product_turn_wait(const product_all *all, tile_ring_end *turn, int group) {
    if (TURNS == 1 && group) tile_ring_get(&all->turn, turn);
    if (TURNS == 2 && group && all->steps > STAGES) tile_bar_sync(3, 256);
}
TILE_FN void product_turn_pass(const product_all *all, tile_ring_end *turn, int group, int thread) {
    if (TURNS == 1 && !group) tile_ring_pass(&all->turn, turn, thread);
    if (TURNS == 2 && !group && all->steps > STAGES) tile_bar_arrive(3, 256);
}

TILE_FN void product_sums(const product_all *all, tile_ring_end *ab, tile_ring_end *turn, float *s, int group,
                          int thread) {
    const int last = tile_max_i32(all->steps - STAGES + 1, 0);
    if (last == 0) product_turn_wait(all, turn, group);
    product_step(all, ab, s, 0, true, false, group, thread);
    for (int p = 1; p < all->steps; p++) {
        if (p == last) product_turn_wait(all, turn, group);
        product_step(all, ab, s, 1, true, true, group, thread);
    }
    product_turn_pass(all, turn, group, thread);
    product_step(all, ab, s, 1, false, true, group, thread);
    if (TURNS == 1 && group) tile_ring_free(&all->turn, turn, 1, thread);
}

/* A group without rows. */
TILE_FN void product_skip(const product_all *all, tile_ring_end *ab, tile_ring_end *turn, int group, int thread) {
    tile_ring_skip(&all->ab, ab, all->steps, CLUSTER, 1 + group, thread);
    product_turn_pass(all, turn, group, thread);
    if (TURNS == 1 && group) tile_ring_skip(&all->turn, turn, 1, 1, 1 + group, thread);
    if (TURNS == 2) product_turn_wait(all, turn, group);
}

TILE_FN void product_multiply(const product_all *all, const product_maps *maps, int group, int thread) {
    const tile_boxes c = {&maps->map[2], 2, 0};
    const tile_ring own = product_out(all, group);
    tile_ring_end ab = tile_ring_reader(), out = tile_ring_writer();
    tile_ring_end turn = group ? tile_ring_reader() : tile_ring_writer();
    float s[WIDE / 2];
    TASKS(task, true) {
        const tile_place at = product_place(all, task);
        if (EDGES && at.i + 64 * group >= all->size[0]) {
            if (all->steps > 0) product_skip(all, &ab, &turn, group, thread);
            continue;
        }
        tile_mma_zero(s, WIDE);
        if (all->steps > 0) product_sums(all, &ab, &turn, s, group, thread);
        tile_mma_ready(s, WIDE);
#pragma unroll
        for (int q = 0; q < WIDE / OUT; q++) {
            const uint32_t slot =
                STORE_WARP ? tile_ring_open(&own, &out) : tile_own_open(&own, &out, own.slots - 1, 1 + group, thread);
            tile_sums_write_bf16(slot, s + OUT / 2 * q, OUT, thread);
            if (STORE_WARP)
                tile_ring_filled(&own, &out);
            else
                tile_own_filled(&own, &out, 1 + group);
            if (!STORE_WARP && thread == 0) tile_box_store(c, at.i + 64 * group, at.j + OUT * q, OUT, slot);
        }
    }
    if (!STORE_WARP && thread == 0) tile_tma_wait_read();
}

TILE_FN void product_store(const product_all *all, const product_maps *maps, int group) {
    const tile_boxes c = {&maps->map[2], 2, 0};
    const tile_ring own = product_out(all, group);
    tile_ring_end out = tile_ring_reader();
    TASKS(task, false) {
        const tile_place at = product_place(all, task);
#pragma unroll 1
        for (int q = 0; q < WIDE / OUT; q++) {
            const uint32_t slot = tile_ring_get(&own, &out);
            tile_box_store(c, at.i + 64 * group, at.j + OUT * q, OUT, slot);
            tile_tma_wait_read();
            tile_ring_free(&own, &out, 1, 0);
        }
    }
}

TILE_KERNEL_MAPS(product, product_call, 384, CLUSTER) {
    TILE_LDS(lds, 0);
    const product_all all = product_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        tile_ring_make(&all.ab, 1, 2 * CLUSTER);
        for (int g = 0; g < 2; g++) {
            const tile_ring out = product_out(&all, g);
            tile_ring_make(&out, 128, 1);
        }
        tile_ring_make(&all.turn, 1, 1);
        tile_ring_make(&all.task, 1, CLUSTER * (8 + 1 + 2 * STORE_WARP)); /* warps and lanes that read tasks */
        tile_mbar_init_done();
    }
    tile_cluster_sync();
    tile_follow();
    if (group > 0) {
#if WIDE > 128
        tile_regs_take(232);
#endif
        product_multiply(&all, &maps, group - 1, thread);
        return;
    }
#if WIDE > 128
    tile_regs_give(40);
#endif
    if (thread == 0) product_copy(&all, &maps);
    if (STORE_WARP && thread == 32) product_store(&all, &maps, 0);
    if (STORE_WARP && thread == 64) product_store(&all, &maps, 1);
    if (TICKET && thread == 96 && all.rank == 0)
        tile_ticket_take(&all.task, call.ticket, all.tasks, all.clusters, CLUSTER);
}
