// refused.hip: kernels whose workgroups are not followed, or must not be moved.
#include <hip/hip_runtime.h>

#define SHARED c[(blockIdx.y * 16 + threadIdx.y) * n + threadIdx.x] = a[threadIdx.x];

__global__ void in_branch(const float *a, float *c, int n) {
  int i;
  if (blockIdx.x & 1) i = blockIdx.x * 16;
  else i = 5;
  c[i * n + threadIdx.x] = a[threadIdx.x];
}

__global__ void in_assembly(const float *a, float *c, int n) {
  int i;
  asm volatile("s_mov_b32 %0, %1" : "=s"(i) : "s"(blockIdx.x));
  c[i * n + threadIdx.x] = a[threadIdx.x];
}

__global__ void by_pointer(const float *a, float *c, int n) {
  const unsigned *x = &blockIdx.x;
  c[*x * n + threadIdx.x] = a[threadIdx.x];
}

__global__ void by_builtin(const float *a, float *c, int n) { c[__builtin_amdgcn_workgroup_id_x() * n] = a[threadIdx.x]; }

__device__ float elsewhere(float);
__global__ void calls(const float *a, float *c, int n) { c[blockIdx.x * n] = elsewhere(a[threadIdx.x]); }

__global__ void waits(const float *a, float *c, volatile int *flag, int n) {
  while (flag[blockIdx.x] == 0) continue;
  c[blockIdx.x * n] = a[threadIdx.x];
}

template <class T> __global__ void not_made(const T *a, T *c, int n) { c[blockIdx.x * n] = a[threadIdx.x]; }

__global__ void no_launch(const float *a, float *c, int n) { SHARED }

__device__ int row() { return blockIdx.y * 16 + threadIdx.y; }
__device__ void sum(const float *a, float *c, int i, int j) {
  float x = 0;
  for (int k = 0; k < 1024; k++) x += a[i * 1024 + k] + a[k * 1024 + j];
  c[i * 1024 + j] = x;
}
__global__ void first(const float *a, float *c) { sum(a, c, row(), blockIdx.x * 16 + threadIdx.x); }
__global__ void second(const float *a, float *c) { sum(a, c, row(), blockIdx.x * 16 + threadIdx.x); }

__global__ void gathers(const float *a, const int *at, float *c, int n) { c[at[blockIdx.x * 64 + threadIdx.x]] = a[at[threadIdx.x]]; }

__global__ void no_size(const float *a, float *c, int n) { SHARED }

__global__ void jumps(const float *a, float *c, int n) {
  switch (blockIdx.x) {
  case 0: c[0] = a[0]; break;
  default: SHARED
  }
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void calls_itself(const float *a, float *c, int n) { c[blockIdx.x * n] = a[fibonacci(n)]; }

__global__ void from_itself(const float *a, float *c, int n) {
  const int i = i;
  c[blockIdx.x * n + i] = a[threadIdx.x];
}

#define TWICE x += x << 3, x += x >> 5, x += x << 2, x += x >> 7, x += x << 9, x += x >> 1,
__global__ void grows(const float *a, float *c, int n) {
  unsigned x = blockIdx.x;
  TWICE TWICE TWICE TWICE TWICE TWICE TWICE TWICE TWICE c[x % n] = a[threadIdx.x];
}

void launch(const float *a, float *c, int *flag, int n) {
  calls_itself<<<64, 64>>>(a, c, 64);
  from_itself<<<64, 64>>>(a, c, 64);
  grows<<<64, 64>>>(a, c, 64);
  in_branch<<<64, 64>>>(a, c, 64);
  in_assembly<<<64, 64>>>(a, c, 64);
  by_pointer<<<64, 64>>>(a, c, 64);
  by_builtin<<<64, 64>>>(a, c, 64);
  calls<<<64, 64>>>(a, c, 64);
  waits<<<64, 64>>>(a, c, flag, 64);
  first<<<dim3(64, 64), dim3(16, 16)>>>(a, c);
  second<<<dim3(64, 64), dim3(16, 16)>>>(a, c);
  gathers<<<64, 64>>>(a, flag, c, 64);
  no_size<<<dim3(64, 64), dim3(16, 16)>>>(a, c, n);
  jumps<<<64, 64>>>(a, c, 64);
}
