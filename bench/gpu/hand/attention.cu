/* attention.cu: attention forward by hand for sm_90a, bf16: what the compiler's schedule for attention is held against.
   q, o [B, H, S, D]; k, v [B, G, T, D]; D = 64 or 128 (set at compile time with the keys of a step: -DD=.. -DKEYS=..).
   Two warpgroups of 64 query rows each take turns: while one multiplies, the other takes exponentials
   (FlashAttention-3, arXiv 2407.08608). One warp copies keys and values into rings of 2 stages. Tiles are handed out by
   a counter, for causal attention the longest first, heads in sections whose keys and values fit in L2. */
#include "device/tile_sm_90a.h"

enum { ROWS = 128, STAGES = 2, PANELS = D / 64 };
enum { Q_BYTES = ROWS * D * 2, KV_BYTES = KEYS * D * 2, ATTENTION_THREADS = 384 };
/* Shared memory, from a multiple of 1024 on; barriers of 8 bytes; the numbers of the tiles whose q comes. */
enum {
    Q,
    O = Q + Q_BYTES,
    K = O + Q_BYTES,
    V = K + STAGES * KV_BYTES,
    Q_FULL = V + STAGES * KV_BYTES,
    Q_EMPTY = Q_FULL + 8
};
enum {
    K_FULL = Q_EMPTY + 8,
    K_EMPTY = K_FULL + 8 * STAGES,
    V_FULL = K_EMPTY + 8 * STAGES,
    V_EMPTY = V_FULL + 8 * STAGES
};
enum { MAIL = V_EMPTY + 8 * STAGES, ATTENTION_LDS = MAIL + 8 + 1024 };

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define WGMMA_SS(n) TILE_WGMMA_SS(n, 16, bf16, 0, 0)
#define WGMMA_RS(n) TILE_WGMMA_RS(n, 16, bf16, 1)
WGMMA_SS(KEYS)
WGMMA_RS(D)
#define multiply_qk JOIN(tile_wgmma_ss_n, KEYS, _bf16_00)
#define multiply_pv JOIN(tile_wgmma_rs_n, D, _bf16_1)

typedef struct {
    tile_tensor_map q, k, v, o; /* boxes of 64 x 64 (q, o), 64 x KEYS (k, v), of one head */
    int *next;                  /* 0 at first */
    int H, G, S, T, heads, section, causal;
    float scale; /* of the scores, times log2 e */
} attention_call;

typedef struct {
    uint32_t lds;
    volatile int *mail;
    int tiles, blocks;
} Place;

typedef struct {
    int row, head, steps; /* first query row, head of all batches, steps over the keys */
} Tile;

TILE_FN Tile tile_of(const attention_call *c, const Place *at, int p) {
    int rows = at->tiles / c->heads, each = c->section * rows, first = p / each * c->section;
    int heads = min(c->section, c->heads - first), in = p % each;
    Tile t = {.row = (rows - 1 - in / heads) * ROWS, .head = first + in % heads, .steps = at->blocks};
    if (c->causal) t.steps = min(at->blocks, (min(c->S, t.row + ROWS) + KEYS - 1) / KEYS);
    return t;
}

/* ---- the copying warp ---- */

TILE_FN void copy_keys(uint32_t to, const tile_tensor_map *map, int key, int head, uint32_t full, uint32_t empty,
                       int phase) {
    tile_mbar_wait(empty, phase);
    tile_mbar_expect(full, KV_BYTES);
    for (int u = 0; u < PANELS; u++) tile_tma_load3(to + u * KEYS * 128, map, 64 * u, key, head, full);
}

TILE_FN void copy_in(const attention_call *c, const Place *at) {
    int s = 0, phase = 1, n = 0, p = blockIdx.x;
    for (; p < at->tiles; n++) {
        Tile t = tile_of(c, at, p);
        int kv = t.head / c->H * c->G + t.head % c->H / (c->H / c->G);
        tile_mbar_wait(at->lds + Q_EMPTY, (n & 1) ^ 1);
        at->mail[n & 1] = p;
        tile_mbar_expect(at->lds + Q_FULL, Q_BYTES);
        for (int u = 0; u < 2 * PANELS; u++)
            tile_tma_load3(at->lds + Q + u * 8192, &c->q, 64 * (u % PANELS), t.row + 64 * (u / PANELS), t.head,
                           at->lds + Q_FULL);
        for (int j = t.steps - 1; j >= 0; j--) {
            copy_keys(at->lds + K + s * KV_BYTES, &c->k, j * KEYS, kv, at->lds + K_FULL + 8 * s,
                      at->lds + K_EMPTY + 8 * s, phase);
            copy_keys(at->lds + V + s * KV_BYTES, &c->v, j * KEYS, kv, at->lds + V_FULL + 8 * s,
                      at->lds + V_EMPTY + 8 * s, phase);
            if (++s == STAGES) s = 0, phase ^= 1;
        }
        p = atomicAdd(c->next, 1) + gridDim.x;
    }
    tile_mbar_wait(at->lds + Q_EMPTY, (n & 1) ^ 1);
    at->mail[n & 1] = p;
    tile_mbar_arrive(at->lds + Q_FULL);
}

