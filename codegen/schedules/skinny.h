/* skinny.h: how a machine's schedule `skinny` computes the product of two matrices: in which tiles, and what the
   workgroups of a cluster have in common. */
#ifndef TILEC_CODEGEN_SCHEDULES_SKINNY_H
#define TILEC_CODEGEN_SCHEDULES_SKINNY_H

#include "target/matrix.h"

typedef struct {
    const MatrixSchedule *facts; /* NULL: the machine has none for it */
    int rows;                    /* of a tile */
    int columns;                 /* of both results together, where there are two */
    int deep;                    /* positions of the sums that are copied at a time */
    int parts;                   /* workgroups of a cluster that share a tile's sums, each a part of them */
    int beside;  /* or that have tiles beside each other, and copy the rows that these have in common for all of them */
    double time; /* predicted, in the unit of MatrixSchedule.cost */
} SkinnyPlan;

/* c[rows, columns], each the sum of `depth` products, or of `sums` such. wide: columns of a tile, 0: the fastest. */
SkinnyPlan skinny_plan(const MatrixTarget *, int64_t rows, int64_t columns, int64_t depth, int sums, int64_t wide);

/* Positions that are copied at a time, where the ring has so much workgroup memory. */
int skinny_deep(const SkinnyPlan *, int lds_bytes);

/* The same by the schedule `narrow`, with a on the left: tiles of about as many columns as give each processor one.
   `few` is the other's; facts: NULL where that is faster. across: rows of b along j. */
SkinnyPlan narrow_plan(const MatrixTarget *, const SkinnyPlan *few, int64_t rows, int64_t columns, int64_t depth,
                       bool across, int64_t wide);

#endif
