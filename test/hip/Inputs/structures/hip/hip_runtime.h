// hip_runtime.h: blockIdx and the like as structures whose members convert to integers, as ROCm's headers have them.
#pragma once
#pragma clang system_header
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
struct dim3 {
  unsigned x, y, z;
  constexpr __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern "C" __device__ __attribute__((const)) __SIZE_TYPE__ __ockl_get_local_id(unsigned), __ockl_get_group_id(unsigned),
    __ockl_get_local_size(unsigned), __ockl_get_num_groups(unsigned);
#define READER(name, function)                                                                                         \
  struct name {                                                                                                        \
    __device__ unsigned operator()(unsigned axis) const noexcept { return (unsigned)function(axis); }                  \
  };
READER(ThreadNumber, __ockl_get_local_id)
READER(GroupNumber, __ockl_get_group_id)
READER(GroupSize, __ockl_get_local_size)
READER(GridSize, __ockl_get_num_groups)
template <class F, int AXIS> struct Coordinate {
  __device__ operator unsigned() const noexcept { return F{}(AXIS); }
};
template <class F> struct Coordinates {
  static constexpr Coordinate<F, 0> x{};
  static constexpr Coordinate<F, 1> y{};
  static constexpr Coordinate<F, 2> z{};
};
static constexpr Coordinates<ThreadNumber> threadIdx{};
static constexpr Coordinates<GroupNumber> blockIdx{};
static constexpr Coordinates<GroupSize> blockDim{};
static constexpr Coordinates<GridSize> gridDim{};
typedef struct ihipStream_t *hipStream_t;
typedef int hipError_t;
extern "C" hipError_t __hipPushCallConfiguration(dim3, dim3, __SIZE_TYPE__ shared = 0, hipStream_t = 0);
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, hipStream_t);
