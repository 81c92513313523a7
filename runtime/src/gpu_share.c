/* gpu_share.c: memory of equal parts, one a rank, each on its rank's device, that the kernels of all ranks reach.
   A rank that closes early takes nothing from the others: its part goes when all have let go of it. */
#include "gpu.h"

#include <stdlib.h>

enum { GRAIN = 2 << 20 };          /* drivers share no less with other processes */
enum { PATIENCE_NS = 1000000000 }; /* of a rank that closes, with the others */

/* What a rank tells the others about its part. */
typedef struct {
    void *base; /* threads */
    uint64_t bytes;
    GpuHandle handle;
} Part;

/* In the host's memory, one a rank. */
typedef struct {
    _Atomic int left;
} Leave;

static Leave *leave_of(const GpuShare *s, int rank) { return (Leave *)(s->host.base + s->host.stride * (size_t)rank); }

/* AMD's devices see each other's stores at once only in memory that is made for it. */
static int part_take(const Gpu *g, void **p, size_t bytes) {
    return g->api.alloc_fine ? g->api.alloc_fine(p, bytes, GPU_FINE_GRAINED) : g->api.alloc(p, bytes);
}

static int part_make(tile_mesh *m, GpuShare *s, Part *mine) {
    const Gpu *g = m->gpu;
    s->base = calloc((size_t)m->nranks, sizeof *s->base);
    if (!s->base) return tile_fail(TILE_E_NOMEM, "out of memory");
    int error = part_take(g, &s->own, s->bytes);
    if (!error) error = g->api.fill(s->own, 0, s->bytes, g->stream);
    if (!error) error = g->api.stream_sync(g->stream);
    mine->base = s->own;
    mine->bytes = s->bytes;
    if (!error && !m->group->threads && m->nranks > 1) error = g->api.ipc_get(&mine->handle, s->own);
    return error ? gpu_fail(g, error, "taking memory that the ranks share") : TILE_OK;
}

/* HIP's flag was 0 before it was 1. */
static int part_open(const Gpu *g, char **base, const Part *from) {
    int error = g->api.ipc_open((void **)base, from->handle, 1);
    return error == GPU_E_INVALID ? g->api.ipc_open((void **)base, from->handle, 0) : error;
}

/* Is the memory behind a peer's handle as long as its part? Where the driver does not say, that is not known. */
static bool part_fits(const Gpu *g, char *base, size_t bytes) {
    void *block = NULL;
    size_t have = 0;
    if (g->api.block(&block, &have, base)) return true;
    size_t before = (size_t)(base - (char *)block);
    return before <= have && bytes <= have - before;
}

static int part_map(tile_mesh *m, GpuShare *s, const Part *from, int rank) {
    int error = part_open(m->gpu, &s->base[rank], from);
    if (error) return gpu_fail(m->gpu, error, "mapping the memory of another rank");
    return part_fits(m->gpu, s->base[rank], s->bytes)
               ? TILE_OK
               : tile_fail(TILE_E_MISMATCH, "the memory of rank %d is shorter than %zu bytes", rank, s->bytes);
}

static int parts_map(tile_mesh *m, GpuShare *s, const Part *all) {
    int code = TILE_OK;
    s->base[m->rank] = s->own;
    for (int r = 0; r < m->nranks && !code; r++) {
        if (all[r].bytes != s->bytes)
            code = tile_fail(TILE_E_MISMATCH, "rank %d shares %llu bytes of its device, rank %d shares %zu", r,
                             (unsigned long long)all[r].bytes, m->rank, s->bytes);
        else if (m->group->threads)
            s->base[r] = all[r].base;
        else if (r != m->rank)
            code = part_map(m, s, &all[r], r);
    }
    return code;
}

int gpu_share_open(tile_mesh *m, size_t bytes, GpuShare *s) {
    Part mine = {0}, *all = calloc((size_t)m->nranks, sizeof *all);
    Group *group = m->group;
    size_t grain = group->threads ? 64 : GRAIN;
    if (!bytes) bytes = 1; /* drivers refuse none */
    *s = (GpuShare){.bytes = (bytes + grain - 1) / grain * grain};
    if (!all) return tile_fail(TILE_E_NOMEM, "out of memory");
    int code = group->share(group, sizeof(Leave), &s->host);
    if (!code) code = group_agree(group, part_make(m, s, &mine));
    if (!code) code = group->allgather(group, &mine, all, sizeof mine);
    if (!code) code = group_agree(group, parts_map(m, s, all));
    free(all);
    return code;
}

/* ---- close ---- */

/* Threads: the last one gives back all parts. */
static void leave_threads(tile_mesh *m, GpuShare *s) {
    Gpu *g = m->gpu;
    if (atomic_fetch_add(&leave_of(s, 0)->left, 1) + 1 < m->nranks) return;
    for (int r = 0; r < m->nranks; r++)
        if (s->base[r] && (!g->peer || !g->api.context_set(g->peer[r].context))) g->api.release(s->base[r]);
    gpu_enter(g);
}

static bool all_left(const tile_mesh *m, const GpuShare *s) {
    const Group *g = m->group;
    for (int r = 0; r < m->nranks; r++)
        if (!atomic_load(&leave_of(s, r)->left) && !(g->lost && g->lost(g, r))) return false;
    return true;
}

/* Processes: each gives back its own part when no other maps it; if that takes long, the end of the process does. */
static void leave_processes(tile_mesh *m, GpuShare *s) {
    uint64_t begin = tile_now();
    for (int r = 0; r < m->nranks; r++)
        if (r != m->rank && s->base[r]) m->gpu->api.ipc_close(s->base[r]);
    atomic_store(&leave_of(s, m->rank)->left, 1);
    while (!all_left(m, s) && tile_now() - begin < PATIENCE_NS) nap(100000);
    if (!all_left(m, s))
        m->gpu->kept = true;
    else if (s->own)
        m->gpu->api.release(s->own);
}

/* A part that no other rank was told of: one of them had no memory. */
static void leave_alone(tile_mesh *m, GpuShare *s) {
    if (s->own) m->gpu->api.release(s->own);
}

void gpu_share_close(tile_mesh *m, GpuShare *s) {
    bool told = s->base && s->base[m->rank];
    if (!gpu_enter(m->gpu)) (!told ? leave_alone : m->group->threads ? leave_threads : leave_processes)(m, s);
    if (s->host.base) share_close(&s->host);
    free(s->base);
    *s = (GpuShare){0};
}
