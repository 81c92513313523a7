// hidden.h: readers of blockIdx outside of the file that is rewritten.
#ifndef HIDDEN_H
#define HIDDEN_H
__device__ int number_elsewhere();
__device__ inline int number_here() { return blockIdx.x; }
__device__ int row_here();
__global__ void kernel_of_header(float *c) { c[row_here() * 1024 + blockIdx.x] = 0; }
#endif
