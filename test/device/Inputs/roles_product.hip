/* matmul, as code generation writes the form roles for sm_90a: c = a b^T of sizes that the run gives.
   roles cluster i 2 order (i / 8, j, i) regs 40 232 232
   ring $ab 4  { %x: bf16<i: 128, p: 64> #k128 box %a, %y: bf16<j: 256, p: 64> #k128 box %b share i }
   ring $out 2 { %o: bf16<i: 64, q: 64> #k128 threads } per multiply */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include "roles.h"

/* kernel matmul, in roles */
typedef struct {
    tile_tensor_map map[3]; /* a, b, c */
} matmul_maps;

enum {
    matmul_CLUSTER = 2, /* along i */
    /* workgroup memory, from a multiple of 1024 on */
    matmul_AB = 0, /* the slots of $ab */
    matmul_AB_X = 0,
    matmul_AB_Y = 128 * 128,
    matmul_AB_BYTES = matmul_AB_Y + 256 * 128,
    matmul_OUT = matmul_AB + 4 * matmul_AB_BYTES, /* of $out, for each group */
    matmul_OUT_BYTES = 64 * 128,
    matmul_AB_FULL = matmul_OUT + 2 * 2 * matmul_OUT_BYTES,
    matmul_LDS = matmul_AB_FULL + TILE_RING_BARRIERS(4)
};

/* What the roles of a workgroup share: where it stands, its rings, the scalars of its tasks. */
typedef struct {
    int rank, cluster, clusters;
    tile_ring ab;
    uint32_t out;
    int rows, columns, tasks, steps;
} matmul_all;

TILE_FN matmul_all matmul_begin(roles_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    matmul_all all = {};
    all.rank = tile_cluster_rank();
    all.cluster = (int)tile_group() / matmul_CLUSTER;
    all.clusters = (int)tile_groups() / matmul_CLUSTER;
    all.ab = {at + matmul_AB, at + matmul_AB_FULL, 4, matmul_AB_BYTES};
    all.out = at + matmul_OUT;
    all.rows = (int)((call.M + 255) / 256);
    all.columns = (int)((call.N + 255) / 256);
    all.tasks = all.rows * all.columns;
    all.steps = (int)((call.K + 63) / 64);
    return all;
}

/* The first row and column of a task's tile. */
TILE_FN tile_place matmul_place(const matmul_all *all, int task) {
    const tile_place t = tile_order_raster(task, all->rows, all->columns, 8);
    return {(t.i * matmul_CLUSTER + all->rank) * 128, t.j * 256};
}

/* role copy warp 0 lanes 1 */
TILE_FN void matmul_copy(const matmul_all *all, const matmul_maps *maps) {
    const tile_boxes a = {&maps->map[0], 2, 0}, b = {&maps->map[1], 2, 0};
    tile_ring_end ab = tile_ring_writer();
    for (int task = all->cluster; task < all->tasks; task += all->clusters) {
        const tile_place at = matmul_place(all, task);
#pragma unroll 1
        for (int p = 0; p < all->steps; p++) {
            const tile_slot slot = tile_ring_put(&all->ab, &ab, matmul_AB_BYTES);
            tile_box_k(slot, matmul_AB_X, a, 64 * p, at.i, 128, all->rank, 1);
            tile_box_k(slot, matmul_AB_Y, b, 64 * p, at.j, 256, all->rank, matmul_CLUSTER);
        }
    }
    tile_ring_drain(&all->ab, &ab);
}

/* A turn of multiply's loop: piece A of this iteration, B of the one before. */
TILE_FN void matmul_multiply_turn(const matmul_all *all, tile_ring_end *ab, float s[128], int add, bool now, bool old,
                                  int group, int thread) {
    if (now) {
        const uint32_t slot = tile_ring_get(&all->ab, ab);
        tile_mma_bf16_00(s, 256, slot + matmul_AB_X + 64 * 128 * group, slot + matmul_AB_Y, add);
        tile_wgmma_commit();
    }
    if (old) {
        tile_mma_wait(now);
        tile_ring_free(&all->ab, ab, matmul_CLUSTER, thread);
    }
}

/* role multiply groups 1 .. 2 split i; role store in multiply */
TILE_FN void matmul_multiply(const matmul_all *all, const matmul_maps *maps, int group, int thread) {
    const tile_boxes c = {&maps->map[2], 2, 0};
    const tile_ring own = {all->out + 2 * matmul_OUT_BYTES * group, 0, 2, matmul_OUT_BYTES};
    tile_ring_end ab = tile_ring_reader(), out = tile_ring_writer();
    float s[128];
    for (int task = all->cluster; task < all->tasks; task += all->clusters) {
        const tile_place at = matmul_place(all, task);
        tile_mma_zero(s, 256);
        if (all->steps > 0) {
            matmul_multiply_turn(all, &ab, s, 0, true, false, group, thread);
            for (int p = 1; p < all->steps; p++) matmul_multiply_turn(all, &ab, s, 1, true, true, group, thread);
            matmul_multiply_turn(all, &ab, s, 1, false, true, group, thread);
        }
        tile_mma_ready(s, 256);
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const uint32_t slot = tile_own_open(&own, &out, own.slots - 1, 1 + group, thread);
            tile_sums_write_bf16(slot, s + 32 * q, 64, thread);
            tile_own_filled(&own, &out, 1 + group);
            if (thread == 0) tile_box_store(c, at.i + 64 * group, at.j + 64 * q, 64, slot);
        }
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS(matmul, roles_call, 384, matmul_CLUSTER) {
    TILE_LDS(lds, 0);
    const matmul_all all = matmul_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        tile_ring_make(&all.ab, 1, 2 * matmul_CLUSTER);
        tile_mbar_init_done();
    }
    tile_cluster_sync();
    tile_follow();
    if (group == 0) {
        tile_regs_give(40);
        if (thread / 32 == 0 && tile_elect()) matmul_copy(&all, &maps);
    } else {
        tile_regs_take(232);
        matmul_multiply(&all, &maps, group - 1, thread);
    }
}
