/* What roles_product.hip has no use for: batches, rows of b across the products, which are copied before the wait,
   results made with a tile that threads read, a storing warp, rings without a cluster (blend); a shared first operand,
   whole tiles by boxes and others by rows that begin anywhere, tasks by tickets (edges); two products by one
   instruction, pairs of f32 (wide). */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include "roles.h"

/* ---- blend: c = a b + near, batched, tiles of 128 x 128 ----
   ring $ab 3   { %x: bf16<i: 128, p: 64> #k128 box %a, %y: bf16<p: 64, j: 128> #mn128 box %b }
   ring $near 1 { %z: bf16<i: 128, j: 128> #k128 box %near }
   ring $out 2  { %o: bf16<i: 64, q: 64> #k128 threads } per multiply */

typedef struct {
    tile_tensor_map map[4]; /* a, b, c, near */
} blend_maps;

enum {
    blend_AB_Y = 128 * 128,
    blend_AB_BYTES = blend_AB_Y + 2 * TILE_PANEL_MN,
    blend_NEAR = 3 * blend_AB_BYTES,
    blend_NEAR_BYTES = 2 * 128 * 128,
    blend_OUT = blend_NEAR + blend_NEAR_BYTES,
    blend_OUT_BYTES = 64 * 128,
    blend_AB_FULL = blend_OUT + 2 * 2 * blend_OUT_BYTES,
    blend_NEAR_FULL = blend_AB_FULL + TILE_RING_BARRIERS(3),
    blend_OUT_FULL = blend_NEAR_FULL + TILE_RING_BARRIERS(1),
    blend_LDS = blend_OUT_FULL + 2 * TILE_RING_BARRIERS(2)
};

typedef struct {
    tile_ring ab, near;
    uint32_t lds;
    int first, step, rows, columns, tasks, steps;
} blend_all;

TILE_FN blend_all blend_begin(roles_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    blend_all all = {};
    all.ab = {at, at + blend_AB_FULL, 3, blend_AB_BYTES};
    all.near = {at + blend_NEAR, at + blend_NEAR_FULL, 1, blend_NEAR_BYTES};
    all.lds = at;
    all.first = (int)tile_group();
    all.step = (int)tile_groups();
    all.rows = (int)((call.M + 127) / 128);
    all.columns = (int)((call.N + 127) / 128);
    all.tasks = all.rows * all.columns * (int)call.planes;
    all.steps = (int)((call.K + 63) / 64);
    return all;
}

/* $out of a group: computed, as an array of rings would lie in local memory. */
TILE_FN tile_ring blend_out(const blend_all *all, int group) {
    return {all->lds + blend_OUT + 2 * blend_OUT_BYTES * group,
            all->lds + blend_OUT_FULL + TILE_RING_BARRIERS(2) * group, 2, blend_OUT_BYTES};
}

TILE_FN tile_place blend_place(const blend_all *all, int task, int *plane) {
    const int tiles = all->rows * all->columns;
    const tile_place t = tile_order_raster(task % tiles, all->rows, all->columns, 8);
    *plane = task / tiles;
    return {t.i * 128, t.j * 128};
}

/* Steps of the first task whose b is copied before what ran before is waited for. */
TILE_FN int blend_ahead(const blend_all *all) {
    return all->first < all->tasks ? tile_min_i32(all->ab.slots, all->steps) : 0;
}

TILE_FN void blend_first(const blend_all *all, const blend_maps *maps) {
    if (blend_ahead(all) == 0) return;
    int plane;
    const tile_place at = blend_place(all, all->first, &plane);
    const tile_boxes b = {&maps->map[1], 3, plane};
    for (int p = 0; p < blend_ahead(all); p++)
        tile_box_mn(tile_ring_first(&all->ab, p, blend_AB_BYTES), blend_AB_Y, b, 64 * p, at.j, 128, 0, 1);
}

