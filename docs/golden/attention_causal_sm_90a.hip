/* attention_causal_sm_90a.hip: the program attention_causal for sm_90a, made by tilec. */
#include "device/tile_sm_90a.h"

#include "attention_causal.h"

typedef struct {
    attention_causal_args args;
    char *local; /* workspace */
} attention_causal_call;

/* kernel attention, by the schedule 'attention' */
typedef struct {
    tile_tensor_map map[4]; /* q, k, v, o */
} attention_maps;

/* attention: two warpgroups of 64 query rows each take turns: while one multiplies, the other takes exponentials (FlashAttention-3,
   arXiv 2407.08608). One warp copies keys and values, 128 rows at a time, into rings of 2 stages. Workgroups stay and take one tile
   after the other: those with most keys first, matrices in sections whose keys and values fit in L2. */
enum {
    attention_PANELS = 2, /* of 64 columns */
    attention_HEADS = 32, /* matrices of queries */
    attention_SHARE = 1, /* of them for one of keys */
    /* workgroup memory, from a multiple of 1024 on */
    attention_ROWS_BYTES = 2 * 128 * 128,
    attention_KEYS_BYTES = 2 * 128 * 128,
    attention_OUT = attention_ROWS_BYTES,
    attention_K = 2 * attention_ROWS_BYTES,
    attention_V = attention_K + 2 * attention_KEYS_BYTES,
    attention_Q_FULL = attention_V + 2 * attention_KEYS_BYTES, /* barriers */
    attention_Q_EMPTY = attention_Q_FULL + 8,
    attention_K_FULL = attention_Q_EMPTY + 8,
    attention_K_EMPTY = attention_K_FULL + 16,
    attention_V_FULL = attention_K_EMPTY + 16,
    attention_V_EMPTY = attention_V_FULL + 16
};

typedef struct {
    uint32_t lds;
    int S, T, tiles; /* rows, keys */
    int section;     /* matrices of queries */
} attention_place;

TILE_FN attention_place attention_here(const char *lds, int rows, int keys) {
    attention_place at = {(tile_shared(lds) + 1023) & ~1023u, rows, keys, (rows + 127) / 128 * attention_HEADS, 0};
    at.section = tile_max_i32(1, 32000000 / 4 / 128 / tile_max_i32(keys, 1)) * attention_SHARE;
    return at;
}

/* 128 rows of a matrix, and their keys in steps of 128: first .. last - 1. */
typedef struct {
    int row, head, first, last;
} attention_tile;

TILE_FN int attention_from(int row) { return 0; }
TILE_FN int attention_to(attention_place at, int row) { return tile_min_i32(at.T, row + 1); }

/* The n-th tile of this workgroup, the shorter ones of one round beside the longer ones of the next. False: there is none. */
TILE_FN bool attention_take(attention_place at, int n, attention_tile *t) {
    int groups = (int)tile_groups(), me = (int)tile_group(), p = n * groups + (n & 1 ? groups - 1 - me : me);
    int rows = (at.S + 127) / 128, first = p / (at.section * rows) * at.section, in = p % (at.section * rows);
    int heads = tile_min_i32(at.section, attention_HEADS - first);
    if (p >= at.tiles) return false;
    t->row = (rows - 1 - in / heads) * 128;
    t->head = first + in % heads;
    t->last = tile_max_i32(1, (attention_to(at, t->row + 127) + 128 - 1) / 128);
    t->first = tile_min_i32(attention_from(t->row) / 128, t->last - 1);
    return true;
}

/* ---- the copying warp ---- */

TILE_FN void attention_copy_keys(uint32_t to, const tile_tensor_map *map, int key, int matrix, uint32_t full, uint32_t empty, int phase) {
    tile_mbar_wait(empty, phase);
    tile_mbar_expect(full, attention_KEYS_BYTES);
    for (int u = 0; u < attention_PANELS; u++) tile_tma_load3(to + u * 128 * 128, map, 64 * u, key, matrix, full);
}

TILE_FN void attention_copy_rows(const attention_maps *maps, attention_place at, attention_tile t) {
    tile_mbar_expect(at.lds + attention_Q_FULL, attention_ROWS_BYTES);
    for (int u = 0; u < 2 * attention_PANELS; u++)
        tile_tma_load3(at.lds + u * 8192, &maps->map[0], 64 * (u % attention_PANELS), t.row + 64 * (u / attention_PANELS), t.head,
                       at.lds + attention_Q_FULL);
}

TILE_FN int attention_matrix(int head) { return head; }

