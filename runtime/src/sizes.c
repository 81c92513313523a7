/* sizes.c: run-time sizes that differ between ranks are told with both values: when a wait looks around, and when a run
   ends. Each rank shows the sizes of its last runs, a word each: the low 23 bits of the generation above 41 bits of 1 +
   the size. */
#include "runtime.h"

#include <stdio.h>

enum { SHOWN = 64, SIZE_BITS = 41 }; /* runs that are shown: ranks are hardly ever further apart */

/* Of the bits of SIZE_BITS. */
static const uint64_t size_mask = ((uint64_t)1 << SIZE_BITS) - 1;

static bool sizes_needed(const tile_instance *p) { return p->mesh->nranks > 1 && p->program->ndims > 0; }

size_t sizes_bytes(const tile_program *g) { return SHOWN * (size_t)g->ndims * sizeof(_Atomic uint64_t); }

static _Atomic uint64_t *sizes_of(const tile_instance *p, int rank, uint64_t generation) {
    return p->sizes[rank] + generation % SHOWN * (size_t)p->program->ndims;
}

void sizes_show(const tile_instance *p, const Frame *f) {
    if (!sizes_needed(p)) return;
    _Atomic uint64_t *to = sizes_of(p, p->mesh->rank, f->generation);
    for (int i = 0; i < p->program->ndims; i++)
        atomic_store_explicit(&to[i], f->generation << SIZE_BITS | (((uint64_t)f->dim[i] + 1) & size_mask),
                              memory_order_relaxed);
}

static uint64_t size_shown(const tile_instance *p, int rank, uint64_t generation, int dim) {
    return atomic_load_explicit(&sizes_of(p, rank, generation)[dim], memory_order_relaxed);
}

/* Nothing is known of a peer that has not begun this generation, or is long past it. */
static bool words_differ(uint64_t mine, uint64_t theirs) {
    return mine != theirs && mine >> SIZE_BITS == theirs >> SIZE_BITS && (theirs & size_mask);
}

static void differ(const tile_instance *p, uint64_t generation, int rank, int dim, uint64_t mine, uint64_t theirs) {
    char text[128] = {0};
    tile_task t;
    instance_task(p, &(Frame){.generation = generation}, &t);
    tile_record why = {.rank = t.rank, .missing = -1, .flag = -1};
    snprintf(text, sizeof text, "%.16s = %lld on rank %d, %lld on rank %d", p->program->dim[dim].name,
             (long long)(mine & size_mask) - 1, t.rank, (long long)(theirs & size_mask) - 1, rank);
    memcpy(why.name, text, sizeof why.name - 1);
    tile_give_up(&t, why);
}

bool sizes_agree(const tile_instance *p, uint64_t generation) {
    if (!sizes_needed(p)) return true;
    for (int r = 0; r < p->mesh->nranks; r++)
        for (int i = 0; i < p->program->ndims; i++) {
            uint64_t mine = size_shown(p, p->mesh->rank, generation, i), theirs = size_shown(p, r, generation, i);
            if (!words_differ(mine, theirs)) continue;
            differ(p, generation, r, i, mine, theirs);
            return false;
        }
    return true;
}

/* Stands in for the mesh's hook in the waits of a run: a rank with other sizes will not send what is waited for. */
static bool lost_or_differs(const tile_fault_hooks *fault, int rank) {
    const tile_instance *p = fault->ctx;
    const tile_fault_hooks *of_mesh = &p->mesh->fault;
    return !sizes_agree(p, p->generation) || (of_mesh->lost && of_mesh->lost(of_mesh, rank));
}

void sizes_watch(tile_instance *p) {
    if (!sizes_needed(p)) return;
    p->fault.lost = lost_or_differs;
    p->fault.ctx = p;
}