TILE_FN void blend_copy(const blend_all *all, const blend_maps *maps) {
    int ahead = blend_ahead(all);
    tile_ring_end ab = tile_ring_writer(), near = tile_ring_writer();
    for (int task = all->first; task < all->tasks; task += all->step) {
        int plane;
        const tile_place at = blend_place(all, task, &plane);
        const tile_boxes a = {&maps->map[0], 3, plane}, b = {&maps->map[1], 3, plane}, z = {&maps->map[3], 3, plane};
#pragma unroll 1
        for (int p = 0; p < all->steps; p++) {
            const tile_slot slot = tile_ring_put_behind(&all->ab, &ab, blend_AB_BYTES, ahead);
            tile_box_k(slot, 0, a, 64 * p, at.i, 128, 0, 1);
            if (ahead == 0) tile_box_mn(slot, blend_AB_Y, b, 64 * p, at.j, 128, 0, 1);
            ahead -= ahead > 0;
        }
        const tile_slot slot = tile_ring_put(&all->near, &near, blend_NEAR_BYTES);
        for (int u = 0; u < 2; u++) tile_box_k(slot, 128 * 128 * u, z, at.j + 64 * u, at.i, 128, 0, 1);
    }
    tile_ring_drain(&all->ab, &ab);
    tile_ring_drain(&all->near, &near);
}

TILE_FN void blend_multiply(const blend_all *all, int group, int thread) {
    tile_ring_end ab = tile_ring_reader(), near = tile_ring_reader(), out = tile_ring_writer();
    const tile_ring own = blend_out(all, group);
    float s[64], z[64];
    for (int task = all->first; task < all->tasks; task += all->step) {
        tile_mma_zero(s, 128);
        for (int p = 0; p < all->steps; p++) {
            const uint32_t slot = tile_ring_get(&all->ab, &ab);
            tile_mma_bf16_01(s, 128, slot + 64 * 128 * group, slot + blend_AB_Y, p > 0);
            tile_wgmma_commit();
            tile_mma_wait(1);
            if (p > 0) tile_ring_free(&all->ab, &ab, 1, thread);
        }
        tile_mma_ready(s, 128);
        if (all->steps > 0) tile_ring_free(&all->ab, &ab, 1, thread);
        const uint32_t slot = tile_ring_get(&all->near, &near);
        tile_sums_read_bf16(z, slot + 64 * 128 * group, 128 * 128, 128, thread);
        tile_ring_free_read(&all->near, &near, 1, 1 + group, thread);
#pragma unroll
        for (int i = 0; i < 64; i++) s[i] += z[i];
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const uint32_t to = tile_ring_open(&own, &out);
            tile_sums_write_bf16(to, s + 32 * q, 64, thread);
            tile_ring_filled(&own, &out);
        }
    }
}

/* role store warp 1 + group lanes 1 */
TILE_FN void blend_store(const blend_all *all, const blend_maps *maps, int group) {
    const tile_ring ring = blend_out(all, group);
    tile_ring_end out = tile_ring_reader();
    for (int task = all->first; task < all->tasks; task += all->step) {
        int plane;
        const tile_place at = blend_place(all, task, &plane);
        const tile_boxes c = {&maps->map[2], 3, plane};
        for (int q = 0; q < 2; q++) {
            const uint32_t slot = tile_ring_get(&ring, &out);
            tile_box_store(c, at.i + 64 * group, at.j + 64 * q, 64, slot);
            tile_tma_wait_read();
            tile_ring_free(&ring, &out, 1, 0);
        }
    }
}

TILE_KERNEL_MAPS(blend, roles_call, 384, 1) {
    TILE_LDS(lds, 0);
    const blend_all all = blend_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0);
    if (tile_thread() == 0) {
        tile_ring_make(&all.ab, 1, 2);
        tile_ring_make(&all.near, 1, 2);
        for (int g = 0; g < 2; g++) {
            const tile_ring out = blend_out(&all, g);
            tile_ring_make(&out, 128, 1);
        }
        tile_mbar_init_done();
    }
    tile_sync();
    if (tile_thread() == 0) blend_first(&all, &maps);
    tile_follow();
    if (tile_thread() == 0) blend_copy(&all, &maps);
    if (tile_thread() == 32) blend_store(&all, &maps, 0);
    if (tile_thread() == 64) blend_store(&all, &maps, 1);
    if (group > 0) blend_multiply(&all, group - 1, tile_thread() & 127);
}

