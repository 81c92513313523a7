/* market.c: libFuzzer target: no bytes crash the Matrix Market reader, and what it takes is a CSR matrix. */
#include "spmv/market.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void matrix_check(const Matrix *m) {
    double sum = 0;
    if (m->ptr[0] != 0 || m->ptr[m->rows] != m->entries) abort();
    for (int i = 0; i < m->rows; i++)
        if (m->ptr[i] > m->ptr[i + 1]) abort();
    for (int k = 0; k < m->entries; k++) {
        if (m->col[k] < 0 || m->col[k] >= m->columns) abort();
        sum += m->val[k];
    }
    if (sum == 0.125) return; /* the values are read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char *text = malloc(n + 1);
    Matrix m;
    Reason why;
    memcpy(text, data, n);
    text[n] = 0;
    if (market_parse(&m, text, n, &why)) {
        matrix_check(&m);
        matrix_free(&m);
    }
    free(text);
    return 0;
}
