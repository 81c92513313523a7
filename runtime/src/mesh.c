/* mesh.c: a mesh: the group of ranks, the memory that all of them see, this rank's workers. */
#include "gpu.h"

#include <stdlib.h>

/* Docs/reference/command-line.md, --timeout. */
enum { DEFAULT_TIMEOUT_MS = 30000 };

static bool mesh_lost(const tile_fault_hooks *fault, int rank) {
    const Group *g = fault->ctx;
    return g->lost && g->lost(g, rank);
}

static Control *control_of(const tile_mesh *m, int rank) {
    return (Control *)(m->control.base + m->control.stride * (size_t)rank);
}

static int control_open(tile_mesh *m) {
    size_t n = (size_t)m->nranks;
    m->cell = calloc(n, sizeof *m->cell);
    m->barrier = calloc(n, sizeof *m->barrier);
    m->recover = calloc(n, sizeof *m->recover);
    if (!m->cell || !m->barrier || !m->recover) return tile_fail(TILE_E_NOMEM, "out of memory");
    for (int r = 0; r < m->nranks; r++) {
        m->cell[r] = &control_of(m, r)->fault;
        m->barrier[r] = &control_of(m, r)->barrier;
        m->recover[r] = &control_of(m, r)->recover;
    }
    return TILE_OK;
}

static int target_open(tile_mesh *m, const tile_mesh_config *c) {
    const char *target = c->target ? c->target : getenv("TILE_TARGET");
    if (!target || strcmp(target, "host") == 0) return TILE_OK;
    return gpu_open(target, c->device, m->rank, &m->gpu);
}

static int mesh_start(tile_mesh *m, const tile_mesh_config *c, const Place *p) {
    int error = control_open(m);
    uint64_t timeout_ns = m->group->timeout_ns;
    m->fault = (tile_fault_hooks){
        .cell = m->cell, .timeout_ns = timeout_ns, .what = "mesh barrier", .lost = mesh_lost, .ctx = m->group};
    if (!error) error = target_open(m, c);
    if (!error) error = queue_open(m, place_workers(c, p));
    const char *trace = getenv("TILE_TRACE");
    return !error && trace && strcmp(trace, "0") != 0 ? tile_trace(m, 1) : error;
}

static void mesh_free(tile_mesh *m) {
    if (m->gpu) gpu_control_close(m);
    gpu_close(m->gpu);
    share_close(&m->control);
    if (m->group) m->group->close(m->group);
    free(m->cell);
    free(m->barrier);
    free(m->recover);
    free(m);
}

static int mesh_join(tile_mesh *m, const tile_mesh_config *c, const Place *p) {
    uint64_t timeout_ns = (uint64_t)(c->timeout_ms ? c->timeout_ms : DEFAULT_TIMEOUT_MS) * 1000000u;
    int error = group_open(c, p, timeout_ns, &m->group);
    if (!error) error = m->group->share(m->group, sizeof(Control), &m->control);
    if (error) return error;
    error = group_agree(m->group, mesh_start(m, c, p));
    if (!error && m->gpu) error = gpu_peers_open(m->gpu, m->group);
    if (!error && m->gpu) error = gpu_control_open(m);
    if (error && m->worker) queue_close(m);
    return error;
}

int tile_mesh_open(const tile_mesh_config *c, tile_mesh **out) {
    Place p;
    *out = NULL;
    if (c->size != sizeof *c)
        return tile_fail(TILE_E_ARG, "tile_mesh_config.size is %zu, this runtime knows %zu", c->size, sizeof *c);
    if (c->timeout_ms < 0 || c->workers < 0)
        return tile_fail(TILE_E_ARG, "workers and timeout_ms must not be negative");
    if (c->workers > MAX_WORKERS)
        return tile_fail(TILE_E_ARG, "%d workers; a rank has at most %d", c->workers, MAX_WORKERS);
    int error = place_find(c, &p);
    if (error) return error;
    tile_mesh *m = calloc(1, sizeof *m);
    if (!m) return tile_fail(TILE_E_NOMEM, "out of memory");
    m->rank = p.rank;
    m->nranks = p.nranks;
    error = mesh_join(m, c, &p);
    if (error)
        mesh_free(m);
    else
        *out = m;
    return error;
}

