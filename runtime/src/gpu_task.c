/* gpu_task.c: what kernels of a program with flags know of the run (tile_gpu_task.h): the block that all ranks reach
   (symmetric tensors, then flag words) and a private one (the task itself, generation, counters, tickets). */
#include "gpu.h"

#include <stdlib.h>

/* The private block. */
typedef struct {
    tile_gpu_task task;
    uint64_t generation, busy;
    void *at[]; /* [3][nranks], then counters, then tickets */
} Private;

static size_t words_at(const tile_image *i) {
    size_t n = sizeof(tile_gpu_word);
    return (i->symmetric_bytes + n - 1) / n * n;
}

static size_t zero_bytes(const tile_image *i) { return (i->counts + i->tickets) * sizeof(uint64_t); }

/* Addresses as the device sees them: the block is made here and lies at `d` there. */
static void private_fill(const tile_instance *p, Private *h, Private *d) {
    const tile_mesh *m = p->mesh;
    const GpuInstance *x = p->gpu;
    size_t n = (size_t)m->nranks;
    uint64_t *count = (uint64_t *)&d->at[3 * n];
    h->task = (tile_gpu_task){.rank = m->rank,
                              .nranks = m->nranks,
                              .instance = x->number,
                              .timeout_ns = m->group->timeout_ns,
                              .generation = &d->generation,
                              .busy = &d->busy,
                              .count = count,
                              .ticket = count + x->image->counts,
                              .symmetric = (char *const *)&d->at[0],
                              .word = (tile_gpu_word *const *)&d->at[n],
                              .fault = (tile_gpu_fault *const *)&d->at[2 * n],
                              .notice = (tile_gpu_notice *)m->gpu->notice,
                              .prints = x->prints};
    for (int a = 0; a < 3; a++) h->task.coord[a] = p->coord[a];
    for (size_t r = 0; r < n; r++) {
        h->at[r] = x->shared.base[r];
        h->at[n + r] = x->shared.base[r] + words_at(x->image);
        h->at[2 * n + r] = m->gpu->control.base[r];
    }
}

static int private_open(tile_instance *p) {
    GpuInstance *x = p->gpu;
    const Gpu *g = p->mesh->gpu;
    x->task_bytes = sizeof(Private) + 3 * (size_t)p->mesh->nranks * sizeof(void *) + zero_bytes(x->image);
    Private *h = calloc(1, x->task_bytes);
    if (!h) return tile_fail(TILE_E_NOMEM, "out of memory");
    int error = g->api.alloc(&x->task, x->task_bytes);
    if (!error) {
        private_fill(p, h, x->task);
        error = g->api.copy_in(x->task, h, x->task_bytes, g->stream);
    }
    if (!error) error = g->api.stream_sync(g->stream);
    free(h);
    return error ? gpu_fail(g, error, "preparing a program's flags") : TILE_OK;
}

int gpu_prints_open(tile_instance *p) {
    const Gpu *g = p->mesh->gpu;
    void *made = NULL;
    uint64_t room;
    const size_t bytes = prints_bytes(p->program, &room);
    if (!bytes) return TILE_OK;
    int error = g->api.alloc(&made, bytes);
    p->gpu->prints = made;
    if (!error) error = g->api.fill(made, 0, sizeof(tile_prints), g->stream);
    if (!error) error = g->api.copy_in(made, &room, sizeof room, g->stream);
    if (!error) error = g->api.stream_sync(g->stream);
    return error ? gpu_fail(g, error, "taking memory for records of print") : TILE_OK;
}

static int prints_copy(const Gpu *g, tile_prints *from, tile_prints *to, size_t records) {
    int error = records ? g->api.copy_out(to->record, from->record, records * sizeof *to->record, g->aside) : 0;
    if (!error) error = g->api.fill(&from->count, 0, 2 * sizeof from->count, g->aside); /* and .failed */
    return error ? error : g->api.stream_sync(g->aside);
}

int gpu_prints_take(tile_instance *p, tile_prints **taken) {
    const Gpu *g = p->mesh->gpu;
    tile_prints head, *from = p->gpu->prints;
    *taken = NULL;
    if (!from) return TILE_OK;
    gpu_instance_wait(p);
    int error = g->api.copy_out(&head, from, sizeof head, g->aside);
    if (!error) error = g->api.stream_sync(g->aside);
    if (error || !head.count) return error ? gpu_fail(g, error, "looking at records of print") : TILE_OK;
    const size_t records = head.count < head.room ? head.count : head.room;
    tile_prints *to = calloc(1, sizeof head + records * sizeof *to->record);
    if (!to) return tile_fail(TILE_E_NOMEM, "out of memory");
    *to = head;
    error = prints_copy(g, from, to, records);
    *taken = to;
    return error ? gpu_fail(g, error, "looking at records of print") : TILE_OK;
}

int gpu_task_open(tile_instance *p) {
    GpuInstance *x = p->gpu;
    const tile_image *i = x->image;
    if (!p->program->task_at) return TILE_OK;
    const int prints = group_agree(p->mesh->group, gpu_prints_open(p));
    if (prints) return prints;
    int code = gpu_share_open(p->mesh, words_at(i) + i->words * sizeof(tile_gpu_word), &x->shared);
    return code ? code : group_agree(p->mesh->group, private_open(p));
}

void gpu_task_close(tile_instance *p) {
    if (p->gpu->prints) p->mesh->gpu->api.release(p->gpu->prints);
    if (p->gpu->task) p->mesh->gpu->api.release(p->gpu->task);
    gpu_share_close(p->mesh, &p->gpu->shared);
}

/* For a new incarnation; nothing is in flight. */
int gpu_task_clear(tile_instance *p) {
    GpuInstance *x = p->gpu;
    const Gpu *g = p->mesh->gpu;
    if (!x->task) return TILE_OK;
    Private *d = x->task;
    int error = g->api.fill(x->shared.own, 0, x->shared.bytes, g->aside);
    if (!error) error = g->api.fill(&d->generation, 0, 2 * sizeof(uint64_t), g->aside);
    if (!error && zero_bytes(x->image)) {
        void *counts = (void **)d->at + 3 * p->mesh->nranks;
        error = g->api.fill(counts, 0, zero_bytes(x->image), g->aside);
    }
    if (!error) error = g->api.stream_sync(g->aside);
    return error ? gpu_fail(g, error, "clearing a program's flags") : TILE_OK;
}
