/* tile_dot.c: tile_dot.h, tile_dot_memory.h and tile_transpose.h against plain loops, at random sizes and distances of
   rows. Values are small integers, so that sums are exact; what lies around the result must stay. */
#include "device/tile_host.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 150, DEEP = 600, ROOM = MOST * (DEEP + 16), TRIES = 60 };

static _Alignas(64) float a[ROOM], b[ROOM], c[ROOM], want[ROOM], panel[TILE_PANEL_f32 * TILE_STEP];
static double a64[ROOM], b64[ROOM], c64[ROOM];
static int32_t a32[ROOM], b32[ROOM], c32[ROOM];

typedef struct {
    int64_t m, n, k, lda, ldb, ldc;
    bool turned;
} Case;

static int64_t some(int64_t most) { return rand() % 4 ? rand() % (most + 1) : rand() % 4; }

static void fill(float *x) {
    for (int i = 0; i < ROOM; i++) x[i] = (float)(rand() % 17 - 8);
}

static Case draw(void) {
    Case s = {.m = some(40), .n = some(MOST), .k = some(rand() % 4 ? 100 : DEEP), .turned = rand() % 2};
    s.lda = s.k + rand() % 16, s.ldb = (s.turned ? s.k : s.n) + rand() % 16, s.ldc = s.n + rand() % 16;
    fill(a), fill(b), fill(c);
    memcpy(want, c, sizeof want);
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++)
            for (int64_t p = 0; p < s.k; p++)
                want[i * s.ldc + j] += a[i * s.lda + p] * (s.turned ? b[j * s.ldb + p] : b[p * s.ldb + j]);
    return s;
}

static bool all_types(void) {
    Case s = draw();
    if (s.turned) return true;
    for (int i = 0; i < ROOM; i++) a64[i] = a[i], b64[i] = b[i], c64[i] = c[i];
    for (int i = 0; i < ROOM; i++) a32[i] = (int32_t)a[i], b32[i] = (int32_t)b[i], c32[i] = (int32_t)c[i];
    tile_dot_f32(s.m, s.n, s.k, a, s.lda, b, s.ldb, c, s.ldc);
    tile_dot_f64(s.m, s.n, s.k, a64, s.lda, b64, s.ldb, c64, s.ldc);
    tile_dot_i32(s.m, s.n, s.k, a32, s.lda, b32, s.ldb, c32, s.ldc);
    for (int i = 0; i < ROOM; i++)
        if (c[i] != want[i] || c64[i] != want[i] || c32[i] != (int32_t)want[i]) return false;
    return true;
}

static bool in_memory(void) {
    Case s = draw();
    if (s.turned)
        tile_dot_turned_f32(s.m, s.n, s.k, a, s.lda, b, s.ldb, c, s.ldc, panel);
    else
        tile_dot_rows_f32(s.m, s.n, s.k, a, s.lda, b, s.ldb, c, s.ldc, rand() % 2 ? panel : NULL);
    return memcmp(c, want, sizeof c) == 0;
}

/* All values of a byte; a product that wraps is beyond these sizes. */
static bool bytes(void) {
    static int8_t x[ROOM], w[ROOM];
    const Case s = draw();
    for (int i = 0; i < ROOM; i++) x[i] = (int8_t)(rand() % 256 - 128), w[i] = (int8_t)(rand() % 256 - 128), c32[i] = b32[i] = rand() % 100;
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++)
            for (int64_t p = 0; p < s.k; p++) b32[i * s.ldc + j] += x[i * s.lda + p] * w[j * (s.k + 3) + p];
    tile_dots_i8(s.m, s.n, s.k, x, s.lda, w, s.k + 3, c32, s.ldc);
    return memcmp(b32, c32, sizeof c32) == 0;
}

static bool transposed(void) {
    Case s = draw();
    memcpy(want, c, sizeof want);
    for (int64_t j = 0; j < s.n; j++)
        for (int64_t p = 0; p < s.m; p++) want[p * s.ldc + j] = a[j * (s.m + 3) + p];
    tile_transpose_f32(s.n, s.m, a, s.m + 3, c, s.ldc);
    return memcmp(c, want, sizeof c) == 0;
}

static void say(const char *what, bool (*try)(void)) {
    int wrong = 0;
    for (int i = 0; i < TRIES; i++) wrong += !try();
    printf("%s: %s\n", what, wrong ? "differ" : "agree");
}

int main(void) {
    say("f32, f64, i32", all_types);
    say("in memory", in_memory);
    say("transposed", transposed);
    say("bytes", bytes);
    return 0;
}
