/* attention_causal_gfx942.hip: the program attention_causal for gfx942, made by tilec. */
#include "device/tile_gfx942.h"

#include "attention_causal.h"

typedef struct {
    attention_causal_args args;
    char *local; /* workspace */
} attention_causal_call;

/* kernel attention, by the schedule 'attention' */
/* attention: 32 query rows a wave, 128 a workgroup, against 64 keys a step (FlashAttention-2, arXiv 2307.08691). Scores are computed
   transposed, keys by rows, so that a lane and the one 32 from it have those of one row: its largest score, its sum and what it shrinks by are
   numbers of the lane. Weights then are, register by register, the right operand of the product with the values, transposed too. Keys and
   values of the next step are fetched while a step is computed. Steps that masks or the last key cut come last. */
enum {
    attention_WIDTH = 128, /* of their rows, in 128 columns */
    attention_ROW = 128 * 2, /* bytes */
    /* workgroup memory: rows of keys, and columns of values */
    attention_K_ROW = 128 * 2,
    attention_V_ROW = 64 * 2,
    attention_V = 64 * attention_K_ROW,
    attention_STAGE = attention_V + 128 * attention_V_ROW
};

/* 128 rows of a matrix, and their steps of 64 keys: first .. last - 1; of these all rows see begin .. end - 1 whole. */
typedef struct {
    int S, T; /* rows, keys */
    int row, head, first, last, begin, end;
} attention_tile;

TILE_FN int attention_from(int row) {
    (void)row;
    return 0;
}

TILE_FN int attention_to(attention_tile at, int row) {
    return tile_min_i32(at.T, row + 1);
}

/* The task of a workgroup, in the order of the plan. */
TILE_FN attention_tile attention_here(int rows, int keys) {
    attention_tile at = {rows, keys, 0, 0, 0, 0, 0, 0};
    const int64_t group = tile_group();
    const int64_t bi_tile = 0;
    const int64_t hi_tile_band = group / 512;
    const int64_t hi_tile_first = hi_tile_band * 16;
    const int64_t task = group % 512;
    const int64_t i_tile_digit = task / 16;
    const int64_t i_tile = 32 - 1 - i_tile_digit;
    const int64_t hi_tile_digit = task % 16;
    const int64_t hi_tile = hi_tile_first + hi_tile_digit;
    at.row = (int)i_tile * 128;
    at.head = (int)(hi_tile);
    at.last = tile_max_i32(1, (attention_to(at, tile_min_i32(at.row + 127, rows - 1)) + 64 - 1) / 64);
    at.first = tile_min_i32(attention_from(at.row) / 64, at.last - 1);
    at.begin = tile_min_i32((attention_from(at.row + 127) + 64 - 1) / 64, at.last - 1);
    at.end = tile_max_i32(tile_min_i32(attention_to(at, at.row) / 64, at.last - 1), at.begin);
    return at;
}

/* The n-th step: begin .. end - 1, then those before and behind them. */
TILE_FN int attention_step(attention_tile at, int n) {
    const int whole = at.end - at.begin, before = at.begin - at.first;
    return at.first + n + (n < whole ? before : n < whole + before ? -whole : 0);
}

/* The thread; wide rows leave few registers: their places in memory are computed where they are needed, rather than kept. */
TILE_FN int attention_thread(void) { return tile_afresh(tile_thread()); }

/* ---- memory: 16 bytes at a time; their place in a row of workgroup memory depends on the row, so that no bank is met twice ---- */

TILE_FN int attention_turn_keys(int row) { return row & 15; }
TILE_FN int attention_turn_values(int column) { return (column ^ column >> 3) & 7; }

typedef struct {
    tile_bf16 k[128 / 4], v[128 / 4];
} attention_fetched;

/* A step; what is behind its rows comes as zeros, and masks hide it. */
TILE_FN void attention_fetch(attention_fetched *to, tile_rows keys, tile_rows values) {
    const int thread = tile_thread(), column = thread % (128 / 8) * 16, row = thread / (128 / 8) * attention_ROW;
    const int quad = (thread >> 6) * 4 + (thread >> 3 & 1) * 2 + (thread >> 5 & 1), piece = ((thread & 7) | (thread >> 1 & 8)) * 16;
    const int k = row + column, v = 4 * quad * attention_ROW + piece;
#pragma unroll
    for (int n = 0; n < 128 / 32; n++) tile_rows_load16(keys, k, n * (2048 / 128) * attention_ROW, &to->k[8 * n]);
#pragma unroll
    for (int n = 0; n < 4; n++) tile_rows_load16(values, v, n * attention_ROW, &to->v[16 / 2 * n]);
}

