/* gemm_nn_gfx942.hip: the program gemm_nn for gfx942, made by tilec. */
#include "device/tile_gfx942.h"

#include "gemm_nn.h"

typedef struct {
    gemm_nn_args args;
    char *local; /* workspace */
} gemm_nn_call;

/* kernel matmul, by the schedule 'product' */
/* matmul: a workgroup makes a tile of 256 x 256, eight waves 128 x 64 each, 32 positions of k a step. A SIMD has one of the
   first four waves and one of the last four, which take turns (HipKittens, arXiv 2511.08083): while one multiplies, the other reads what
   it multiplies next, and stores to workgroup memory its share of the step behind that. Steps are loaded two at
   a time, whole lines of the caches, a step before they are stored. */
enum {
    matmul_M = 4096,
    matmul_N = 4096,
    matmul_ROW = 8192, /* bytes of a row of a */
    matmul_ACROSS = 8192, /* of b, which has 4096 rows */
    matmul_PAIRS = (matmul_ROW + 127) / 128, /* of steps */
    /* workgroup memory: rows of 64 bytes, of a, then of b */
    matmul_B = 256 * 64,
    matmul_STAGE = (256 + 256) * 64
};

/* The tile of a workgroup, in the order of the plan. */
TILE_FN void matmul_tile(int *i0, int *j0) {
    const int64_t group = tile_group();
    const int64_t i_tile_band = group / 64;
    const int64_t i_tile_first = i_tile_band * 4;
    const int64_t task = group % 64;
    const int64_t j_tile = task / 4;
    const int64_t i_tile_digit = task % 4;
    const int64_t i_tile = i_tile_first + i_tile_digit;
    *i0 = (int)i_tile * 256;
    *j0 = (int)j_tile * 256;
}

/* ---- memory: what a thread loads of a pair of steps, and where it puts it ---- */

/* Where 16 bytes of a row are, so that no bank is met twice. */
TILE_FN int matmul_turned(int row) { return row ^ (row >> 2 & 1); }
TILE_FN int matmul_chunk(int row, int chunk) { return chunk ^ ((row ^ row >> 1) >> 1 & 3); }
TILE_FN int matmul_place(int row, int chunk) { return matmul_turned(row) * 64 + matmul_chunk(row, chunk) * 16; }

typedef struct {
    tile_bf16 a[2][256 / 128][8];
    uint32_t b[256 / 128][4][2]; /* of four rows four columns */
} matmul_fetched;

/* 16 bytes of each 128th row, of both steps. Behind the last row there is that again, and the sums of that row are not looked at. */
TILE_FN void matmul_fetch_rows(tile_bf16 *to, const char *from, int row, int rows, int last) {
    const int at = (tile_thread() & 3) * 16;
#pragma unroll
    for (int n = 0; n < rows; n++) {
        const int begin = tile_min_i32(row + n * 128, last) * matmul_ROW;
        const char *const x = from + (uint32_t)tile_afresh(begin + at);
#pragma unroll
        for (int half = 0; half < 2; half++)
            tile_load16(x + 64 * half, to + 8 * (half * rows + n));
    }
}

TILE_FN void matmul_keep_rows(char *lds, tile_bf16 *from, int rows, int half) {
    const int row = tile_thread() >> 2, chunk = tile_thread() & 3;
#pragma unroll
    for (int n = 0; n < rows; n++) {
        tile_bf16 *const x = from + (half * rows + n) * 8;
        tile_lds_store16(lds + matmul_place(row, chunk) + n * 8192, x);
    }
}

/* A thread's rows of b are 4 q .. 4 q + 3 of a pair of steps, and those 32 further where it has more. */
TILE_FN int matmul_quad(void) { return (tile_thread() & 3) | (tile_thread() / 256 << 2 & 2048 / 256 - 4); }
TILE_FN int matmul_column(void) { return tile_thread() & (256 - 4); }

TILE_FN void matmul_fetch_columns(uint32_t to[][4][2], const char *from, int last) {
    const int at = tile_min_i32(matmul_column(), last) * 2, above = 4 * matmul_quad();
    const uint32_t place = (uint32_t)tile_afresh(above * matmul_ACROSS + at);
#pragma unroll
    for (int n = 0; n < 256 / 32; n++) {
        const int below = n / 4 * 32 + n % 4;
        tile_load8(tile_base(from + below * matmul_ACROSS) + place, to[n / 4][n % 4]);
    }
}

/* Turned: a column is a row of workgroup memory. */
TILE_FN void matmul_keep_columns(char *lds, uint32_t from[][4][2], int half) {
    const int quad = matmul_quad();
#pragma unroll
    for (int n = 0; n < 256 / 128; n++) {
        if (quad / 8 + n != half) continue;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t x[2] = {tile_halves(from[n][0][i / 2], from[n][1][i / 2], i & 1), tile_halves(from[n][2][i / 2], from[n][3][i / 2], i & 1)};
            tile_lds_store8(lds + matmul_place(matmul_column() + i, quad >> 1 & 3) + (quad & 1) * 8, x);
        }
    }
}

/* A workgroup's tile and its part of both matrices. */
typedef struct {
    const char *a, *b;
    char *lds;
    int i0, j0;
} matmul_work;

TILE_FN void matmul_fetch(matmul_fetched *to, const matmul_work *w, int pair) {
    const int row = tile_thread() >> 2;
    matmul_fetch_rows(&to->a[0][0][0], tile_base(w->a + pair * 128), row, 256 / 128, matmul_M - 1 - w->i0);
    const int above = pair * 2 * 32;
    const char *const b = w->b;
    matmul_fetch_columns(to->b, tile_base(b + (int64_t)above * matmul_ACROSS), matmul_ACROSS / 2 - 4 - w->j0);
}