TILE_FN void attention_copy(const attention_maps *maps, attention_place at) {
    attention_tile t;
    int s = 0, phase = 1;
    for (int n = 0; attention_take(at, n, &t); n++) {
        int matrix = attention_matrix(t.head);
        tile_mbar_wait(at.lds + attention_Q_EMPTY, (n & 1) ^ 1);
        attention_copy_rows(maps, at, t);
        for (int j = t.last - 1; j >= t.first; j--) {
            attention_copy_keys(at.lds + attention_K + s * attention_KEYS_BYTES, &maps->map[1], j * 128, matrix, at.lds + attention_K_FULL + 8 * s,
                              at.lds + attention_K_EMPTY + 8 * s, phase);
            attention_copy_keys(at.lds + attention_V + s * attention_KEYS_BYTES, &maps->map[2], j * 128, matrix, at.lds + attention_V_FULL + 8 * s,
                              at.lds + attention_V_EMPTY + 8 * s, phase);
            if (++s == 2) s = 0, phase ^= 1;
        }
    }
}

/* ---- the multiplying warpgroups: a thread has columns of the rows lane / 4 and, in registers 2 and 3 of four, 8 on ---- */

TILE_FN void attention_mask(float x[128 / 2], int key, int row, attention_place at) {
    int from[2] = {attention_from(row), attention_from(row + 8)}, to[2] = {attention_to(at, row), attention_to(at, row + 8)};
#pragma unroll
    for (int i = 0; i < 128 / 2; i++) {
        int j = key + 8 * (i >> 2) + 2 * (tile_thread() & 3) + (i & 1), h = (i >> 1) & 1;
        if (j < from[h] || j >= to[h]) x[i] = -INFINITY;
    }
}

/* x to exp(x - m), m the largest so far; their sums into l; keep: by what earlier sums shrink. Powers of 2, whose factor is in the
   scale. */
TILE_FN void attention_softmax(float x[128 / 2], float m[2], float l[2], float keep[2]) {
    const float scale = 0.127517431f;
    float top[2] = {m[0], m[1]}, sum[2] = {0, 0}, base[2];
#pragma unroll
    for (int i = 0; i < 128 / 2; i++) top[(i >> 1) & 1] = fmaxf(top[(i >> 1) & 1], x[i]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        top[h] = fmaxf(top[h], tile_shuffle_xor_f32(top[h], 1));
        top[h] = fmaxf(top[h], tile_shuffle_xor_f32(top[h], 2));
        base[h] = top[h] == -INFINITY ? 0 : top[h] * scale;
        keep[h] = tile_exp2_fast(m[h] * scale - base[h]);
        m[h] = top[h];
    }
#pragma unroll
    for (int i = 0; i < 128 / 2; i++) {
        x[i] = tile_exp2_fast(x[i] * scale - base[(i >> 1) & 1]);
        sum[(i >> 1) & 1] += x[i];
    }
    l[0] = l[0] * keep[0] + sum[0];
    l[1] = l[1] * keep[1] + sum[1];
}

/* Sums of 64 rows are, two by two, the registers of the left operand of a product over the keys. */
TILE_FN void attention_pack(uint32_t p[128 / 16][4], const float x[128 / 2]) {
#pragma unroll
    for (int i = 0; i < 128 / 4; i++) p[i >> 2][i & 3] = tile_bf16x2(x[2 * i], x[2 * i + 1]);
}

TILE_FN void attention_issue_scores(float x[128 / 2], uint32_t q, uint32_t k) {
#pragma unroll
    for (int u = 0; u < 128 / 16; u++)
        tile_wgmma_ss_n128_bf16_00(x, tile_wgmma_panel(q + u / 4 * 8192 + u % 4 * 32, 0),
                                   tile_wgmma_panel(k + u / 4 * 128 * 128 + u % 4 * 32, 0), u);
    tile_wgmma_commit();
}

TILE_FN void attention_issue_values(float o[128 / 2], const uint32_t p[128 / 16][4], uint32_t v) {
#pragma unroll
    for (int u = 0; u < 128 / 16; u++) tile_wgmma_rs_n128_bf16_1(o, p[u], tile_wgmma_panel(v + 2048 * u, 128 * 128), 1);
    tile_wgmma_commit();
}

TILE_FN void attention_store(const tile_tensor_map *map, uint32_t lds, const float o[128 / 2], const float l[2], attention_tile t, int group,
                           int thread) {
    int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
    float by[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = l[h] + tile_shuffle_xor_f32(l[h], 1);
        by[h] = 1 / (sum + tile_shuffle_xor_f32(sum, 2));
    }
    if (thread == 0) tile_tma_wait_read();
    tile_bar_sync(4 + group, 128);
#pragma unroll
    for (int u = 0; u < 128 / 16; u++) {
        int chunk = 2 * u + (lane >> 4);
        const float *y = o + 8 * u;
        tile_stmatrix4(lds + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4), tile_bf16x2(y[0] * by[0], y[1] * by[0]),
                       tile_bf16x2(y[2] * by[1], y[3] * by[1]), tile_bf16x2(y[4] * by[0], y[5] * by[0]),
                       tile_bf16x2(y[6] * by[1], y[7] * by[1]));
    }
    tile_async_fence();
    tile_bar_sync(4 + group, 128);
    if (thread == 0) {
        for (int u = 0; u < attention_PANELS; u++) tile_tma_store3(map, 64 * u, t.row + 64 * group, t.head, lds + u * 8192);
        tile_tma_commit();
    }
}

