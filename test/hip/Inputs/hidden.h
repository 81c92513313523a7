// hidden.h: readers of blockIdx outside of the file that is rewritten.
#ifndef HIDDEN_H
#define HIDDEN_H
__device__ int number_elsewhere();
__device__ inline int number_here() { return blockIdx.x; }
#endif
