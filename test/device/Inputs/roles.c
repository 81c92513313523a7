/* roles.c: runs the kernels of roles_*.hip in the emulator, against plain loops. Elements are small integers, so that
   every sum is exact.
   usage: roles [KERNEL:]MxNxK.. (without a name: those that take all sizes) */
#include "roles.h"

#include "emu/api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { BF16, F16, E4M3, E5M2, S8, U8, F32, ELEMS } Elem;

/* c = a b or a b^T, plus `near`; or, chained, c = (a b^T) near with rows of 64 elements of a and b. */
typedef struct {
    const char *name;
    void (*run)(const void *);
    int cluster, planes;     /* planes: of all tensors; 0: they have two dimensions */
    int box_a, box_b, box_c; /* rows of boxes; of b 0: n; near's are those of the tile: 128 */
    bool across, turned;     /* b is [k, n], not [n, k]; a is [k, m] */
    bool near, tight, wide;  /* tight: rows of c begin anywhere; wide: c is f32 */
    bool named;              /* takes some sizes only */
    bool chained;            /* boxes of near have 64 rows */
    bool upside_down;        /* a's rows from the last to the first, which begin anywhere */
    Elem elem;               /* of a and b .. */
    Elem elem_b;             /* .. or of b alone, an 8-bit one */
} Kernel;

void matmul(const void *);
void blend(const void *);
void edges(const void *);
void wide(const void *);
void chain(const void *);
void rows(const void *);
void piece_00(const void *);
void piece_01(const void *);
void piece_10(const void *);
void piece_11(const void *);
void piece_half(const void *);
void piece_e4m3(const void *);
void piece_e5m2(const void *);
void piece_e4m3_e5m2(const void *);
void piece_e5m2_e4m3(const void *);
void piece_s8(const void *);
void piece_u8(const void *);
void piece_s8_u8(const void *);
void piece_u8_s8(const void *);

#define PIECE .cluster = 1, .wide = true, .named = true, .box_a = 64

static const Kernel kernels[] = {
    {"matmul", matmul, .cluster = 2, .box_a = 128, .box_b = 128, .box_c = 64},
    {"blend", blend, .cluster = 1, .planes = 2, .across = true, .near = true, .box_a = 128, .box_b = 64, .box_c = 64},
    {"edges", edges, .cluster = 2, .tight = true, .box_a = 64, .box_b = 128, .box_c = 64},
    {"wide", wide, .cluster = 2, .wide = true, .box_a = 64, .box_b = 128},
    {"chain", chain, .cluster = 1, .near = true, .wide = true, .named = true, .chained = true, .box_a = 128,
     .box_b = 64},
    {"rows", rows, .cluster = 1, .across = true, .wide = true, .named = true, .upside_down = true},
    {"piece_00", piece_00, PIECE},
    {"piece_01", piece_01, PIECE, .box_b = 64, .across = true},
    {"piece_10", piece_10, PIECE, .turned = true},
    {"piece_11", piece_11, PIECE, .box_b = 64, .across = true, .turned = true},
    {"piece_half", piece_half, PIECE, .elem = F16},
    {"piece_e4m3", piece_e4m3, PIECE, .elem = E4M3},
    {"piece_e5m2", piece_e5m2, PIECE, .elem = E5M2},
    {"piece_e4m3_e5m2", piece_e4m3_e5m2, PIECE, .elem = E4M3, .elem_b = E5M2},
    {"piece_e5m2_e4m3", piece_e5m2_e4m3, PIECE, .elem = E5M2, .elem_b = E4M3},
    {"piece_s8", piece_s8, PIECE, .elem = S8},
    {"piece_u8", piece_u8, PIECE, .elem = U8},
    {"piece_s8_u8", piece_s8_u8, PIECE, .elem = S8, .elem_b = U8},
    {"piece_u8_s8", piece_u8_s8, PIECE, .elem = U8, .elem_b = S8},
    {0},
};

enum { LDS = 227 << 10 }; /* bytes of a workgroup: all that sm_90a has */

typedef struct {
    uint64_t word[16];
} __attribute__((aligned(64))) Map;

static const int bytes_of[ELEMS] = {2, 2, 1, 1, 1, 1, 4};

