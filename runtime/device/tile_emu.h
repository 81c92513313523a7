/* tile_emu.h: the device vocabulary on the CPU: emitted GPU text compiled as C++, lanes run as fibers by runtime/emu.
   Global memory and LDS are checked at every access; the text's own variables start as patterns when it is compiled
   with -ftrivial-auto-var-init=pattern. */
#ifndef TILE_DEVICE_TILE_EMU_H
#define TILE_DEVICE_TILE_EMU_H

#include <math.h>
#include <stddef.h>

#include "device/tile_emu_calls.h"
#include "device/tile_scalar.h"

#ifdef __cplusplus

#define TILE_GPU 1
#define TILE_FN static inline
#define TILE_APART static inline
#define TILE_GLOBAL

/* NAME itself is what tables of kernels name: it copies the argument, as a launch does. */
#define TILE_EMU_KERNEL(name, type, maps_bytes, threads, cluster, ...)                                                 \
    extern "C" void name(const void *argument);                                                                        \
    extern "C" void name(const void *argument) {                                                                       \
        static const tile_emu_kernel kernel = {                                                                        \
            sizeof(type), maps_bytes, threads, cluster, {TILE_LANES, TILE_CHIPLETS, TILE_HOLDS}};                      \
        if (tile_emu_begin(argument, &kernel)) name##_body(__VA_ARGS__);                                               \
    }
#define TILE_KERNEL_CLUSTER(name, type, threads, cluster)                                                              \
    static void name##_body(const type call);                                                                          \
    TILE_EMU_KERNEL(name, type, 0, threads, cluster, *(const type *)argument)                                          \
    static void name##_body(const type call)
#define TILE_KERNEL(name, type, threads) TILE_KERNEL_CLUSTER(name, type, threads, 1)
#define TILE_KERNEL_ALONE(name, type, threads) TILE_KERNEL(name, type, threads)
#define TILE_KERNEL_WAVES(name, type, threads, waves) TILE_KERNEL(name, type, threads)
#define TILE_LDS(name, bytes) char *const name = tile_emu_lds(bytes)
#define TILE_UNROLLED
#define tile_check(p, bytes, how, value) tile_emu_check(p, bytes, how, value)

typedef uint16_t tile_f16;
typedef uint8_t tile_v1;
typedef uint16_t __attribute__((may_alias)) tile_v2;
typedef uint32_t __attribute__((may_alias)) tile_v4;
typedef uint32_t tile_v8 __attribute__((vector_size(8), may_alias));
typedef uint32_t tile_v16 __attribute__((vector_size(16), may_alias));

TILE_FN float tile_f32_of_f16(tile_f16 x) {
    uint32_t size = x & 0x7fffu;
    float y = size < 0x7c00 ? tile_f32_of_bits(size << 13) * 0x1p112f : size == 0x7c00 ? INFINITY : NAN;
    return x & 0x8000 ? -y : y;
}

TILE_FN tile_f16 tile_f16_of_f32(float x) {
    float size = tile_f32_of_bits(tile_bits_of_f32(x) & 0x7fffffffu);
    uint32_t code = x != x ? 0x7e00 : size >= 65520.0f ? 0x7c00 : tile_small_of_f32(size, 10, 15);
    return (tile_f16)(code | (tile_bits_of_f32(x) >> 16 & 0x8000u));
}

TILE_FN int tile_thread(void) { return tile_emu_thread(); }
TILE_FN int tile_thread_of(int threads) { return (void)threads, tile_thread(); }
TILE_FN int64_t tile_group(void) { return tile_emu_group(); }
TILE_FN void tile_sync(void) { tile_emu_sync(); }
TILE_FN void tile_prefetch(const void *from, int bytes) { (void)from, (void)bytes; }
TILE_FN void tile_follow(void) { tile_emu_follow(); } /* a launch begins when the one before it has ended */
TILE_FN uint32_t tile_funnel(uint32_t high, uint32_t low, int bytes) {
    return (uint32_t)(((uint64_t)high << 32 | low) >> 8 * bytes);
}
TILE_FN uint32_t tile_shuffle(uint32_t x, int lane) { return tile_emu_shuffle(x, lane); }

#define TILE_EMU_ADD(function, T, how, sum)                                                                            \
    TILE_FN void function(T *to, T x) {                                                                                \
        tile_check(to, sizeof *to, how, 0);                                                                            \
        *to = sum;                                                                                                     \
    }
