/* taxes.h: taxes, the costs of a program that is cut into nodes: launches, meetings of all ranks, intermediates in
   memory. */
#ifndef TILEC_PASSES_MODEL_TAXES_H
#define TILEC_PASSES_MODEL_TAXES_H

#include "ir/ir.h"

typedef struct {
    int nodes;    /* kernels and collectives, each started on its own */
    int barriers; /* waits for all tasks of a node on all ranks; two for a collective that stands alone */
    double bytes; /* of intermediates that a rank writes to memory and reads again */
} Taxes;

Taxes taxes_of(const Module *, const Program *, const int64_t *sym);

#endif
