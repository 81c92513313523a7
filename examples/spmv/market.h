/* market.h: reads a matrix in Matrix Market coordinate text, as CSR. https://math.nist.gov/MatrixMarket/formats.html
   real, integer and pattern (all 1); general, symmetric and skew-symmetric, whose other half is filled in. */
#ifndef SPMV_MARKET_H
#define SPMV_MARKET_H

#include "../common/input.h"

#include <stdint.h>

enum { MARKET_EXTENT = 1 << 22, MARKET_ENTRIES = 1 << 27 }; /* rows and columns, entries in both halves: at most */

typedef struct {
    int rows, columns, entries;
    int32_t *ptr, *col; /* [rows + 1], [entries], from 0; the entries of a row are in the order of the file */
    double *val;
} Matrix;

/* Takes n bytes with a NUL behind them. false: the reason names the line. The caller frees the matrix. */
bool market_parse(Matrix *, const char *text, size_t n, Reason *);
void matrix_free(Matrix *);

#endif
