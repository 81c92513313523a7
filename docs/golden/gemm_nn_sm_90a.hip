/* gemm_nn_sm_90a.hip: the program gemm_nn for sm_90a, made by tilec. */
#include "device/tile_sm_90a.h"

#include "gemm_nn.h"

typedef struct {
    gemm_nn_args args;
    char *local; /* workspace */
} gemm_nn_call;

/* kernel matmul, by the schedule 'product' */
typedef struct {
    tile_tensor_map map[3]; /* a, b, c */
} matmul_maps;

/* matmul: a workgroup makes tiles of 128 x 256; two workgroups of a cluster, one above the other, share B's part by multicast. One
   warp copies 64 positions of k at a time into a ring of 4 stages, two warpgroups multiply, 64 x 256 each. Tiles over the edge come
   last, first to clusters that the whole tiles leave idle; warpgroups without rows skip the products. */
enum {
    matmul_M = 4096,
    matmul_N = 4096,
    matmul_STEPS = (4096 + 64 - 1) / 64,    /* along k */
    matmul_TURN = matmul_STEPS > 4 - 1 ? matmul_STEPS - 4 + 1 : 0, /* the last steps, as many as there are stages but one, are in turns */
    matmul_ROWS = (4096 + 255) / 256,       /* of pairs of tiles, those over the edge too */
    matmul_COLUMNS = (4096 + 256 - 1) / 256,
    matmul_WHOLE_ROWS = 4096 / 256,               /* those that lie inside */
    matmul_WHOLE_COLUMNS = 4096 / 256,
    matmul_WHOLE = (4096 / 256) * (4096 / 256),
    matmul_PAIRS = matmul_ROWS * matmul_COLUMNS,
    /* workgroup memory, from a multiple of 1024 on */
    matmul_A_BYTES = 128 * 64 * 2,
    matmul_B_BYTES = 256 * 64, /* of the half that a workgroup copies */
    matmul_STAGE = (128 + 256) * 64 * 2,
    matmul_OUT = 4 * matmul_STAGE,
    matmul_FULL = matmul_OUT + 2 * 64 * 128 * 2, /* barriers */
    matmul_EMPTY = matmul_FULL + 8 * 4
};

/* Where this workgroup stands: its cluster, its rank in it; the first pair over the edge that the cluster takes, and the next from there. */
typedef struct {
    uint32_t lds;
    int rank, cluster, clusters, edge, edge_step;
} matmul_place;

TILE_FN matmul_place matmul_here(const char *lds) {
    matmul_place at = {(tile_shared(lds) + 1023) & ~1023u, tile_cluster_rank(), (int)tile_group() / 2, (int)tile_groups() / 2, 0, 0};
    int edges = matmul_PAIRS - matmul_WHOLE, busy = matmul_WHOLE % at.clusters, idle = at.clusters - busy;
    bool alone = busy && edges <= 2 * idle; /* two of them take about as long as a whole one */
    at.edge = matmul_WHOLE + (at.cluster - busy + at.clusters) % at.clusters;
    at.edge_step = alone ? idle : at.clusters;
    if (alone && at.cluster < busy) at.edge = matmul_PAIRS;
    return at;
}

TILE_FN int matmul_first(matmul_place at) { return at.cluster < matmul_WHOLE ? at.cluster : at.edge; }
TILE_FN int matmul_next(matmul_place at, int pair) {
    if (pair >= matmul_WHOLE) return pair + at.edge_step;
    return pair + at.clusters < matmul_WHOLE ? pair + at.clusters : at.edge;
}

/* Whole pairs: 8 rows of pairs at a time, down the columns, so that workgroups at work together share rows and columns in L2. Then
   the last column, then the last row. */
TILE_FN void matmul_tile(matmul_place at, int pair, int *i0, int *j0) {
    int edge = pair - matmul_WHOLE, row = matmul_ROWS - 1, column = edge;
    if (edge < 0) {
        int first = pair / (8 * matmul_WHOLE_COLUMNS) * 8, in = pair % (8 * matmul_WHOLE_COLUMNS);
        int rows = tile_min_i32(8, matmul_WHOLE_ROWS - first);
        row = first + in % rows;
        column = in / rows;
    } else if (matmul_COLUMNS > matmul_WHOLE_COLUMNS) {
        column = edge < matmul_ROWS ? matmul_COLUMNS - 1 : edge - matmul_ROWS;
        row = edge < matmul_ROWS ? edge : matmul_ROWS - 1;
    }
    *i0 = row * 256 + at.rank * 128;
    *j0 = column * 256;
}

/* ---- the copying warp ---- */

TILE_FN void matmul_copy(const matmul_maps *maps, matmul_place at) {
    int s = 0, phase = 1;
    for (int pair = matmul_first(at); pair < matmul_PAIRS; pair = matmul_next(at, pair)) {
        int i0, j0;
        matmul_tile(at, pair, &i0, &j0);
#pragma unroll 1 /* unrolled it spills */
        for (int p0 = 0; p0 < matmul_STEPS * 64; p0 += 64) {
            uint32_t a = at.lds + s * matmul_STAGE, b = a + matmul_A_BYTES + at.rank * matmul_B_BYTES, full = at.lds + matmul_FULL + 8 * s;
            tile_mbar_wait(at.lds + matmul_EMPTY + 8 * s, phase);
            tile_mbar_expect(full, matmul_STAGE);
            tile_tma_load2(a, &maps->map[0], p0, i0, full);
            for (int u = 0; u < 256 / 128; u++)
                tile_tma_load2_all(b + 8192 * u, &maps->map[1], j0 + 256 / 2 * at.rank + 64 * u, p0, full, 3);
            if (++s == 4) s = 0, phase ^= 1;
        }
    }
    for (int i = 0; i < 4; i++) { /* nobody leaves while the other workgroup may still copy to it or arrive here */
        tile_mbar_wait(at.lds + matmul_EMPTY + 8 * s, phase);
        if (++s == 4) s = 0, phase ^= 1;
    }
}

