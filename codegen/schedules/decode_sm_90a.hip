/* $kernel: rows of queries, $ROWS a task, against keys and values that all of them see, read once.
?parts    $PARTS workgroups of a cluster share a task, each has keys that lie together.
   A warp has 16 keys of a step of $KEYS: it copies them and their values ahead into a ring of its own, of $STAGES stages, and
   multiplies them, those on the left: scores have keys down, sums columns down, both rows across. Warps meet at the end alone. */
enum {
    $kernel_WARPS = $KEYS / 16,
    $kernel_CHUNKS = $D / 8, /* of 16 bytes a row */
    $kernel_PANEL = 16 * 128, /* bytes of 64 columns of 16 keys */
    $kernel_VALUES = $PANELS * $kernel_PANEL,
    $kernel_STAGE = 2 * $kernel_VALUES,
    /* workgroup memory; a warp's sums, [$ROWS][$D], take the place of its ring */
    $kernel_RING = $STAGES * $kernel_STAGE,
    $kernel_TOPS = $kernel_WARPS * $kernel_RING, /* of each row the warps' largest scores, and their sums of weights */
?parts     $kernel_SHARE = ($ROWS * $D / 2 + $PARTS - 1) / $PARTS * 2, /* of the results, that a workgroup puts together */
?parts     $kernel_SENT = $kernel_TOPS + 8 * $kernel_WARPS * $ROWS, /* sums from the workgroups of the cluster, [$PARTS][SHARE] */
?parts     $kernel_ENDS = $kernel_SENT + $PARTS * $kernel_SHARE * 4 /* of each row their largest scores, and sums of weights */
};

?dense /* Keys first .. last - 1 of so many, and where the first of all is in k and v. */
?paged /* Keys first .. last - 1 of so many, where the first of each page is in k and v, how many pages those have, and the task's row of
?paged    the table. */
typedef struct {
    int64_t place;
    int first, last, all;
?paged     int64_t pages, row;
} $kernel_task;

TILE_FN $kernel_task $kernel_find($call call, int64_t task) {
$find}

?parts /* As many of them for each part as warps have: multiples of 16. */
?parts TILE_FN $kernel_task $kernel_part($kernel_task t, int part) {
?parts     const int64_t each = ((int64_t)t.last - t.first + $PARTS * 16 - 1) / ($PARTS * 16) * 16;
?parts     const int64_t first = tile_min_i64(t.first + part * each, t.last);
?parts     t.last = (int)tile_min_i64(first + each, t.last);
?parts     t.first = (int)first;
?parts     return t;
?parts }

/* The keys of this workgroup. */
TILE_FN $kernel_task $kernel_mine($call call) {
?whole     return $kernel_find(call, tile_group());
?parts     return $kernel_part($kernel_find(call, tile_group() / $PARTS), (int)(tile_group() % $PARTS));
}

/* ---- copies ---- */

?dense /* Where a key's row is in k and v. */
?dense TILE_FN int64_t $kernel_place($call, $kernel_task t, int64_t key) { return t.place + key * $STRIDE; }
?paged /* That of 16 keys; those behind the table are on page 0. */
?paged TILE_FN int $kernel_page($call call, $kernel_task t, int64_t key) { return key < t.all ? tile_look_i32($table + t.row + key / $PAGE) : 0; }
?paged /* Where the row of the first of them is in k and v; -1: on no page. */
?paged TILE_FN int64_t $kernel_place_on($kernel_task t, int page, int64_t key) {
?paged     return tile_inside(page, t.pages) ? t.place + page * (int64_t)$PAGE_STRIDE + key % $PAGE * $STRIDE : -1;
?paged }
?paged_dependent TILE_FN int64_t $kernel_place($call call, $kernel_task t, int64_t key) { return $kernel_place_on(t, $kernel_page(call, t, key), key); }

?paged /* A warp's steps from `key` on: the pages of 32 of them, one in each lane, those before step n done, and of the 32 behind these. */
?paged typedef struct {
?paged     int64_t key;
?paged     int n, now, later;
?paged } $kernel_steps;

?paged TILE_FN $kernel_steps $kernel_steps_from($call call, $kernel_task t, int64_t key) {
?paged     const int64_t own = key + (tile_thread() & 31) * $KEYS;
?paged     return ($kernel_steps){key, 0, $kernel_page(call, t, own), $kernel_page(call, t, own + 32 * $KEYS)};
?paged }

