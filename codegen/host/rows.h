/* rows.h: values that lie in memory in rows: operands that a product reads where they are. */
#ifndef TILEC_CODEGEN_HOST_ROWS_H
#define TILEC_CODEGEN_HOST_ROWS_H

#include "codegen/host/host.h"

/* The first element, how far rows are apart, and how many of them are inside the tensor; whole: all of them. */
typedef struct {
    const CExpr *at, *stride, *inside;
    bool whole;
    Elem elem;        /* in memory */
    const char *from; /* of codes: the operands that say where the first element is */
} Rows;

/* Of an f32 value whose elements along `line` are neighbours, from the first position of both ranges; row -1: a single
   row. false: it is computed, or lies otherwise. */
bool rows_of_value(Nest *, const Value *, int16_t row, int16_t line, Rows *);
/* The same of a value in memory, of a type of runtime/device/tile_codes.h that becomes f32 without rounding. */
bool rows_of_codes(Nest *, const Value *, int16_t row, int16_t line, Rows *);
bool rows_of_tile(Nest *, const Tile *, int16_t row, int16_t line, Rows *);

/* A product of few rows. x: rows of k, m of them, or one (m -1). w: n rows of k. */
typedef struct {
    const Value *x, *w;
    int16_t m, n, k;
} FewProduct;

bool few_sides(Fn *, const Op *, const DotRanges *, bool swapped, FewProduct *); /* false: the result lies otherwise */
bool few_of(Fn *, const Op *dot, FewProduct *, Rows *w); /* false: it is none that reads w in place */
Nest few_nest(Fn *, const FewProduct *);                 /* loops over all ranges but the product's own */
void few_left(Nest *, const FewProduct *, Rows *x);      /* x in memory, or made */

#endif
