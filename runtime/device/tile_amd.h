/* tile_amd.h: the machine under the device vocabulary on AMD's CDNA: clang's builtins, no ROCm headers or libraries.
   Works as plain `clang -x hip -nogpuinc -nogpulib` and below hipcc's own headers. */
#ifndef TILE_DEVICE_TILE_AMD_H
#define TILE_DEVICE_TILE_AMD_H

#include <stdint.h>

#define TILE_GPU 1
#define TILE_NO_LIBRARY 1

#ifndef __CLANG_HIP_RUNTIME_WRAPPER_H__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#endif

#define TILE_FN static __device__ inline __attribute__((always_inline))
#define TILE_APART TILE_FN /* a call would want a stack */
#define TILE_GLOBAL __attribute__((address_space(1)))

/* Followed by the kernel's body, which reads its arguments from `call`. */
#define TILE_KERNEL(name, type, threads)                                                                               \
    extern "C" __attribute__((amdgpu_flat_work_group_size(threads, threads))) __global__ void name(const type call)
#define TILE_KERNEL_ALONE(name, type, threads) TILE_KERNEL(name, type, threads)
/* The same with registers for at least so many waves of a SIMD. */
#define TILE_KERNEL_WAVES(name, type, threads, waves)                                                                  \
    extern "C" __attribute__((amdgpu_flat_work_group_size(threads, threads)))                                          \
    __attribute__((amdgpu_waves_per_eu(waves))) __global__ void name(const type call)

/* Memory of the workgroup, 128-byte aligned: `char *name`. At most one a kernel. */
#define TILE_LDS(name, bytes) __shared__ __attribute__((aligned(128))) char name[bytes]

/* Before a loop of a known number of turns. */
#define TILE_UNROLLED _Pragma("unroll")

#define tile_check(p, bytes, how, value) ((void)0) /* the emulator looks at each access */

/* ---- functions of floats: instructions, or tile_libm.h ---- */

#undef INFINITY
#undef NAN
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define fabsf(x) __builtin_fabsf(x)
#define fabs(x) __builtin_fabs(x)
#define floorf(x) __builtin_floorf(x)
#define floor(x) __builtin_floor(x)
#define ceilf(x) __builtin_ceilf(x)
#define ceil(x) __builtin_ceil(x)
#define rintf(x) __builtin_rintf(x)
#define rint(x) __builtin_rint(x)
#define fmaf(x, y, z) __builtin_fmaf(x, y, z)
#define sqrtf(x) __builtin_sqrtf(x)
#define sqrt(x) __builtin_sqrt(x)

/* ---- what the machine has instructions for, in place of the common text ---- */

#define TILE_OWN_EXP

/* Within a unit in the last place (v_exp_f32), also where that is below the normal range. */
TILE_FN float tile_exp2(float x) { return __builtin_exp2f(x); }
TILE_FN float tile_exp2_normal(float x) { return __builtin_amdgcn_exp2f(x); }

/* 2^t times what t = x log2(e) lost by rounding; beyond 2^8 the result is 0 or infinite */
TILE_FN float tile_exp(float x) {
    float t = x * 1.44269504f, lost = fmaf(x, 1.92596299e-8f, fmaf(x, 1.44269504f, -t));
    return tile_exp2(t) * fmaf(fabsf(t) < 256.0f ? lost : 0.0f, 0.693147181f, 1.0f);
}

#ifdef __gfx950__
#define TILE_OWN_BF16

TILE_FN uint16_t tile_bf16_of_f32(float x) { return __builtin_bit_cast(uint16_t, (__bf16)x); }
#endif

#include "device/tile_scalar.h"

#include "device/tile_libm.h"

typedef uint16_t tile_f16;
typedef uint8_t tile_v1;
typedef uint16_t __attribute__((may_alias)) tile_v2;
typedef uint32_t __attribute__((may_alias)) tile_v4;
typedef uint32_t tile_v8 __attribute__((ext_vector_type(2), may_alias));
typedef uint32_t tile_v16 __attribute__((ext_vector_type(4), may_alias));

TILE_FN float tile_f32_of_f16(tile_f16 x) { return (float)__builtin_bit_cast(_Float16, x); }
TILE_FN tile_f16 tile_f16_of_f32(float x) { return __builtin_bit_cast(uint16_t, (_Float16)x); }