/* Of 16 values of a column, 8 a + 4 g + e is at place 8 g + 4 a + e: 16 bytes are what a lane multiplies. */
TILE_FN void attention_keep(char *lds, int stage, const attention_fetched *from) {
    const int thread = attention_thread(), row = thread / (128 / 8), k = row * attention_K_ROW + ((thread % (128 / 8) ^ attention_turn_keys(row)) << 4);
    const int chunk = (thread >> 5 & 1) + (thread >> 6) * 2, column = ((thread & 7) | (thread >> 1 & 8)) * (16 / 2);
    const int v = column * attention_V_ROW + ((chunk ^ attention_turn_values(column)) << 4) + (thread & 8);
#pragma unroll
    for (int n = 0; n < 128 / 32; n++) tile_lds_store16(lds + stage + k + n * (2048 / 128) * attention_K_ROW, &from->k[8 * n]);
#pragma unroll
    for (int i = 0; i < 16 / 2; i++) {
        const tile_bf16 *x = &from->v[i], run[4] = {x[0], x[16 / 2], x[2 * 16 / 2], x[3 * 16 / 2]};
        tile_lds_store8(lds + stage + attention_V + (v ^ i << 4) + i * attention_V_ROW, run);
    }
}

/* ---- a step: a lane has row lane % 32, and of 16 keys or columns 8 a + 4 g + e those with g = lane / 32 ---- */

TILE_FN void attention_scores(float x[64 / 2], const char *lds, int stage, const tile_bf16 q[128 / 2]) {
    const int thread = attention_thread(), row = thread & 31, half = thread >> 5 & 1;
    const int at = row * attention_K_ROW + ((half ^ attention_turn_keys(row)) << 4);
#pragma unroll
    for (int i = 0; i < 64 / 2; i++) x[i] = 0;
#pragma unroll
    for (int u = 0; u < 128 / 16; u++)
#pragma unroll
        for (int t = 0; t < 64 / 32; t++) {
            tile_bf16 k[8];
            tile_lds_load16(lds + stage + (at ^ u << 5) + 32 * t * attention_K_ROW, k);
#pragma unroll
            for (int e = 0; e < 8; e += 4) tile_mfma_f32_32x32x8bf16_1k(&x[16 * t], &k[e], &q[8 * u + e]);
        }
}

TILE_FN void attention_mask(float x[64 / 2], int key, int row, attention_tile at) {
    const int first = key + 4 * (tile_lane() >> 5), from = attention_from(row) - first, to = attention_to(at, row) - first;
#pragma unroll
    for (int i = 0; i < 64 / 2; i++) {
        const int j = 8 * (i >> 2) + (i & 3);
        if (j < from || j >= to) x[i] = -INFINITY;
    }
}

/* What a wave keeps: queries, sums, and of each row the sum of weights and the base: weights are 2^(scaled score - base). */
typedef struct {
    tile_bf16 q[128 / 2];
    float o[128 / 2], l, base;
} attention_rows;

