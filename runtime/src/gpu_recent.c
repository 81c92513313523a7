/* gpu_recent.c: the runs since a caller last waited for their stream: after a fault their results become NaN. */
#include "gpu.h"

#include <stdlib.h>

enum { RECENT = 16 }; /* earlier ones are forgotten */

struct GpuRecent {
    unsigned runs;
    size_t each; /* numbers of a run: its tensors' addresses, then its sizes */
    uint64_t number[];
};

struct GpuRecent *gpu_recent_new(const tile_program *g) {
    size_t each = (size_t)g->nargs + (size_t)g->ndims;
    struct GpuRecent *r = calloc(1, sizeof *r + RECENT * each * sizeof *r->number);
    if (r) r->each = each;
    return r;
}

void gpu_recent_add(tile_instance *p, void *const *arg, const int64_t *dim) {
    const tile_program *g = p->program;
    struct GpuRecent *r = p->gpu->recent;
    uint64_t *to = r->number + r->runs++ % RECENT * r->each;
    for (int i = 0; i < g->nargs; i++) to[i] = (uintptr_t)arg[i];
    for (int i = 0; i < g->ndims; i++) to[g->nargs + i] = (uint64_t)dim[i];
}

/* All bytes alike make a NaN of every type but one. */
static void tensor_spoil(const tile_instance *p, const tile_arg *a, void *to, const int64_t *dim) {
    const Gpu *g = p->mesh->gpu;
    unsigned char byte = strcmp(a->elem, "f8e4m3fnuz") == 0 ? 0x80 : 0xff;
    size_t bytes = (size_t)arg_elements(p, a, dim) * tile_elem_bits(a->elem) / 8;
    if (a->role != TILE_ROLE_INPUT && elem_has_nan(a->elem) && bytes) g->api.fill(to, byte, bytes, g->aside);
}

static void results_spoil(const tile_instance *p) {
    const struct GpuRecent *r = p->gpu->recent;
    const tile_program *g = p->program;
    for (unsigned k = 0; k < r->runs && k < RECENT; k++) {
        const uint64_t *run = r->number + k * r->each;
        const int64_t *dim = (const int64_t *)run + g->nargs;
        for (int i = 0; i < g->nargs; i++) tensor_spoil(p, &g->arg[i], (void *)(uintptr_t)run[i], dim);
    }
}

void gpu_recent_end(tile_mesh *m, const void *stream) {
    for (tile_instance *p = m->instances; p; p = p->next) {
        if (p->gpu->stream != stream) continue;
        if (p->gpu->recent->runs && fault_poisoned(m) && !fault_refused(m)) results_spoil(p);
        p->gpu->recent->runs = 0;
    }
    if (fault_poisoned(m)) m->gpu->api.stream_sync(m->gpu->aside);
}