/* ---- edges, wide: c = a b^T by a cluster of two tiles of 128 x 128 beside each other, which share a ---- */

typedef struct {
    tile_tensor_map map[4];
} edges_maps;
typedef edges_maps wide_maps;

enum {
    edges_Y = 128 * 128,
    edges_BYTES = edges_Y + 128 * 128,
    edges_OUT = 2 * edges_BYTES,
    edges_OUT_BYTES = 2 * 64 * 128,
    edges_FULL = edges_OUT + 2 * edges_OUT_BYTES,
    edges_TURN_FULL = edges_FULL + TILE_RING_BARRIERS(2),
    edges_TASK_FULL = edges_TURN_FULL + TILE_RING_BARRIERS(1),
    edges_TASK = edges_TASK_FULL + TILE_RING_BARRIERS(2),
    edges_LDS = edges_TASK + 2 * 4
};

typedef struct {
    int rank, cluster, clusters, rows, columns, steps;
    tile_ring ab, turn, task;
    uint32_t out;
} edges_all;

TILE_FN edges_all edges_begin(roles_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    return {tile_cluster_rank(),
            (int)tile_group() / 2,
            (int)tile_groups() / 2,
            (int)((call.M + 127) / 128),
            (int)((call.N + 255) / 256),
            (int)((call.K + 63) / 64),
            {at, at + edges_FULL, 2, edges_BYTES},
            {0, at + edges_TURN_FULL, 1, 0},
            {at + edges_TASK, at + edges_TASK_FULL, 2, 4},
            at + edges_OUT};
}

TILE_FN tile_place edges_place(const edges_all *all, int task) {
    const tile_place t = tile_order_raster(task, all->rows, all->columns, 2);
    return {t.i * 128, (2 * t.j + all->rank) * 128};
}

/* The task behind `before`, or -1: of edges by tickets, of wide static. */
TILE_FN int edges_next(const edges_all *all, tile_ring_end *tasks, bool static_order, int before, bool warp) {
    if (!static_order) return tile_ticket_next(&all->task, tasks, warp);
    const int task = before < 0 ? all->cluster : before + all->clusters;
    return task < all->rows * all->columns ? task : -1;
}

TILE_FN void edges_copy(const edges_all *all, const edges_maps *maps, bool static_order) {
    const tile_boxes a = {&maps->map[0], 2, 0}, b = {&maps->map[1], 2, 0};
    tile_ring_end ab = tile_ring_writer(), tasks = tile_ring_reader();
    for (int task = -1; (task = edges_next(all, &tasks, static_order, task, false)) >= 0;) {
        const tile_place at = edges_place(all, task);
#pragma unroll 1
        for (int p = 0; p < all->steps; p++) {
            const tile_slot slot = tile_ring_put(&all->ab, &ab, edges_BYTES);
            tile_box_k(slot, 0, a, 64 * p, at.i, 128, all->rank, 2);
            tile_box_k(slot, edges_Y, b, 64 * p, at.j, 128, all->rank, 1);
        }
    }
    tile_ring_drain(&all->ab, &ab);
}

/* The second group's last step comes behind the first one's: $turn, a token. Halves: columns of b as two matrices'. */
TILE_FN void edges_sums(const edges_all *all, tile_ring_end *ab, tile_ring_end *turn, float s[64], bool halves,
                        int group, int thread) {
    for (int p = 0; p < all->steps; p++) {
        if (group && p == all->steps - 1) tile_ring_get(&all->turn, turn);
        const uint32_t slot = tile_ring_get(&all->ab, ab);
        if (halves)
            tile_mma_pair_bf16_00(s, s + 32, 64, slot + 64 * 128 * group, slot + edges_Y, p > 0);
        else
            tile_mma_bf16_00(s, 128, slot + 64 * 128 * group, slot + edges_Y, p > 0);
        tile_wgmma_commit();
        tile_mma_wait(1);
        if (p > 0) tile_ring_free(&all->ab, ab, 2, thread);
    }
    if (!group) tile_ring_pass(&all->turn, turn, thread);
    tile_mma_ready(s, 128);
    tile_ring_free(&all->ab, ab, 2, thread);
    if (group) tile_ring_free(&all->turn, turn, 1, thread);
}