?paged TILE_FN int64_t $kernel_next_place($call call, $kernel_task t, $kernel_steps *at) {
?paged     const int64_t place = $kernel_place_on(t, (int)tile_shuffle((uint32_t)at->now, at->n), at->key);
?paged     at->key += $KEYS;
?paged     if (++at->n < 32) return place;
?paged     at->n = 0;
?paged     at->now = at->later;
?paged     at->later = $kernel_page(call, t, at->key + (32 + (tile_thread() & 31)) * $KEYS);
?paged     return place;
?paged }

/* Where 16 bytes of a key's row lie: eight neighbours of eight keys are in different banks. */
TILE_FN uint32_t $kernel_chunk(uint32_t at, int key, int chunk) {
    return at + (chunk >> 3) * $kernel_PANEL + key * 128 + (((chunk ^ key) & 7) << 4);
}

/* The n-th 16 bytes of 16 keys, and of their values; so many are read, the others are 0. */
TILE_FN void $kernel_copy16(uint32_t to, const $elem *k, const $elem *v, int n, int bytes) {
    int row = n / $kernel_CHUNKS, chunk = n % $kernel_CHUNKS;
    uint32_t at = $kernel_chunk(to, row, chunk);
    tile_copy_once(at, k + row * $STRIDE + 8 * chunk, bytes);
    tile_copy_once(at + $kernel_VALUES, v + row * $STRIDE + 8 * chunk, bytes);
}

/* The warp's 16 keys from `key` on, and their values, from their place; zeros from the end on. A group of copies, even of none. */
TILE_FN void $kernel_copy($call call, $kernel_task t, uint32_t to, int64_t key, int64_t place) {
?dense     const int64_t there = tile_min_i32(t.last, t.all) - key;
?paged     const int64_t there = place < 0 ? 0 : t.last - key;
    const $elem *k = $k_at + place, *v = $v_at + place;
    const int lane = tile_thread() & 31;
    if (there >= 16)
#pragma unroll
        for (int i = 0; i < $kernel_CHUNKS / 2; i++) $kernel_copy16(to, k, v, 32 * i + lane, 16);
    else if (key < t.last)
#pragma unroll
        for (int i = 0; i < $kernel_CHUNKS / 2; i++)
            $kernel_copy16(to, k, v, 32 * i + lane, (32 * i + lane) / $kernel_CHUNKS < there ? 16 : 0);
    tile_copy_commit();
}

?dependent /* The warp's first keys to the L2: a hint, which may come before it is known which they are. */
?dependent TILE_FN void $kernel_bring($call call, $kernel_task t) {
?dependent     const int end = tile_min_i32(t.last, t.all);
?dependent     const int64_t first = t.first; /* of which nothing is sure yet */
?dependent     for (int64_t key = first + 16 * (tile_thread() / 32); key < end; key += $KEYS) {
?dependent         if (key >= first + $AHEAD) break;
?dependent         const int64_t place = $kernel_place(call, t, key);
?paged_dependent         if (place < 0) continue;
?dependent #pragma unroll
?dependent         for (int i = tile_thread() & 31; i < 16 * $PANELS; i += 32) {
?dependent             const int64_t from = place + i / $PANELS * $STRIDE + i % $PANELS * 64;
?dependent             if (key + i / $PANELS >= end) continue;
?dependent             tile_prefetch_line($k_at + from);
?dependent             tile_prefetch_line($v_at + from);
?dependent         }
?dependent     }
?dependent }

/* ---- products: a thread has the rows 2 (lane % 4) and + 1 of each block of 8 ---- */

typedef struct {
    float m[$BLOCKS][2], l[$BLOCKS][2];
    float o[$BLOCKS][$D / 16][4]; /* columns lane / 4 and, in elements 2 and 3, 8 on, of each 16 */
} $kernel_sums;

TILE_FN void $kernel_begin($kernel_sums *sums) {
#pragma unroll
    for (int i = 0; i < 2 * $BLOCKS; i++) {
        sums->m[i / 2][i & 1] = -INFINITY;
        sums->l[i / 2][i & 1] = 0;
    }
#pragma unroll
    for (int i = 0; i < $BLOCKS * $D / 4; i++) sums->o[i / ($D / 4)][i % ($D / 4) / 4][i & 3] = 0;
}

