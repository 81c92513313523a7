/* batched_nn_sm_90a.hip: the program batched_nn for sm_90a, made by tilec. */
#include "device/tile_sm_90a.h"
#include "device/tile_roles.h"

#include "batched_nn.h"

typedef struct {
    batched_nn_args args;
    char *local; /* workspace */
} batched_nn_call;

/* kernel products, sizes.tile:13, in roles */
typedef struct {
    tile_tensor_map map[3]; /* a, w, c */
} products_maps;

enum { /* bytes of workgroup memory, from a multiple of 1024 on */
    products_a_w = 0, products_a_w_bytes = 49152, /* 4 slots, and a slot's bytes */
    products_a_w_a = 0,
    products_a_w_w = 16384,
    products_a_w_full = 229376,
    products_c = 196608, products_c_bytes = 8192, /* 2 slots for each of 2 groups, and a slot's bytes */
    products_multiply_turn_full = 229440, /* a token between groups */
};

/* What the roles of a workgroup share: its place in the cluster, tiles along each range, tasks, rings. */
typedef struct {
    int rank, cluster, clusters, x_tiles, i_tiles, j_tiles, tasks;
    tile_ring a_w, c;
    tile_ring multiply_turn;
} products_all;

/* The task's number, and that of its tile along each range. */
typedef struct {
    int number, x, i, j;
} products_task;

TILE_FN products_all products_begin(const batched_nn_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    products_all all = {};
    all.rank = tile_cluster_rank();
    all.cluster = (int)tile_group() / 2;
    all.clusters = (int)tile_groups() / 2;
    all.x_tiles = 16;
    all.i_tiles = 8;
    all.j_tiles = 8;
    all.tasks = all.x_tiles * all.i_tiles * all.j_tiles;
    all.a_w = {at + products_a_w, at + products_a_w_full, 4, products_a_w_bytes};
    all.c = {at + products_c, 0, 2, products_c_bytes};
    all.multiply_turn = {0, at + products_multiply_turn_full, 1, 0};
    return all;
}

TILE_FN products_task products_place(const products_all *all, int number) {
    products_task task = {};
    task.number = number;
    const int group = number;
    const int x = group / 64;
    const int task_2 = group % 64;
    const int i_band = task_2 / 32;
    const int i_first = i_band * 4;
    const int task_3 = task_2 % 32;
    const int j = task_3 / 4;
    const int i_digit = task_3 % 4;
    const int i = i_first + i_digit;
    task.x = x;
    task.i = 2 * i + all->rank;
    task.j = j;
    return task;
}

/* role copy */
TILE_FN void products_copy(const batched_nn_call call, const products_maps *maps, const products_all *all) {
    tile_ring_end a_w_end = tile_ring_writer();
    for (int number = all->cluster; number < all->tasks; number += all->clusters) {
        const products_task task = products_place(all, number);
        const int64_t x = task.x;
        const int64_t i_tile = task.i;
        const int64_t j_tile = task.j;
        const int64_t i0 = 128 * i_tile;
        const int64_t j0 = 256 * j_tile;
        // sizes.tile:16
        #pragma unroll 1
        for (int64_t p0 = 0; p0 < 2048; p0 += 64) {
            const tile_slot a_w = tile_ring_put(&all->a_w, &a_w_end, 49152);
            tile_box_k(a_w, products_a_w_a, {&maps->map[0], 3, (int)x}, p0, i0, 128, all->rank, 1);
            tile_box_mn(a_w, products_a_w_w, {&maps->map[1], 3, (int)x}, p0, j0, 256, all->rank, 2);
        }
    }
    tile_let_go();
    tile_ring_drain(&all->a_w, &a_w_end);
}

/* role multiply */
TILE_FN void products_multiply(const batched_nn_call call, const products_maps *maps, const products_all *all, int group, int thread) {
    tile_ring_end a_w_end = tile_ring_reader();
    tile_ring own_c = all->c; /* of this group */
    own_c.slot += 2 * products_c_bytes * group;
    tile_ring_end c_end = tile_ring_writer();
    tile_ring_end multiply_turn_end = group ? tile_ring_reader() : tile_ring_writer();
    for (int number = all->cluster; number < all->tasks; number += all->clusters) {
        const products_task task = products_place(all, number);
        const int64_t x = task.x;
        const int64_t i_tile = task.i;
        const int64_t j_tile = task.j;
        const int64_t i0 = 128 * i_tile;
        const int64_t j0 = 256 * j_tile;
        // sizes.tile:16
        float acc[128];
        #pragma unroll
        for (int reg = 0; reg < 128; reg++) {
            acc[reg] = 0.0f;
        }
        #pragma unroll 1
        for (int64_t p0 = 0; p0 < 2048; p0 += 64) {
            if (group && p0 == 1856) tile_ring_get(&all->multiply_turn, &multiply_turn_end);
            const uint32_t a_w = tile_ring_get(&all->a_w, &a_w_end);
            tile_mma_bf16_01(acc, 256, a_w + 8192 * group, a_w + products_a_w_w, p0 > 0);
            tile_wgmma_commit();
            tile_mma_wait(1);
            if (p0 > 0) tile_ring_free(&all->a_w, &a_w_end, 2, thread);
        }
        if (group == 0) tile_ring_pass(&all->multiply_turn, &multiply_turn_end, thread);
        if (group) tile_ring_free(&all->multiply_turn, &multiply_turn_end, 1, thread);
        tile_mma_wait(0);
        tile_ring_free(&all->a_w, &a_w_end, 2, thread);
        tile_wgmma_keep(acc, 128);
        // sizes.tile:17
        #pragma unroll
        for (int q0 = 0; q0 < 256; q0 += 64) {
            float *const part = acc + 32 * (q0 / 64);
            const uint32_t c_2 = tile_own_open(&own_c, &c_end, 1, 2 + group, thread);
            tile_sums_write_bf16(c_2, part, 64, thread);
            tile_own_filled(&own_c, &c_end, 2 + group);
            if (thread == 0) tile_box_store({&maps->map[2], 3, (int)x}, i0 + 64 * group, j0 + q0, 64, c_2);
        }
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS(products, batched_nn_call, 384, 2) {
    TILE_LDS(lds, 0);
    const products_all all = products_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        tile_ring_make(&all.a_w, 1, 4);
        tile_ring_make(&all.multiply_turn, 1, 1);
        tile_mbar_init_done();
    }
    tile_cluster_meet();
    tile_follow();
    if (group < 1) {
        tile_regs_give(40);
        if (thread / 32 == 0 && tile_elect()) products_copy(call, &maps, &all);
    } else {
        tile_regs_take(232);
        products_multiply(call, &maps, &all, group - 1, thread);
    }
    tile_wave_sync();
    tile_cluster_meet();
}

