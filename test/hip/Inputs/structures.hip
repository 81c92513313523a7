// structures.hip: blockIdx.x is no integer, but converts to one. Rows of a matrix are added to columns of another.
#include <hip/hip_runtime.h>

__device__ void add(const float *a, const float *b, float *c, int i, int j) {
  float sum = 0;
  for (int k = 0; k < 1024; k++) sum += a[i * 1024 + k] + b[k * 1024 + j];
  c[i * 1024 + j] = sum;
}
__global__ void by_variable(const float *a, const float *b, float *c) {
  add(a, b, c, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x);
}
__global__ void by_function(const float *a, const float *b, float *c) {
  add(a, b, c, blockIdx.y * blockDim.y + threadIdx.y, __ockl_get_group_id(0) * blockDim.x + threadIdx.x);
}
void launch(const float *a, const float *b, float *c) {
  by_variable<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c);
  by_function<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c);
}
