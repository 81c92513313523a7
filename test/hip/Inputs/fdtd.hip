// fdtd.hip: a step of the two-dimensional finite-difference time-domain method on a staggered grid.
#include <hip/hip_runtime.h>

#define ROW(rows) (blockIdx.y * (rows) + threadIdx.y)

__device__ inline int column() { return blockIdx.x * 64 + threadIdx.x; }

__global__ void electric(float *ey, float *ex, const float *hz, int n, int m) {
  const int i = ROW(4), j = blockIdx.x * 64 + threadIdx.x;
  if (i > 0 && i < n && j < m) ey[i * m + j] -= 0.5f * (hz[i * m + j] - hz[(i - 1) * m + j]);
  if (j > 0 && i < n && j < m) ex[i * m + j] -= 0.5f * (hz[i * m + j] - hz[i * m + j - 1]);
}

__global__ void magnetic(float *hz, const float *ey, const float *ex, int n, int m) {
  const int i = ROW(4), j = column();
  if (i < n - 1 && j < m - 1)
    hz[i * m + j] -= 0.7f * (ex[i * m + j + 1] - ex[i * m + j] + ey[(i + 1) * m + j] - ey[i * m + j]);
}

void launch(float *ey, float *ex, float *hz) {
  electric<<<dim3(32, 512), dim3(64, 4)>>>(ey, ex, hz, 2048, 2048);
  magnetic<<<dim3(32, 512), dim3(64, 4)>>>(hz, ey, ex, 2048, 2048);
}
