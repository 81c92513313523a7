/* $kernel: 32 query rows a wave, 128 a workgroup, against $KEYS keys a step (FlashAttention-2, arXiv 2307.08691). Scores are computed
   transposed, keys by rows, so that a lane and the one 32 from it have those of one row: its largest score, its sum and what it shrinks by are
   numbers of the lane. Weights then are, register by register, the right operand of the product with the values, transposed too. Keys and
   values of the next step are fetched while a step is computed. Steps that masks or the last key cut come last. */
enum {
    $kernel_WIDTH = $width, /* of their rows, in $D columns */
    $kernel_ROW = $width * 2, /* bytes */
    /* workgroup memory: rows of keys, and columns of values */
    $kernel_K_ROW = $D * 2,
    $kernel_V_ROW = $KEYS * 2,
    $kernel_V = $KEYS * $kernel_K_ROW,
    $kernel_STAGE = $kernel_V + $D * $kernel_V_ROW
};

/* 128 rows of a matrix, and their steps of $KEYS keys: first .. last - 1; of these all rows see begin .. end - 1 whole. */
typedef struct {
    int S, T; /* rows, keys */
    int row, head, first, last, begin, end;
} $kernel_tile;

TILE_FN int $kernel_from(int row) {
?no_from     (void)row;
    return $from;
}

TILE_FN int $kernel_to($kernel_tile at, int row) {
?no_to     (void)row;
    return $to;
}

/* The task of a workgroup, in the order of the plan. */
TILE_FN $kernel_tile $kernel_here(int rows, int keys) {
    $kernel_tile at = {rows, keys, 0, 0, 0, 0, 0, 0};
$order    at.row = (int)$row_tile * 128;
    at.head = (int)($head_tile);
    at.last = tile_max_i32(1, ($kernel_to(at, tile_min_i32(at.row + 127, rows - 1)) + $KEYS - 1) / $KEYS);
    at.first = tile_min_i32($kernel_from(at.row) / $KEYS, at.last - 1);
    at.begin = tile_min_i32(($kernel_from(at.row + 127) + $KEYS - 1) / $KEYS, at.last - 1);
    at.end = tile_max_i32(tile_min_i32($kernel_to(at, at.row) / $KEYS, at.last - 1), at.begin);
    return at;
}

/* The n-th step: begin .. end - 1, then those before and behind them. */
TILE_FN int $kernel_step($kernel_tile at, int n) {
    const int whole = at.end - at.begin, before = at.begin - at.first;
    return at.first + n + (n < whole ? before : n < whole + before ? -whole : 0);
}

/* The thread; wide rows leave few registers: their places in memory are computed where they are needed, rather than kept. */
?wide TILE_FN int $kernel_thread(void) { return tile_afresh(tile_thread()); }
?narrow TILE_FN int $kernel_thread(void) { return tile_thread(); }

/* ---- memory: 16 bytes at a time; their place in a row of workgroup memory depends on the row, so that no bank is met twice ---- */

?wide TILE_FN int $kernel_turn_keys(int row) { return row & 15; }
?narrow TILE_FN int $kernel_turn_keys(int row) { return (row ^ (row >> 3 & 3)) & 7; }
TILE_FN int $kernel_turn_values(int column) { return (column ^ column >> 3) & 7; }

typedef struct {
    tile_$type k[$D / 4], v[$D / 4];
} $kernel_fetched;

/* A step; what is behind its rows comes as zeros, and masks hide it. */
TILE_FN void $kernel_fetch($kernel_fetched *to, tile_rows keys, tile_rows values) {
    const int thread = tile_thread(), column = thread % ($D / 8) * 16, row = thread / ($D / 8) * $kernel_ROW;
    const int quad = (thread >> 6) * 4 + (thread >> 3 & 1) * 2 + (thread >> 5 & 1), piece = ((thread & 7) | (thread >> 1 & 8)) * $piece;
?whole     const int k = row + column, v = 4 * quad * $kernel_ROW + piece;
?padded     const int k = column < $kernel_ROW ? row + column : TILE_NO_ROW, v = piece < $kernel_ROW ? 4 * quad * $kernel_ROW + piece : TILE_NO_ROW;
#pragma unroll
    for (int n = 0; n < $D / 32; n++) tile_rows_load16(keys, k, n * (2048 / $D) * $kernel_ROW, &to->k[8 * n]);
#pragma unroll
    for (int n = 0; n < 4; n++) tile_rows_load$piece(values, v, n * $kernel_ROW, &to->v[$piece / 2 * n]);
}