/* Stages of a ring, as the reader goes through them. */
typedef struct {
    int s, phase;
} attention_stage;

TILE_FN void attention_give_back(uint32_t empty, attention_stage *at, int thread) {
    if (thread == 0) tile_mbar_arrive(empty + 8 * at->s);
    at->phase ^= at->s;
    at->s ^= 1;
}

TILE_FN void attention_attend(const attention_maps *maps, attention_place at) {
    int group = tile_thread() / 128 - 1, thread = tile_thread() & 127, in = 16 * (thread >> 5) + (thread & 31) / 4;
    float o[128 / 2], x[128 / 2], m[2], l[2], keep[2];
    uint32_t p[128 / 16][4], q = at.lds + group * attention_PANELS * 8192;
    attention_stage k = {0, 0}, v = {0, 0};
    attention_tile t;
    if (group == 1) tile_bar_arrive(1, 256); /* group 0 begins */
    for (int n = 0; attention_take(at, n, &t); n++) {
        int row = t.row + 64 * group, from = attention_from(row + 63), to = attention_to(at, row); /* keys that all rows see */
        m[0] = m[1] = -INFINITY;
        l[0] = l[1] = 0;
#pragma unroll
        for (int i = 0; i < 128 / 2; i++) o[i] = 0;
        int j = t.last - 1; /* from the last keys to the first: those that need a mask first */
        tile_mbar_wait(at.lds + attention_Q_FULL, n & 1);
        tile_mbar_wait(at.lds + attention_K_FULL + 8 * k.s, k.phase);
        tile_bar_sync(1 + group, 256);
        tile_wgmma_fence();
        attention_issue_scores(x, q, at.lds + attention_K + k.s * attention_KEYS_BYTES);
        tile_bar_arrive(2 - group, 256);
        tile_wgmma_wait0(x, 128 / 2);
        attention_give_back(at.lds + attention_K_EMPTY, &k, thread);
        if ((j + 1) * 128 > to || j * 128 < from) attention_mask(x, j * 128, row + in, at);
        attention_softmax(x, m, l, keep);
        attention_pack(p, x);
        while (--j >= t.first) { /* scores of these keys; values of those before; exponentials while the values are multiplied */
            tile_mbar_wait(at.lds + attention_K_FULL + 8 * k.s, k.phase);
            tile_bar_sync(1 + group, 256);
            tile_wgmma_fence();
            attention_issue_scores(x, q, at.lds + attention_K + k.s * attention_KEYS_BYTES);
            tile_mbar_wait(at.lds + attention_V_FULL + 8 * v.s, v.phase);
            tile_wgmma_fence();
            attention_issue_values(o, p, at.lds + attention_V + v.s * attention_KEYS_BYTES);
            tile_bar_arrive(2 - group, 256);
            tile_wgmma_wait1(x, 128 / 2);
            attention_give_back(at.lds + attention_K_EMPTY, &k, thread);
            if ((j + 1) * 128 > to || j * 128 < from) attention_mask(x, j * 128, row + in, at);
            attention_softmax(x, m, l, keep);
            tile_wgmma_wait0(o, 128 / 2);
            attention_give_back(at.lds + attention_V_EMPTY, &v, thread);
#pragma unroll
            for (int i = 0; i < 128 / 2; i++) o[i] *= keep[(i >> 1) & 1];
            attention_pack(p, x);
        }
        if (thread == 0) tile_mbar_arrive(at.lds + attention_Q_EMPTY);
        tile_mbar_wait(at.lds + attention_V_FULL + 8 * v.s, v.phase);
        tile_wgmma_fence();
        attention_issue_values(o, p, at.lds + attention_V + v.s * attention_KEYS_BYTES);
        tile_wgmma_wait0(o, 128 / 2);
        attention_give_back(at.lds + attention_V_EMPTY, &v, thread);
        attention_store(&maps->map[3], at.lds + attention_OUT + group * attention_PANELS * 8192, o, l, t, group, thread);
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS(attention, attention_causal_call, 384, 1) {
    TILE_LDS(lds, 0);
    attention_place at = attention_here(lds, 4096, 4096);
    if (tile_thread() == 0) {
        tile_mbar_init(at.lds + attention_Q_FULL, 1);
        tile_mbar_init(at.lds + attention_Q_EMPTY, 2);
        for (int s = 0; s < 2; s++) {
            tile_mbar_init(at.lds + attention_K_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + attention_V_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + attention_K_EMPTY + 8 * s, 2);
            tile_mbar_init(at.lds + attention_V_EMPTY + 8 * s, 2);
        }
        tile_mbar_init_done();
    }
    tile_sync();
    tile_follow();
    if (tile_thread() < 128) {
        tile_regs_give(40);
        if (tile_thread() == 0) attention_copy(&maps, at);
    } else {
        tile_regs_take(232);
        attention_attend(&maps, at);
    }
}
