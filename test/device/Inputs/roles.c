/* roles.c: runs the kernels of roles_*.hip in the emulator, against plain loops. Elements are small integers, so that
   every sum is exact.
   usage: roles MxNxK.. */
#include "roles.h"

#include "emu/api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* c = a b or a b^T, plus `near`. */
typedef struct {
    const char *name;
    void (*run)(const void *);
    int cluster, planes;     /* planes: of all tensors; 0: they have two dimensions */
    int box_a, box_b, box_c; /* rows of boxes; near's are those of the tile: 128 */
    bool across;             /* b is [k, n], not [n, k] */
    bool near, tight, wide;  /* tight: rows of c begin anywhere; wide: c is f32 */
} Kernel;

void matmul(const void *);
void blend(const void *);
void edges(const void *);
void wide(const void *);

static const Kernel kernels[] = {
    {"matmul", matmul, .cluster = 2, .box_a = 128, .box_b = 128, .box_c = 64},
    {"blend", blend, .cluster = 1, .planes = 2, .across = true, .near = true, .box_a = 128, .box_b = 64, .box_c = 64},
    {"edges", edges, .cluster = 2, .tight = true, .box_a = 64, .box_b = 128, .box_c = 64},
    {"wide", wide, .cluster = 2, .wide = true, .box_a = 64, .box_b = 128},
    {0},
};

enum { LDS = 227 << 10 }; /* bytes of a workgroup: all that sm_90a has */

typedef struct {
    uint64_t word[16];
} __attribute__((aligned(64))) Map;

/* Planes of rows of 16-bit elements, or of f32. */
typedef struct {
    int64_t planes, rows, columns, stride;
    int bytes;
    void *data;
} Tensor;

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

static float number(const Tensor *t, int64_t plane, int64_t i, int64_t j) {
    const int64_t at = (plane * t->rows + i) * t->stride + j;
    uint32_t u = 0;
    float y;
    if (t->bytes == 2) u = (uint32_t)((uint16_t *)t->data)[at] << 16;
    if (t->bytes == 4) u = ((uint32_t *)t->data)[at];
    memcpy(&y, &u, 4);
    return y;
}

static size_t tensor_bytes(const Tensor *t) {
    const size_t elements = (size_t)(t->planes * t->rows * t->stride);
    return (elements ? elements : 8) * (size_t)t->bytes;
}

/* Rows that begin at multiples of 16 bytes, unless `tight`. */
static Tensor tensor_make(int64_t planes, int64_t rows, int64_t columns, int bytes, bool tight, bool filled) {
    Tensor t = {planes, rows, columns, tight ? columns : (columns + 7) / 8 * 8, bytes, NULL};
    must(tile_emu_alloc(&t.data, tensor_bytes(&t)));
    if (!filled) return t;
    uint16_t *y = malloc(tensor_bytes(&t));
    for (size_t i = 0; i < tensor_bytes(&t) / 2; i++) y[i] = bf16((float)(rand() % 5 - 2));
    must(tile_emu_copy_in(t.data, y, tensor_bytes(&t), NULL));
    free(y);
    return t;
}

static uint64_t one_or_more(int64_t x) { return x < 1 ? 1 : (uint64_t)x; }

static void map_make(const Tensor *t, int box, bool planes, Map *map) {
    const uint64_t dim[] = {one_or_more(t->columns), one_or_more(t->rows), one_or_more(t->planes)};
    const uint64_t row = (dim[0] + 7) / 8 * 16, stride[] = {row, row * dim[1]};
    const unsigned shape[] = {64, (unsigned)box, 1}, step[] = {1, 1, 1};
    must(tile_emu_map_encode(map, 1, planes ? 3 : 2, t->data, dim, stride, shape, step, 0, 3, 2, 0));
}

typedef struct {
    Tensor a, b, c, near;
} Problem;

static void compare(const Kernel *k, const Problem *p, int64_t plane, int64_t i, int64_t j) {
    float sum = k->near ? number(&p->near, plane, i, j) : 0;
    for (int64_t q = 0; q < p->a.columns; q++)
        sum += number(&p->a, plane, i, q) * (k->across ? number(&p->b, plane, q, j) : number(&p->b, plane, j, q));
    if (p->c.bytes == 2) { /* rounded as c is */
        const uint32_t u = (uint32_t)bf16(sum) << 16;
        memcpy(&sum, &u, 4);
    }
    const float got = number(&p->c, plane, i, j);
    if (got == sum) return;
    printf("%s: c[%d, %d, %d] is %g instead of %g\n", k->name, (int)plane, (int)i, (int)j, (double)got, (double)sum);
    exit(1);
}

static void launch(const Kernel *k, const Problem *p, unsigned groups) {
    roles_call call = {p->c.rows, p->c.columns, p->a.columns, k->planes ? p->c.planes : 1, p->c.data};
    Map map[4];
    void *f = NULL, *arguments[] = {&call, map};
    const tile_emu_symbol symbols[] = {{k->name, k->run}, {NULL, NULL}};
    map_make(&p->a, k->box_a, k->planes, &map[0]);
    map_make(&p->b, k->box_b, k->planes, &map[1]);
    if (k->box_c) map_make(&p->c, k->box_c, k->planes, &map[2]);
    if (k->near) map_make(&p->near, 128, k->planes, &map[3]);
    must(tile_emu_function_get(&f, (void *)symbols, k->name));
    must(tile_emu_launch(f, groups, 1, 1, 384, 1, 1, LDS, NULL, arguments, NULL));
    must(tile_emu_stream_sync(NULL));
}

static void run(const Kernel *k, int64_t m, int64_t n, int64_t depth, unsigned groups) {
    const int64_t planes = k->planes ? k->planes : 1;
    Problem p = {tensor_make(planes, m, depth, 2, false, true),
                 tensor_make(planes, k->across ? depth : n, k->across ? n : depth, 2, false, true),
                 tensor_make(planes, m, n, k->wide ? 4 : 2, k->tight, false),
                 tensor_make(planes, m, n, 2, false, true)};
    launch(k, &p, groups);
    for (int64_t b = 0; b < planes; b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) compare(k, &p, b, i, j);
    must(tile_emu_release(p.a.data));
    must(tile_emu_release(p.b.data));
    must(tile_emu_release(p.c.data));
    must(tile_emu_release(p.near.data));
}

int main(int argc, char **argv) {
    for (const Kernel *k = kernels; k->name; k++)
        for (int i = 1; i < argc; i++) {
            long m = 0, n = 0, depth = 0;
            if (sscanf(argv[i], "%ldx%ldx%ld", &m, &n, &depth) != 3) return 2;
            run(k, m, n, depth, (unsigned)(k->cluster * (1 + i % 2)));
        }
    printf("%d sizes agree\n", argc - 1);
    return 0;
}
