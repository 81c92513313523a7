// racy.hip: the workgroup that comes last leaves its number behind.
#include <hip/hip_runtime.h>

__global__ void last(const float *a, const float *b, float *c, int n) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  if (sum > -1e30f) c[0] = i * n + j;
}

void launch(const float *a, const float *b, float *c) { last<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c, 1024); }
