/* roles.c: runs the kernels of roles_*.hip in the emulator, against plain loops: whole and odd sizes, few steps and none.
   Elements are small integers, so that every sum is exact.
   usage: roles KERNEL LDS MxNxK.. */
#include "emu/api.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t m, n, k;
} Sizes;

typedef struct {
    uint64_t word[16];
} __attribute__((aligned(64))) Map;

extern const tile_emu_symbol roles_symbols[];
extern const int roles_across; /* b is [k, n], not [n, k] */
extern const int roles_box[3]; /* rows of the boxes of a, b, c */

static void must(int error) {
    const char *text = "";
    if (!error) return;
    tile_emu_error_text(error, &text);
    printf("%s\n", text);
    exit(1);
}

static uint16_t bf16(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static int64_t at_least(int64_t x, int64_t least) { return x < least ? least : x; }

/* A tensor of rows of 16-bit elements, whose rows begin at multiples of 16 bytes. */
static uint16_t *tensor(int64_t rows, int64_t columns, int box, Map *map, bool filled) {
    const uint64_t dim[] = {(uint64_t)at_least(columns, 1), (uint64_t)at_least(rows, 1)};
    const uint64_t stride[] = {(dim[0] + 7) / 8 * 16};
    const unsigned shape[] = {64, (unsigned)box}, step[] = {1, 1};
    uint16_t *x = NULL;
    must(tile_emu_alloc((void **)&x, dim[1] * stride[0]));
    must(tile_emu_map_encode(map, 1, 2, x, dim, stride, shape, step, 0, 3, 2, 0));
    if (!filled) return x;
    uint16_t *y = malloc(dim[1] * stride[0]);
    for (uint64_t i = 0; i < dim[1] * stride[0] / 2; i++) y[i] = bf16((float)(rand() % 5 - 2));
    must(tile_emu_copy_in(x, y, dim[1] * stride[0], NULL));
    free(y);
    return x;
}

static float number(uint16_t x) {
    const uint32_t u = (uint32_t)x << 16;
    float y;
    memcpy(&y, &u, 4);
    return y;
}

static void compare(const uint16_t *a, const uint16_t *b, const uint16_t *c, Sizes s) {
    const int64_t lda = (s.k + 7) / 8 * 8, ldc = (s.n + 7) / 8 * 8, ldb = roles_across ? ldc : lda;
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < s.k; p++)
                sum += number(a[i * lda + p]) * number(roles_across ? b[p * ldb + j] : b[j * ldb + p]);
            if (c[i * ldc + j] == bf16(sum)) continue;
            printf("c[%d, %d] is %g instead of %g\n", (int)i, (int)j, (double)number(c[i * ldc + j]), (double)sum);
            exit(1);
        }
}

static void run(const char *kernel, unsigned lds, Sizes s, unsigned groups) {
    Map map[3];
    void *f = NULL, *arguments[] = {&s, map};
    uint16_t *a = tensor(s.m, s.k, roles_box[0], &map[0], true);
    uint16_t *b = tensor(roles_across ? s.k : s.n, roles_across ? s.n : s.k, roles_box[1], &map[1], true);
    uint16_t *c = tensor(s.m, s.n, roles_box[2], &map[2], false);
    must(tile_emu_function_get(&f, (void *)roles_symbols, kernel));
    must(tile_emu_launch(f, groups, 1, 1, 384, 1, 1, lds, NULL, arguments, NULL));
    must(tile_emu_stream_sync(NULL));
    compare(a, b, c, s);
    must(tile_emu_release(a));
    must(tile_emu_release(b));
    must(tile_emu_release(c));
}

int main(int argc, char **argv) {
    for (int i = 3; i < argc; i++) {
        long m = 0, n = 0, k = 0;
        if (sscanf(argv[i], "%ldx%ldx%ld", &m, &n, &k) != 3) return 2;
        run(argv[1], (unsigned)atoi(argv[2]), (Sizes){m, n, k}, i % 2 ? 4 : 2);
    }
    printf("%d sizes agree\n", argc - 3);
    return 0;
}