/* ---- the multiplying warpgroups: lane / 4 is the row in 8, registers 2 and 3 of four are 8 rows on ---- */

TILE_FN float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TILE_FN void mask_keys(float x[KEYS / 2], int key, int row, const attention_call *c) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        int at = key + 8 * (i >> 2) + 2 * (threadIdx.x & 3) + (i & 1), end = c->T;
        if (c->causal) end = min(end, row + 1 + ((i >> 1) & 1) * 8);
        if (at >= end) x[i] = -INFINITY;
    }
}

/* x to exp(x - m), m the maximum so far; sums into l; keep: by what earlier sums shrink. */
TILE_FN void softmax_step(float x[KEYS / 2], float m[2], float l[2], float keep[2], float scale) {
    float top[2] = {m[0], m[1]}, sum[2] = {0, 0}, base[2];
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) top[(i >> 1) & 1] = fmaxf(top[(i >> 1) & 1], x[i]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        top[h] = fmaxf(top[h], __shfl_xor_sync(~0u, top[h], 1));
        top[h] = fmaxf(top[h], __shfl_xor_sync(~0u, top[h], 2));
        base[h] = top[h] == -INFINITY ? 0 : top[h] * scale;
        keep[h] = exp2_fast(m[h] * scale - base[h]);
        m[h] = top[h];
    }
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        x[i] = exp2_fast(x[i] * scale - base[(i >> 1) & 1]);
        sum[(i >> 1) & 1] += x[i];
    }
    l[0] = l[0] * keep[0] + sum[0];
    l[1] = l[1] * keep[1] + sum[1];
}

/* Sums of 64 x KEYS are, two by two, the registers of A for a product over the keys. */
TILE_FN void pack(uint32_t p[KEYS / 16][4], const float x[KEYS / 2]) {
#pragma unroll
    for (int i = 0; i < KEYS / 4; i++) p[i >> 2][i & 3] = tile_bf16x2(x[2 * i], x[2 * i + 1]);
}

TILE_FN void issue_qk(float x[KEYS / 2], uint32_t q, uint32_t k) {
#pragma unroll
    for (int u = 0; u < D / 16; u++)
        multiply_qk(x, tile_wgmma_panel(q + u / 4 * 8192 + u % 4 * 32, 0),
                    tile_wgmma_panel(k + u / 4 * KEYS * 128 + u % 4 * 32, 0), u);
    tile_wgmma_commit();
}

TILE_FN void issue_pv(float o[D / 2], const uint32_t p[KEYS / 16][4], uint32_t v) {
#pragma unroll
    for (int u = 0; u < KEYS / 16; u++) multiply_pv(o, p[u], tile_wgmma_panel(v + 2048 * u, KEYS * 128), 1);
    tile_wgmma_commit();
}

TILE_FN void copy_out(const attention_call *c, uint32_t lds, const float o[D / 2], const float l[2], Tile t, int group,
                      int thread) {
    int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
    float by[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = l[h] + __shfl_xor_sync(~0u, l[h], 1);
        by[h] = 1 / (sum + __shfl_xor_sync(~0u, sum, 2));
    }
    if (thread == 0) tile_tma_wait_read();
    tile_bar_sync(4 + group, 128);
#pragma unroll
    for (int u = 0; u < D / 16; u++) {
        int chunk = 2 * u + (lane >> 4);
        const float *y = o + 8 * u;
        tile_stmatrix4(lds + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4),
                       tile_bf16x2(y[0] * by[0], y[1] * by[0]), tile_bf16x2(y[2] * by[1], y[3] * by[1]),
                       tile_bf16x2(y[4] * by[0], y[5] * by[0]), tile_bf16x2(y[6] * by[1], y[7] * by[1]));
    }
    tile_async_fence();
    tile_bar_sync(4 + group, 128);
    if (thread == 0) {
        for (int u = 0; u < PANELS; u++) tile_tma_store3(&c->o, 64 * u, t.row + 64 * group, t.head, lds + u * 8192);
        tile_tma_commit();
    }
}