typedef struct {
    int64_t planes, rows, columns, stride;
    Elem elem;
    void *data;
    float *value; /* of each element, as it was drawn; NULL: of what a kernel writes */
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

/* -2, -1, 0, 1 and 2, of which a and b are made; of u8 numbers without a sign. */
static const uint16_t code[ELEMS][5] = {
    [BF16] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000},
    [F16] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000},
    [E4M3] = {0xc0, 0xb8, 0, 0x38, 0x40},
    [E5M2] = {0xc0, 0xbc, 0, 0x3c, 0x40},
    [S8] = {0xfe, 0xff, 0, 1, 2},
    [U8] = {255, 128, 0, 1, 2},
};

/* The element of c. */
static float result(const Tensor *t, int64_t plane, int64_t i, int64_t j) {
    const int64_t at = (plane * t->rows + i) * t->stride + j;
    if (t->elem == F32) return ((float *)t->data)[at];
    const uint32_t u = (uint32_t)((uint16_t *)t->data)[at] << 16;
    float y;
    memcpy(&y, &u, 4);
    return y;
}

static const float *values(const Tensor *t, int64_t plane, int64_t i, int64_t j) {
    return t->value + (plane * t->rows + i) * t->stride + j;
}

static size_t tensor_bytes(const Tensor *t) {
    const size_t elements = (size_t)(t->planes * t->rows * t->stride);
    return (elements ? elements : 16) * (size_t)bytes_of[t->elem];
}

/* Rows that begin at multiples of 16 bytes, unless `tight`. */
static Tensor tensor_make(int64_t planes, int64_t rows, int64_t columns, Elem elem, bool tight) {
    const int64_t line = 16 / bytes_of[elem];
    Tensor t = {planes, rows, columns, tight ? columns : (columns + line - 1) / line * line, elem, NULL, NULL};
    must(tile_emu_alloc(&t.data, tensor_bytes(&t)));
    return t;
}

static Tensor tensor_drawn(Tensor t) {
    const size_t bytes = tensor_bytes(&t), each = (size_t)bytes_of[t.elem];
    uint8_t *y = malloc(bytes);
    t.value = malloc(bytes / each * sizeof *t.value);
    for (size_t i = 0; i < bytes / each; i++) {
        const int drawn = rand() % 5;
        memcpy(y + i * each, &code[t.elem][drawn], each);
        t.value[i] = t.elem == U8 ? code[U8][drawn] : (float)(drawn - 2);
    }
    must(tile_emu_copy_in(t.data, y, bytes, NULL));
    free(y);
    return t;
}

static Tensor tensor_draw(int64_t planes, int64_t rows, int64_t columns, Elem elem) {
    return tensor_drawn(tensor_make(planes, rows, columns, elem, false));
}

static uint64_t one_or_more(int64_t x) { return x < 1 ? 1 : (uint64_t)x; }

static void map_make(const Tensor *t, int box, bool planes, Map *map) {
    const unsigned bytes = (unsigned)bytes_of[t->elem], shape[] = {128 / bytes, (unsigned)box, 1}, step[] = {1, 1, 1};
    const uint64_t dim[] = {one_or_more(t->columns), one_or_more(t->rows), one_or_more(t->planes)};
    const uint64_t row = (dim[0] * bytes + 15) / 16 * 16, stride[] = {row, row * dim[1]};
    must(tile_emu_map_encode(map, (int)bytes - 1, planes ? 3 : 2, t->data, dim, stride, shape, step, 0, 3, 2, 0));
}

typedef struct {
    Tensor a, b, c, near;
} Problem;

/* Of row i of a and row or column j of b. */
static float product(const Kernel *k, const Problem *p, int64_t plane, int64_t row, int64_t j) {
    const int64_t i = k->upside_down ? p->a.rows - 1 - row : row;
    const float *a = k->turned ? values(&p->a, plane, 0, i) : values(&p->a, plane, i, 0);
    const float *b = k->across ? values(&p->b, plane, 0, j) : values(&p->b, plane, j, 0);
    const int64_t step_a = k->turned ? p->a.stride : 1, step_b = k->across ? p->b.stride : 1;
    float sum = 0;
    for (int64_t q = 0; q < (k->turned ? p->a.rows : p->a.columns); q++) sum += a[q * step_a] * b[q * step_b];
    return sum;
}

static void compare(const Kernel *k, const Problem *p, int64_t plane, int64_t i, const float *scores) {
    for (int64_t j = 0; j < p->c.columns; j++) {
        float sum = k->chained ? 0 : product(k, p, plane, i, j);
        for (int64_t q = 0; q < (k->chained ? p->near.rows : 0); q++) sum += scores[q] * *values(&p->near, plane, q, j);
        if (k->near && !k->chained) sum += *values(&p->near, plane, i, j);
        if (p->c.elem == BF16) { /* rounded as c is */
            const uint32_t u = (uint32_t)bf16(sum) << 16;
            memcpy(&sum, &u, 4);
        }
        const float got = result(&p->c, plane, i, j);
        if (got == sum) continue;
        printf("%s: c[%d, %d, %d] is %g instead of %g\n", k->name, (int)plane, (int)i, (int)j, (double)got,
               (double)sum);
        exit(1);
    }
}

