/* gemm.cu: C = A B by hand for sm_90a, bf16 with sums in f32: what the compiler's schedule for products is held
   against. A [M, K]; B [N, K] (tn) or [K, N] (nn); C [M, N]; row-major, row strides multiples of 16 bytes; any sizes
   otherwise. A workgroup makes tiles of 128 x 256, two workgroups of a cluster one above the other share B's part by
   multicast. One warp copies 64 positions of k at a time into a ring of 4 stages; two warpgroups multiply, 64 x 256
   each. Tiles over the edge come last, first to clusters that the whole tiles leave idle; warpgroups without rows skip
   the products, and the last 64 columns or fewer are multiplied alone. */
#include "device/tile_sm_90a.h"

enum { BM = 128, BN = 256, BK = 64, STAGES = 4, CLUSTER = 2, GROUP = 8 };
enum { A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2, STAGE = A_BYTES + B_BYTES, C_BYTES = 2 * 64 * 128 * 2 };
enum { GEMM_LDS = 1024 + STAGES * STAGE + C_BYTES + 16 * STAGES, GEMM_THREADS = 384 };

typedef struct {
    tile_tensor_map a, b, c; /* boxes of 64 x 128 (a), 64 x 128 or 64 x 64 (b: tn or nn), 64 x 64 (c) */
    int M, N, K;
} gemm_call;

typedef struct {
    uint32_t stage, c, full, empty; /* addresses in shared memory */
    int rank, cluster, clusters;    /* this workgroup's rank; its cluster */
    int rows, columns, blocks;      /* pairs of tiles, those over the edges too; steps along k */
    int whole_rows, whole;          /* rows of pairs that lie inside; pairs that lie inside */
    int edge, edge_step;            /* this cluster's first pair over the edge; from one to the next */
} Place;

TILE_FN void share_out(Place *at, int M, int N) {
    at->rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER);
    at->columns = (N + BN - 1) / BN;
    at->whole_rows = M / (BM * CLUSTER);
    at->whole = at->whole_rows * (N / BN);
    int edges = at->rows * at->columns - at->whole, busy = at->whole % at->clusters, idle = at->clusters - busy;
    at->edge = at->whole + (at->cluster - busy + at->clusters) % at->clusters;
    at->edge_step = at->clusters;
    if (busy && edges <= 2 * idle) { /* two of them take about as long as a whole one */
        at->edge_step = idle;
        if (at->cluster < busy) at->edge = at->rows * at->columns;
    }
}

TILE_FN int first_pair(const Place *at) { return at->cluster < at->whole ? at->cluster : at->edge; }
TILE_FN int next_pair(const Place *at, int p) {
    if (p >= at->whole) return p + at->edge_step;
    return p + at->clusters < at->whole ? p + at->clusters : at->edge;
}

/* Whole pairs: GROUP rows of pairs at a time, down the columns, so that workgroups at work together share rows and
   columns in L2. Then the last column, then the last row. */
TILE_FN void tile_of(const Place *at, int p, int *m, int *n) {
    int columns = at->whole_rows ? at->whole / at->whole_rows : 0, row, column, e = p - at->whole;
    if (e < 0) {
        int each = GROUP * columns, first = p / each * GROUP, rows = min(GROUP, at->whole_rows - first), in = p % each;
        row = first + in % rows;
        column = in / rows;
    } else if (at->columns > columns && e < at->rows) {
        row = e;
        column = at->columns - 1;
    } else {
        row = at->rows - 1;
        column = at->columns > columns ? e - at->rows : e;
    }
    *m = (row * CLUSTER + at->rank) * BM;
    *n = column * BN;
}

TILE_FN void copy_in(const gemm_call *c, const Place *at, bool nn) {
    int s = 0, phase = 1;
    for (int p = first_pair(at); p < at->rows * at->columns; p = next_pair(at, p)) {
        int m, n;
        tile_of(at, p, &m, &n);
        for (int k = 0; k < at->blocks; k++) {
            uint32_t a = at->stage + s * STAGE, b = a + A_BYTES + at->rank * (B_BYTES / 2), full = at->full + 8 * s;
            tile_mbar_wait(at->empty + 8 * s, phase);
            tile_mbar_expect(full, STAGE);
            tile_tma_load2(a, &c->a, k * BK, m, full);
            if (nn) {
                tile_tma_load2_all(b, &c->b, n + 128 * at->rank, k * BK, full, 3);
                tile_tma_load2_all(b + B_BYTES / 4, &c->b, n + 128 * at->rank + 64, k * BK, full, 3);
            } else {
                tile_tma_load2_all(b, &c->b, k * BK, n + 128 * at->rank, full, 3);
            }
            if (++s == STAGES) s = 0, phase ^= 1;
        }
    }
    for (int i = 0; i < STAGES; i++) { /* nobody leaves while the other workgroup may still copy to it or arrive here */
        tile_mbar_wait(at->empty + 8 * s, phase);
        if (++s == STAGES) s = 0, phase ^= 1;
    }
}

TILE_FN void give_back(const Place *at, int s, int thread) {
    if (thread < CLUSTER) tile_mbar_arrive_at(at->empty + 8 * s, thread);
}

