/* host.h: what generated CPU code uses: the flag protocol in C11 atomics, and tile helpers.
   The protocol (signal, wait, generations, poison, deadlines) stands here once: the runtime, the generated code and the
   model checker in test/protocol all include it. Meaning and proof: docs/synchronisation.md. */
#ifndef TILE_DEVICE_HOST_H
#define TILE_DEVICE_HOST_H

#include "tile_program.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { TILE_WORD_STRIDE = 64 }; /* each flag word in a cache line of its own */

typedef struct {
    _Alignas(TILE_WORD_STRIDE) _Atomic uint64_t value; /* generation of the last completion */
} tile_word;

typedef _Atomic uint64_t tile_count; /* arrivals of the generation in flight; zero between completions */

/* What a task sees. All pointers are valid for the whole run. */
struct tile_task {
    int rank, nranks;
    int coord[3];              /* along each mesh axis */
    uint64_t generation;       /* g, from 1 */
    void *const *arg;          /* the caller's tensors and scalars */
    const int64_t *dim;        /* run-time sizes */
    char *local;               /* private workspace */
    char *const *symmetric;    /* [nranks] peer-visible workspace of each rank */
    tile_word *const *word;    /* [nranks] flag words of each rank */
    tile_count *count;         /* arrival counters of this rank */
    void *scratch;             /* of this worker, 64-byte aligned */
    const struct tile_fault_hooks *fault; /* poison word, deadline, record */
    int64_t ticket;
};

#endif
