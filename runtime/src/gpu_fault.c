/* gpu_fault.c: faults of a mesh on GPUs. Kernels keep record and poison in memory of their devices (tile_flags.h); the
   host has its own (host.h), of barriers, sizes and dead processes. Each side learns of the other's when a rank waits
   for its stream. */
#include "gpu.h"

#include <stdlib.h>

enum { GRACE_NS = 500000000 }; /* of a stream to end when a peer's process has: its last words may be on their way */
enum { LOOK_NS = 2000000, NAP_NS = 20000, SPIN_NS = 200000 };

/* ---- open and close ---- */

static int own_open(Gpu *g) {
    int error = g->api.host_alloc((void **)&g->notice, sizeof *g->notice, GPU_HOST_PORTABLE | GPU_HOST_MAPPED);
    if (!error) error = g->api.stream_create(&g->aside, GPU_STREAM_NON_BLOCKING);
    if (!error) error = g->api.event_create(&g->done, GPU_EVENT_NO_TIMING);
    if (error) return gpu_fail(g, error, "preparing the device");
    memset((void *)g->notice, 0, sizeof *g->notice);
    return TILE_OK;
}

int gpu_control_open(tile_mesh *m) {
    int code = gpu_share_open(m, sizeof(tile_gpu_fault), &m->gpu->control);
    return code ? code : group_agree(m->group, own_open(m->gpu));
}

void gpu_control_close(tile_mesh *m) {
    Gpu *g = m->gpu;
    if (gpu_enter(g)) return;
    gpu_trace_close(m);
    if (g->aside) g->api.stream_destroy(g->aside);
    if (g->done) g->api.event_destroy(g->done);
    gpu_share_close(m, &g->control);
    if (g->notice) g->api.host_release((void *)g->notice);
}

static tile_gpu_fault *cell_of(const tile_mesh *m, uint64_t rank) {
    return (tile_gpu_fault *)m->gpu->control.base[rank];
}

/* ---- from the device to the host ---- */

static int look(const Gpu *g, void *to, const void *from, size_t bytes) {
    int error = g->api.copy_out(to, from, bytes, g->aside);
    return error ? error : g->api.stream_sync(g->aside);
}

static const char *flag_name(const tile_mesh *m, const tile_gpu_record *f) {
    const tile_instance *p = m->instances;
    while (p && p->gpu->number != f->instance) p = p->next;
    if (!p) return "a program that was closed";
    if (f->code == TILE_E_RANGE)
        return f->missing >= 0 && f->missing < p->program->nargs ? p->program->arg[f->missing].name : p->program->name;
    const tile_image *i = p->gpu->image;
    return f->flag >= 0 && f->flag < i->nflags ? i->flag[f->flag].name : p->program->name;
}

static tile_record record_of(const tile_mesh *m, const tile_gpu_record *f) {
    tile_record why = {.rank = f->rank,
                       .missing = f->missing,
                       .flag = f->flag,
                       .code = f->code,
                       .task = f->task,
                       .expected = f->expected,
                       .seen = f->seen};
    strncpy(why.name, flag_name(m, f), sizeof why.name - 1);
    if (why.code == TILE_E_RANGE) why.missing = -1; /* it was the argument's number */
    return why;
}

/* Makes the record behind this rank's poison the host's, once. */
void gpu_fault_learn(tile_mesh *m) {
    uint64_t poison = 0;
    tile_gpu_fault f;
    if (fault_poisoned(m) || gpu_enter(m->gpu)) return;
    if (look(m->gpu, &poison, &cell_of(m, (uint64_t)m->rank)->poison, sizeof poison) || !poison ||
        poison > (uint64_t)m->nranks || look(m->gpu, &f, cell_of(m, poison - 1), sizeof f))
        return;
    tile_task t = {.rank = m->rank, .nranks = m->nranks, .fault = &m->fault};
    tile_give_up(&t, record_of(m, &f.record));
}

void gpu_notice_look(tile_mesh *m) {
    if (atomic_load_explicit(&m->gpu->notice->fault, memory_order_relaxed)) gpu_fault_learn(m);
}