/* One of the pair's steps. */
TILE_FN void matmul_keep(const matmul_work *w, matmul_fetched *from, int pair, int half) {
    char *const lds = w->lds + half * matmul_STAGE;
    (void)pair;
    matmul_keep_rows(lds, &from->a[0][0][0], 256 / 128, half);
    matmul_keep_columns(lds + matmul_B, from->b, half);
}

/* ---- products: a lane has 16 bytes of a row, those number lane / 16 ---- */

typedef struct {
    tile_bf16 a[128 / 16][8], b[64 / 16][8];
} matmul_parts;

TILE_FN void matmul_read_rows(tile_bf16 to[][8], const char *lds, int n) {
    const char *const from = lds + matmul_place(tile_lane() & 15, tile_lane() >> 4);
#pragma unroll
    for (int u = 0; u < n; u++) tile_lds_load16(from + u * 1024, to[u]);
}

TILE_FN void matmul_read(matmul_parts *to, const char *lds, int wave) {
    const char *const b = lds + matmul_B + (wave & 3) * (64 * 64);
    matmul_read_rows(to->b, b, 64 / 16);
    matmul_read_rows(to->a, lds + (wave >> 2) * (128 * 64), 128 / 16);
}

/* Transposed, b on the left: a lane has four columns of a row, side by side. */
TILE_FN void matmul_multiply(float acc[128 / 16][64 / 16][4], const matmul_parts *x) {
    tile_hurry(1);
#pragma unroll
    for (int e = 0; e < 8; e += 4)
#pragma unroll
        for (int u = 0; u < 128 / 16; u++)
#pragma unroll
            for (int v = 0; v < 64 / 16; v++) tile_mfma_f32_16x16x16bf16_1k(acc[u][v], &x->b[v][e], &x->a[u][e]);
    tile_hurry(0);
}

/* A step: a turn at memory, a turn at the products. Behind the first of a pair the next pair is loaded; that behind the last is not there. */
TILE_FN void matmul_step(float acc[128 / 16][64 / 16][4], matmul_fetched *next, const matmul_work *w, int wave, int pair, int half) {
    matmul_parts x;
    matmul_read(&x, w->lds + half * matmul_STAGE, wave);
    matmul_keep(w, next, pair + half, !half);
    if (!half) matmul_fetch(next, w, tile_min_i32(pair + 1, matmul_PAIRS - 1));
    tile_turn();
    matmul_multiply(acc, &x);
    tile_turn();
}

TILE_FN void matmul_sums(float acc[128 / 16][64 / 16][4], const matmul_work *w, int wave) {
    matmul_fetched next;
    matmul_fetch(&next, w, 0);
#pragma unroll
    for (int i = 0; i < 128 * 64 / 64; i++) acc[0][0][i] = 0;
    matmul_keep(w, &next, 0, 0);
    tile_turn();
    if (wave >= 4) tile_turn(); /* a turn behind the others */
#pragma clang loop unroll(disable)
    for (int pair = 0; pair < matmul_PAIRS; pair++) {
        matmul_step(acc, &next, w, wave, pair, 0);
        matmul_step(acc, &next, w, wave, pair, 1);
    }
    if (wave < 4) tile_turn();
}

/* ---- sums to global memory, 16 rows of a wave at a time: through workgroup memory, so that whole lines of the caches are stored ---- */

TILE_FN int matmul_place_sums(int row, int chunk) { return row * (64 * 4) + ((chunk ^ row) & (64 / 4 - 1)) * 16; }

/* Four neighbours. */
TILE_FN void matmul_store(gemm_nn_call call, const float x[4], int i, int j) {
    tile_bf16 *const c = call.args.C;
    tile_bf16 z[4];
    if (i >= matmul_M || j >= matmul_N) return;
#pragma unroll
    for (int r = 0; r < 4; r++)
        z[r] = tile_bf16_of_f32(x[r]);
    tile_store8(&c[(int64_t)i * matmul_N + j], z);
}

TILE_FN void matmul_finish(gemm_nn_call call, char *lds, const float acc[128 / 16][64 / 16][4], int i0, int j0) {
    const int lane = tile_lane_anew();
#pragma unroll
    for (int u = 0; u < 128 / 16; u++) {
        char *const rows = lds + (u & 1) * (64 * 64);
#pragma unroll
        for (int v = 0; v < 64 / 16; v++) tile_lds_store16(rows + matmul_place_sums(lane & 15, 4 * v + (lane >> 4)), acc[u][v]);
        tile_sync();
        for (int n = lane; n < 4 * 64; n += 64) {
            const int row = n / (64 / 4), chunk = n % (64 / 4), i = i0 + 16 * u + row, j = j0 + 4 * chunk;
            float x[4];
            tile_lds_load16(rows + matmul_place_sums(row, chunk), x);
            matmul_store(call, x, i, j);
        }
    }
}

TILE_KERNEL_WAVES(matmul, gemm_nn_call, 512, 2) {
    TILE_LDS(lds, 65536);
    const int wave = tile_same(tile_thread() >> 6);
    int i0, j0;
    matmul_tile(&i0, &j0);
    const char *const a = (const char *)(call.args.A), *const b = (const char *)(call.args.B);
    const int64_t first = 2 * j0; /* of b */
    const matmul_work w = {a + (int64_t)i0 * matmul_ROW, b + first, lds, i0, j0};
    float acc[128 / 16][64 / 16][4];
    matmul_sums(acc, &w, wave);
    matmul_finish(call, lds + wave * (64 * 128), acc, i0 + (wave >> 2) * 128, j0 + (wave & 3) * 64);
}