/* 64 x 256 sums to global memory through shared memory, 128 columns at a time. */
TILE_FN void copy_out(const gemm_call *c, uint32_t lds, const float d[128], int m, int n, int bar, int thread) {
    int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (thread == 0) tile_tma_wait_read();
        tile_bar_sync(bar, 128);
#pragma unroll
        for (int q = 0; q < 8; q++) {
            int chunk = 2 * q + (lane >> 4);
            const float *x = d + 64 * half + 8 * q;
            tile_stmatrix4(lds + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4), tile_bf16x2(x[0], x[1]),
                           tile_bf16x2(x[2], x[3]), tile_bf16x2(x[4], x[5]), tile_bf16x2(x[6], x[7]));
        }
        tile_async_fence();
        tile_bar_sync(bar, 128);
        if (thread == 0) {
            tile_tma_store2(&c->c, n + 128 * half, m, lds);
            tile_tma_store2(&c->c, n + 128 * half + 64, m, lds + 8192);
            tile_tma_commit();
        }
    }
}

typedef struct {
    int s, phase; /* stage of the ring, and the parity of its round */
} Ring;

/* 64 rows and 256, 64 or no columns of sums over all k. The stage of the products before is given back while those of
   this one run. */
TILE_FN void sums(const Place *at, Ring *ring, float d[128], bool nn, int width, int group, int thread) {
    int before = -1;
    for (int k = 0; k < at->blocks; k++) {
        uint32_t a = at->stage + ring->s * STAGE + 64 * 128 * group, b = at->stage + ring->s * STAGE + A_BYTES;
        tile_mbar_wait(at->full + 8 * ring->s, ring->phase);
        if (width) tile_wgmma_fence();
#pragma unroll
        for (int u = 0; u < 4 && width; u++) {
            uint64_t x = tile_wgmma_panel(a + 32 * u, 0),
                     y = nn ? tile_wgmma_panel(b + 2048 * u, 8192) : tile_wgmma_panel(b + 32 * u, 0);
            if (width == 256)
                nn ? tile_wgmma_ss_n256_bf16_01(d, x, y, k | u) : tile_wgmma_ss_n256_bf16_00(d, x, y, k | u);
            else
                nn ? tile_wgmma_ss_n64_bf16_01(d, x, y, k | u) : tile_wgmma_ss_n64_bf16_00(d, x, y, k | u);
        }
        if (width) tile_wgmma_commit();
        if (width) tile_wgmma_wait1(d, 0);
        if (before >= 0) give_back(at, before, thread);
        before = ring->s;
        if (++ring->s == STAGES) ring->s = 0, ring->phase ^= 1;
    }
    if (width) tile_wgmma_wait0(d, width / 2);
    give_back(at, before, thread);
}

TILE_FN void multiply(const gemm_call *c, const Place *at, bool nn) {
    int group = __shfl_sync(~0u, threadIdx.x / 128 - 1, 0), thread = threadIdx.x & 127;
    Ring ring = {0, 0};
    float d[128];
    for (int p = first_pair(at); p < at->rows * at->columns; p = next_pair(at, p)) {
        int m, n;
        tile_of(at, p, &m, &n);
        m += 64 * group;
        if (m >= c->M) {
            sums(at, &ring, d, nn, 0, group, thread);
            continue;
        }
        if (c->N - n > 64)
            sums(at, &ring, d, nn, 256, group, thread);
        else
            sums(at, &ring, d, nn, 64, group, thread);
        copy_out(c, at->c + C_BYTES / 2 * group, d, m, n, 1 + group, thread);
    }
    if (thread == 0) tile_tma_wait();
}

TILE_FN void gemm(const gemm_call *c, bool nn) {
    extern __shared__ char lds[];
    Place at = {.stage = (tile_shared(lds) + 1023) & ~1023u,
                .rank = tile_cluster_rank(),
                .cluster = (int)blockIdx.x / CLUSTER,
                .clusters = (int)gridDim.x / CLUSTER};
    at.c = at.stage + STAGES * STAGE;
    at.full = at.c + C_BYTES;
    at.empty = at.full + 8 * STAGES;
    share_out(&at, c->M, c->N);
    at.blocks = (c->K + BK - 1) / BK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            tile_mbar_init(at.full + 8 * s, 1);
            tile_mbar_init(at.empty + 8 * s, 2 * CLUSTER);
        }
        tile_mbar_init_done();
    }
    tile_cluster_sync();
    if (threadIdx.x < 128) {
        tile_regs_give(40);
        if (threadIdx.x == 0) copy_in(c, &at, nn);
    } else {
        tile_regs_take(232);
        multiply(c, &at, nn);
    }
    __syncwarp();
    tile_cluster_sync();
}

extern "C" __global__ __cluster_dims__(CLUSTER, 1, 1)
    __launch_bounds__(GEMM_THREADS, 1) void gemm_tn(const __grid_constant__ gemm_call c) {
    gemm(&c, false);
}
extern "C" __global__ __cluster_dims__(CLUSTER, 1, 1)
    __launch_bounds__(GEMM_THREADS, 1) void gemm_nn(const __grid_constant__ gemm_call c) {
    gemm(&c, true);
}
