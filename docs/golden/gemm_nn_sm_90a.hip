/* gemm_nn_sm_90a.hip: the program gemm_nn for sm_90a, made by tilec. */
#include "device/tile_sm_90a.h"
#include "device/tile_roles.h"

#include "gemm_nn.h"

typedef struct {
    gemm_nn_args args;
    char *local; /* workspace */
} gemm_nn_call;

/* kernel matmul, matmul.tile:4, in roles */
typedef struct {
    tile_tensor_map map[3]; /* a, b, c */
} matmul_maps;

enum { /* bytes of workgroup memory, from a multiple of 1024 on */
    matmul_a_b = 0, matmul_a_b_bytes = 49152, /* 4 slots, and a slot's bytes */
    matmul_a_b_a = 0,
    matmul_a_b_b = 16384,
    matmul_a_b_full = 229376,
    matmul_c = 196608, matmul_c_bytes = 8192, /* 2 slots for each of 2 groups, and a slot's bytes */
    matmul_multiply_turn_full = 229440, /* a token between groups */
};

/* What the roles of a workgroup share: its place in the cluster, tiles along each range, tasks, rings. */
typedef struct {
    int rank, cluster, clusters, i_tiles, j_tiles, tasks;
    tile_ring a_b, c;
    tile_ring multiply_turn;
} matmul_all;

/* The task's number, and that of its tile along each range. */
typedef struct {
    int number, i, j;
} matmul_task;

TILE_FN matmul_all matmul_begin(const gemm_nn_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    matmul_all all = {};
    all.rank = tile_cluster_rank();
    all.cluster = (int)tile_group() / 2;
    all.clusters = (int)tile_groups() / 2;
    all.i_tiles = 16;
    all.j_tiles = 16;
    all.tasks = all.i_tiles * all.j_tiles;
    all.a_b = {at + matmul_a_b, at + matmul_a_b_full, 4, matmul_a_b_bytes};
    all.c = {at + matmul_c, 0, 2, matmul_c_bytes};
    all.multiply_turn = {0, at + matmul_multiply_turn_full, 1, 0};
    return all;
}

TILE_FN matmul_task matmul_place(const matmul_all *all, int number) {
    matmul_task task = {};
    task.number = number;
    const int group = number;
    const int i_band = group / 64;
    const int i_first = i_band * 4;
    const int task_2 = group % 64;
    const int j = task_2 / 4;
    const int i_digit = task_2 % 4;
    const int i = i_first + i_digit;
    task.i = 2 * i + all->rank;
    task.j = j;
    return task;
}

/* role copy */
TILE_FN void matmul_copy(const gemm_nn_call call, const matmul_maps *maps, const matmul_all *all) {
    tile_ring_end a_b_end = tile_ring_writer();
    for (int number = all->cluster; number < all->tasks; number += all->clusters) {
        const matmul_task task = matmul_place(all, number);
        const int64_t i_tile = task.i;
        const int64_t j_tile = task.j;
        const int64_t i0 = 128 * i_tile;
        const int64_t j0 = 256 * j_tile;
        // matmul.tile:7
        #pragma unroll 1
        for (int64_t p0 = 0; p0 < 4096; p0 += 64) {
            const tile_slot a_b = tile_ring_put(&all->a_b, &a_b_end, 49152);
            tile_box_k(a_b, matmul_a_b_a, {&maps->map[0], 2, 0}, p0, i0, 128, all->rank, 1);
            tile_box_mn(a_b, matmul_a_b_b, {&maps->map[1], 2, 0}, p0, j0, 256, all->rank, 2);
        }
    }
    tile_let_go();
    tile_ring_drain(&all->a_b, &a_b_end);
}

/* role multiply */
TILE_FN void matmul_multiply(const gemm_nn_call call, const matmul_maps *maps, const matmul_all *all, int group, int thread) {
    tile_ring_end a_b_end = tile_ring_reader();
    tile_ring own_c = all->c; /* of this group */
    own_c.slot += 2 * matmul_c_bytes * group;
    tile_ring_end c_end = tile_ring_writer();
    tile_ring_end multiply_turn_end = group ? tile_ring_reader() : tile_ring_writer();
    for (int number = all->cluster; number < all->tasks; number += all->clusters) {
        const matmul_task task = matmul_place(all, number);
        const int64_t i_tile = task.i;
        const int64_t j_tile = task.j;
        const int64_t i0 = 128 * i_tile;
        const int64_t j0 = 256 * j_tile;
        // matmul.tile:7
        float acc[128];
        #pragma unroll
        for (int reg = 0; reg < 128; reg++) {
            acc[reg] = 0.0f;
        }
        #pragma unroll 1
        for (int64_t p0 = 0; p0 < 4096; p0 += 64) {
            if (group && p0 == 3904) tile_ring_get(&all->multiply_turn, &multiply_turn_end);
            const uint32_t a_b = tile_ring_get(&all->a_b, &a_b_end);
            tile_mma_bf16_01(acc, 256, a_b + 8192 * group, a_b + matmul_a_b_b, p0 > 0);
            tile_wgmma_commit();
            tile_mma_wait(1);
            if (p0 > 0) tile_ring_free(&all->a_b, &a_b_end, 2, thread);
        }
        if (group == 0) tile_ring_pass(&all->multiply_turn, &multiply_turn_end, thread);
        if (group) tile_ring_free(&all->multiply_turn, &multiply_turn_end, 1, thread);
        tile_mma_wait(0);
        tile_ring_free(&all->a_b, &a_b_end, 2, thread);
        tile_wgmma_keep(acc, 128);
        // matmul.tile:8
        #pragma unroll
        for (int q0 = 0; q0 < 256; q0 += 64) {
            float *const part = acc + 32 * (q0 / 64);
            const uint32_t c_2 = tile_own_open(&own_c, &c_end, 1, 2 + group, thread);
            tile_sums_write_bf16(c_2, part, 64, thread);
            tile_own_filled(&own_c, &c_end, 2 + group);
            if (thread == 0) tile_box_store({&maps->map[2], 2, 0}, i0 + 64 * group, j0 + q0, 64, c_2);
        }
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS(matmul, gemm_nn_call, 384, 2) {
    TILE_LDS(lds, 0);
    const matmul_all all = matmul_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        tile_ring_make(&all.a_b, 1, 4);
        tile_ring_make(&all.multiply_turn, 1, 1);
        tile_mbar_init_done();
    }
    tile_cluster_meet();
    tile_follow();
    if (group < 1) {
        tile_regs_give(40);
        if (thread / 32 == 0 && tile_elect()) matmul_copy(call, &maps, &all);
    } else {
        tile_regs_take(232);
        matmul_multiply(call, &maps, &all, group - 1, thread);
    }
    tile_wave_sync();
    tile_cluster_meet();
}

