/* rt_gpu_program.h: y = scale x + 1 as a program of two launches, in the emulator's form of code. */
#ifndef TILEC_TEST_RT_GPU_PROGRAM_H
#define TILEC_TEST_RT_GPU_PROGRAM_H

#include "device/tile_emu.h"
#include "device/tile_image.h"
#include "test/unit/check.h"
#include "tile_program.h"

#include <string.h>

enum { N = 1000, THREADS = 64 };

typedef struct {
    struct {
        const float *x;
        float *y;
        float scale;
        int64_t n;
    } args;
    float *local;
    const void *task; /* a program that needs one, and no flags in it */
} Call;

static int64_t position(void) { return tile_emu_group() * THREADS + tile_emu_thread(); }

static bool begin(const void *argument) {
    static const tile_emu_kernel kernel = {sizeof(Call), 0, THREADS, 1, {.lanes = 64, .chiplets = 1}};
    return tile_emu_begin(argument, &kernel);
}

/* local = scale x, then y = local + 1 */
static void scale_kernel(const void *argument) {
    const Call *c = argument;
    if (!begin(argument) || position() >= c->args.n) return;
    int64_t i = position();
    float y = c->args.x[i] * c->args.scale;
    tile_emu_check(&c->args.x[i], sizeof(float), TILE_LOADS, NULL);
    tile_emu_check(&c->local[i], sizeof(float), TILE_STORES, &y);
    c->local[i] = y;
}

static void add_kernel(const void *argument) {
    const Call *c = argument;
    if (!begin(argument)) return;
    tile_emu_follow();
    if (position() >= c->args.n) return;
    int64_t i = position();
    float y = c->local[i] + 1;
    tile_emu_check(&c->local[i], sizeof(float), TILE_LOADS, NULL);
    tile_emu_check(&c->args.y[i], sizeof(float), TILE_STORES, &y);
    c->args.y[i] = y;
}

static void outside_kernel(const void *argument) {
    if (begin(argument)) tile_emu_check(((const Call *)argument)->local + N, sizeof(float), TILE_LOADS, NULL);
}

static const tile_emu_symbol symbols[] = {
    {"scale", scale_kernel}, {"add", add_kernel}, {"outside", outside_kernel}, {NULL, NULL}};

static int64_t groups(const tile_task *t) {
    (void)t;
    return (N + THREADS - 1) / THREADS;
}

static const tile_launch good[] = {{.kernel = "scale", .threads = THREADS, .groups = groups}, {.kernel = "add", .threads = THREADS, .groups = groups, .dependent = 1}};

static const tile_arg args[] = {
    {.name = "x", .elem = "f32", .role = TILE_ROLE_INPUT, .ndim = 1, .dim = {0}, .sym = {0}, .split = {-1}},
    {.name = "y", .elem = "f32", .role = TILE_ROLE_OUTPUT, .ndim = 1, .dim = {0}, .sym = {0}, .split = {-1}},
    {.name = "scale", .elem = "f32", .role = TILE_ROLE_INPUT},
};
static const tile_dim dims[] = {{"n", N}};
static const size_t arg_at[] = {offsetof(Call, args.x), offsetof(Call, args.y), offsetof(Call, args.scale)};
static const size_t dim_at[] = {offsetof(Call, args.n)};

static tile_program program(const tile_image *image) {
    return (tile_program){.abi = TILE_ABI,
                          .name = "axpy",
                          .nargs = 3,
                          .arg = args,
                          .ndims = 1,
                          .dim = dims,
                          .nimages = 1,
                          .image = image,
                          .call_bytes = sizeof(Call),
                          .local_at = offsetof(Call, local),
                          .task_at = offsetof(Call, task),
                          .arg_at = arg_at,
                          .dim_at = dim_at};
}

#endif
