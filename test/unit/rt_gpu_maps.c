/* rt_gpu_maps.c: tensors that kernels copy by boxes: what the driver is told of them, and when; sizes of which it
   cannot be told. A kernel copies a tensor box by box. The driver is test/preload/fake_gpu.c, found as libcuda.so.1. */
#include "device/host.h"
#include "device/tile_emu_sm_90a.h"
#include "device/tile_image.h"
#include "test/unit/check.h"
#include "tile_program.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = TILE_MAP_DIMS, ROOM = 160 * 1024 /* bytes of a tensor, at most */, THREADS = 32, LDS = 9216 + 1024 };

static int failures;

/* A tensor, and the boxes in which it is copied. */
typedef struct {
    const char *elem;
    int bytes, ndim;
    int64_t n[DIMS];
    int box[DIMS], swizzle;
} Shape;

static Shape shape; /* of the run */
static int wrong;   /* elements that a box had at another place, or from another */
static int pixels;  /* of a box of images; 0: it is one of a tensor */

typedef struct {
    struct {
        const char *x;
        char *y;
        float scale;
        int64_t n[DIMS];
    } args;
    void *local;
} Call;

typedef struct {
    uint64_t word[16];
} Map;

/* ---- kernels ---- */

static bool begin(const void *argument) {
    static const tile_emu_kernel facts = {sizeof(Call), 2 * sizeof(Map), THREADS, 1, {.lanes = 32, .chiplets = 1}};
    return tile_emu_begin(argument, &facts) && tile_emu_thread() == 0;
}

/* The position's first byte in memory; -1: beyond the tensor. */
static int64_t byte_at(const int64_t *at) {
    int64_t element = 0;
    for (int d = 0; d < shape.ndim; d++) {
        if (at[d] >= shape.n[d]) return -1;
        element = element * shape.n[d] + at[d];
    }
    return element * shape.bytes;
}

/* Chunks of 16 bytes change places within a row, by the line of 128 bytes that they are in. */
static uint32_t swizzled(uint32_t at) {
    uint32_t chunks = shape.swizzle ? (uint32_t)shape.swizzle / 16 : 1, chunk = at / 16 % chunks;
    return at - chunk * 16 + (chunk ^ at / 128 % chunks) * 16;
}

/* The position of element i of a box; how many it has. */
static int box_position(const int64_t *first, int i, int64_t *at) {
    int all = 1;
    for (int d = shape.ndim - 1; d >= 0; d--) {
        at[d] = first[d] + i / all % shape.box[d];
        all *= shape.box[d];
    }
    return all;
}

static int box_elements(void) { return box_position((int64_t[DIMS]){0}, 0, (int64_t[DIMS]){0}); }

static void box_look(const Call *c, const int64_t *first, uint32_t lds) {
    static const char zero[4];
    for (int i = 0; i < box_elements(); i++) {
        int64_t at[DIMS], from;
        box_position(first, i, at);
        from = byte_at(at);
        const void *is = tile_emu_shared_at(swizzled(lds + (uint32_t)(i * shape.bytes)), shape.bytes);
        wrong += memcmp(is, from < 0 ? zero : c->args.x + from, (size_t)shape.bytes) != 0;
    }
}

static void box_copy(const Call *c, const int64_t *first, uint32_t bar, uint32_t lds, int turn) {
    const Map *map = (const Map *)(c + 1);
    int at[DIMS];
    for (int d = 0; d < shape.ndim; d++) at[d] = (int)first[shape.ndim - 1 - d];
    tile_emu_mbar_expect(bar, box_elements() * shape.bytes);
    tile_emu_tma_load(lds, &map[0], at, shape.ndim, bar, 0);
    tile_emu_mbar_wait(bar, turn & 1);
    box_look(c, first, lds);
    tile_emu_tma_store(&map[1], at, shape.ndim, lds);
    tile_emu_tma_commit();
    tile_emu_tma_wait(0);
}

/* The next box; false: that was the last. */
static bool box_next(int64_t *first) {
    for (int d = shape.ndim - 1; d >= 0; d--) {
        if ((first[d] += shape.box[d]) < shape.n[d]) return true;
        first[d] = 0;
    }
    return false;
}

static void copy_kernel(const void *argument) {
    if (!begin(argument)) return;
    int64_t first[DIMS] = {0};
    uint32_t bar = tile_emu_shared(tile_emu_lds(0)), lds = (bar + 8 + 1023) / 1024 * 1024;
    int turn = 0;
    tile_emu_mbar_init(bar, 1);
    tile_emu_mbar_init_done();
    do box_copy(argument, first, bar, lds, turn++);
    while (box_next(first));
}

