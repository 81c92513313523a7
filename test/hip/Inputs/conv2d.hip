// conv2d.hip: 3 x 3 over images of 56 x 56 pixels with 64 channels: z counts images and groups of 16 channels of the result.
#include <hip/hip_runtime.h>

enum { SIDE = 56, CHANNELS = 64, GROUP = 16 };

__global__ void conv2d(const float *x, const float *k, float *y) {
  const int image = blockIdx.z / (CHANNELS / GROUP), group = blockIdx.z % (CHANNELS / GROUP);
  const int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
  const float *from = x + image * CHANNELS * SIDE * SIDE;
  float sum[GROUP] = {};
  for (int c = 0; c < CHANNELS; c++, from += SIDE * SIDE)
    for (int p = 0; p < 3; p++)
      for (int q = 0; q < 3; q++) {
        const int r = i + p - 1, s = j + q - 1;
        const float at = r >= 0 && r < SIDE && s >= 0 && s < SIDE ? from[r * SIDE + s] : 0.0f;
        for (int o = 0; o < GROUP; o++) sum[o] += at * k[((group * GROUP + o) * CHANNELS + c) * 9 + p * 3 + q];
      }
  for (int o = 0; o < GROUP; o++) y[((image * CHANNELS + group * GROUP + o) * SIDE + i) * SIDE + j] = sum[o];
}

void launch(const float *x, const float *k, float *y) { conv2d<<<dim3(7, 7, 8 * 4), dim3(8, 8)>>>(x, k, y); }