/* ---- the workgroup ---- */

TILE_FN int tile_thread(void) { return (int)__builtin_amdgcn_workitem_id_x(); }
TILE_FN int tile_thread_of(int threads) { return (void)threads, tile_thread(); } /* clang knows it from the launch bounds */
TILE_FN int64_t tile_group(void) { return (int64_t)__builtin_amdgcn_workgroup_id_x(); }

/* All threads of the workgroup meet here; what they wrote to LDS before is seen by all after. */
TILE_FN void tile_sync(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

TILE_FN uint32_t tile_shuffle(uint32_t x, int lane) { return (uint32_t)__builtin_amdgcn_ds_bpermute(lane * 4, (int)x); }

/* ---- sums into memory that other workgroups also add to: the device's own additions, in any order ---- */

TILE_FN void tile_atomic_add_f32(float *to, float x) {
    __builtin_amdgcn_global_atomic_fadd_f32((TILE_GLOBAL float *)to, x);
}
TILE_FN void tile_atomic_add_f64(double *to, double x) {
    __builtin_amdgcn_global_atomic_fadd_f64((TILE_GLOBAL double *)to, x);
}
TILE_FN void tile_atomic_add_i32(int32_t *to, int32_t x) {
    __hip_atomic_fetch_add((TILE_GLOBAL int32_t *)to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
TILE_FN void tile_atomic_add_i64(int64_t *to, int64_t x) {
    __hip_atomic_fetch_add((TILE_GLOBAL int64_t *)to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* ---- the same into memory that other devices address ---- */

#define TILE_SHARED_ADD(name, T)                                                                                       \
    TILE_FN void tile_atomic_add_shared_##name(T *to, T x) {                                                           \
        __hip_atomic_fetch_add((TILE_GLOBAL T *)to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);                   \
    }
/* Additions of floats skip fine-grained memory on gfx90a; exchanges of words do not (LLVM, AMDGPUUsage). */
#define TILE_SHARED_ADD_BY_WORD(name, T, Word)                                                                         \
    TILE_FN void tile_atomic_add_shared_##name(T *to, T x) {                                                           \
        TILE_GLOBAL Word *w = (TILE_GLOBAL Word *)to;                                                                  \
        Word seen = __hip_atomic_load(w, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);                                 \
        while (!__hip_atomic_compare_exchange_strong(                                                                  \
            w, &seen, __builtin_bit_cast(Word, __builtin_bit_cast(T, seen) + x), __ATOMIC_RELAXED, __ATOMIC_RELAXED,   \
            __HIP_MEMORY_SCOPE_SYSTEM)) {                                                                              \
        }                                                                                                              \
    }

TILE_SHARED_ADD(i32, int32_t)
TILE_SHARED_ADD(i64, int64_t)
#ifdef __gfx90a__
TILE_SHARED_ADD_BY_WORD(f32, float, uint32_t)
TILE_SHARED_ADD_BY_WORD(f64, double, uint64_t)
#else
TILE_SHARED_ADD(f32, float)
TILE_SHARED_ADD(f64, double)
#endif

/* Global memory takes vectors at any address (LLVM, "unaligned-access-mode", which amdhsa has). */
#define TILE_OWN_ODD
typedef uint32_t tile_odd_v8 __attribute__((ext_vector_type(2), aligned(1), may_alias));
typedef uint32_t tile_odd_v16 __attribute__((ext_vector_type(4), aligned(1), may_alias));

TILE_FN void tile_load_odd8(const void *from, void *regs, bool wanted) {
    tile_odd_v8 x = {0};
    if (wanted) x = *(TILE_GLOBAL const tile_odd_v8 *)from;
    __builtin_memcpy(regs, &x, sizeof x);
}
TILE_FN void tile_load_odd16(const void *from, void *regs, bool wanted) {
    tile_odd_v16 x = {0};
    if (wanted) x = *(TILE_GLOBAL const tile_odd_v16 *)from;
    __builtin_memcpy(regs, &x, sizeof x);
}

#include "device/tile_gpu.h"

/* ---- between workgroups and devices: what tile_flags.h is made of ---- */

enum { TILE_DEVICE, TILE_SYSTEM }; /* who takes part: workgroups of this device, all devices and the host */

TILE_FN int64_t tile_groups(void) {
    return (int64_t)(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x());
}

TILE_FN int64_t tile_uniform(int64_t x) {
    uint32_t low = (uint32_t)__builtin_amdgcn_readfirstlane((int)x),
             high = (uint32_t)__builtin_amdgcn_readfirstlane((int)(x >> 32));
    return (int64_t)((uint64_t)high << 32 | low);
}

/* All threads of the workgroup: thread 0's x. lds: of the workgroup, 8 bytes that nobody uses across the call. */
TILE_FN int64_t tile_broadcast(char *lds, int64_t x) {
    if (tile_thread() == 0) *(int64_t *)lds = x;
    tile_sync();
    x = tile_uniform(*(int64_t *)lds);
    tile_sync();
    return x;
}

/* All threads of the workgroup meet: is x true in any? lds as above. */
TILE_FN bool tile_any(char *lds, bool x) {
    if (tile_thread() == 0) *(int *)lds = 0;
    tile_sync();
    if (x) *(int *)lds = 1;
    tile_sync();
    x = __builtin_amdgcn_readfirstlane(*(int *)lds) != 0;
    tile_sync();
    return x;
}

/* Fences as instructions: the compiler leaves out waits behind a write-back when it sees nothing in flight (LLVM
   issue 178316). asm also keeps later loads from the scalar cache, which nothing here invalidates. */
#define TILE_AMD_FENCE(text) __asm__ volatile(text ::: "memory")

/* This wave's loads have returned and its stores have reached L2. */
TILE_FN void tile_drain(void) { TILE_AMD_FENCE("s_waitcnt vmcnt(0) lgkmcnt(0)"); }

/* What this wave has seen and stored comes before its next stores, for others of that scope. */
TILE_FN void tile_fence_release(int scope) {
    TILE_AMD_FENCE("s_waitcnt vmcnt(0) lgkmcnt(0)");
#ifdef __gfx90a__ /* one L2 a device */
    if (scope == TILE_SYSTEM) TILE_AMD_FENCE("buffer_wbl2\n\ts_waitcnt vmcnt(0)");
#else /* an L2 a chiplet */
    if (scope == TILE_SYSTEM)
        TILE_AMD_FENCE("buffer_wbl2 sc0 sc1\n\ts_waitcnt vmcnt(0)");
    else
        TILE_AMD_FENCE("buffer_wbl2 sc1\n\ts_waitcnt vmcnt(0)");
#endif
}

/* What this wave loads next, and the workgroup after it has met, is not older than what it has loaded. */
TILE_FN void tile_fence_acquire(int scope) {
#ifdef __gfx90a__
    if (scope == TILE_SYSTEM) TILE_AMD_FENCE("buffer_invl2");
    TILE_AMD_FENCE("buffer_wbinvl1_vol\n\ts_waitcnt vmcnt(0)");
#else
    if (scope == TILE_SYSTEM)
        TILE_AMD_FENCE("buffer_inv sc0 sc1\n\ts_waitcnt vmcnt(0)");
    else
        TILE_AMD_FENCE("buffer_inv sc1\n\ts_waitcnt vmcnt(0)");
#endif
}

typedef TILE_GLOBAL uint64_t tile_global_word;

TILE_FN uint64_t tile_word_load(const uint64_t *p, int scope) {
    const tile_global_word *w = (const tile_global_word *)p;
    return scope == TILE_SYSTEM ? __hip_atomic_load(w, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)
                                : __hip_atomic_load(w, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

TILE_FN void tile_word_store(uint64_t *p, uint64_t v, int scope) {
    if (scope == TILE_SYSTEM)
        __hip_atomic_store((tile_global_word *)p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    else
        __hip_atomic_store((tile_global_word *)p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* The value before. */
TILE_FN uint64_t tile_word_add(uint64_t *p, uint64_t v, int scope) {
    tile_global_word *w = (tile_global_word *)p;
    return scope == TILE_SYSTEM ? __hip_atomic_fetch_add(w, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)
                                : __hip_atomic_fetch_add(w, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* `to` where it was `from`; the value before. */
TILE_FN uint64_t tile_word_swap(uint64_t *p, uint64_t from, uint64_t to, int scope) {
    tile_global_word *w = (tile_global_word *)p;
    if (scope == TILE_SYSTEM)
        __hip_atomic_compare_exchange_strong(w, &from, to, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_SYSTEM);
    else
        __hip_atomic_compare_exchange_strong(w, &from, to, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT);
    return from;
}

TILE_FN uint64_t tile_clock_ns(void) { return __builtin_amdgcn_s_memrealtime() * TILE_TICK_NS; }
TILE_FN void tile_pause(void) { __builtin_amdgcn_s_sleep(1); }

/* ---- matrix instructions: operands as the builtins take them ---- */

typedef _Float16 tile_f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 tile_f16x8 __attribute__((ext_vector_type(8)));
typedef short tile_bf16x2 __attribute__((ext_vector_type(2)));
typedef short tile_bf16x4 __attribute__((ext_vector_type(4)));
typedef int32_t tile_i32x4 __attribute__((ext_vector_type(4)));
typedef int32_t tile_i32x8 __attribute__((ext_vector_type(8)));
typedef int32_t tile_i32x16 __attribute__((ext_vector_type(16)));
typedef float tile_f32x4 __attribute__((ext_vector_type(4)));
typedef float tile_f32x16 __attribute__((ext_vector_type(16)));
typedef double tile_f64x4 __attribute__((ext_vector_type(4)));

#define TILE_VEC_f16_4 tile_f16x4
#define TILE_VEC_f16_8 tile_f16x8
#define TILE_VEC_bf16_2 tile_bf16x2
#define TILE_VEC_bf16_4 tile_bf16x4
#define TILE_VEC_f8e4m3_8 long
#define TILE_VEC_f8e5m2_8 long
#define TILE_VEC_f8e4m3fnuz_8 long
#define TILE_VEC_f8e5m2fnuz_8 long
#define TILE_VEC_i8_4 int
#define TILE_VEC_i8_8 long
#define TILE_VEC_i8_16 tile_i32x4
#define TILE_VEC_f32_1 float
#define TILE_VEC_f64_1 double
#define TILE_VEC_f32_4 tile_f32x4
#define TILE_VEC_f32_16 tile_f32x16
#define TILE_VEC_i32_4 tile_i32x4
#define TILE_VEC_i32_16 tile_i32x16
#define TILE_VEC_f64_4 tile_f64x4

#define TILE_MFMA(name, A, B, D, n, nd, M, K)                                                                          \
    TILE_FN void tile_mfma_##name(TILE_TYPE_##D *d, const TILE_TYPE_##A *a, const TILE_TYPE_##B *b) {                  \
        TILE_VEC_##A##_##n x;                                                                                          \
        TILE_VEC_##B##_##n y;                                                                                          \
        TILE_VEC_##D##_##nd z;                                                                                         \
        __builtin_memcpy(&x, a, sizeof x);                                                                             \
        __builtin_memcpy(&y, b, sizeof y);                                                                             \
        __builtin_memcpy(&z, d, sizeof z);                                                                             \
        z = __builtin_amdgcn_mfma_##name(x, y, z, 0, 0, 0);                                                            \
        __builtin_memcpy(d, &z, sizeof z);                                                                             \
    }

#define TILE_MFMA_SCALED(name, A, B, a_code, b_code, nd, M, K)                                                         \
    TILE_FN void tile_mfma_##name##_##A##_##B(float *d, const TILE_TYPE_##A *a, const TILE_TYPE_##B *b) {              \
        tile_i32x8 x, y;                                                                                               \
        TILE_VEC_f32_##nd z;                                                                                           \
        __builtin_memcpy(&x, a, sizeof x);                                                                             \
        __builtin_memcpy(&y, b, sizeof y);                                                                             \
        __builtin_memcpy(&z, d, sizeof z);                                                                             \
        z = __builtin_amdgcn_mfma_##name(x, y, z, a_code, b_code, 0, 0, 0, 0);                                         \
        __builtin_memcpy(d, &z, sizeof z);                                                                             \
    }

#endif
