/* plain_convolution.c: what programs do around a library of matrix products, compiled with -Ofast -march=native. */
#include "plain_convolution.h"

#include <string.h>

/* A row of a patch: the places of x that lie in the image, and zeros. */
static void fill_row(const Layer *l, const float *x, int64_t at, float *to) {
    for (int64_t j = 0; j < l->wide; j++) {
        const int64_t column = j * l->step + at;
        to[j] = column >= 0 && column < l->width ? x[column] : 0;
    }
}

static void copy_row(const Layer *l, const float *x, int64_t at, float *to) {
    const int64_t first = at < 0 ? -at : 0, beyond = l->width - at < l->wide ? l->width - at : l->wide;
    if (beyond <= first) {
        memset(to, 0, sizeof *to * (size_t)l->wide);
        return;
    }
    memset(to, 0, sizeof *to * (size_t)first);
    memcpy(to + first, x + at + first, sizeof *to * (size_t)(beyond - first));
    memset(to + beyond, 0, sizeof *to * (size_t)(l->wide - beyond));
}

void plain_im2col(const Layer *l, const float *x, float *columns) {
    for (int64_t c = 0; c < l->channels; c++)
        for (int64_t r = 0; r < l->rows; r++)
            for (int64_t s = 0; s < l->columns; s++)
                for (int64_t i = 0; i < l->high; i++, columns += l->wide) {
                    const int64_t row = i * l->step + r - l->above;
                    if (row < 0 || row >= l->height)
                        memset(columns, 0, sizeof *columns * (size_t)l->wide);
                    else
                        (l->step == 1 ? copy_row : fill_row)(l, x + (c * l->height + row) * l->width, s - l->beside, columns);
                }
}

void plain_bias_relu(int64_t n, int64_t wide, const float *bias, float *y) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < wide; j++) {
            const float v = y[i * wide + j] + bias[i];
            y[i * wide + j] = v > 0 ? v : 0;
        }
}

void plain_depthwise(const Layer *l, const float *restrict x, const float *restrict k, const float *restrict bias,
                     float *restrict y) {
    const int64_t n = l->channels;
    for (int64_t b = 0; b < l->images; b++, x += l->height * l->width * n)
        for (int64_t i = 0; i < l->high; i++)
            for (int64_t j = 0; j < l->wide; j++, y += n) {
                memcpy(y, bias, sizeof *y * (size_t)n);
                for (int64_t r = 0; r < l->rows; r++)
                    for (int64_t s = 0; s < l->columns; s++) {
                        const int64_t row = i * l->step + r - l->above, column = j * l->step + s - l->beside;
                        if (row < 0 || row >= l->height || column < 0 || column >= l->width) continue;
                        const float *from = x + (row * l->width + column) * n, *w = k + (r * l->columns + s) * n;
                        for (int64_t c = 0; c < n; c++) y[c] += from[c] * w[c];
                    }
                for (int64_t c = 0; c < n; c++) y[c] = y[c] > 0 ? y[c] : 0;
            }
}
