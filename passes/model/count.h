/* count.h: what the counters of the cost model share. */
#ifndef TILEC_PASSES_MODEL_COUNT_H
#define TILEC_PASSES_MODEL_COUNT_H

#include "passes/model/model.h"
#include "target/matrix.h"

typedef struct {
    const Module *m;
    const Kernel *k;
    const int64_t *sym;
    const MatrixTarget *machine; /* NULL: the host */
    double *trips, *length;      /* by range: iterations or tasks, and positions, along it */
    double *touched;             /* by parameter: elements that are loaded or stored */
    double *far;                 /* .. on other ranks */
    double part; /* of the tasks, those that come here: 1, but in the arms of what is a rank's own tile */
    double *once;                /* the same of its largest access */
    double loaded;               /* what integers from memory are taken for; NAN: not known */
    VEC(int) open;               /* ranges of the loops around */
    Arena *arena;
    NodeCost cost;
} Count;

double count_elements(const Count *, Type); /* of all tiles of a type, over the grid and the loops around */
double count_times(const Count *);          /* how often a task comes here */
void count_on_gpu(Count *, const Op *);     /* gpu.c */

#endif
