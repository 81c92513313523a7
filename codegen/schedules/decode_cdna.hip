/* $kernel: rows of queries, $ROWS a task, against keys and values that all of them see, read once. A wave has 32 keys of a step of
   $KEYS: it loads them and their values straight into registers, as operands of its products and a step ahead, and meets no other
   wave before the end. Scores have keys down, sums columns down, both rows across, 16 of which those past $ROWS are empty.
   A lane has row lane % 16, and g = lane / 16; its keys are 16 t + 4 g + e in element 4 t + e, t < 2, e < 4. */
enum {
    $kernel_CHUNKS = $D / 32, /* of 16 bytes: a lane's of a key's row */
    $kernel_COLUMNS = $D / 16, /* a lane's of a value's row */
    $kernel_BYTES = $STRIDE * 2, /* from a key to the next */
    /* workgroup memory: the sums of half of the waves, then the bases of all, [$WAVES][16] */
    $kernel_LEFT = ($D / 4 + 1) * 256, /* bytes of a wave's sums */
    $kernel_BASES = $WAVES / 2 * $kernel_LEFT
};

/* Keys first .. last - 1 of so many, and where the first of all is in k and v. */
typedef struct {
    int64_t place;
    int first, last, all;
} $kernel_task;

TILE_FN $kernel_task $kernel_find($call call, int64_t task) {
$find}

/* ---- memory ---- */

typedef struct {
    tile_$type k[$D / 2], v[$D / 2];
} $kernel_fetched;

/* Those of 32 keys, or values, that there are. */
TILE_FN tile_rows $kernel_there(const tile_$type *from, $kernel_task t, int64_t key) {
    const int there = (int)tile_min_i64(tile_min_i32(t.last, t.all) - key, 32);
    return tile_rows_of(from + t.place + key * $STRIDE, there > 0 ? (there - 1) * $kernel_BYTES + $D * 2 : 0);
}

/* The lane's row of each 16 keys, of whose columns 32 i + 8 g + e. */
TILE_FN void $kernel_fetch_keys($kernel_fetched *to, tile_rows keys) {
    const int at = (tile_lane() & 15) * $kernel_BYTES + (tile_lane() >> 4) * 16;
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int i = 0; i < $kernel_CHUNKS; i++)
            tile_rows_load16(keys, at, 16 * t * $kernel_BYTES + 64 * i, &to->k[8 * (t * $kernel_CHUNKS + i)]);
}

/* The lane's own keys, of whose values COLUMNS (lane % 16) + j. */
TILE_FN void $kernel_fetch_values($kernel_fetched *to, tile_rows values) {
    const int at = 4 * (tile_lane() >> 4) * $kernel_BYTES + (tile_lane() & 15) * $piece;
#pragma unroll
    for (int i = 0; i < 8; i++)
        tile_rows_load$piece(values, at, ((i & 4) * 4 + (i & 3)) * $kernel_BYTES, &to->v[$kernel_COLUMNS * i]);
}

/* ---- a step ---- */

/* What a wave keeps: queries, and of each row sums, in o[4 j + r] of column COLUMNS (4 g + r) + j, the sum of weights of the lane's
   keys, and the base: weights are 2^(scaled score - base). */
typedef struct {
    tile_$type q[$D / 4];
    float o[$D / 4], l, base;
} $kernel_rows;

TILE_FN void $kernel_begin($kernel_rows *r, const tile_$type *q) {
    const int row = tile_lane() & 15, column = 8 * (tile_lane() >> 4);
    r->base = -3e38f; /* below any score; 2^(-inf - base) is 0 */
    r->l = 0;
#pragma unroll
    for (int i = 0; i < $D / 4; i++) r->o[i] = 0;
#pragma unroll
    for (int i = 0; i < $kernel_CHUNKS; i++)
        if (row < $ROWS)
            tile_load16(q + row * $D + 32 * i + column, &r->q[8 * i]);
        else
            tile_zero16(&r->q[8 * i]);
}

