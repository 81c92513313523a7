/* $kernel: two warpgroups of 64 query rows each take turns: while one multiplies, the other takes exponentials (FlashAttention-3,
   arXiv 2407.08608). One warp copies keys and values, $KEYS rows at a time, into rings of 2 stages. Workgroups stay and take one tile
   after the other: those with most keys first, matrices in sections whose keys and values fit in L2. */
enum {
    $kernel_PANELS = $panels, /* of 64 columns */
    $kernel_HEADS = $heads, /* matrices of queries */
    $kernel_SHARE = $share, /* of them for one of keys */
    /* workgroup memory, from a multiple of 1024 on */
    $kernel_ROWS_BYTES = $panels * 128 * 128,
    $kernel_KEYS_BYTES = $panels * $KEYS * 128,
    $kernel_OUT = $kernel_ROWS_BYTES,
    $kernel_K = 2 * $kernel_ROWS_BYTES,
    $kernel_V = $kernel_K + 2 * $kernel_KEYS_BYTES,
    $kernel_Q_FULL = $kernel_V + 2 * $kernel_KEYS_BYTES, /* barriers */
    $kernel_Q_EMPTY = $kernel_Q_FULL + 8,
    $kernel_K_FULL = $kernel_Q_EMPTY + 8,
    $kernel_K_EMPTY = $kernel_K_FULL + 16,
    $kernel_V_FULL = $kernel_K_EMPTY + 16,
    $kernel_V_EMPTY = $kernel_V_FULL + 16
};

typedef struct {
    uint32_t lds;
    int S, T, tiles; /* rows, keys */
    int section;     /* matrices of queries */
} $kernel_place;

TILE_FN $kernel_place $kernel_here(const char *lds, int rows, int keys) {
    $kernel_place at = {(tile_shared(lds) + 1023) & ~1023u, rows, keys, (rows + 127) / 128 * $kernel_HEADS, 0};
    at.section = tile_max_i32(1, 32000000 / 4 / $D / tile_max_i32(keys, 1)) * $kernel_SHARE;
    return at;
}

/* 128 rows of a matrix, and their keys in steps of $KEYS: first .. last - 1. */
typedef struct {
    int row, head, first, last;
} $kernel_tile;

TILE_FN int $kernel_from(int row) { return $from; }
TILE_FN int $kernel_to($kernel_place at, int row) { return $to; }

/* The n-th tile of this workgroup, the shorter ones of one round beside the longer ones of the next. False: there is none. */
TILE_FN bool $kernel_take($kernel_place at, int n, $kernel_tile *t) {
    int groups = (int)tile_groups(), me = (int)tile_group(), p = n * groups + (n & 1 ? groups - 1 - me : me);
    int rows = (at.S + 127) / 128, first = p / (at.section * rows) * at.section, in = p % (at.section * rows);
    int heads = tile_min_i32(at.section, $kernel_HEADS - first);
    if (p >= at.tiles) return false;
    t->row = (rows - 1 - in / heads) * 128;
    t->head = first + in % heads;
    t->last = tile_max_i32(1, ($kernel_to(at, t->row + 127) + $KEYS - 1) / $KEYS);
    t->first = tile_min_i32($kernel_from(t->row) / $KEYS, t->last - 1);
    return true;
}

/* ---- the copying warp ---- */

TILE_FN void $kernel_copy_keys(uint32_t to, const tile_tensor_map *map, int key, int matrix, uint32_t full, uint32_t empty, int phase) {
    tile_mbar_wait(empty, phase);
    tile_mbar_expect(full, $kernel_KEYS_BYTES);
    for (int u = 0; u < $kernel_PANELS; u++) tile_tma_load3(to + u * $KEYS * 128, map, 64 * u, key, matrix, full);
}

TILE_FN void $kernel_copy_rows(const $kernel_maps *maps, $kernel_place at, $kernel_tile t) {
    tile_mbar_expect(at.lds + $kernel_Q_FULL, $kernel_ROWS_BYTES);
    for (int u = 0; u < 2 * $kernel_PANELS; u++)
        tile_tma_load3(at.lds + u * 8192, &maps->map[0], 64 * (u % $kernel_PANELS), t.row + 64 * (u / $kernel_PANELS), t.head,
                       at.lds + $kernel_Q_FULL);
}

TILE_FN int $kernel_matrix(int head) { return $matrix; }

TILE_FN void $kernel_copy(const $kernel_maps *maps, $kernel_place at) {
    $kernel_tile t;
    int s = 0, phase = 1;
    for (int n = 0; $kernel_take(at, n, &t); n++) {
        int matrix = $kernel_matrix(t.head);
        tile_mbar_wait(at.lds + $kernel_Q_EMPTY, (n & 1) ^ 1);
        $kernel_copy_rows(maps, at, t);
        for (int j = t.last - 1; j >= t.first; j--) {
            $kernel_copy_keys(at.lds + $kernel_K + s * $kernel_KEYS_BYTES, &maps->map[1], j * $KEYS, matrix, at.lds + $kernel_K_FULL + 8 * s,
                              at.lds + $kernel_K_EMPTY + 8 * s, phase);
            $kernel_copy_keys(at.lds + $kernel_V + s * $kernel_KEYS_BYTES, &maps->map[2], j * $KEYS, matrix, at.lds + $kernel_V_FULL + 8 * s,
                              at.lds + $kernel_V_EMPTY + 8 * s, phase);
            if (++s == 2) s = 0, phase ^= 1;
        }
    }
}

