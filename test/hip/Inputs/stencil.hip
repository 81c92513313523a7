// stencil.hip: the mean of a point and its four neighbours; the grid is a list of tiles.
#include <hip/hip_runtime.h>

namespace mesh {

__global__ void stencil(const float *in, float *out, int n) {
  const int tiles = n / 32;
  const int i = blockIdx.x / tiles * 32 + threadIdx.y, j = blockIdx.x % tiles * 32 + threadIdx.x;
  for (int r = 0; r < 32; r += 8) {
    const float *at = in + (i + r) * n + j;
    if (i + r > 0 && i + r < n - 1 && j > 0 && j < n - 1)
      out[(i + r) * n + j] = 0.2f * (at[0] + at[-1] + at[1] + at[-n] + at[n]);
  }
}

} // namespace mesh

void launch(const float *in, float *out) { mesh::stencil<<<64 * 64, dim3(32, 8)>>>(in, out, 2048); }