/* 32 keys; those from n on do not count. */
TILE_FN void $kernel_scores(float x[8], const tile_$type *k, const tile_$type *q, int n) {
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = 0;
#pragma unroll
    for (int i = 0; i < $kernel_CHUNKS; i++)
#pragma unroll
        for (int t = 0; t < 2; t++)
#pragma unroll
            for (int e = 0; e < 8; e += $each) tile_mfma_$mfma(&x[4 * t], &k[8 * (t * $kernel_CHUNKS + i) + e], &q[8 * i + e]);
    if (n < 32)
#pragma unroll
        for (int i = 0; i < 8; i++)
            if ((i & 4) * 4 + (i & 3) + 4 * (tile_lane() >> 4) >= n) x[i] = -INFINITY;
}

/* The base becomes the largest score so far; what was summed shrinks by as much. */
TILE_FN void $kernel_raise($kernel_rows *r, const float x[8]) {
    const float scale = $scale;
    float top = x[0];
#pragma unroll
    for (int i = 1; i < 8; i++) top = tile_max_fast(top, x[i]);
    top = tile_max_fast(top, tile_shuffle_xor_f32(top, 16));
    top = tile_max_fast(top, tile_shuffle_xor_f32(top, 32));
    const float base = tile_max_fast(r->base, top * scale), keep = tile_exp2_fast(r->base - base);
    r->base = base;
    r->l *= keep;
#pragma unroll
    for (int i = 0; i < $D / 4; i++) r->o[i] *= keep;
}

/* The weights of scores, and their sum. */
TILE_FN float $kernel_weigh(float w[8], const float x[8], float base) {
    const float scale = $scale;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        w[i] = tile_exp2_fast(x[i] * scale - base);
        sum += w[i];
    }
    return sum;
}

/* A base stays while weights stay small, which their sum tells. */
TILE_FN void $kernel_softmax($kernel_rows *r, float w[8], const float x[8]) {
    const float MOST = 256;
    float sum = $kernel_weigh(w, x, r->base);
    if (tile_rarely(tile_wave_any(!(sum <= MOST)))) {
        $kernel_raise(r, x);
        sum = $kernel_weigh(w, x, r->base);
    }
    r->l += sum;
}

TILE_FN void $kernel_values(float *o, const tile_$type *v, const float w[8]) {
    uint32_t p[4];
#pragma unroll
    for (int i = 0; i < 4; i++) p[i] = tile_pack_$type(w[2 * i], w[2 * i + 1]);
#pragma unroll
    for (int j = 0; j < $kernel_COLUMNS; j++) {
        tile_$type column[8];
#pragma unroll
        for (int i = 0; i < 8; i++) column[i] = v[$kernel_COLUMNS * i + j];
#pragma unroll
        for (int e = 0; e < 8; e += $each) tile_mfma_$mfma(&o[4 * j], &column[e], (const tile_$type *)p + e);
    }
}

/* Keys of the next step take the place of those that have been multiplied, before their values are, and values theirs. */
TILE_FN void $kernel_attend($kernel_rows *r, const tile_$type *k, const tile_$type *v, $kernel_task t, int wave) {
    int64_t key = (int64_t)t.first + 32 * wave;
    $kernel_fetched next;
    $kernel_fetch_keys(&next, $kernel_there(k, t, key));
    tile_in_order(); /* as in the loop: its waits are for keys alone, or values */
    $kernel_fetch_values(&next, $kernel_there(v, t, key));
    for (; key < t.last; key += $KEYS) {
        float x[8], w[8];
        $kernel_scores(x, next.k, r->q, (int)tile_min_i64(t.last - key, 32));
        $kernel_fetch_keys(&next, $kernel_there(k, t, key + $KEYS));
        $kernel_softmax(r, w, x);
        $kernel_values(r->o, next.v, w);
        $kernel_fetch_values(&next, $kernel_there(v, t, key + $KEYS));
    }
}

/* ---- the waves' sums become the first one's ---- */

/* Relative to the largest base of all waves. */
TILE_FN void $kernel_agree($kernel_rows *r, char *lds, int wave) {
    float *const bases = (float *)(lds + $kernel_BASES), top = r->base;
    const int lane = tile_lane();
    if (lane < 16) tile_lds_store_f32(&bases[16 * wave + lane], r->base);
    tile_sync();
    for (int w = 0; w < $WAVES; w++) top = tile_max_fast(top, tile_lds_load_f32(&bases[16 * w + (lane & 15)]));
    const float keep = tile_exp2_fast(r->base - top);
?share     r->base = top;
    r->l *= keep;
#pragma unroll
    for (int i = 0; i < $D / 4; i++) r->o[i] *= keep;
}