/* Of 16 values of a column, 8 a + 4 g + e is at place 8 g + 4 a + e: 16 bytes are what a lane multiplies. */
TILE_FN void $kernel_keep(char *lds, int stage, const $kernel_fetched *from) {
    const int thread = $kernel_thread(), row = thread / ($D / 8), k = row * $kernel_K_ROW + ((thread % ($D / 8) ^ $kernel_turn_keys(row)) << 4);
    const int chunk = (thread >> 5 & 1) + (thread >> 6) * 2, column = ((thread & 7) | (thread >> 1 & 8)) * ($piece / 2);
    const int v = column * $kernel_V_ROW + ((chunk ^ $kernel_turn_values(column)) << 4) + (thread & 8);
#pragma unroll
    for (int n = 0; n < $D / 32; n++) tile_lds_store16(lds + stage + k + n * (2048 / $D) * $kernel_K_ROW, &from->k[8 * n]);
#pragma unroll
    for (int i = 0; i < $piece / 2; i++) {
        const tile_$type *x = &from->v[i], run[4] = {x[0], x[$piece / 2], x[2 * $piece / 2], x[3 * $piece / 2]};
        tile_lds_store8(lds + stage + $kernel_V + (v ^ i << 4) + i * $kernel_V_ROW, run);
    }
}

/* ---- a step: a lane has row lane % 32, and of 16 keys or columns 8 a + 4 g + e those with g = lane / 32 ---- */

TILE_FN void $kernel_scores(float x[$KEYS / 2], const char *lds, int stage, const tile_$type q[$D / 2]) {
    const int thread = $kernel_thread(), row = thread & 31, half = thread >> 5 & 1;
    const int at = row * $kernel_K_ROW + ((half ^ $kernel_turn_keys(row)) << 4);
#pragma unroll
    for (int i = 0; i < $KEYS / 2; i++) x[i] = 0;
#pragma unroll
    for (int u = 0; u < $D / 16; u++)
#pragma unroll
        for (int t = 0; t < $KEYS / 32; t++) {
            tile_$type k[8];
            tile_lds_load16(lds + stage + (at ^ u << 5) + 32 * t * $kernel_K_ROW, k);
#pragma unroll
            for (int e = 0; e < 8; e += $each) tile_mfma_$mfma(&x[16 * t], &k[e], &q[8 * u + e]);
        }
}

TILE_FN void $kernel_mask(float x[$KEYS / 2], int key, int row, $kernel_tile at) {
    const int first = key + 4 * (tile_lane() >> 5), from = $kernel_from(row) - first, to = $kernel_to(at, row) - first;
#pragma unroll
    for (int i = 0; i < $KEYS / 2; i++) {
        const int j = 8 * (i >> 2) + (i & 3);
        if (j < from || j >= to) x[i] = -INFINITY;
    }
}

/* What a wave keeps: queries, sums, and of each row the sum of weights and the base: weights are 2^(scaled score - base). */
typedef struct {
    tile_$type q[$D / 2];
    float o[$D / 2], l, base;
} $kernel_rows;

/* Scores to weights, whose sum is returned. */
TILE_FN float $kernel_weigh(float x[$KEYS / 2], float base) {
    const float scale = $scale;
    float sum[2];
#pragma unroll
    for (int i = 0; i < $KEYS / 2; i += 2) {
        tile_fma2(&x[i], scale, -base);
        x[i] = tile_exp2_fast(x[i]), x[i + 1] = tile_exp2_fast(x[i + 1]);
        if (i == 0)
            sum[0] = x[0], sum[1] = x[1];
        else
            tile_add2(sum, &x[i]);
    }
    return sum[0] + sum[1];
}

/* The base becomes the largest score so far; what was summed shrinks by as much. */
TILE_FN void $kernel_raise($kernel_rows *r, const float x[$KEYS / 2]) {
    const float scale = $scale;
    float top = x[0];
#pragma unroll
    for (int i = 1; i < $KEYS / 2; i++) top = tile_max_fast(top, x[i]);
    top = tile_max_fast(top, tile_shuffle_xor_f32(top, 32));
    const float base = tile_max_fast(r->base, top * scale), keep = tile_exp2_fast(r->base - base);
    r->base = base;
    r->l *= keep;
#pragma unroll
    for (int i = 0; i < $D / 2; i++) r->o[i] *= keep;
}

TILE_FN void $kernel_values(float o[$D / 2], const char *lds, int stage, const float x[$KEYS / 2]) {
    const int thread = $kernel_thread(), row = thread & 31, half = thread >> 5 & 1;
    const int at = row * $kernel_V_ROW + ((half ^ $kernel_turn_values(row)) << 4);
    uint32_t p[$KEYS / 4];
#pragma unroll
    for (int i = 0; i < $KEYS / 4; i++) p[i] = tile_pack_$type(x[2 * i], x[2 * i + 1]);
#pragma unroll
    for (int t = 0; t < $D / 32; t++)
#pragma unroll
        for (int u = 0; u < $KEYS / 16; u++) {
            tile_$type v[8];
            tile_lds_load16(lds + stage + $kernel_V + (at ^ (u << 5 ^ (t & 1) << 6)) + 32 * t * $kernel_V_ROW, v);
#pragma unroll
            for (int e = 0; e < 8; e += $each) tile_mfma_$mfma(&o[16 * t], &v[e], (const tile_$type *)&p[4 * u] + e);
        }
}

/* What a workgroup computes with: its tile, and the matrices of keys and values. */
typedef struct {
    $kernel_tile at;
    const tile_$type *k, *v;
    char *lds;
} $kernel_work;

TILE_FN int $kernel_row($kernel_tile at) {
    const int thread = tile_afresh(tile_thread());
    return at.row + (thread >> 6) * 32 + (thread & 31);
}