/* Queries as operands on the right: columns 2 (lane % 4), + 1 and 8 on of each 16, row lane / 4. */
TILE_FN void $kernel_queries(uint32_t q[$BLOCKS][$D / 16][2], const $elem *from) {
    int row = (tile_thread() & 31) >> 2, column = 2 * (tile_thread() & 3);
#pragma unroll
    for (int b = 0; b < $BLOCKS; b++)
#pragma unroll
        for (int i = 0; i < $D / 8; i++) {
            q[b][i / 2][i & 1] = 0;
            if (8 * b + row < $ROWS) tile_load4(from + (8 * b + row) * $D + 8 * i + column, &q[b][i / 2][i & 1]);
        }
}

/* 16 keys by all rows; keys from n on do not count. */
TILE_FN void $kernel_scores(float x[$BLOCKS][4], const uint32_t q[$BLOCKS][$D / 16][2], uint32_t keys, int n) {
    int lane = tile_thread() & 31;
    float odd[$BLOCKS][4]; /* two chains of products */
#pragma unroll
    for (int i = 0; i < 4 * $BLOCKS; i++) x[i / 4][i % 4] = odd[i / 4][i % 4] = 0;
#pragma unroll
    for (int u = 0; u < $D / 16; u++) {
        uint32_t k[4];
        tile_ldmatrix4(k, $kernel_chunk(keys, lane & 15, 2 * u + (lane >> 4)));
#pragma unroll
        for (int b = 0; b < $BLOCKS; b++) tile_mma_words_$type(u & 1 ? odd[b] : x[b], k, q[b][u]);
    }
#pragma unroll
    for (int i = 0; i < 4 * $BLOCKS; i++) x[i / 4][i % 4] += odd[i / 4][i % 4];
    if (n < 16)
#pragma unroll
        for (int i = 0; i < 4 * $BLOCKS; i++)
            if ((lane >> 2) + (i & 2) * 4 >= n) x[i / 4][i % 4] = -INFINITY;
}

/* m to the largest score so far; what was summed before shrinks by as much as m grew. */
TILE_FN void $kernel_grow($kernel_sums *sums, const float x[4], int b) {
    float keep[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float top = fmaxf(x[h], x[2 + h]);
        for (int apart = 4; apart < 32; apart *= 2) top = fmaxf(top, tile_shuffle_xor_f32(top, apart));
        top = fmaxf(top, sums->m[b][h]);
        keep[h] = top == -INFINITY ? 1 : tile_exp2_fast((sums->m[b][h] - top) * $scale);
        sums->m[b][h] = top;
        sums->l[b][h] *= keep[h];
    }
#pragma unroll
    for (int i = 0; i < $D / 4; i++) sums->o[b][i / 4][i % 4] *= keep[i & 1];
}

/* x to exp(x - m). m stays until a score is larger by so much that weights would be 2^8: warps seldom compare theirs. Powers of 2,
   whose factor is in the scale. */
TILE_FN void $kernel_softmax($kernel_sums *sums, float x[4], int b) {
    const float scale = $scale;
    bool larger = false;
#pragma unroll
    for (int i = 0; i < 4; i++) larger |= x[i] > sums->m[b][i & 1] + 8 / scale;
    if (tile_wave_any(larger)) $kernel_grow(sums, x, b);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float m = sums->m[b][i & 1];
        x[i] = tile_exp2_fast(x[i] * scale - (m == -INFINITY ? 0 : m * scale));
    }
    sums->l[b][0] += x[0] + x[2];
    sums->l[b][1] += x[1] + x[3];
}

/* Values by weights, whose blocks are transposed to be operands on the right. */
TILE_FN void $kernel_weigh($kernel_sums *sums, const float x[$BLOCKS][4], uint32_t values) {
    int lane = tile_thread() & 31;
    uint32_t p[$BLOCKS][2];
#pragma unroll
    for (int i = 0; i < 2 * $BLOCKS; i++)
        p[i / 2][i & 1] = tile_movmatrix(tile_$typex2(x[i / 2][2 * (i & 1)], x[i / 2][2 * (i & 1) + 1]));
#pragma unroll
    for (int u = 0; u < $D / 16; u++) {
        uint32_t v[4];
        tile_ldmatrix4_across(v, $kernel_chunk(values, (lane & 7) + (lane >> 4) * 8, 2 * u + (lane >> 3 & 1)));
#pragma unroll
        for (int b = 0; b < $BLOCKS; b++) tile_mma_words_$type(sums->o[b][u], v, p[b]);
    }
}

