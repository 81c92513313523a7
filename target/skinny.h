/* skinny.h: how a machine's schedule `skinny` computes the product of two matrices: in which tiles, and what the
   workgroups of a cluster have in common. */
#ifndef TILEC_TARGET_SKINNY_H
#define TILEC_TARGET_SKINNY_H

#include "target/matrix.h"

typedef struct {
    const MatrixSchedule *facts; /* NULL: the machine has none for it */
    int rows;                    /* of a tile */
    int deep;                    /* positions of the sums that are copied at a time */
    int parts;                   /* workgroups of a cluster that share a tile's sums, each a part of them */
    int beside;  /* or that have tiles beside each other, and copy the rows that these have in common for all of them */
    double time; /* predicted, in the unit of MatrixSchedule.cost */
} SkinnyPlan;

/* c[rows, columns], each the sum of `depth` products, or of `sums` such. wide: columns of a tile, 0: the fastest. */
SkinnyPlan skinny_plan(const MatrixTarget *, int64_t rows, int64_t columns, int64_t depth, int sums, int64_t wide);

#endif