/* A base stays while weights stay small, which their sum tells (FlashAttention-4, arXiv 2603.05451, looks at the largest score); else
   the step begins anew with a larger one, as steps with masks do at once. */
TILE_FN void $kernel_attend($kernel_rows *r, const $kernel_work *w, int stage, int key, bool cut) {
    const float MOST = 256;
    float x[$KEYS / 2], sum;
    for (bool raise = cut;; raise = true) {
        $kernel_scores(x, w->lds, stage, r->q);
        if (cut) $kernel_mask(x, key, $kernel_row(w->at), w->at);
        if (raise) $kernel_raise(r, x);
        sum = $kernel_weigh(x, r->base);
        if (raise || !tile_rarely(tile_wave_any(!(sum <= MOST)))) break;
    }
    r->l += sum;
    $kernel_values(r->o, w->lds, stage, x);
}

TILE_FN void $kernel_begin($kernel_rows *r, const tile_$type *q) {
    int half = tile_lane() >> 5;
    r->base = -3e38f; /* below any score; 2^(-inf - base) is 0 */
    r->l = 0;
#pragma unroll
    for (int i = 0; i < $D / 2; i++) r->o[i] = 0;
#pragma unroll
    for (int u = 0; u < $D / 16; u++) {
?whole         tile_load16(q + 16 * u + 8 * half, &r->q[8 * u]);
?padded         if (16 * u + 8 * half < $kernel_WIDTH) tile_load16(q + 16 * u + 8 * half, &r->q[8 * u]);
?padded         else tile_zero16(&r->q[8 * u]);
    }
}

TILE_FN void $kernel_store(tile_$type *o, const $kernel_rows *r, bool inside) {
    float by = 1 / (r->l + tile_shuffle_xor_f32(r->l, 32));
    if (!inside) return;
#pragma unroll
    for (int i = 0; i < $D / 2; i += 4) {
        uint32_t run[2] = {tile_pack_$type(r->o[i] * by, r->o[i + 1] * by), tile_pack_$type(r->o[i + 2] * by, r->o[i + 3] * by)};
        int column = 2 * i + 4 * (tile_lane() >> 5);
?whole         tile_store8(&o[column], run);
?padded         if (column < $kernel_WIDTH) tile_store8(&o[column], run);
    }
}

TILE_FN void $kernel_fetch_step($kernel_fetched *to, const $kernel_work *w, int n) {
    const int key = $kernel_step(w->at, n) * $KEYS, bytes = tile_min_i32(w->at.T - key, $KEYS) * $kernel_ROW;
    const int64_t from = (int64_t)key * $kernel_WIDTH;
    $kernel_fetch(to, tile_rows_of(w->k + from, bytes), tile_rows_of(w->v + from, bytes));
}

/* One step, and what the next one needs is fetched: before the barrier, behind which the compiler may put it off. */
TILE_FN void $kernel_go($kernel_rows *r, $kernel_fetched *next, const $kernel_work *w, int n, int stage, bool cut) {
?single     tile_sync();
    $kernel_keep(w->lds, stage, next);
    $kernel_fetch_step(next, w, tile_min_i32(n + 1, w->at.last - w->at.first - 1));
    tile_sync();
    $kernel_attend(r, w, stage, $kernel_step(w->at, n) * $KEYS, cut);
}

TILE_FN void $kernel_compute(char *lds, const tile_$type *q, const tile_$type *k, const tile_$type *v, tile_$type *o, int rows, int keys) {
    if (rows <= 0 || keys <= 0) return;
    const $kernel_tile at = $kernel_here(rows, keys);
    const int head = at.head, matrix = $matrix, steps = at.last - at.first;
    const int64_t of_rows = (int64_t)head * at.S, of_keys = (int64_t)matrix * at.T * $kernel_WIDTH;
    const $kernel_work w = {at, k + of_keys, v + of_keys, lds};
    $kernel_rows r;
    $kernel_fetched next;
    $kernel_fetch_step(&next, &w, 0);
    $kernel_begin(&r, q + (of_rows + tile_min_i32($kernel_row(at), at.S - 1)) * $kernel_WIDTH);
    int n = 0;
#pragma clang loop unroll(disable)
?single     for (; n < at.end - at.begin; n++) $kernel_go(&r, &next, &w, n, $stage, false);
?double     for (; n + 1 < at.end - at.begin; n += 2) {
?double         $kernel_go(&r, &next, &w, n, 0, false);
?double         $kernel_go(&r, &next, &w, n + 1, $kernel_STAGE, false);
?double     }
#pragma clang loop unroll(disable)
    do $kernel_go(&r, &next, &w, n, $stage, true);
    while (++n < steps);
    const int row = $kernel_row(at);
    $kernel_store(o + (of_rows + row) * $kernel_WIDTH, &r, row < at.S);
}

TILE_KERNEL_WAVES($kernel, $call, $threads, $WAVES) {
    TILE_LDS(lds, $lds);$refuse
$sizes    $kernel_compute(lds, $q_at, $k_at, $v_at, $o_at, $rows, $keys);
}
