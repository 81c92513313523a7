/* skinny_cdna.h: in which tiles a machine whose threads load the operands computes products of few rows, by its
   schedule `skinny`. */
#ifndef TILEC_CODEGEN_SCHEDULES_SKINNY_CDNA_H
#define TILEC_CODEGEN_SCHEDULES_SKINNY_CDNA_H

#include "codegen/schedules/match.h"
#include "target/matrix.h"

enum { SKINNY_RUN = 128 }; /* bytes of a row that a wave loads at a time */

typedef struct {
    const MatrixSchedule *facts; /* NULL: registers have no room for it */
    int rows, columns;           /* of a tile, of each result */
    int stages;                  /* runs of a wave that are on their way, or multiplied */
    int waves;                   /* of a workgroup, which share its sums */
    bool pair;                   /* two workgroups have room on a processor */
} SkinnyShape;

SkinnyShape skinny_shape(const MatrixTarget *, const MatrixSchedule *, const Product *, int64_t rows);

#endif
