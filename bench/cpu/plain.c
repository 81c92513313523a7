/* plain.c: see plain.h. */
#include "plain.h"

#include <math.h>
#include <stdlib.h>

void plain_softmax(int rows, int columns, const float *x, float *y) {
    for (int r = 0; r < rows; r++) {
        const float *in = x + (long)r * columns;
        float *out = y + (long)r * columns, most = -INFINITY, sum = 0;
        for (int c = 0; c < columns; c++) most = in[c] > most ? in[c] : most;
        for (int c = 0; c < columns; c++) {
            out[c] = expf(in[c] - most);
            sum += out[c];
        }
        for (int c = 0; c < columns; c++) out[c] /= sum;
    }
}

void plain_rmsnorm(int rows, int columns, const float *x, const float *w, float eps, float *y) {
    for (int r = 0; r < rows; r++) {
        const float *in = x + (long)r * columns;
        float *out = y + (long)r * columns, sum = 0;
        for (int c = 0; c < columns; c++) sum += in[c] * in[c];
        float scale = 1 / sqrtf(sum / (float)columns + eps);
        for (int c = 0; c < columns; c++) out[c] = in[c] * scale * w[c];
    }
}

static void attend_row(int i, int s, int d, const float *q, const float *k, const float *v, float scale, float *p,
                       float *o) {
    (void)s;
    float most = -INFINITY, sum = 0;
    for (int j = 0; j <= i; j++) {
        float x = 0;
        for (int c = 0; c < d; c++) x += q[(long)i * d + c] * k[(long)j * d + c];
        p[j] = x * scale;
        most = p[j] > most ? p[j] : most;
    }
    for (int j = 0; j <= i; j++) sum += p[j] = expf(p[j] - most);
    for (int c = 0; c < d; c++) o[(long)i * d + c] = 0;
    for (int j = 0; j <= i; j++)
        for (int c = 0; c < d; c++) o[(long)i * d + c] += p[j] / sum * v[(long)j * d + c];
}

void plain_attention(int heads, int groups, int s, int d, const float *q, const float *k, const float *v, float scale,
                     float *o) {
    float *p = malloc(sizeof *p * (unsigned)s);
    if (!p) abort();
    for (int h = 0; h < heads; h++) {
        long own = (long)h * s * d, shared = (long)(h / (heads / groups)) * s * d;
        for (int i = 0; i < s; i++) attend_row(i, s, d, q + own, k + shared, v + shared, scale, p, o + own);
    }
    free(p);
}