TILE_FN void $kernel_leave(const $kernel_rows *r, float *to) {
    tile_lds_store_f32(to, r->l);
#pragma unroll
    for (int i = 0; i < $D / 4; i++) tile_lds_store_f32(to + 64 * (i + 1), r->o[i]);
}

TILE_FN void $kernel_take($kernel_rows *r, const float *from) {
    r->l += tile_lds_load_f32(from);
#pragma unroll
    for (int i = 0; i < $D / 4; i++) r->o[i] += tile_lds_load_f32(from + 64 * (i + 1));
}

TILE_FN void $kernel_join($kernel_rows *r, char *lds, int wave) {
    $kernel_agree(r, lds, wave);
    for (int half = $WAVES / 2; half > 0; half /= 2) {
        float *const left = (float *)(lds + wave % half * $kernel_LEFT) + tile_lane();
        if (wave >= half && wave < 2 * half) $kernel_leave(r, left);
        tile_sync();
        if (wave < half) $kernel_take(r, left);
        tile_sync();
    }
}

/* The sum of weights of a lane's row, in all of its lanes. */
TILE_FN float $kernel_sum(const $kernel_rows *r) {
    const float sum = r->l + tile_shuffle_xor_f32(r->l, 16);
    return sum + tile_shuffle_xor_f32(sum, 32);
}

?entire TILE_FN void $kernel_store(tile_$type *o, const $kernel_rows *r) {
?entire     const int row = tile_lane() & 15, g = tile_lane() >> 4;
?entire     const float by = 1 / $kernel_sum(r);
?entire     if (row >= $ROWS) return;
?entire #pragma unroll
?entire     for (int n = 0; n < 4; n++) {
?entire         uint32_t run[$kernel_COLUMNS / 2];
?entire #pragma unroll
?entire         for (int j = 0; j < $kernel_COLUMNS; j += 2) run[j / 2] = tile_pack_$type(r->o[4 * j + n] * by, r->o[4 * j + 4 + n] * by);
?entire         tile_store$piece(&o[row * $D + $kernel_COLUMNS * (4 * g + n)], run);
?entire     }
?entire }
?share /* What the part's keys have come to: bases as of powers of e, -inf where no key counts, sums of weights, and sums. */
?share TILE_FN void $kernel_store(float *bases, float *sums, float *o, const $kernel_rows *r) {
?share     const int row = tile_lane() & 15, g = tile_lane() >> 4;
?share     const float sum = $kernel_sum(r);
?share     if (row >= $ROWS) return;
?share     if (g == 0) {
?share         tile_store_f32(&bases[row], r->base > -3e38f ? r->base * 0.693147181f : -INFINITY);
?share         tile_store_f32(&sums[row], sum);
?share     }
?share #pragma unroll
?share     for (int n = 0; n < $kernel_COLUMNS; n++) {
?share         const int k = n / ($kernel_COLUMNS / 4), j = n % ($kernel_COLUMNS / 4) * 4;
?share         const float run[4] = {r->o[4 * j + k], r->o[4 * j + 4 + k], r->o[4 * j + 8 + k], r->o[4 * j + 12 + k]};
?share         tile_store16(&o[row * $D + $kernel_COLUMNS * (4 * g + k) + j], run);
?share     }
?share }

TILE_KERNEL_WAVES($kernel, $call, $threads, 2) {
    TILE_LDS(lds, $lds);$refuse
    const int64_t task = tile_group();
    const int wave = tile_wave_number();
    $kernel_rows r;
?entire     $kernel_begin(&r, $q_at + task * $ROWS * $D);
?share     $kernel_begin(&r, $q_at + task % $TASKS * $ROWS * $D);
    $kernel_attend(&r, $k_at, $v_at, $kernel_find(call, task), wave);
    $kernel_join(&r, lds, wave);
?entire     if (wave == 0) $kernel_store($o_at + task * $ROWS * $D, &r);
?share     if (wave == 0) $kernel_store($bases_at + task * $ROWS, $sums_at + task * $ROWS, $o_at + task * $ROWS * $D, &r);
}
