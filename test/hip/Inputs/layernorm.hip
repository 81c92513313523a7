// layernorm.hip: a row a workgroup; all rows share weights and biases.
#include <hip/hip_runtime.h>

__global__ void layernorm(const float *x, const float *weight, const float *bias, float *y, int n) {
  __shared__ float sums[2][256];
  const int row = hipBlockIdx_x;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += 256) {
    const float v = x[row * n + i];
    sum += v;
    squares += v * v;
  }
  sums[0][threadIdx.x] = sum;
  sums[1][threadIdx.x] = squares;
  __syncthreads();
  for (int half = 128; half; half >>= 1) {
    if (threadIdx.x < half)
      for (int s = 0; s < 2; s++) sums[s][threadIdx.x] += sums[s][threadIdx.x + half];
    __syncthreads();
  }
  const float mean = sums[0][0] / n, scale = rsqrtf(sums[1][0] / n - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 256) y[row * n + i] = (x[row * n + i] - mean) * scale * weight[i] + bias[i];
}

void launch(const float *x, const float *weight, const float *bias, float *y) { layernorm<<<2048, 256>>>(x, weight, bias, y, 2048); }
