/* rt_program.h: a program written by hand against the runtime: out = scale * (sum of the ranks' in), pushed all to all.
   Two tasks push each block (they meet at a counter), then four tasks wait for all ranks and add in rank order. */
#ifndef RT_PROGRAM_H
#define RT_PROGRAM_H

#include "device/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RT_BOUND = 1024, RT_RANKS = 8 };

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, tile_last_error());                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static int64_t rt_tasks(const tile_task *t) { return 2 * t->nranks + 4; }

static float *rt_inbox(const tile_task *t, int owner, int source) {
    size_t slot = t->generation % 2;
    return (float *)t->symmetric[owner] + (slot * (size_t)t->nranks + (size_t)source) * RT_BOUND;
}

static int rt_push(const tile_task *t, int dest, int half) {
    int64_t n = t->dim[0], from = half ? n / 2 : 0, to = half ? n : n / 2;
    const float *in = t->arg[0];
    float *inbox = rt_inbox(t, dest, t->rank);
    for (int64_t i = from; i < to; i++) inbox[i] = in[i];
    if (tile_arrive(t, &t->count[dest], 2)) tile_publish(t, &t->word[dest][t->rank]);
    return TILE_OK;
}

static int rt_add(const tile_task *t, int quarter) {
    int64_t n = t->dim[0], from = n * quarter / 4, to = n * (quarter + 1) / 4;
    float *out = t->arg[2], scale = *(const float *)t->arg[1];
    for (int r = 0; r < t->nranks; r++) {
        int error = tile_wait(t, &t->word[t->rank][r], t->generation, 0, r);
        if (error) return error;
        const float *inbox = rt_inbox(t, t->rank, r);
        for (int64_t i = from; i < to; i++) out[i] = (r ? out[i] : 0) + scale * inbox[i];
    }
    return TILE_OK;
}

static int rt_task(const tile_task *t, int64_t ticket) {
    if (ticket < 2 * t->nranks) return rt_push(t, (int)(ticket / 2), (int)(ticket % 2));
    return rt_add(t, (int)(ticket - 2 * t->nranks));
}

static const char *rt_task_name(const tile_task *t, int64_t ticket) { return ticket < 2 * t->nranks ? "push" : "add"; }

static const tile_arg rt_args[] = {
    {.name = "x", .elem = "f32", .role = TILE_ROLE_INPUT, .ndim = 1, .sym = {0}, .split = {-1}},
    {.name = "scale", .elem = "f32", .role = TILE_ROLE_INPUT},
    {.name = "y", .elem = "f32", .role = TILE_ROLE_OUTPUT, .ndim = 1, .sym = {0}, .split = {-1}},
};
static const tile_dim rt_dims[] = {{.name = "N", .bound = RT_BOUND}};
static const tile_flag_info rt_flags[] = {{.name = "pushed", .producer = "push", .consumer = "add"}};

static inline tile_program rt_program(int nranks) {
    return (tile_program){.abi = TILE_ABI,
                          .name = "sum",
                          .hash = 42,
                          .naxes = 1,
                          .axis = {nranks},
                          .nargs = 3,
                          .arg = rt_args,
                          .ndims = 1,
                          .dim = rt_dims,
                          .nflags = 1,
                          .flag = rt_flags,
                          .symmetric_bytes = sizeof(float) * 2 * RT_BOUND * (size_t)nranks,
                          .words = (size_t)nranks,
                          .counts = (size_t)nranks,
                          .scratch_bytes = 100,
                          .tasks = rt_tasks,
                          .task = rt_task,
                          .task_name = rt_task_name};
}

static inline float rt_input(int rank, int64_t i, int step) { return (float)((rank + 1) * (i % 17) + step % 31); }

static inline float rt_expected(int nranks, int64_t i, int step) {
    float sum = 0;
    for (int r = 0; r < nranks; r++) sum += 0.5f * rt_input(r, i, step);
    return sum;
}

/* Runs the program once and waits for it; the error of run or sync, or 1 if a result is wrong. */
static inline int rt_step(tile_mesh *m, tile_instance *p, int step) {
    static _Thread_local float x[RT_BOUND], y[RT_BOUND];
    int64_t n = 1 + step * 37 % RT_BOUND;
    float scale = 0.5f;
    for (int64_t i = 0; i < n; i++) x[i] = rt_input(tile_mesh_rank(m), i, step);
    int error = tile_instance_run(p, (void *[]){x, &scale, y}, &n, NULL);
    if (!error) error = tile_stream_sync(m, NULL);
    for (int64_t i = 0; i < n && !error; i++)
        if (y[i] != rt_expected(tile_mesh_size(m), i, step)) error = 1;
    return error;
}

#endif
