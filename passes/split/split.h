/* split.h: what the parts of the pass split share: a loop whose kernel has few tasks, and the two kernels that it
 * becomes. */
#ifndef TILEC_PASSES_SPLIT_SPLIT_H
#define TILEC_PASSES_SPLIT_SPLIT_H

#include "passes/pass.h"

/* A kernel and where its parameters come from: a number of the kernel that was cut, or behind those the number of a
   value that its loop carries. */
typedef struct {
    Kernel *k;
    VEC(int) from;
} SplitKernel;

/* What a loop carries, one element of it a part and task: [part, the grid's dimensions that it has]. */
typedef struct {
    Param param; /* as a result */
    Span sub[MAX_DIMS];
} SplitValue;

typedef struct {
    int64_t parts;
    int values; /* that the loop carries */
    SplitValue *value;
    SplitKernel part, merge;
} Split;

/* plain.c: loops that only sum, or take extremes; such a one gets the merge that says so. */
bool split_is_plain(const Module *, const Kernel *, const Op *loop);
void split_plain(Module *, Kernel *, Op *loop);

/* cut.c: the two kernels for a loop with a merge; false: a carried value has too many dimensions. */
bool split_cut(Module *, const Kernel *, const Op *loop, Split *);

/* choose.c: the parts that the machine runs fastest; 1: the loop as it is. */
int64_t split_choose(PassContext *, const Kernel *, const Op *loop);

#endif
