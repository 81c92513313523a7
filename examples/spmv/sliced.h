/* sliced.h: a matrix in sliced ELL, for spmv_sell of std/sparse.tile, and its long rows in pieces, which are rows of
   CSR whose products spmv_parts adds. */
#ifndef SPMV_SLICED_H
#define SPMV_SLICED_H

#include "market.h"

enum { SLICE = 32, PIECE = 2048 }; /* rows of a slice: those of spmv_sell; entries of a piece, at most */

typedef struct {
    int slices, rows, entries;  /* of the sliced part; entries with those that only fill a slice */
    int32_t *start, *row, *col; /* [slices + 1], [rows], [entries] */
    float *val;
    int long_rows, pieces, long_entries;
    int32_t *first, *long_row; /* [long_rows + 1]: the first piece of each; [long_rows] */
    int32_t *piece, *long_col; /* [pieces + 1]: CSR; [long_entries] */
    float *long_val;
} Sliced;

/* Rows of more than `longest` entries are in pieces; the others are sorted by length within windows of 32 slices, so
   that slices have little to fill. false: out of memory. The caller frees it. */
bool sliced_make(Sliced *, const Matrix *, int longest);
void sliced_free(Sliced *);

/* How long a row may be: as long as most are, and some more. */
int sliced_longest(const Matrix *);

#endif