/* ---- the multiplying warpgroups ---- */

TILE_FN void matmul_give_back(matmul_place at, int s, int thread) {
    if (thread < 2) tile_mbar_arrive_at(at.lds + matmul_EMPTY + 8 * s, thread);
}

/* A warpgroup without rows only gives the stages back. */
TILE_FN void matmul_skip(matmul_place at, int *s, int *phase, int thread) {
    for (int step = 0; step < matmul_STEPS; step++) {
        tile_mbar_wait(at.lds + matmul_FULL + 8 * *s, *phase);
        matmul_give_back(at, *s, thread);
        if (++*s == 4) *s = 0, *phase ^= 1;
    }
}

/* 64 rows and `width` columns (256) of sums over all of k. The second warpgroup ends a tile behind the first: one stores while
   the other multiplies. */
TILE_FN void matmul_sums(matmul_place at, int *s, int *phase, float acc[256 / 2], int width, int group, int thread) {
    int before = -1; /* a stage is given back while the products of the next one run */
    for (int step = 0; step < matmul_STEPS; step++) {
        uint32_t a = at.lds + *s * matmul_STAGE + group * 8192, b = at.lds + *s * matmul_STAGE + matmul_A_BYTES;
        if (group && step == matmul_TURN) tile_bar_sync(3, 256); /* behind the other's last products */
        tile_mbar_wait(at.lds + matmul_FULL + 8 * *s, *phase);
        tile_wgmma_fence();
#pragma unroll
        for (int u = 0; u < 4; u++) {
            uint64_t x = tile_wgmma_panel(a + 32 * u, 0), y = tile_wgmma_panel(b + 2048 * u, 8192);
            tile_wgmma_ss_n256_bf16_01(acc, x, y, step | u);
        }
        tile_wgmma_commit();
        tile_wgmma_wait1(acc, 0);
        if (before >= 0) matmul_give_back(at, before, thread);
        before = *s;
        if (++*s == 4) *s = 0, *phase ^= 1;
    }
    if (!group) tile_bar_arrive(3, 256);
    tile_wgmma_wait0(acc, width / 2);
    matmul_give_back(at, before, thread);
}

/* 64 x 256 sums to global memory through workgroup memory, 128 columns at a time. */
TILE_FN void matmul_store(const tile_tensor_map *c, uint32_t lds, const float acc[256 / 2], int i0, int j0, int bar, int thread) {
    int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (thread == 0) tile_tma_wait_read();
        tile_bar_sync(bar, 128);
#pragma unroll
        for (int q = 0; q < 128 / 16; q++) {
            int chunk = 2 * q + (lane >> 4);
            const float *x = acc + 64 * half + 8 * q;
            tile_stmatrix4(lds + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4), tile_bf16x2(x[0], x[1]), tile_bf16x2(x[2], x[3]),
                           tile_bf16x2(x[4], x[5]), tile_bf16x2(x[6], x[7]));
        }
        tile_async_fence();
        tile_bar_sync(bar, 128);
        if (thread == 0) {
            for (int u = 0; u < 128 / 64; u++) tile_tma_store2(c, j0 + 128 * half + 64 * u, i0, lds + 8192 * u);
            tile_tma_commit();
        }
    }
}

TILE_FN void matmul_multiply(const matmul_maps *maps, matmul_place at) {
    int group = tile_shuffle(tile_thread() / 128 - 1, 0), thread = tile_thread() & 127, s = 0, phase = 0;
    float acc[256 / 2];
    for (int pair = matmul_first(at); pair < matmul_PAIRS; pair = matmul_next(at, pair)) {
        int i0, j0;
        matmul_tile(at, pair, &i0, &j0);
        i0 += 64 * group;
        if (i0 >= matmul_M) {
            matmul_skip(at, &s, &phase, thread);
            if (i0 - 64 * group < matmul_M) tile_bar_sync(3, 256);
            continue;
        }
        matmul_sums(at, &s, &phase, acc, 256, group, thread);
        matmul_store(&maps->map[2], at.lds + matmul_OUT + group * 16384, acc, i0, j0, 1 + group, thread);
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS(matmul, gemm_nn_call, 384, 2) {
    TILE_LDS(lds, 0);
    matmul_place at = matmul_here(lds);
    if (tile_thread() == 0) {
        for (int s = 0; s < 4; s++) {
            tile_mbar_init(at.lds + matmul_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + matmul_EMPTY + 8 * s, 4);
        }
        tile_mbar_init_done();
    }
    tile_cluster_sync();
    tile_follow();
    if (tile_thread() < 128) {
        tile_regs_give(40);
        if (tile_thread() == 0) matmul_copy(&maps, at);
    } else {
        tile_regs_take(232);
        matmul_multiply(&maps, at);
    }
    tile_wave_sync();
    tile_cluster_sync();
}