void tile_mesh_close(tile_mesh *m) {
    if (!m) return;
    if (m->gpu) gpu_stream_wait(m, NULL);
    queue_drain(m);
    queue_close(m);
    mesh_free(m);
}

int tile_mesh_rank(const tile_mesh *m) { return m->rank; }
int tile_mesh_size(const tile_mesh *m) { return m->nranks; }

static tile_task meeting_task(const tile_mesh *m, tile_word *const *word, const tile_fault_hooks *fault,
                              uint64_t meeting) {
    return (tile_task){
        .rank = m->rank, .nranks = m->nranks, .word = word, .fault = fault, .generation = meeting, .ticket = -1};
}

int tile_mesh_barrier(tile_mesh *m) {
    if (fault_poisoned(m)) return fault_report(m);
    tile_task t = meeting_task(m, m->barrier, &m->fault, ++m->barriers);
    return tile_meet(&t) ? fault_report(m) : TILE_OK;
}

/* What this rank owns; the other ranks have nothing in flight. */
static void mesh_clear(void *arg) {
    tile_mesh *m = arg;
    Control *own = control_of(m, m->rank);
    for (tile_instance *p = m->instances; p; p = p->next) m->broken |= instance_clear(p) != TILE_OK;
    if (m->gpu) m->broken |= gpu_fault_clear(m) != TILE_OK;
    fault_clear(m);
    atomic_store_explicit(&own->barrier.value, 0, memory_order_relaxed);
}

static int recovery_failed(tile_mesh *m, const tile_task *t) {
    int missing = 0;
    m->broken = true;
    while (missing < m->nranks - 1 && TILE_REACHED(atomic_load(&m->recover[missing]->value), t->generation)) missing++;
    return tile_fail(TILE_E_TIMEOUT, "rank %d gave up: rank %d is missing at the recovery", m->rank, missing);
}

static void mesh_drain(tile_mesh *m) {
    queue_drain(m);
    if (m->gpu) gpu_stream_wait(m, NULL);
    for (tile_instance *p = m->instances; m->gpu && p; p = p->next) gpu_instance_wait(p);
}

int tile_mesh_recover(tile_mesh *m) {
    if (m->broken) return tile_fail(TILE_E_POISONED, "an earlier recovery failed: the mesh can only be closed");
    mesh_drain(m);
    tile_fault_hooks fault = m->fault;
    fault.recovering = true;
    tile_task t = meeting_task(m, m->recover, &fault, m->recoveries + 1);
    m->recoveries += 2;
    if (tile_recover(&t, mesh_clear, m)) return recovery_failed(m, &t);
    if (m->broken) return TILE_E_SYS; /* with the driver's sentence */
    m->barriers = 0;
    m->reported = false;
    return TILE_OK;
}

/* A run's own error if it has one, else the fault that stopped it. */
int tile_stream_sync(tile_mesh *m, tile_stream stream) {
    if (m->gpu) {
        int error = gpu_stream_wait(m, stream);
        error = error ? error : fault_poisoned(m) ? fault_report(m) : gpu_refusal_take(m);
        const int failed = prints_take(m);
        return error ? error : failed;
    }
    if (stream) return tile_fail(TILE_E_UNSUPPORTED, "the host has no stream but the mesh's own: pass NULL");
    int error = queue_drain(m);
    const int failed = prints_take(m);
    if (!error && failed) return failed;
    if (error == TILE_E_TIMEOUT || error == TILE_E_POISONED) return fault_report(m);
    if (error == TILE_E_RANGE) return tile_fail(error, "%s", m->queue.why);
    return error ? tile_fail(error, "a task failed: %s", tile_error_name(error)) : TILE_OK;
}
