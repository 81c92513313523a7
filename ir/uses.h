/* uses.h: which operations take each value of a kernel, found once for all of its values. */
#ifndef TILEC_IR_USES_H
#define TILEC_IR_USES_H

#include "ir/ir.h"

typedef struct Uses {
    int *count;      /* by value: operands, and terms of subscripts, that are this value */
    const Op **user; /* by value: the last operation that has one */
} Uses;

/* Holds as long as the kernel stays as it is. */
Uses uses_of(const Kernel *, Arena *);

/* The operation that takes the value, once; NULL: none does, or others do too. */
const Op *uses_only(const Uses *, const Value *);

/* The value that its loop carries and that it is added to, and nothing else looks at, which begins at 0; -1: there is
   none (verify/layout.c). scaled: a factor of at most 1 may be in front of it. */
int sum_of_loop(const Uses *, const Op *sum, bool scaled);

#endif