/* This workgroup's keys, those of this warp. A stage is filled again as soon as it has been read. */
TILE_FN void $kernel_attend($call call, $kernel_sums *sums, char *lds, $kernel_task t, const uint32_t q[$BLOCKS][$D / 16][2]) {
    const int warp = tile_thread() / 32;
    char *ring = lds + warp * $STAGES * $kernel_STAGE;
    int64_t key = (int64_t)t.first + 16 * warp;
    int s = 0, next = $STAGES - 1;
?paged     $kernel_steps steps = $kernel_steps_from(call, t, key);
    for (int i = 0; i < $STAGES - 1; i++) {
?dense         const int64_t place = $kernel_place(call, t, key + i * $KEYS);
?paged         const int64_t place = $kernel_next_place(call, t, &steps);
        $kernel_copy(call, t, tile_shared(ring) + i * $kernel_STAGE, key + i * $KEYS, place);
    }
    for (; key < t.last; key += $KEYS) {
?dependent         if (key + ($STAGES - 1) * $KEYS >= t.last) tile_let_go();
        char *stage = ring + s * $kernel_STAGE;
        float x[$BLOCKS][4];
        tile_copy_wait($STAGES - 2);
        tile_wave_sync();
?dense         const int64_t place = $kernel_place(call, t, key + ($STAGES - 1) * $KEYS);
?paged         const int64_t place = $kernel_next_place(call, t, &steps);
        $kernel_copy(call, t, tile_shared(ring) + next * $kernel_STAGE, key + ($STAGES - 1) * $KEYS, place);
        $kernel_scores(x, q, tile_shared(stage), (int)tile_min_i64(16, t.last - key));
#pragma unroll
        for (int b = 0; b < $BLOCKS; b++) $kernel_softmax(sums, x[b], b);
        $kernel_weigh(sums, x, tile_shared(stage) + $kernel_VALUES);
        if (++s == $STAGES) s = 0;
        if (++next == $STAGES) next = 0;
    }
    tile_copy_wait(0);
}

/* ---- the warps' sums become the workgroup's, those the cluster's: each as exp(x - m) of its own m ---- */

/* How much a sum that was made with m weighs beside others of the largest score top. */
TILE_FN float $kernel_weight(float m, float top) { return m == -INFINITY ? 0 : tile_exp2_fast((m - top) * $scale); }

/* n largest scores of a row, behind them the sums of weights that belong to them: the largest of all, what each weighs beside it,
   and the sum of all weights. */
TILE_FN void $kernel_ends(const float *m, int n, float *top, float *weight, float *sum) {
    *top = -INFINITY;
    *sum = 0;
#pragma unroll
    for (int i = 0; i < n; i++) *top = fmaxf(*top, tile_lds_load_f32(&m[i]));
#pragma unroll
    for (int i = 0; i < n; i++) {
        weight[i] = $kernel_weight(tile_lds_load_f32(&m[i]), *top);
        *sum += tile_lds_load_f32(&m[n + i]) * weight[i];
    }
}

/* The row of a thread's elements i & 1 of block i / 2. */
TILE_FN int $kernel_row(int i) { return i / 2 * 8 + 2 * (tile_thread() & 3) + (i & 1); }

/* A warp's sums to where its ring was, which it alone has read. */
TILE_FN void $kernel_leave(const $kernel_sums *sums, char *lds) {
    int warp = tile_thread() / 32, lane = tile_thread() & 31;
    float *o = (float *)(lds + warp * $kernel_RING), *m = (float *)(lds + $kernel_TOPS);
    tile_wave_sync();
#pragma unroll
    for (int i = 0; i < 2 * $BLOCKS; i++) {
        int row = $kernel_row(i);
        float l = sums->l[i / 2][i & 1];
        for (int apart = 4; apart < 32; apart *= 2) l += tile_shuffle_xor_f32(l, apart);
        if (row >= $ROWS) continue;
        if (lane < 4) {
            tile_lds_store_f32(&m[2 * $kernel_WARPS * row + warp], sums->m[i / 2][i & 1]);
            tile_lds_store_f32(&m[$kernel_WARPS * (2 * row + 1) + warp], l);
        }
#pragma unroll
        for (int u = 0; u < $D / 8; u++)
            tile_lds_store_f32(&o[row * $D + 8 * u + (lane >> 2)], sums->o[i / 2][u / 2][u % 2 * 2 + (i & 1)]);
    }
}