#define TILE_EMU_ATOMIC_ADD(name, T, sum)                                                                              \
    TILE_EMU_ADD(tile_atomic_add_##name, T, TILE_ATOMICS, sum)                                                         \
    TILE_EMU_ADD(tile_atomic_add_shared_##name, T, TILE_SHARED_ATOMICS, sum)

TILE_EMU_ATOMIC_ADD(f32, float, *to + x)
TILE_EMU_ATOMIC_ADD(f64, double, *to + x)
TILE_EMU_ATOMIC_ADD(i32, int32_t, tile_add_i32(*to, x))
TILE_EMU_ATOMIC_ADD(i64, int64_t, tile_add_i64(*to, x))

#include "device/tile_gpu.h"

TILE_FN int64_t tile_groups(void) { return tile_emu_groups(); }

TILE_FN int64_t tile_broadcast(char *lds, int64_t x) {
    if (tile_thread() == 0) tile_lds_store_i64((int64_t *)lds, x);
    tile_sync();
    x = tile_lds_load_i64(lds);
    tile_sync();
    return x;
}

TILE_FN bool tile_any(char *lds, bool x) {
    if (tile_thread() == 0) tile_lds_store_i32((int32_t *)lds, 0);
    tile_sync();
    if (x) tile_lds_store_i32((int32_t *)lds, 1);
    tile_sync();
    x = tile_lds_load_i32(lds) != 0;
    tile_sync();
    return x;
}

TILE_FN void tile_drain(void) { tile_emu_drain(); }
TILE_FN void tile_fence_release(int scope) { tile_emu_fence_release(scope); }
TILE_FN void tile_fence_acquire(int scope) { tile_emu_fence_acquire(scope); }
TILE_FN uint64_t tile_word_load(const uint64_t *p, int scope) { return tile_emu_word_load(p, scope); }
TILE_FN void tile_word_store(uint64_t *p, uint64_t v, int scope) { tile_emu_word_store(p, v, scope); }
TILE_FN uint64_t tile_word_add(uint64_t *p, uint64_t v, int scope) { return tile_emu_word_add(p, v, scope); }
TILE_FN uint64_t tile_word_swap(uint64_t *p, uint64_t from, uint64_t to, int scope) {
    return tile_emu_word_swap(p, from, to, scope);
}
TILE_FN uint64_t tile_clock_ns(void) { return tile_emu_clock_ns(); }
TILE_FN void tile_pause(void) { tile_emu_pause(); }

#define TILE_EMU_f64 TILE_EMU_F64
#define TILE_EMU_f32 TILE_EMU_F32
#define TILE_EMU_f16 TILE_EMU_F16
#define TILE_EMU_bf16 TILE_EMU_BF16
#define TILE_EMU_f8e4m3 TILE_EMU_F8E4M3
#define TILE_EMU_f8e5m2 TILE_EMU_F8E5M2
#define TILE_EMU_f8e4m3fnuz TILE_EMU_F8E4M3FNUZ
#define TILE_EMU_f8e5m2fnuz TILE_EMU_F8E5M2FNUZ
#define TILE_EMU_i32 TILE_EMU_I32
#define TILE_EMU_i8 TILE_EMU_I8
#define TILE_EMU_u8 TILE_EMU_U8

#define TILE_EMU_FUNCTION(name, kind, A, B, D, m, n, k)                                                                \
    TILE_FN void name(TILE_TYPE_##D *d, const TILE_TYPE_##A *a, const TILE_TYPE_##B *b) {                              \
        static const tile_emu_matrix op = {kind, TILE_EMU_##A, TILE_EMU_##B, TILE_EMU_##D, m, n, k};                   \
        tile_emu_multiply(&op, d, a, b);                                                                               \
    }
#define TILE_MFMA(name, A, B, D, each, nd, M, K) TILE_EMU_FUNCTION(tile_mfma_##name, TILE_EMU_MFMA, A, B, D, M, M, K)
#define TILE_MFMA_SCALED(name, A, B, a_code, b_code, nd, M, K)                                                         \
    TILE_EMU_FUNCTION(tile_mfma_##name##_##A##_##B, TILE_EMU_MFMA_SCALED, A, B, f32, M, M, K)
#define TILE_MMA(shape, pd, pa, pb, A, B, D, na, nb, nd, M, K)                                                         \
    TILE_EMU_FUNCTION(tile_mma_##shape##_##pd##_##pa##_##pb##_##pd, TILE_EMU_MMA, A, B, D, M, 8, K)

#endif
#endif
