// hidden.hip: readers of blockIdx that a variable in the kernel would not reach. Each kernel adds rows of a to columns of b.
#include <hip/hip_runtime.h>
#include "hidden.h"

__device__ void add(const float *a, const float *b, float *c, int i, int j) {
  float sum = 0;
  for (int k = 0; k < 1024; k++) sum += a[i * 1024 + k] + b[k * 1024 + j];
  c[i * 1024 + j] = sum;
}
#define COLUMN (blockIdx.x * 16 + threadIdx.x)

struct Places {
  static __device__ int row() { return blockIdx.y * 16 + threadIdx.y; }
  __device__ ~Places() { end = blockIdx.x; }
  int end;
};

__global__ void in_method(const float *a, const float *b, float *c) { add(a, b, c, Places::row(), COLUMN); }
__global__ void in_destructor(const float *a, const float *b, float *c) {
  Places p;
  add(a, b, c, threadIdx.y, COLUMN);
}
__global__ void in_header(const float *a, const float *b, float *c) { add(a, b, c, number_here() * 16 + threadIdx.y, COLUMN); }
__global__ void in_other_file(const float *a, const float *b, float *c) { add(a, b, c, number_elsewhere() * 16 + threadIdx.y, COLUMN); }

template <class F> __global__ void given(const float *a, const float *b, float *c, F row) { add(a, b, c, row(), COLUMN); }

__device__ inline int seen(const int *flag) { return *(const volatile int *)flag; }
__global__ void spins(const float *a, const float *b, float *c, const int *flag) {
  int ready;
  do {
    ready = seen(flag);
  } while (!ready);
  add(a, b, c, blockIdx.y * 16 + threadIdx.y, COLUMN);
}

template <int N> __device__ int part() { return blockIdx.y * N + threadIdx.y; }
template <int N> __global__ void not_made(const float *a, const float *b, float *c) { add(a, b, c, part<N>(), COLUMN); }
__global__ void with_part(const float *a, const float *b, float *c) { add(a, b, c, part<16>(), COLUMN); }

__device__ int first_half() { return blockIdx.y * 16 + threadIdx.y; }
template <int N> __device__ int rows() {
  if constexpr (N == 16) return first_half();
  else return blockIdx.y * N + threadIdx.y;
}
template <int N> __global__ void made_twice(const float *a, const float *b, float *c) { add(a, b, c, rows<N>(), COLUMN); }
__global__ void also_first(float *c) { c[first_half()] = 0; }

#define EVERYWHERE (::blockIdx.y * 16 + threadIdx.y)
__global__ void qualified(const float *a, const float *b, float *c) { add(a, b, c, EVERYWHERE, COLUMN); }
__device__ int by_default(int row = blockIdx.y) { return row * 16 + threadIdx.y; }
__global__ void default_argument(const float *a, const float *b, float *c) { add(a, b, c, by_default(), COLUMN); }
struct Initial {
  int column, row = blockIdx.y;
};
__global__ void initial_value(const float *a, const float *b, float *c) {
  const Initial at{(int)COLUMN};
  add(a, b, c, at.row * 16 + threadIdx.y, at.column);
}
__global__ void takes_nothing(const float *a, const float *b, float *c) {
  const auto row = [] { return blockIdx.y * 16 + threadIdx.y; };
  add(a, b, c, row(), COLUMN);
}
__device__ int row_here() { return blockIdx.y * 16 + threadIdx.y; }
__global__ void with_header(const float *a, const float *b, float *c) { add(a, b, c, row_here(), COLUMN); }

void launch(const float *a, const float *b, float *c, const int *flag) {
  const dim3 grid(64, 64), block(16, 16);
  in_method<<<grid, block>>>(a, b, c);
  in_destructor<<<grid, block>>>(a, b, c);
  in_header<<<grid, block>>>(a, b, c);
  in_other_file<<<grid, block>>>(a, b, c);
  given<<<grid, block>>>(a, b, c, [=] __device__() { return (int)(blockIdx.y * 16 + threadIdx.y); });
  spins<<<grid, block>>>(a, b, c, flag);
  with_part<<<grid, block>>>(a, b, c);
  made_twice<32><<<grid, block>>>(a, b, c);
  made_twice<16><<<grid, block>>>(a, b, c);
  also_first<<<grid, block>>>(c);
  qualified<<<grid, block>>>(a, b, c);
  default_argument<<<grid, block>>>(a, b, c);
  initial_value<<<grid, block>>>(a, b, c);
  takes_nothing<<<grid, block>>>(a, b, c);
  with_header<<<grid, block>>>(a, b, c);
}