/* Scores to weights, whose sum is returned. */
TILE_FN float attention_weigh(float x[64 / 2], float base) {
    const float scale = 0.127517431f;
    float sum[2];
#pragma unroll
    for (int i = 0; i < 64 / 2; i += 2) {
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
TILE_FN void attention_raise(attention_rows *r, const float x[64 / 2]) {
    const float scale = 0.127517431f;
    float top = x[0];
#pragma unroll
    for (int i = 1; i < 64 / 2; i++) top = tile_max_fast(top, x[i]);
    top = tile_max_fast(top, tile_shuffle_xor_f32(top, 32));
    const float base = tile_max_fast(r->base, top * scale), keep = tile_exp2_fast(r->base - base);
    r->base = base;
    r->l *= keep;
#pragma unroll
    for (int i = 0; i < 128 / 2; i++) r->o[i] *= keep;
}

TILE_FN void attention_values(float o[128 / 2], const char *lds, int stage, const float x[64 / 2]) {
    const int thread = attention_thread(), row = thread & 31, half = thread >> 5 & 1;
    const int at = row * attention_V_ROW + ((half ^ attention_turn_values(row)) << 4);
    uint32_t p[64 / 4];
#pragma unroll
    for (int i = 0; i < 64 / 4; i++) p[i] = tile_pack_bf16(x[2 * i], x[2 * i + 1]);
#pragma unroll
    for (int t = 0; t < 128 / 32; t++)
#pragma unroll
        for (int u = 0; u < 64 / 16; u++) {
            tile_bf16 v[8];
            tile_lds_load16(lds + stage + attention_V + (at ^ (u << 5 ^ (t & 1) << 6)) + 32 * t * attention_V_ROW, v);
#pragma unroll
            for (int e = 0; e < 8; e += 4) tile_mfma_f32_32x32x8bf16_1k(&o[16 * t], &v[e], (const tile_bf16 *)&p[4 * u] + e);
        }
}

/* What a workgroup computes with: its tile, and the matrices of keys and values. */
typedef struct {
    attention_tile at;
    const tile_bf16 *k, *v;
    char *lds;
} attention_work;

TILE_FN int attention_row(attention_tile at) {
    const int thread = tile_afresh(tile_thread());
    return at.row + (thread >> 6) * 32 + (thread & 31);
}

/* A base stays while weights stay small, which their sum tells (FlashAttention-4, arXiv 2603.05451, looks at the largest score); else
   the step begins anew with a larger one, as steps with masks do at once. */
TILE_FN void attention_attend(attention_rows *r, const attention_work *w, int stage, int key, bool cut) {
    const float MOST = 256;
    float x[64 / 2], sum;
    for (bool raise = cut;; raise = true) {
        attention_scores(x, w->lds, stage, r->q);
        if (cut) attention_mask(x, key, attention_row(w->at), w->at);
        if (raise) attention_raise(r, x);
        sum = attention_weigh(x, r->base);
        if (raise || !tile_rarely(tile_wave_any(!(sum <= MOST)))) break;
    }
    r->l += sum;
    attention_values(r->o, w->lds, stage, x);
}

TILE_FN void attention_begin(attention_rows *r, const tile_bf16 *q) {
    int half = tile_lane() >> 5;
    r->base = -3e38f; /* below any score; 2^(-inf - base) is 0 */
    r->l = 0;
#pragma unroll
    for (int i = 0; i < 128 / 2; i++) r->o[i] = 0;
#pragma unroll
    for (int u = 0; u < 128 / 16; u++) {
        tile_load16(q + 16 * u + 8 * half, &r->q[8 * u]);
    }
}

TILE_FN void attention_store(tile_bf16 *o, const attention_rows *r, bool inside) {
    float by = 1 / (r->l + tile_shuffle_xor_f32(r->l, 32));
    if (!inside) return;
#pragma unroll
    for (int i = 0; i < 128 / 2; i += 4) {
        uint32_t run[2] = {tile_pack_bf16(r->o[i] * by, r->o[i + 1] * by), tile_pack_bf16(r->o[i + 2] * by, r->o[i + 3] * by)};
        int column = 2 * i + 4 * (tile_lane() >> 5);
        tile_store8(&o[column], run);
    }
}

TILE_FN void attention_fetch_step(attention_fetched *to, const attention_work *w, int n) {
    const int key = attention_step(w->at, n) * 64, bytes = tile_min_i32(w->at.T - key, 64) * attention_ROW;
    const int64_t from = (int64_t)key * attention_WIDTH;
    attention_fetch(to, tile_rows_of(w->k + from, bytes), tile_rows_of(w->v + from, bytes));
}

/* One step, and what the next one needs is fetched: before the barrier, behind which the compiler may put it off. */
TILE_FN void attention_go(attention_rows *r, attention_fetched *next, const attention_work *w, int n, int stage, bool cut) {
    tile_sync();
    attention_keep(w->lds, stage, next);
    attention_fetch_step(next, w, tile_min_i32(n + 1, w->at.last - w->at.first - 1));
    tile_sync();
    attention_attend(r, w, stage, attention_step(w->at, n) * 64, cut);
}

TILE_FN void attention_compute(char *lds, const tile_bf16 *q, const tile_bf16 *k, const tile_bf16 *v, tile_bf16 *o, int rows, int keys) {
    if (rows <= 0 || keys <= 0) return;
    const attention_tile at = attention_here(rows, keys);
    const int head = at.head, matrix = head, steps = at.last - at.first;
    const int64_t of_rows = (int64_t)head * at.S, of_keys = (int64_t)matrix * at.T * attention_WIDTH;
    const attention_work w = {at, k + of_keys, v + of_keys, lds};
    attention_rows r;
    attention_fetched next;
    attention_fetch_step(&next, &w, 0);
    attention_begin(&r, q + (of_rows + tile_min_i32(attention_row(at), at.S - 1)) * attention_WIDTH);
    int n = 0;
#pragma clang loop unroll(disable)
    for (; n < at.end - at.begin; n++) attention_go(&r, &next, &w, n, 0, false);
#pragma clang loop unroll(disable)
    do attention_go(&r, &next, &w, n, 0, true);
    while (++n < steps);
    const int row = attention_row(at);
    attention_store(o + (of_rows + row) * attention_WIDTH, &r, row < at.S);
}

TILE_KERNEL_WAVES(attention, attention_causal_call, 256, 2) {
    TILE_LDS(lds, 32768);
    attention_compute(lds, call.args.Q, call.args.K, call.args.V, call.args.O, 4096, 4096);
}
