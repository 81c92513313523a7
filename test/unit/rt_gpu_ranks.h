/* rt_gpu_ranks.h: test/device/Inputs/ranks.hip as a program. */
#ifndef TILEC_TEST_RT_GPU_RANKS_H
#define TILEC_TEST_RT_GPU_RANKS_H

#include "base/text.h"
#include "device/host.h"
#include "device/tile_gpu_task.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { RANKS_THREADS = 64, RANKS_MOST = 1024, RANKS_GROUPS = RANKS_MOST / RANKS_THREADS, RANKS_RANKS = 8 };

typedef struct {
    const float *x;
    float *y, *z;
    int64_t n;
    char *local;
    const tile_gpu_task *task;
} RanksCall;

/* Whatever n is: the reuse of a slot rests on the words of the run between. */
static inline int64_t all_groups(const tile_task *t) { return t ? RANKS_GROUPS : 0; }
static inline int64_t no_group(const tile_task *t) { return t == NULL; }
static inline int64_t one_group(const tile_task *t) { return t != NULL; }

static inline const void *ranks_code(const char *path) {
    Text t = {0};
    void *library = strstr(path, ".so") ? dlopen(path, RTLD_NOW) : NULL;
    if (library) return dlsym(library, "ranks_code");
    if (text_read(&t, path, 1 << 26)) exit(2);
    return t.p;
}

/* Lives until the end. */
static inline tile_program ranks_program(const char *path, int nranks, const tile_launch *launch, int nlaunches) {
    static const tile_flag_info flags[] = {{"given", "give", "sum"}, {"chained", "chain", "chain"}, {"parcel", "pass", "pass"}};
    static const tile_arg args[] = {
        {.name = "x", .elem = "f32", .role = TILE_ROLE_INPUT, .ndim = 1, .sym = {0}, .split = {-1}},
        {.name = "y", .elem = "f32", .role = TILE_ROLE_OUTPUT, .ndim = 1, .sym = {0}, .split = {-1}},
        {.name = "z", .elem = "f32", .role = TILE_ROLE_OUTPUT, .ndim = 1, .sym = {0}, .split = {-1}}};
    static const tile_dim dims[] = {{"n", RANKS_MOST}};
    static const size_t arg_at[] = {offsetof(RanksCall, x), offsetof(RanksCall, y), offsetof(RanksCall, z)};
    static const size_t dim_at[] = {offsetof(RanksCall, n)};
    static tile_image image;
    image = (tile_image){.target = strstr(path, ".so") ? "emu:gpu" : "sm_90a",
                         .code = ranks_code(path),
                         .symmetric_bytes = 2 * (sizeof(float) * RANKS_MOST + sizeof(uint64_t)), /* slots of x, of packets */
                         .words = (size_t)(nranks + 1) * RANKS_GROUPS,
                         .tickets = 1,
                         .nflags = 3,
                         .ends = 1,
                         .flag = flags,
                         .nlaunches = nlaunches,
                         .launch = launch};
    return (tile_program){.abi = TILE_ABI,
                          .name = "ranks",
                          .naxes = 1,
                          .axis = {nranks},
                          .nargs = 3,
                          .arg = args,
                          .ndims = 1,
                          .dim = dims,
                          .nimages = 1,
                          .image = &image,
                          .call_bytes = sizeof(RanksCall),
                          .local_at = offsetof(RanksCall, local),
                          .task_at = offsetof(RanksCall, task),
                          .arg_at = arg_at,
                          .dim_at = dim_at};
}

#endif
