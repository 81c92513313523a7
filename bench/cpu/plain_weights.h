/* plain_weights.h: products as plain loops, compiled with -Ofast, for bench/cpu/weights.c. */
#ifndef BENCH_CPU_PLAIN_WEIGHTS_H
#define BENCH_CPU_PLAIN_WEIGHTS_H

#include <stdint.h>

typedef struct {
    const int32_t *ptr, *col;
    const float *val;
} Csr;

/* y[batch][n] = x[batch][k] w[n][k]^T; the same for sparse w. */
void plain_dense(int64_t batch, int64_t n, int64_t k, const float *x, const float *w, float *y);
void plain_csr(int64_t batch, int64_t n, int64_t k, const Csr *w, const float *x, float *y);

#endif
