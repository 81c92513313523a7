// gemm.hip: a product in tiles of 64 x 64; rows and columns of the grid are those of the result.
#include <hip/hip_runtime.h>

#define TILE 64
#define STEP 16

template <typename T> __device__ inline T fused(T a, T b, T c) { return a * b + c; }

template <typename T>
__global__ void __launch_bounds__(256) gemm(const T *A, const T *B, T *C, int N, int K) {
  __shared__ T a[STEP][TILE], b[STEP][TILE];
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  T acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += STEP) {
    for (int i = tid; i < TILE * STEP; i += 256) {
      a[i % STEP][i / STEP] = A[(row0 + i / STEP) * K + k0 + i % STEP];
      b[i / TILE][i % TILE] = B[(k0 + i / TILE) * N + col0 + i % TILE];
    }
    __syncthreads();
    for (int k = 0; k < STEP; k++)
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) acc[i][j] = fused(a[k][ty * 4 + i], b[k][tx * 4 + j], acc[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) C[(row0 + ty * 4 + i) * N + col0 + tx * 4 + j] = acc[i][j];
}

void launch(const float *A, const float *B, float *C) {
  gemm<float><<<dim3(2048 / TILE, 2048 / TILE), 256>>>(A, B, C, 2048, 2048);
}
