/* hip_runtime.h: the words of HIP that kernels use, where ROCm is not installed: for `tilec remap`, which reads kernels, and
   with TILE_EMU for the emulator, which runs a workgroup at a time. */
#ifndef TILE_HIP_RUNTIME_H
#define TILE_HIP_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
typedef _Float16 __half;
typedef struct ihipStream_t *hipStream_t;
typedef int hipError_t;
enum { hipSuccess = 0 };
enum { warpSize = 64 };

#ifdef TILE_EMU

#include "device/tile_emu_calls.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define HIP_FN static inline

static dim3 gridDim, blockDim;
static uint3 blockIdx;
HIP_FN uint3 hip_thread() {
    const unsigned t = (unsigned)tile_emu_thread();
    return {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
}
#define threadIdx (hip_thread())
HIP_FN void __syncthreads() { tile_emu_sync(); }
HIP_FN void __threadfence() {}
template <class T> T hip_shuffle(T x, int lane) {
    static_assert(sizeof(T) == 4, "shuffles are of 32 bits");
    uint32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    bits = tile_emu_shuffle(bits, lane);
    __builtin_memcpy(&x, &bits, 4);
    return x;
}
HIP_FN int hip_lane() { return tile_emu_thread() % warpSize; }
template <class T> T __shfl(T x, int lane, int width = warpSize) {
    return hip_shuffle(x, hip_lane() / width * width + lane % width);
}
template <class T> T __shfl_down(T x, unsigned by, int width = warpSize) {
    const int lane = hip_lane();
    return hip_shuffle(x, lane % width + (int)by < width ? lane + (int)by : lane);
}
template <class T> T __shfl_xor(T x, int with, int width = warpSize) { return (void)width, hip_shuffle(x, hip_lane() ^ with); }
template <class T> T atomicAdd(T *to, T x) {
    const T was = *to;
    *to = was + x;
    return was;
}
HIP_FN float rsqrtf(float x) { return 1 / sqrtf(x); }
#define __expf(x) expf(x)

#else

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define HIP_FN extern __device__

extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 gridDim, blockDim;
HIP_FN void __syncthreads();
HIP_FN void __threadfence();
template <class T> __device__ T __shfl(T, int lane, int width = warpSize);
template <class T> __device__ T __shfl_down(T, unsigned by, int width = warpSize);
template <class T> __device__ T __shfl_xor(T, int with, int width = warpSize);
template <class T> __device__ T atomicAdd(T *, T);
HIP_FN float rsqrtf(float);
HIP_FN float __expf(float);
#define HIP_MATH(name) extern "C" __device__ float name(float);
HIP_MATH(sqrtf) HIP_MATH(expf) HIP_MATH(logf) HIP_MATH(erff) HIP_MATH(fabsf) HIP_MATH(tanhf) HIP_MATH(erfcf)
#undef HIP_MATH
extern "C" __device__ float fmaxf(float, float), fminf(float, float), fmaf(float, float, float), powf(float, float);

extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, hipStream_t = 0);
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
extern "C" hipError_t hipMalloc(void **, size_t);
extern "C" hipError_t hipFree(void *);
extern "C" hipError_t hipDeviceSynchronize();

#endif

template <class T> __host__ __device__ constexpr T min(T a, T b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr T max(T a, T b) { return a < b ? b : a; }

#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)

#endif
