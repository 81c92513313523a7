/* tile_nvidia.h: the machine under the device vocabulary on NVIDIA's GPUs, for nvcc. */
#ifndef TILE_DEVICE_TILE_NVIDIA_H
#define TILE_DEVICE_TILE_NVIDIA_H

#include <stdint.h>

#define TILE_GPU 1

#define TILE_FN static __device__ __forceinline__
#define TILE_APART static __device__ __noinline__ /* called once in a while: its registers are not those of the kernel */
#define TILE_GLOBAL

/* Followed by the kernel's body, which reads its arguments from `call`. */
#define TILE_KERNEL(name, type, threads)                                                                               \
    extern "C" __global__ __launch_bounds__(threads) void name(const __grid_constant__ type call)
/* The same with as many registers as it wants, even where one workgroup has a processor alone then. */
#define TILE_KERNEL_ALONE(name, type, threads)                                                                         \
    extern "C" __global__ __launch_bounds__(threads, 1) void name(const __grid_constant__ type call)
/* The same for workgroups that meet in clusters. */
#define TILE_KERNEL_CLUSTER(name, type, threads, cluster)                                                              \
    extern "C" __global__ __cluster_dims__(cluster, 1, 1) __launch_bounds__(threads, 1) void name(                     \
        const __grid_constant__ type call)
/* The same for workgroups that meet in clusters and copy tensors by tiles: the body reads their descriptions from
   `maps`. */
