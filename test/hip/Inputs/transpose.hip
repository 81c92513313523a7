// transpose.hip: tiles of 32 x 32 elements of 16 bits, by LDS: half a cache line each.
#include <hip/hip_runtime.h>

extern "C" __global__ void transpose(const unsigned short *in, unsigned short *out, int width, int height) {
  __shared__ unsigned short tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < height && y + i < width) out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

void launch(const unsigned short *in, unsigned short *out) {
  const dim3 grid(64, 64), block(32, 8);
  transpose<<<grid, block>>>(in, out, 2048, 2048);
}