/* ---- the multiplying warpgroups: a thread has columns of the rows lane / 4 and, in registers 2 and 3 of four, 8 on ---- */

TILE_FN void $kernel_mask(float x[$KEYS / 2], int key, int row, $kernel_place at) {
    int from[2] = {$kernel_from(row), $kernel_from(row + 8)}, to[2] = {$kernel_to(at, row), $kernel_to(at, row + 8)};
#pragma unroll
    for (int i = 0; i < $KEYS / 2; i++) {
        int j = key + 8 * (i >> 2) + 2 * (tile_thread() & 3) + (i & 1), h = (i >> 1) & 1;
        if (j < from[h] || j >= to[h]) x[i] = -INFINITY;
    }
}

/* x to exp(x - m), m the largest so far; their sums into l; keep: by what earlier sums shrink. Powers of 2, whose factor is in the
   scale. */
TILE_FN void $kernel_softmax(float x[$KEYS / 2], float m[2], float l[2], float keep[2]) {
    const float scale = $scale;
    float top[2] = {m[0], m[1]}, sum[2] = {0, 0}, base[2];
#pragma unroll
    for (int i = 0; i < $KEYS / 2; i++) top[(i >> 1) & 1] = fmaxf(top[(i >> 1) & 1], x[i]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        top[h] = fmaxf(top[h], tile_shuffle_xor_f32(top[h], 1));
        top[h] = fmaxf(top[h], tile_shuffle_xor_f32(top[h], 2));
        base[h] = top[h] == -INFINITY ? 0 : top[h] * scale;
        keep[h] = tile_exp2_fast(m[h] * scale - base[h]);
        m[h] = top[h];
    }
#pragma unroll
    for (int i = 0; i < $KEYS / 2; i++) {
        x[i] = tile_exp2_fast(x[i] * scale - base[(i >> 1) & 1]);
        sum[(i >> 1) & 1] += x[i];
    }
    l[0] = l[0] * keep[0] + sum[0];
    l[1] = l[1] * keep[1] + sum[1];
}

/* Sums of 64 rows are, two by two, the registers of the left operand of a product over the keys. */
TILE_FN void $kernel_pack(uint32_t p[$KEYS / 16][4], const float x[$KEYS / 2]) {
#pragma unroll
    for (int i = 0; i < $KEYS / 4; i++) p[i >> 2][i & 3] = tile_$typex2(x[2 * i], x[2 * i + 1]);
}

TILE_FN void $kernel_issue_scores(float x[$KEYS / 2], uint32_t q, uint32_t k) {
#pragma unroll
    for (int u = 0; u < $D / 16; u++)
        tile_wgmma_ss_n$KEYS_$type_00(x, tile_wgmma_panel(q + u / 4 * 8192 + u % 4 * 32, 0),
                                   tile_wgmma_panel(k + u / 4 * $KEYS * 128 + u % 4 * 32, 0), u);
    tile_wgmma_commit();
}

TILE_FN void $kernel_issue_values(float o[$D / 2], const uint32_t p[$KEYS / 16][4], uint32_t v) {
#pragma unroll
    for (int u = 0; u < $KEYS / 16; u++) tile_wgmma_rs_n$D_$type_1(o, p[u], tile_wgmma_panel(v + 2048 * u, $KEYS * 128), 1);
    tile_wgmma_commit();
}

TILE_FN void $kernel_store(const tile_tensor_map *map, uint32_t lds, const float o[$D / 2], const float l[2], $kernel_tile t, int group,
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
    for (int u = 0; u < $D / 16; u++) {
        int chunk = 2 * u + (lane >> 4);
        const float *y = o + 8 * u;
        tile_stmatrix4(lds + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4), tile_$typex2(y[0] * by[0], y[1] * by[0]),
                       tile_$typex2(y[2] * by[1], y[3] * by[1]), tile_$typex2(y[4] * by[0], y[5] * by[0]),
                       tile_$typex2(y[6] * by[1], y[7] * by[1]));
    }
    tile_async_fence();
    tile_bar_sync(4 + group, 128);
    if (thread == 0) {
        for (int u = 0; u < $kernel_PANELS; u++) tile_tma_store3(map, 64 * u, t.row + 64 * group, t.head, lds + u * 8192);
        tile_tma_commit();
    }
}

/* Stages of a ring, as the reader goes through them. */
typedef struct {
    int s, phase;
} $kernel_stage;

