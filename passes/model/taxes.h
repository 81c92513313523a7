/* taxes.h: taxes, the costs of a program that is cut into nodes: launches, meetings of all ranks, intermediates in
   memory. */
#ifndef TILEC_PASSES_MODEL_TAXES_H
#define TILEC_PASSES_MODEL_TAXES_H

#include "passes/model/model.h"

typedef struct {
    int nodes;    /* kernels and collectives, each started on its own */
    int barriers; /* waits for all tasks of a node on all ranks; two for a collective that stands alone */
    int flags;    /* families of words by which ranks tell each other of tiles */
    double bytes; /* of intermediates that a rank writes to memory and reads again */
} Taxes;

Taxes taxes_of(const Module *, const Program *, const int64_t *sym);

/* Predicted seconds. */
typedef struct {
    double launches, meetings, memory;
} TaxTimes;

TaxTimes taxes_times(const TargetFacts *, const Taxes *);

/* What a program would take if nothing else bounded it, in seconds. */
typedef struct {
    double link, products, memory, latency;
} Bounds;

Bounds bounds_of(const TargetFacts *, const Module *, const Program *, const int64_t *sym, const Taxes *);

#endif