int gpu_refusal_take(tile_mesh *m) {
    Gpu *g = m->gpu;
    tile_gpu_record r, *at = &cell_of(m, (uint64_t)m->rank)->refusal;
    if (!atomic_exchange(&g->notice->refusal, 0)) return TILE_OK;
    int error = look(g, &r, at, sizeof r);
    if (!error && !r.claim) return TILE_OK;
    if (!error) error = g->api.fill(at, 0, sizeof r, g->aside);
    if (!error) error = g->api.stream_sync(g->aside);
    tile_record why = record_of(m, &r);
    return error ? gpu_fail(g, error, "looking at a refusal") : fault_tell(&why, TILE_E_RANGE);
}

/* ---- from the host to the device ---- */

static void tell_device(tile_mesh *m) {
    Gpu *g = m->gpu;
    uint64_t poison = (uint64_t)m->rank + 1;
    if (g->told) return;
    g->told = true;
    if (!g->api.copy_in(&cell_of(m, (uint64_t)m->rank)->poison, &poison, sizeof poison, g->aside))
        g->api.stream_sync(g->aside);
}

void gpu_fault_give_up(tile_mesh *m, const char *why) {
    tile_task t = {.rank = m->rank, .nranks = m->nranks, .fault = &m->fault, .ticket = -1};
    tile_record record = tile_record_make(&t, -1, -1, 0, 0);
    memset(record.name, 0, sizeof record.name);
    strncpy(record.name, why, sizeof record.name - 1);
    tile_give_up(&t, record);
    tell_device(m);
}

/* ---- waiting ---- */

/* A process that has ended sends nothing more. -1: all are there. */
static int rank_lost(const tile_mesh *m) {
    for (int r = 0; r < m->nranks; r++)
        if (r != m->rank && m->group->lost && m->group->lost(m->group, r)) return r;
    return -1;
}

static void give_up_lost(tile_mesh *m, int missing) {
    tile_task t = {.rank = m->rank, .nranks = m->nranks, .fault = &m->fault, .ticket = -1};
    tile_give_up(&t, tile_record_make(&t, -1, missing, 0, 0));
}

/* What the device cannot see while it waits for a peer: the host's poison, dead processes. */
static void watch(tile_mesh *m, uint64_t now, uint64_t *lost_since) {
    int lost = rank_lost(m);
    if (lost < 0)
        *lost_since = now;
    else if (now - *lost_since > GRACE_NS && !fault_poisoned(m))
        give_up_lost(m, lost);
    if (fault_poisoned(m)) tell_device(m);
}

/* Spins for a while, then sleeps in between. */
int gpu_event_wait(tile_mesh *m, void *event) {
    const GpuApi *api = &m->gpu->api;
    uint64_t begin = tile_now(), lost_since = begin, looked = begin;
    int error;
    while ((error = api->event_query(event)) == GPU_E_NOT_READY) {
        uint64_t now = tile_now();
        if (now - begin > SPIN_NS) nap(NAP_NS);
        if (now - looked < LOOK_NS) continue;
        looked = now;
        watch(m, now, &lost_since);
    }
    return error;
}

int gpu_stream_wait(tile_mesh *m, tile_stream given) {
    Gpu *g = m->gpu;
    void *stream = given ? (void *)given : g->stream;
    int error = gpu_enter(g);
    if (error) return error;
    if (m->nranks == 1) {
        error = g->api.stream_sync(stream);
    } else {
        error = g->api.event_record(g->done, stream);
        if (!error) error = gpu_event_wait(m, g->done);
    }
    if (error) return gpu_fail(g, error, "waiting for the stream");
    gpu_notice_look(m);
    return TILE_OK;
}

/* ---- recovery: what this rank owns, while nothing is in flight ---- */

int gpu_fault_clear(tile_mesh *m) {
    Gpu *g = m->gpu;
    int error = g->api.fill(cell_of(m, (uint64_t)m->rank), 0, sizeof(tile_gpu_fault), g->aside);
    if (!error) error = g->api.stream_sync(g->aside);
    atomic_store(&g->notice->fault, 0);
    atomic_store(&g->notice->refusal, 0);
    g->told = false;
    return error ? gpu_fail(g, error, "clearing the fault") : TILE_OK;
}