/* Stands by: what it makes shows that it was this one. */
static void plain_kernel(const void *argument) {
    enum { DRIVERS_BIT = 1 << 21 /* of the second word */ };
    static const char mark = 77;
    const Call *c = argument;
    if (!begin(argument)) return;
    wrong += pixels && ((const Map *)((const char *)argument + sizeof *c))->word[1] & DRIVERS_BIT;
    tile_emu_check(c->args.y, 1, TILE_STORES, &mark);
    c->args.y[0] = mark;
}

static const tile_emu_symbol symbols[] = {{"copy", copy_kernel}, {"plain", plain_kernel}, {NULL, NULL}};

static bool busy; /* there are tasks without elements, too */

static int64_t has_tasks(const tile_task *t) {
    for (int d = 0; d < shape.ndim && !busy; d++)
        if (t->dim[d] == 0) return 0;
    return 1;
}

/* ---- the program ---- */

typedef struct {
    tile_map map[2];
    tile_launch launch[2];
    tile_image image;
    tile_arg arg[3];
    tile_program p;
} Made;

static const tile_dim dims[DIMS] = {{"a", ROOM}, {"b", ROOM}, {"c", ROOM}, {"d", ROOM}, {"e", ROOM}};
static const size_t arg_at[] = {offsetof(Call, args.x), offsetof(Call, args.y), offsetof(Call, args.scale)};
static const size_t dim_at[] = {offsetof(Call, args.n[0]), offsetof(Call, args.n[1]), offsetof(Call, args.n[2]),
                                offsetof(Call, args.n[3]), offsetof(Call, args.n[4])};

/* Both tensors have the run's extents. */
static void made_by_sizes(Made *to) {
    for (int k = 0; k < 2; k++) {
        tile_map *m = &to->map[k];
        *m = (tile_map){.arg = k, .bytes = shape.bytes, .ndim = shape.ndim, .swizzle = shape.swizzle, .stores = k};
        memcpy(m->box, shape.box, sizeof m->box);
        if (pixels) {
            m->pixels = pixels;
            memcpy(m->begin, (int[]){0, -1, -2}, sizeof(int[3]));
            memcpy(m->step, (int[]){0, 2, 1}, sizeof(int[3]));
            memcpy(m->count, (int[]){0, 5, 8}, sizeof(int[3]));
        }
        to->arg[k] = (tile_arg){.name = k ? "y" : "x", .elem = shape.elem, .ndim = shape.ndim};
        to->arg[k].role = k ? TILE_ROLE_OUTPUT : TILE_ROLE_INPUT;
        for (int d = 0; d < DIMS; d++) to->arg[k].sym[d] = m->sym[d] = d, to->arg[k].split[d] = m->split[d] = -1;
    }
    to->arg[2] = (tile_arg){.name = "scale", .elem = "f32"};
}

static void make(Made *to, bool otherwise) {
    memset(to, 0, sizeof *to);
    made_by_sizes(to);
    to->launch[0] = (tile_launch){.kernel = pixels ? "plain" : "copy",
                                  .threads = THREADS,
                                  .lds_bytes = LDS,
                                  .groups = has_tasks,
                                  .nmaps = 2,
                                  .map = to->map,
                                  .otherwise = otherwise};
    to->launch[1] = (tile_launch){.kernel = "plain", .threads = THREADS, .groups = has_tasks};
    to->image = (tile_image){.target = "sm_90a", .code = symbols, .nlaunches = otherwise ? 2 : 1, .launch = to->launch};
    to->p = (tile_program){.abi = TILE_ABI,
                           .name = "boxes",
                           .nargs = 3,
                           .arg = to->arg,
                           .ndims = shape.ndim,
                           .dim = dims,
                           .nimages = 1,
                           .image = &to->image,
                           .call_bytes = sizeof(Call),
                           .local_at = offsetof(Call, local),
                           .arg_at = arg_at,
                           .dim_at = dim_at};
}

/* What the driver was told last, and how often (test/preload/fake_gpu.c). */
typedef struct {
    const void *base;
    uint64_t dim[5], stride[4];
    unsigned rank, box[5];
    int type, swizzle, lower[2], upper[2];
    unsigned step[2];
} FakeMap;

