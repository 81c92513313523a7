/* tile_alone.h: what the C of a program calls that stands alone (tilec compile --freestanding): tile_host.h without the
   runtime. One thread runs all tasks in order, so that nothing waits. TILE_INTEGERS: the program has no floats, and
   wants no mathematical library. Compilers call memcpy, memmove and memset. */
#ifndef TILE_DEVICE_TILE_ALONE_H
#define TILE_DEVICE_TILE_ALONE_H

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* loops are marked for -fopenmp-simd, which may be left out */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* a kernel's function takes what all of them take */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE_OK = 0, TILE_E_ARG = -1, TILE_E_RANGE = -9 }; /* as in tile.h */

/* What a task sees. */
typedef struct {
    void *const *arg;   /* the caller's tensors and scalars */
    const int64_t *dim; /* run-time sizes */
    char *local;        /* the caller's arena: temporaries, .. */
    void *scratch;      /* .. and behind them a task's own memory */
    int rank, coord[3]; /* 0 */
} tile_task;

#ifdef TILE_INTEGERS /* for functions that nobody calls */
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#else
#include <math.h>
#endif

/* Nobody else adds. */
#define TILE_ADD_TO(to, T, PLUS)                                                                                       \
    const T seen = *to;                                                                                                \
    *to = PLUS

#include "device/tile_c.h"

static inline int tile_refuse_starts(const tile_task *t, const char *name, int64_t at, int64_t seen) {
    (void)t, (void)name, (void)at, (void)seen;
    return TILE_E_RANGE;
}

#endif