#define TILE_KERNEL_MAPS(name, type, threads, cluster)                                                                 \
    extern "C" __global__ __cluster_dims__(cluster, 1, 1) __launch_bounds__(threads, 1) void name(                     \
        const __grid_constant__ type call, const __grid_constant__ name##_maps maps)
/* The same with registers for so many workgroups of a multiprocessor. */
#define TILE_KERNEL_RESIDENT(name, type, threads, cluster, resident)                                                   \
    extern "C" __global__ __cluster_dims__(cluster, 1, 1) __launch_bounds__(threads, resident) void name(              \
        const __grid_constant__ type call, const __grid_constant__ name##_maps maps)
/* Memory of the workgroup, 128-byte aligned: `char *name`. At most one a kernel; the launch gives its size. */
#define TILE_LDS(name, bytes)                                                                                          \
    extern __shared__ __align__(128) char tile_lds_memory[];                                                           \
    char *const name = tile_lds_memory

#define TILE_UNROLLED /* nvcc decides; not measured */
#define tile_check(p, bytes, how, value) ((void)0) /* the emulator looks at each access */

/* ---- what the machine has instructions for, in place of the common text ---- */

#define TILE_OWN_BF16
#define TILE_OWN_F8
#define TILE_OWN_MAX
#define TILE_OWN_EXP
#define TILE_OWN_DIV

TILE_FN uint16_t tile_bf16_of_f32(float x) {
    uint16_t y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}

/* To 8 bits, near and to the largest finite value; NaN has the bits of tile_scalar.h. From 8 bits by way of f16, which
   has all of their values. PTX ISA, "cvt". */
#define TILE_F8_OF(name, type, nan)                                                                                    \
    TILE_FN uint8_t tile_##name##_of_f32(float x) {                                                                    \
        uint16_t y;                                                                                                    \
        asm("cvt.rn.satfinite." #type "x2.f32 %0, %1, %2;" : "=h"(y) : "f"(0.0f), "f"(x));                             \
        return x != x ? (uint8_t)(__float_as_uint(x) >> 24 & 0x80u | nan) : (uint8_t)y;                                \
    }                                                                                                                  \
    TILE_FN float tile_f32_of_##name(uint8_t x) {                                                                      \
        float y;                                                                                                       \
        asm("{.reg .b32 both;\n.reg .b16 low, high;\ncvt.rn.f16x2." #type "x2 both, %1;\nmov.b32 {low, high}, both;\n"  \
            "cvt.f32.f16 %0, low;}"                                                                                    \
            : "=f"(y)                                                                                                  \
            : "h"((uint16_t)x));                                                                                       \
        return y;                                                                                                      \
    }
TILE_F8_OF(f8e4m3, e4m3, 0x7f)
TILE_F8_OF(f8e5m2, e5m2, 0x7e)

TILE_FN float tile_min_f32(float a, float b) {
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

TILE_FN float tile_max_f32(float a, float b) {
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

/* Within 2^-22.5 of the result (PTX ISA, ex2.approx), also where that is below the normal range. */
TILE_FN float tile_exp2(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TILE_FN float tile_exp2_normal(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 2^t times what t = x log2(e) lost by rounding; within 3.5 units in the last place of every f32 */
TILE_FN float tile_exp(float x) {
    float y = tile_max_f32(-105.0f, tile_min_f32(x, 89.0f)), t = y * 1.44269504f;
    float lost = fmaf(y, 1.92596299e-8f, fmaf(y, 1.44269504f, -t));
    return tile_exp2(t) * fmaf(lost, 0.693147181f, 1.0f);
}

/* a / b within 2 units in the last place (PTX ISA, div.full) */
TILE_FN float tile_div_f32(float a, float b) {
    float y;
    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

#pragma nv_diag_suppress 186 /* comparisons of unsigned numbers with 0 */
#pragma nv_diag_suppress 68  /* a negative number becomes unsigned */
#include "device/tile_scalar.h"
#pragma nv_diag_default 186
#pragma nv_diag_default 68

typedef uint16_t tile_f16;
typedef uint8_t tile_v1;
typedef uint16_t tile_v2;
typedef uint32_t tile_v4;
typedef uint2 tile_v8;
typedef uint4 tile_v16;

TILE_FN float tile_f32_of_f16(tile_f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}

TILE_FN tile_f16 tile_f16_of_f32(float x) {
    uint16_t y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}

/* ---- the workgroup ---- */

TILE_FN int tile_thread(void) { return (int)threadIdx.x; }
/* nvcc does not know how many there are: it drops masks that then always hold, or never. */
TILE_FN int tile_thread_of(int threads) {
    int thread = tile_thread();
    __builtin_assume(thread >= 0 && thread < threads);
    return thread;
}
TILE_FN int64_t tile_group(void) { return (int64_t)blockIdx.x; }
TILE_FN int64_t tile_groups(void) { return (int64_t)gridDim.x; }

/* All threads of the workgroup meet here; what they wrote to LDS before is seen by all after. */
TILE_FN void tile_sync(void) { __syncthreads(); }

/* The launches before this one on the stream have ended, and what they stored is seen; the next one may begin, up to
   here. PTX ISA, "griddepcontrol". */
TILE_FN void tile_follow(void) {
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
}
/* The first half; and the second, by each workgroup, anywhere behind it. */
TILE_FN void tile_behind(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/* A launch that runs beside the one before it, which flags order; at its end it waits for that: it does not end earlier. */
TILE_FN void tile_beside(void) {}
TILE_FN void tile_end_behind(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
TILE_FN void tile_let_go(void) { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/* Memory comes to the L2, a line of 128 bytes; by all threads, as many lines as there are bytes. */
TILE_FN void tile_prefetch_line(const void *from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
}
TILE_FN void tile_prefetch(const void *from, int bytes) {
    for (int at = tile_thread() * 128; at < bytes; at += (int)blockDim.x * 128)
        tile_prefetch_line((const char *)from + at);
}

/* What memory has now, though a launch that has not ended may still store there: nothing of it stays behind. */
TILE_FN int32_t tile_look_i32(const int32_t *from) {
    int32_t x;
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(__cvta_generic_to_global(from)) : "memory");
    return x;
}

TILE_FN uint32_t tile_funnel(uint32_t high, uint32_t low, int bytes) { return __funnelshift_r(low, high, 8 * bytes); }

TILE_FN uint32_t tile_shuffle(uint32_t x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }

/* ---- sums into memory that other workgroups also add to ---- */

TILE_FN void tile_atomic_add_f32(float *to, float x) { atomicAdd(to, x); }
TILE_FN void tile_atomic_add_f64(double *to, double x) { atomicAdd(to, x); }
TILE_FN void tile_atomic_add_i32(int32_t *to, int32_t x) { atomicAdd(to, x); }
TILE_FN void tile_atomic_add_i64(int64_t *to, int64_t x) { atomicAdd((unsigned long long *)to, (unsigned long long)x); }

/* The same into memory that other devices address. */
TILE_FN void tile_atomic_add_shared_f32(float *to, float x) { atomicAdd_system(to, x); }
TILE_FN void tile_atomic_add_shared_f64(double *to, double x) { atomicAdd_system(to, x); }
TILE_FN void tile_atomic_add_shared_i32(int32_t *to, int32_t x) { atomicAdd_system(to, x); }
TILE_FN void tile_atomic_add_shared_i64(int64_t *to, int64_t x) {
    atomicAdd_system((unsigned long long *)to, (unsigned long long)x);
}

/* nvcc takes vectors apart that were loaded in pieces, and stores the pieces; where they are computed, it has fewer
   registers so. */
TILE_FN void tile_put(tile_v16 *to, tile_v16 x) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(x.x), "r"(x.y),
                 "r"(x.z), "r"(x.w)
                 : "memory");
}
TILE_FN void tile_put(tile_v8 *to, tile_v8 x) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "r"(x.x), "r"(x.y) : "memory");
}
#define TILE_PUT(to, x) tile_put(to, x)

#include "device/tile_gpu.h"

/* ---- between workgroups and devices: what tile_flags.h is made of ---- */

enum { TILE_DEVICE, TILE_SYSTEM }; /* who takes part: workgroups of this device, all devices and the host */

/* All threads of the workgroup: thread 0's x. lds: of the workgroup, 8 bytes that nobody uses across the call. */
TILE_FN int64_t tile_broadcast(char *lds, int64_t x) {
    if (threadIdx.x == 0) *(int64_t *)lds = x;
    tile_sync();
    x = *(int64_t *)lds;
    tile_sync();
    return x;
}

/* All threads of the workgroup meet: is x true in any? lds: for machines that need it. */
TILE_FN bool tile_any(char *, bool x) { return __syncthreads_or(x); }

/* The barrier and the fence behind it take along what other threads stored: nothing is left to do here. */
TILE_FN void tile_drain(void) {}

/* Orders what this thread has seen and stored, for others of that scope: a release, an acquire, or both. */
TILE_FN void tile_fence(int scope) {
    if (scope == TILE_SYSTEM)
        asm volatile("fence.acq_rel.sys;" ::: "memory");
    else
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

TILE_FN void tile_fence_release(int scope) { tile_fence(scope); }
TILE_FN void tile_fence_acquire(int scope) { tile_fence(scope); }

TILE_FN uint64_t tile_word_load(const uint64_t *p, int scope) {
    uint64_t v;
    if (scope == TILE_SYSTEM)
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    else
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

TILE_FN void tile_word_store(uint64_t *p, uint64_t v, int scope) {
    if (scope == TILE_SYSTEM)
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
    else
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

/* The value before. */
TILE_FN uint64_t tile_word_add(uint64_t *p, uint64_t v, int scope) {
    uint64_t was;
    if (scope == TILE_SYSTEM)
        asm volatile("atom.add.relaxed.sys.global.u64 %0, [%1], %2;" : "=l"(was) : "l"(p), "l"(v) : "memory");
    else
        asm volatile("atom.add.relaxed.gpu.global.u64 %0, [%1], %2;" : "=l"(was) : "l"(p), "l"(v) : "memory");
    return was;
}

/* `to` where it was `from`; the value before. */
TILE_FN uint64_t tile_word_swap(uint64_t *p, uint64_t from, uint64_t to, int scope) {
    uint64_t was;
    if (scope == TILE_SYSTEM)
        asm volatile("atom.cas.relaxed.sys.global.b64 %0, [%1], %2, %3;"
                     : "=l"(was)
                     : "l"(p), "l"(from), "l"(to)
                     : "memory");
    else
        asm volatile("atom.cas.relaxed.gpu.global.b64 %0, [%1], %2, %3;"
                     : "=l"(was)
                     : "l"(p), "l"(from), "l"(to)
                     : "memory");
    return was;
}

TILE_FN uint64_t tile_clock_ns(void) {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

TILE_FN void tile_pause(void) { __nanosleep(20); }

/* ---- matrix instructions: registers of A and B hold 32 bits, of f64 a number ---- */

#define TILE_REG_f64 double
#define TILE_REG_f16 uint32_t
#define TILE_REG_bf16 uint32_t
#define TILE_REG_f8e4m3 uint32_t
#define TILE_REG_f8e5m2 uint32_t
#define TILE_REG_i8 uint32_t
#define TILE_REG_u8 uint32_t

/* How asm takes a register: of D, and of the operands below it. */
#define TILE_AS_f32 "f", "r"
#define TILE_AS_i32 "r", "r"
#define TILE_AS_f64 "d", "d"

/* Operands of asm and their numbers in its text, by the registers of D, A and B. */
#define TILE_ASM_2_1_1(op, of_d, of_a)                                                                                 \
    asm(op " {%0, %1}, {%2}, {%3}, {%0, %1};" : "+" of_d(d[0]), "+" of_d(d[1]) : of_a(x[0]), of_a(y[0]))
#define TILE_ASM_4_2_1(op, of_d, of_a)                                                                                 \
    asm(op " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                                                      \
        : "+" of_d(d[0]), "+" of_d(d[1]), "+" of_d(d[2]), "+" of_d(d[3])                                               \
        : of_a(x[0]), of_a(x[1]), of_a(y[0]))
#define TILE_ASM_4_4_2(op, of_d, of_a)                                                                                 \
    asm(op " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                          \
        : "+" of_d(d[0]), "+" of_d(d[1]), "+" of_d(d[2]), "+" of_d(d[3])                                               \
        : of_a(x[0]), of_a(x[1]), of_a(x[2]), of_a(x[3]), of_a(y[0]), of_a(y[1]))
#define TILE_ASM_4_8_4(op, of_d, of_a)                                                                                 \
    asm(op " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"            \
        : "+" of_d(d[0]), "+" of_d(d[1]), "+" of_d(d[2]), "+" of_d(d[3])                                               \
        : of_a(x[0]), of_a(x[1]), of_a(x[2]), of_a(x[3]), of_a(x[4]), of_a(x[5]), of_a(x[6]), of_a(x[7]), of_a(y[0]),  \
          of_a(y[1]), of_a(y[2]), of_a(y[3]))
#define TILE_ASM(shape, op, as) TILE_ASM_##shape(op, as)

#define TILE_MMA(shape, pd, pa, pb, A, B, D, na, nb, nd, M, K)                                                         \
    TILE_FN void tile_mma_##shape##_##pd##_##pa##_##pb##_##pd(TILE_TYPE_##D *d, const TILE_TYPE_##A *a,                \
                                                              const TILE_TYPE_##B *b) {                                \
        TILE_REG_##A x[na];                                                                                            \
        TILE_REG_##B y[nb];                                                                                            \
        __builtin_memcpy(x, a, sizeof x);                                                                              \
        __builtin_memcpy(y, b, sizeof y);                                                                              \
        TILE_ASM(nd##_##na##_##nb, "mma.sync.aligned." #shape ".row.col." #pd "." #pa "." #pb "." #pd, TILE_AS_##D);   \
    }

#endif
