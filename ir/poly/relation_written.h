/* relation_written.h: results that are written exactly once: elements that no task writes, and elements that two write. */
#ifndef TILEC_IR_POLY_RELATION_WRITTEN_H
#define TILEC_IR_POLY_RELATION_WRITTEN_H

#include "ir/poly/relation.h"

typedef struct {
    const Op *store, *other;       /* other: the second one of an element that is written twice; NULL: nothing writes it */
    const char *element, *sizes;   /* 63, 64; of run-time sizes "n = 2", or "" */
    const char *writer, *rewriter; /* tile numbers i 0, j 1 of the two tasks */
} CoverFault;

/* Is there such an element, on the first rank and for sizes that are possible? True also where it cannot be told. */
bool cover_holds(const Module *, const Kernel *, int param, Arena *, CoverFault *);

#endif