TILE_FN void $kernel_give_back(uint32_t empty, $kernel_stage *at, int thread) {
    if (thread == 0) tile_mbar_arrive(empty + 8 * at->s);
    at->phase ^= at->s;
    at->s ^= 1;
}

TILE_FN void $kernel_attend(const $kernel_maps *maps, $kernel_place at) {
    int group = tile_thread() / 128 - 1, thread = tile_thread() & 127, in = 16 * (thread >> 5) + (thread & 31) / 4;
    float o[$D / 2], x[$KEYS / 2], m[2], l[2], keep[2];
    uint32_t p[$KEYS / 16][4], q = at.lds + group * $kernel_PANELS * 8192;
    $kernel_stage k = {0, 0}, v = {0, 0};
    $kernel_tile t;
    if (group == 1) tile_bar_arrive(1, 256); /* group 0 begins */
    for (int n = 0; $kernel_take(at, n, &t); n++) {
        int row = t.row + 64 * group, from = $kernel_from(row + 63), to = $kernel_to(at, row); /* keys that all rows see */
        m[0] = m[1] = -INFINITY;
        l[0] = l[1] = 0;
#pragma unroll
        for (int i = 0; i < $D / 2; i++) o[i] = 0;
        int j = $last - 1; /* from the last keys to the first: those that need a mask first */
        tile_mbar_wait(at.lds + $kernel_Q_FULL, n & 1);
        tile_mbar_wait(at.lds + $kernel_K_FULL + 8 * k.s, k.phase);
        tile_bar_sync(1 + group, 256);
        tile_wgmma_fence();
        $kernel_issue_scores(x, q, at.lds + $kernel_K + k.s * $kernel_KEYS_BYTES);
        tile_bar_arrive(2 - group, 256);
        tile_wgmma_wait0(x, $KEYS / 2);
        $kernel_give_back(at.lds + $kernel_K_EMPTY, &k, thread);
        if ((j + 1) * $KEYS > to || j * $KEYS < from) $kernel_mask(x, j * $KEYS, row + in, at);
        $kernel_softmax(x, m, l, keep);
        $kernel_pack(p, x);
        while (--j >= t.first) { /* scores of these keys; values of those before; exponentials while the values are multiplied */
            tile_mbar_wait(at.lds + $kernel_K_FULL + 8 * k.s, k.phase);
            tile_bar_sync(1 + group, 256);
            tile_wgmma_fence();
            $kernel_issue_scores(x, q, at.lds + $kernel_K + k.s * $kernel_KEYS_BYTES);
            tile_mbar_wait(at.lds + $kernel_V_FULL + 8 * v.s, v.phase);
            tile_wgmma_fence();
            $kernel_issue_values(o, p, at.lds + $kernel_V + v.s * $kernel_KEYS_BYTES);
            tile_bar_arrive(2 - group, 256);
            tile_wgmma_wait1(x, $KEYS / 2);
            $kernel_give_back(at.lds + $kernel_K_EMPTY, &k, thread);
            if ((j + 1) * $KEYS > to || j * $KEYS < from) $kernel_mask(x, j * $KEYS, row + in, at);
            $kernel_softmax(x, m, l, keep);
            tile_wgmma_wait0(o, $D / 2);
            $kernel_give_back(at.lds + $kernel_V_EMPTY, &v, thread);
#pragma unroll
            for (int i = 0; i < $D / 2; i++) o[i] *= keep[(i >> 1) & 1];
            $kernel_pack(p, x);
        }
        if (thread == 0) tile_mbar_arrive(at.lds + $kernel_Q_EMPTY);
        tile_mbar_wait(at.lds + $kernel_V_FULL + 8 * v.s, v.phase);
        tile_wgmma_fence();
        $kernel_issue_values(o, p, at.lds + $kernel_V + v.s * $kernel_KEYS_BYTES);
        tile_wgmma_wait0(o, $D / 2);
        $kernel_give_back(at.lds + $kernel_V_EMPTY, &v, thread);
        $kernel_store(&maps->map[3], at.lds + $kernel_OUT + group * $kernel_PANELS * 8192, o, l, t, group, thread);
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS($kernel, $call, $threads, $cluster) {
    TILE_LDS(lds, 0);$refuse
    $kernel_place at = $kernel_here(lds, $rows, $keys);
    if (tile_thread() == 0) {
        tile_mbar_init(at.lds + $kernel_Q_FULL, 1);
        tile_mbar_init(at.lds + $kernel_Q_EMPTY, 2);
        for (int s = 0; s < 2; s++) {
            tile_mbar_init(at.lds + $kernel_K_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + $kernel_V_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + $kernel_K_EMPTY + 8 * s, 2);
            tile_mbar_init(at.lds + $kernel_V_EMPTY + 8 * s, 2);
        }
        tile_mbar_init_done();
    }
    tile_sync();
?dependent     tile_follow();
    if (tile_thread() < 128) {
        tile_regs_give(40);
        if (tile_thread() == 0) $kernel_copy(&maps, at);
    } else {
        tile_regs_take(232);
        $kernel_attend(&maps, at);
    }
}