/* Of a group without rows. */
TILE_FN void edges_skip(const edges_all *all, tile_ring_end *ab, tile_ring_end *turn, int group, int thread) {
    tile_ring_skip(&all->ab, ab, all->steps, 2, 1 + group, thread);
    if (group)
        tile_ring_skip(&all->turn, turn, 1, 1, 1 + group, thread);
    else
        tile_ring_pass(&all->turn, turn, thread);
}

/* Tokens in a row: each comes when the one before it has been given back. */
TILE_FN void edges_tokens(const edges_all *all, tile_ring_end *turn, int group, int thread) {
    for (int n = 0; n < 3; n++)
        if (group) {
            tile_ring_get(&all->turn, turn);
            tile_bar_sync(2, 128);
            tile_ring_free(&all->turn, turn, 1, thread);
        } else
            tile_ring_pass(&all->turn, turn, thread);
}

TILE_FN void edges_multiply(const edges_all *all, roles_call call, const edges_maps *maps, bool pairs, int group,
                            int thread) {
    const tile_ring own = {all->out + edges_OUT_BYTES * group, 0, 1, edges_OUT_BYTES};
    tile_ring_end ab = tile_ring_reader(), out = tile_ring_writer();
    tile_ring_end turn = group ? tile_ring_reader() : tile_ring_writer();
    float s[64];
    tile_ring_end tasks = tile_ring_reader();
    edges_tokens(all, &turn, group, thread);
    for (int task = -1; (task = edges_next(all, &tasks, pairs, task, true)) >= 0;) {
        const tile_place at = edges_place(all, task);
        const int i = at.i + 64 * group, rows = (int)call.M - i, columns = tile_min_i32(128, (int)call.N - at.j);
        tile_mma_zero(s, 128);
        if (all->steps > 0 && rows > 0) edges_sums(all, &ab, &turn, s, pairs, group, thread);
        if (all->steps > 0 && rows <= 0) edges_skip(all, &ab, &turn, group, thread);
        if (pairs) {
            const int64_t stride = (call.N + 3) / 4 * 4;
            tile_sums_pairs((float *)call.c + i * stride + at.j, stride, s, 128, rows, columns, thread);
            continue;
        }
        const uint32_t slot = tile_own_open(&own, &out, own.slots - 1, 1 + group, thread);
        tile_sums_write_bf16(slot, s, 128, thread);
        tile_own_filled(&own, &out, 1 + group);
        if (rows >= 64 && columns == 128 && call.N % 8 == 0) {
            if (thread == 0) tile_box_store({&maps->map[2], 2, 0}, i, at.j, 128, slot);
        } else if (columns > 0)
            for (int j = 0; j < 128; j += 64)
                tile_sums_rows((uint16_t *)call.c + i * call.N + at.j + j, call.N, slot + 128 * j, j ? slot : 0, rows,
                               columns - j, thread);
    }
    if (thread == 0) tile_tma_wait();
}

TILE_FN void edges_roles(roles_call call, const edges_maps *maps, const char *lds, bool pairs) {
    const edges_all all = edges_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0);
    if (tile_thread() == 0) {
        tile_ring_make(&all.ab, 1, 4);
        tile_ring_make(&all.turn, 1, 1);
        tile_ring_make(&all.task, 1, 2 * (8 + 1)); /* warps that multiply and the lane that copies */
        tile_mbar_init_done();
    }
    tile_cluster_sync();
    tile_follow();
    if (tile_thread() == 0) edges_copy(&all, maps, pairs);
    if (tile_thread() == 32 && !pairs && all.rank == 0)
        tile_ticket_take(&all.task, call.ticket, all.rows * all.columns, all.clusters, 2);
    if (group > 0) edges_multiply(&all, call, maps, pairs, group - 1, tile_thread() & 127);
}

TILE_KERNEL_MAPS(edges, roles_call, 384, 2) {
    TILE_LDS(lds, 0);
    edges_roles(call, &maps, lds, false);
}

TILE_KERNEL_MAPS(wide, roles_call, 384, 2) {
    TILE_LDS(lds, 0);
    edges_roles(call, &maps, lds, true);
}
