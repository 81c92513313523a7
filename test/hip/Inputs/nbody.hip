// nbody.hip: accelerations of bodies of one mass: every workgroup reads all bodies.
#include <hip/hip_runtime.h>

__global__ void nbody(const float2 *at, float2 *a, int n) {
  __shared__ float2 near[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float2 own = at[i];
  float2 sum = {0, 0};
  for (const float2 *from = at + threadIdx.x, *end = at + n; from < end; from += 256) {
    near[threadIdx.x] = *from;
    __syncthreads();
    for (int k = 0; k < 256; k++) {
      const float dx = near[k].x - own.x, dy = near[k].y - own.y, w = rsqrtf(dx * dx + dy * dy + 1e-3f);
      sum.x += dx * w * w * w;
      sum.y += dy * w * w * w;
    }
    __syncthreads();
  }
  a[i] = sum;
}

void launch(const float2 *at, float2 *a) { nbody<<<64, 256>>>(at, a, 16384); }
