/* relation_self.h: kernels that read their own results: what they read is the final value. */
#ifndef TILEC_IR_POLY_RELATION_SELF_H
#define TILEC_IR_POLY_RELATION_SELF_H

#include "ir/poly/relation.h"

/* A read that would come before the write of what it reads; with an example where one is found (else NULL). */
typedef struct {
    const Op *write, *read;
    bool certain; /* its places are affine: there is such a read */
    const char *writer, *reader, *element; /* tile numbers i 0, j 1 of the two tasks; 63, 64 */
} SelfFault;

/* Is every element of the result written before it is read? Tasks run in the order of the grid, the last range fastest,
   and loops inside a task in order. For all sizes; false also where isl cannot tell. */
bool self_order_holds(const Module *, const Kernel *, int param, Arena *, SelfFault *);
/* Another order of the grid's ranges in which every element is written before; NULL: none. */
const char *self_order_other(const Module *, const Kernel *, int param, Arena *);

#endif