/* y += two floats of workgroup memory * weight. */
TILE_FN void $kernel_add2(float y[2], const char *at, float weight) {
    float x[2];
    tile_lds_load8(at, x);
    y[0] += x[0] * weight;
    y[1] += x[1] * weight;
}

/* Elements i and i + 1 of all warps, relative to their largest score. */
TILE_FN void $kernel_sum(float y[2], const char *lds, int i, float *top, float *l) {
    float weight[$kernel_WARPS];
    $kernel_ends((const float *)(lds + $kernel_TOPS) + i / $D * 2 * $kernel_WARPS, $kernel_WARPS, top, weight, l);
    y[0] = y[1] = 0;
#pragma unroll
    for (int warp = 0; warp < $kernel_WARPS; warp++) $kernel_add2(y, lds + warp * $kernel_RING + 4 * i, weight[warp]);
}

TILE_FN void $kernel_store2($elem *o, const float y[2], float l) {
    const uint32_t both = tile_$typex2(y[0] / l, y[1] / l);
    tile_store4(o, &both);
}

?whole TILE_FN void $kernel_store($elem *o, const char *lds) {
?whole     for (int i = 2 * tile_thread(); i < $ROWS * $D; i += 2 * $threads) {
?whole         float top, l, y[2];
?whole         $kernel_sum(y, lds, i, &top, &l);
?whole         $kernel_store2(o + i, y, l);
?whole     }
?whole }
?parts /* Sums to the workgroup that puts them together, what they are relative to to all: each by another thread of a row. */
?parts TILE_FN void $kernel_send(const char *lds, int part) {
?parts     const uint32_t sent = tile_shared(lds) + $kernel_SENT + 4 * part * $kernel_SHARE, ends = tile_shared(lds) + $kernel_ENDS;
?parts     for (int i = 2 * tile_thread(); i < $ROWS * $D; i += 2 * $threads) {
?parts         const int to = i % $D / 2, end = i / $D * 2 * $PARTS + part;
?parts         float top, l, y[2];
?parts         $kernel_sum(y, lds, i, &top, &l);
?parts         tile_cluster_store2(sent + i % $kernel_SHARE * 4, i / $kernel_SHARE, y[0], y[1]);
?parts         if (to >= $PARTS) continue;
?parts         tile_cluster_store(ends + 4 * end, to, top);
?parts         tile_cluster_store(ends + 4 * (end + $PARTS), to, l);
?parts     }
?parts }

?parts TILE_FN void $kernel_collect($elem *o, const char *lds, int part) {
?parts     for (int i = 2 * tile_thread(); i < tile_min_i32($kernel_SHARE, $ROWS * $D - part * $kernel_SHARE); i += 2 * $threads) {
?parts         const int at = part * $kernel_SHARE + i;
?parts         float top, l, weight[$PARTS], y[2] = {0, 0};
?parts         $kernel_ends((const float *)(lds + $kernel_ENDS) + at / $D * 2 * $PARTS, $PARTS, &top, weight, &l);
?parts #pragma unroll
?parts         for (int p = 0; p < $PARTS; p++) $kernel_add2(y, lds + $kernel_SENT + 4 * (p * $kernel_SHARE + i), weight[p]);
?parts         $kernel_store2(o + at, y, l);
?parts     }
?parts }

TILE_KERNEL_CLUSTER($kernel, $call, $threads, $PARTS) {
    TILE_LDS(lds, $lds);$refuse
    const int64_t task = tile_group() / $PARTS;
    uint32_t q[$BLOCKS][$D / 16][2];
    $kernel_sums sums;
?parts     tile_cluster_arrive();
?dependent     $kernel_bring(call, $kernel_mine(call));
?dependent     tile_behind();
    const $kernel_task t = $kernel_mine(call);
    $kernel_queries(q, $q_at + task * $ROWS * $D);
    $kernel_begin(&sums);
    $kernel_attend(call, &sums, lds, t, q);
    $kernel_leave(&sums, lds);
    tile_sync();
?whole     $kernel_store($o_at + task * $ROWS * $D, lds);
?parts     const int part = (int)(tile_group() % $PARTS);
?parts     tile_cluster_wait(); /* all have begun */
?parts     $kernel_send(lds, part);
?parts     tile_cluster_arrive();
?parts     tile_cluster_wait();
?parts     $kernel_collect($o_at + task * $ROWS * $D, lds, part);
}
