// forms.hip: ways of naming the workgroup: each kernel adds rows of one matrix to columns of another, in tiles of 16 x 16.
#include <hip/hip_runtime.h>

#define TILE 16
#define ROW0 (blockIdx.y * TILE)

// By a macro and a helper.
__device__ inline int col0() { return blockIdx.x * TILE; }
__global__ void helper(const float *a, const float *b, float *c, int n) {
  const int i = ROW0 + threadIdx.y, j = col0() + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] + b[k * n + j];
  c[i * n + j] = sum;
}

// A list of tiles, taken apart by a function that stores through references; pointers go on along a loop.
__device__ void tile_of(int number, int columns, int &i, int &j) { i = number / columns; j = number - i * columns; }
namespace list {
__global__ void pointers(const float *a, const float *b, float *c, int n) {
  int ti, tj;
  tile_of(blockIdx.x, 64, ti, tj);
  const float *p = a + (ti * TILE + threadIdx.y) * n;
  const float *q = b + tj * TILE + threadIdx.x;
  float sum = 0;
  for (const float *end = p + n; p < end; ++p, q += n) sum += *p + *q;
  c[(ti * TILE + threadIdx.y) * n + tj * TILE + threadIdx.x] = sum;
}
} // namespace list

// Made by templates: the tile and the type; a while loop.
template <int T, class E> __global__ void made(const E *a, const E *b, E *c, int n) {
  const unsigned i = hipBlockIdx_y * T + hipThreadIdx_y, j = hipBlockIdx_x * T + hipThreadIdx_x;
  E sum = 0;
  int k = n;
  while (k > 0) {
    --k;
    sum += a[i * n + k] + b[k * n + j];
  }
  c[i * n + j] = sum;
}

// Rows of the grid in groups of four, as kernels that know of caches have them.
extern "C" __global__ __launch_bounds__(256) void grouped(const float *a, const float *b, float *c, int n) {
  const int tiles = n >> 4, group = blockIdx.x / (4 * tiles), in = blockIdx.x % (4 * tiles);
  const int i = (group * 4 + in % 4) * TILE + threadIdx.y, j = in / 4 * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 2)
    for (int u = 0; u < 2; u++) sum += a[i * n + k + u] + b[(k + u) * n + j];
  c[i * n + j] = sum;
}

/* A lambda of the kernel's own, behind a comment of
   two lines. */ __global__ void lambda(const float *a, const float *b, float *c, int n) {
  const auto row = [&] { return blockIdx.y * TILE + threadIdx.y; };
  const int i = row(), j = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] + b[k * n + j];
  c[i * n + j] = sum;
}

// Another kernel of that name.
__global__ void lambda(const float *a, const float *b, double *c, int n) {
  const int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] + b[k * n + j];
  c[i * n + j] = sum;
}

// Below the diagonal alone: tasks differ in length.
__global__ void causal(const float *a, const float *b, float *c, int n) {
  const int i = blockIdx.x * TILE + threadIdx.y, last = min((int)(blockIdx.x + 1) * TILE, n);
  float sum = 0;
  for (int k = 0; k < last; k++) sum += b[(blockIdx.y * n + k) * TILE + threadIdx.x];
  c[(blockIdx.y * n + i) * TILE + threadIdx.x] = sum + a[i];
}

void launch(const float *a, const float *b, float *c, double *d) {
  const dim3 grid(64, 64), block(TILE, TILE);
  hipLaunchKernelGGL(helper, dim3(64, 64), dim3(TILE, TILE), 0, 0,
                     a, b, c, 1024);
  list::pointers<<<64 * 64, block>>>(a, b, c, 1024);
  hipLaunchKernelGGL((made<TILE, float>), grid, block, 0, 0, a, b, c, 1024);
  grouped<<<64 * 64, block>>>(a, b, c, 1024);
  lambda<<<grid, block>>>(a, b, c, 1024);
  lambda<<<grid, block>>>(a, b, d, 1024);
  causal<<<dim3(64, 40), block>>>(a, b, c, 1024);
}
