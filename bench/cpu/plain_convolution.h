/* plain_convolution.h: the peers of bench/cpu/convolution.c, in plain C. */
#ifndef BENCH_CPU_PLAIN_CONVOLUTION_H
#define BENCH_CPU_PLAIN_CONVOLUTION_H

#include <stdint.h>

/* Extents of a layer: images, their height, width and channels; outputs, 0 for depthwise weights; rows and columns of
   the weights; step; borders above and beside; height and width of the result. */
typedef struct {
    int64_t images, height, width, channels, outputs, rows, columns, step, above, beside, high, wide;
} Layer;

/* columns[channels * rows * columns][high * wide] of an image x[channels][height][width]. */
void plain_im2col(const Layer *l, const float *x, float *columns);

/* y = max(y + bias, 0), a bias for each of n rows. */
void plain_bias_relu(int64_t n, int64_t wide, const float *bias, float *y);

/* Depthwise, channels last, with bias and relu: weights k[rows][columns][channels]. */
void plain_depthwise(const Layer *l, const float *x, const float *k, const float *bias, float *y);

#endif
