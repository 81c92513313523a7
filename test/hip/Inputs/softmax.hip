// softmax.hip: a row a workgroup.
#include <hip/hip_runtime.h>

__device__ float largest(float a, float b) { return fmaxf(a, b); }
__device__ float total(float a, float b) { return a + b; }

template <float (*join)(float, float)> __device__ float joined(float x, float *of) {
  of[threadIdx.x] = x;
  __syncthreads();
  for (int n = 128; n; n /= 2) {
    if (threadIdx.x < n) of[threadIdx.x] = join(of[threadIdx.x], of[threadIdx.x + n]);
    __syncthreads();
  }
  x = of[0];
  __syncthreads();
  return x;
}

__global__ void softmax(const float *in, float *out, int n) {
  __shared__ float of[256];
  const float *from = in + blockIdx.x * n;
  float *to = out + blockIdx.x * n, most = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, from[i]);
  most = joined<largest>(most, of);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(from[i] - most);
  sum = joined<total>(sum, of);
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = expf(from[i] - most) / sum;
}

void launch(const float *in, float *out) { softmax<<<2048, 256>>>(in, out, 2048); }