static void launch(const Kernel *k, const Problem *p, unsigned groups) {
    static uint64_t *ticket; /* kernels leave it 0 */
    if (!ticket) {
        must(tile_emu_alloc((void **)&ticket, sizeof *ticket));
        must(tile_emu_fill(ticket, 0, sizeof *ticket, NULL));
    }
    const int64_t depth = k->chained ? p->near.rows : k->turned ? p->a.rows : p->a.columns;
    roles_call call = {p->c.rows, p->c.columns, depth,     k->planes ? p->c.planes : 1,
                       p->c.data, ticket,       p->a.data, p->b.data};
    Map map[4];
    void *f = NULL, *arguments[] = {&call, map};
    const tile_emu_symbol symbols[] = {{k->name, k->run}, {NULL, NULL}};
    if (k->box_a) map_make(&p->a, k->box_a, k->planes, &map[0]);
    if (k->box_a) map_make(&p->b, k->box_b ? k->box_b : (int)p->c.columns, k->planes, &map[1]);
    if (k->box_c) map_make(&p->c, k->box_c, k->planes, &map[2]);
    if (k->near) map_make(&p->near, k->chained ? 64 : 128, k->planes, &map[3]);
    must(tile_emu_function_get(&f, (void *)symbols, k->name));
    must(tile_emu_launch(f, groups, 1, 1, 384, 1, 1, LDS, NULL, arguments, NULL));
    must(tile_emu_stream_sync(NULL));
}

static Problem problem_make(const Kernel *k, int64_t m, int64_t n, int64_t depth) {
    const int64_t planes = k->planes ? k->planes : 1;
    const Tensor c = tensor_make(planes, m, n, k->wide ? F32 : BF16, k->tight);
    const Elem b = k->elem_b ? k->elem_b : k->elem;
    if (k->chained)
        return (Problem){tensor_draw(1, m, 64, BF16), tensor_draw(1, depth, 64, BF16), c,
                         tensor_draw(1, depth, n, BF16)};
    if (k->upside_down)
        return (Problem){tensor_drawn(tensor_make(1, m, depth, BF16, true)), tensor_draw(1, depth, n, BF16), c,
                         tensor_draw(1, m, n, BF16)};
    return (Problem){k->turned ? tensor_draw(planes, depth, m, k->elem) : tensor_draw(planes, m, depth, k->elem),
                     k->across ? tensor_draw(planes, depth, n, b) : tensor_draw(planes, n, depth, b), c,
                     tensor_draw(planes, m, n, BF16)};
}

static void run(const Kernel *k, int64_t m, int64_t n, int64_t depth, unsigned groups) {
    Problem p = problem_make(k, m, n, depth);
    float *scores = malloc((size_t)(depth + 1) * sizeof *scores);
    launch(k, &p, groups);
    for (int64_t b = 0; b < p.c.planes; b++)
        for (int64_t i = 0; i < m; i++) {
            for (int64_t q = 0; q < (k->chained ? depth : 0); q++) scores[q] = product(k, &p, b, i, q);
            compare(k, &p, b, i, scores);
        }
    free(scores);
    const Tensor *all[] = {&p.a, &p.b, &p.c, &p.near};
    for (int i = 0; i < 4; i++) {
        must(tile_emu_release(all[i]->data));
        free(all[i]->value);
    }
}

/* KERNEL:MxNxK or MxNxK. */
static bool run_all(const char *text, int clusters) {
    const char *colon = strchr(text, ':'), *sizes = colon ? colon + 1 : text;
    long m = 0, n = 0, depth = 0;
    int runs = 0;
    if (sscanf(sizes, "%ldx%ldx%ld", &m, &n, &depth) != 3) return false;
    for (const Kernel *k = kernels; k->name; k++) {
        if (colon ? strlen(k->name) != (size_t)(colon - text) || strncmp(text, k->name, strlen(k->name)) : k->named)
            continue;
        run(k, m, n, depth, (unsigned)(k->cluster * clusters));
        runs++;
    }
    return runs;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!run_all(argv[i], 1 + i % 2)) return 2;
    printf("%d sizes agree\n", argc - 1);
    return 0;
}
