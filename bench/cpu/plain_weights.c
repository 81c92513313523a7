/* plain_weights.c: see plain_weights.h. */
#include "plain_weights.h"

void plain_dense(int64_t batch, int64_t n, int64_t k, const float *x, const float *w, float *y) {
    for (int64_t b = 0; b < batch; b++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < k; p++) sum += x[b * k + p] * w[j * k + p];
            y[b * n + j] = sum;
        }
}

void plain_csr(int64_t batch, int64_t n, int64_t k, const Csr *w, const float *x, float *y) {
    for (int64_t b = 0; b < batch; b++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int32_t e = w->ptr[j]; e < w->ptr[j + 1]; e++) sum += w->val[e] * x[b * k + w->col[e]];
            y[b * n + j] = sum;
        }
}