TILE_FN void attend(const attention_call *c, const Place *at) {
    int group = threadIdx.x / 128 - 1, thread = threadIdx.x & 127, ks = 0, kphase = 0, vs = 0, vphase = 0;
    float o[D / 2], x[KEYS / 2], m[2], l[2], keep[2];
    uint32_t p[KEYS / 16][4], q = at->lds + Q + group * PANELS * 8192;
    if (group == 1) tile_bar_arrive(1, 256); /* group 0 begins */
    for (int n = 0;; n++) {
        tile_mbar_wait(at->lds + Q_FULL, n & 1);
        if (at->mail[n & 1] >= at->tiles) break;
        Tile t = tile_of(c, at, at->mail[n & 1]);
        int row = t.row + 64 * group + 16 * (thread >> 5) + (thread & 31) / 4;
        int all = c->causal ? min(c->T, t.row + 64 * group + 1) : c->T; /* keys that every row has */
        m[0] = m[1] = -INFINITY;
        l[0] = l[1] = 0;
#pragma unroll
        for (int i = 0; i < D / 2; i++) o[i] = 0;
        int j = t.steps - 1; /* from the last keys to the first: those that need a mask first */
        tile_mbar_wait(at->lds + K_FULL + 8 * ks, kphase);
        tile_bar_sync(1 + group, 256);
        tile_wgmma_fence();
        issue_qk(x, q, at->lds + K + ks * KV_BYTES);
        tile_bar_arrive(2 - group, 256);
        tile_wgmma_wait0(x, KEYS / 2);
        if (thread == 0) tile_mbar_arrive(at->lds + K_EMPTY + 8 * ks);
        if (++ks == STAGES) ks = 0, kphase ^= 1;
        if ((j + 1) * KEYS > all) mask_keys(x, j * KEYS, row, c);
        softmax_step(x, m, l, keep, c->scale);
        pack(p, x);
        while (--j >=
               0) { /* scores of these keys; values of those before; exponentials while the values are multiplied */
            tile_mbar_wait(at->lds + K_FULL + 8 * ks, kphase);
            tile_bar_sync(1 + group, 256);
            tile_wgmma_fence();
            issue_qk(x, q, at->lds + K + ks * KV_BYTES);
            tile_mbar_wait(at->lds + V_FULL + 8 * vs, vphase);
            tile_wgmma_fence();
            issue_pv(o, p, at->lds + V + vs * KV_BYTES);
            tile_bar_arrive(2 - group, 256);
            tile_wgmma_wait1(x, KEYS / 2);
            if (thread == 0) tile_mbar_arrive(at->lds + K_EMPTY + 8 * ks);
            if (++ks == STAGES) ks = 0, kphase ^= 1;
            if ((j + 1) * KEYS > all) mask_keys(x, j * KEYS, row, c);
            softmax_step(x, m, l, keep, c->scale);
            tile_wgmma_wait0(o, D / 2);
            if (thread == 0) tile_mbar_arrive(at->lds + V_EMPTY + 8 * vs);
            if (++vs == STAGES) vs = 0, vphase ^= 1;
#pragma unroll
            for (int i = 0; i < D / 2; i++) o[i] *= keep[(i >> 1) & 1];
            pack(p, x);
        }
        if (thread == 0) tile_mbar_arrive(at->lds + Q_EMPTY);
        tile_mbar_wait(at->lds + V_FULL + 8 * vs, vphase);
        tile_wgmma_fence();
        issue_pv(o, p, at->lds + V + vs * KV_BYTES);
        tile_wgmma_wait0(o, D / 2);
        if (thread == 0) tile_mbar_arrive(at->lds + V_EMPTY + 8 * vs);
        if (++vs == STAGES) vs = 0, vphase ^= 1;
        copy_out(c, at->lds + O + group * PANELS * 8192, o, l, t, group, thread);
    }
    if (thread == 0) tile_tma_wait();
}

extern "C" __global__ __launch_bounds__(ATTENTION_THREADS, 1) void attention(const __grid_constant__ attention_call c) {
    extern __shared__ char lds[];
    Place at = {.lds = (tile_shared(lds) + 1023) & ~1023u};
    at.mail = (int *)(lds + (at.lds - tile_shared(lds)) + MAIL);
    at.blocks = (c.T + KEYS - 1) / KEYS;
    at.tiles = (c.S + ROWS - 1) / ROWS * c.heads;
    if (threadIdx.x == 0) {
        tile_mbar_init(at.lds + Q_FULL, 1);
        tile_mbar_init(at.lds + Q_EMPTY, 2);
        for (int s = 0; s < STAGES; s++) {
            tile_mbar_init(at.lds + K_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + V_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + K_EMPTY + 8 * s, 2);
            tile_mbar_init(at.lds + V_EMPTY + 8 * s, 2);
        }
        tile_mbar_init_done();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        tile_regs_give(40);
        if (threadIdx.x == 0) copy_in(&c, &at);
    } else {
        tile_regs_take(232);
        attend(&c, &at);
    }
}