static void *driver(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

static int maps_made(void) {
    const _Atomic int *n = driver("fake_maps");
    return n ? *n : -1;
}

typedef struct {
    Made made;
    tile_mesh *m;
    tile_instance *i;
    char *x, *y;
    float scale;
    char host[ROOM];
} Bench;

static void bench_open(Bench *b, bool otherwise) {
    tile_mesh_config c = {.size = sizeof c, .nranks = 1, .target = "gpu", .group = "rt_gpu_maps"};
    void *x = NULL, *y = NULL;
    make(&b->made, otherwise);
    b->scale = 1;
    for (int i = 0; i < ROOM; i++) b->host[i] = (char)(i * 31 + i / 251);
    CHECK(!tile_mesh_open(&c, &b->m) && !tile_alloc(b->m, ROOM, &x) && !tile_alloc(b->m, ROOM, &y));
    CHECK(!tile_instance_open(b->m, &b->made.p, &b->i) && !tile_copy_in(b->m, x, b->host, ROOM, NULL));
    b->x = x, b->y = y;
    wrong = 0;
}

/* To its end: the kernel reads `shape`. */
static int run(Bench *b) {
    int code = tile_instance_run(b->i, (void *[]){b->x, b->y, &b->scale}, shape.n, NULL);
    return code ? code : tile_stream_sync(b->m, NULL);
}

static char first_of_y(Bench *b) {
    char y[1] = {0};
    CHECK(!tile_copy_out(b->m, y, b->y, sizeof y, NULL) && !tile_stream_sync(b->m, NULL));
    return y[0];
}

static void bench_close(Bench *b) {
    tile_instance_close(b->i);
    tile_mesh_close(b->m);
}

/* ---- checks ---- */

/* The driver counts dimensions from the fastest one, strides in bytes from the second. */
static void check_told(const Bench *b) {
    const FakeMap *m = driver("fake_map");
    uint64_t bytes = (uint64_t)shape.bytes;
    CHECK(m && m->rank == (unsigned)shape.ndim && m->type == shape.bytes / 2 && (m->base == b->x || m->base == b->y));
    CHECK(m && m->swizzle == (shape.swizzle == 128) * 3 + (shape.swizzle == 64) * 2 + (shape.swizzle == 32));
    for (int d = 0; m && d < shape.ndim; d++) {
        int64_t n = shape.n[shape.ndim - 1 - d];
        CHECK(m->dim[d] == (uint64_t)n && m->box[d] == (unsigned)shape.box[shape.ndim - 1 - d]);
        if (d) CHECK(m->stride[d - 1] == bytes);
        bytes *= (uint64_t)n;
    }
}

static void check_copied(Bench *b) {
    char y[ROOM];
    int64_t bytes = shape.bytes;
    for (int d = 0; d < shape.ndim; d++) bytes *= shape.n[d];
    CHECK(!run(b) && !tile_copy_out(b->m, y, b->y, (size_t)bytes, NULL) && !tile_stream_sync(b->m, NULL));
    CHECK(wrong == 0 && memcmp(y, b->host, (size_t)bytes) == 0);
}

static void check_shapes(void) {
    static const Shape shapes[] = {{"f32", 4, 2, {37, 20}, {8, 32}, 128},
                                   {"f32", 4, 2, {5, 4}, {256, 8}, 32},
                                   {"bf16", 2, 3, {3, 5, 72}, {1, 4, 64}, 128},
                                   {"bf16", 2, 4, {2, 3, 7, 40}, {1, 2, 3, 32}, 64},
                                   {"bf16", 2, 2, {1, 8}, {1, 64}, 128},
                                   {"i8", 1, 5, {2, 3, 2, 5, 48}, {1, 1, 2, 3, 32}, 32},
                                   {"i8", 1, 5, {1, 1, 1, 1, 16}, {2, 2, 2, 2, 128}, 128},
                                   {"i8", 1, 2, {9, 16}, {4, 48}, 0},
                                   {"f32", 4, 1, {101}, {64}, 0}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        Bench b;
        shape = shapes[k];
        bench_open(&b, false);
        check_copied(&b);
        check_told(&b);
        for (int more = 1; more < 4; more++) { /* other sizes of the slowest dimension */
            shape.n[0] += shape.ndim > 1 ? more : 2 * more;
            check_copied(&b);
            check_told(&b);
        }
        bench_close(&b);
    }
}

/* A map is made when its tensor's address or extents are new, not else. */
static void check_kept(void) {
    Bench b;
    shape = (Shape){"bf16", 2, 3, {3, 5, 72}, {1, 4, 64}, 128};
    bench_open(&b, false);
    int before = maps_made();
    CHECK(!run(&b) && maps_made() == before + 2);
    CHECK(!run(&b) && maps_made() == before + 2);
    b.scale = 2;
    CHECK(!run(&b) && maps_made() == before + 2);
    shape.n[1] = 6;
    CHECK(!run(&b) && maps_made() == before + 4);
    void *y = b.y, *other = NULL;
    CHECK(!tile_alloc(b.m, ROOM, &other));
    b.y = other;
    CHECK(!run(&b) && maps_made() == before + 5);
    b.y = y;
    CHECK(!run(&b) && maps_made() == before + 6 && wrong == 0);
    bench_close(&b);
}

/* Of a tensor without elements zeros are copied, and what goes there goes nowhere. */
static void check_empty(int d) {
    Bench b;
    const FakeMap *m = driver("fake_map");
    shape = (Shape){"bf16", 2, 3, {3, 5, 72}, {1, 4, 64}, 128};
    bench_open(&b, false);
    check_copied(&b);
    const char before = first_of_y(&b);
    shape.n[d] = 0;
    CHECK(!run(&b) && m && m->rank == 3 && m->dim[2 - d] == 1 && m->stride[1] == 16);
    busy = true;
    b.scale = 2; /* numbers of workgroups are counted anew */
    CHECK(!run(&b) && wrong == 0 && first_of_y(&b) == before);
    busy = false;
    shape.n[d] = 8;
    check_copied(&b);
    bench_close(&b);
}

/* Rows that are no multiples of 16 bytes: an error before anything is written, or the next launch. */
static void check_refused(bool otherwise) {
    Bench b;
    shape = (Shape){"bf16", 2, 2, {5, 72}, {4, 64}, 128};
    bench_open(&b, otherwise);
    check_copied(&b);
    char before = first_of_y(&b);
    shape.n[1] = 71;
    CHECK(run(&b) == (otherwise ? TILE_OK : TILE_E_ARG));
    if (!otherwise)
        CHECK(strstr(tile_last_error(), "'copy' copies 'x' by boxes: its rows must be multiples of 16 bytes"));
    CHECK(first_of_y(&b) == (otherwise ? 77 : before));
    shape.n[0] = 0;
    CHECK(!run(&b)); /* without tasks there is nothing to refuse */
    shape = (Shape){"bf16", 2, 2, {6, 80}, {4, 64}, 128};
    check_copied(&b);
    bench_close(&b);
}

/* Images of 7 x 9, of which every second row from one above the first is read, and 8 of the columns from two before the
   first. A driver sets a bit too many of maps of small tensors. */
static void check_pixels(void) {
    const FakeMap *m = driver("fake_map");
    int *version = driver("fake_version");
    Bench b;
    if (!m || !version) return;
    pixels = 24;
    shape = (Shape){"bf16", 2, 4, {3, 7, 9, 72}, {1, 1, 1, 64}, 128};
    bench_open(&b, false);
    CHECK(!run(&b) && first_of_y(&b) == 77);
    CHECK(m->rank == 4 && m->type == 1 && m->swizzle == 3 && m->box[0] == 64 && m->box[1] == 24);
    CHECK(m->dim[0] == 72 && m->dim[1] == 9 && m->dim[2] == 7 && m->dim[3] == 3 && m->stride[0] == 144);
    CHECK(m->lower[0] == -2 && m->upper[0] == -2 + 7 - 8 && m->step[0] == 1);
    *version = 13010, shape.n[0] = 2;
    CHECK(!run(&b) && wrong == 0);
    shape.n[0] = 17;
    CHECK(!run(&b) && wrong == 1);
    CHECK(m->lower[1] == -1 && m->upper[1] == -1 + 2 * 4 - 6 && m->step[1] == 2);
    bench_close(&b);
    *version = INT_MAX, pixels = 0;
}

/* The driver fails: maps of the run before are not taken for those of this one. */
static void check_failure(void) {
    Bench b;
    shape = (Shape){"bf16", 2, 2, {5, 72}, {4, 64}, 128};
    bench_open(&b, false);
    CHECK(!run(&b));
    setenv("FAKE_FAIL", "map_encode:1", 1);
    CHECK(!run(&b));
    shape.n[0] = 7;
    CHECK(run(&b) == TILE_E_SYS && run(&b) == TILE_E_SYS);
    setenv("FAKE_FAIL", "", 1);
    check_copied(&b);
    bench_close(&b);
}

int main(void) {
    setenv("FAKE_FAIL", "", 1);
    check_shapes();
    check_kept();
    for (int d = 0; d < 3; d++) check_empty(d);
    check_refused(false);
    check_refused(true);
    check_failure();
    check_pixels();
    return failures != 0;
}
