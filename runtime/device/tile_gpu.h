/* tile_gpu.h: the device vocabulary: what emitted GPU kernels are written in, on every machine (docs/reference/device.md).
   A machine's header (tile_amd.h, tile_nvidia.h, tile_emu.h) includes it after defining its primitives: TILE_FN,
   TILE_KERNEL, TILE_LDS, TILE_GLOBAL, tile_check, tile_f16 conversions, tile_thread, tile_group, tile_sync,
   tile_shuffle, tile_funnel, tile_v8, tile_v16. */
#ifndef TILE_DEVICE_TILE_GPU_H
#define TILE_DEVICE_TILE_GPU_H

#include "device/tile_math.h"

TILE_FN uint32_t tile_bits_of_f16(tile_f16 x) { return x; }
TILE_FN tile_f16 tile_f16_of_bits(uint32_t u) { return (tile_f16)u; }

/* ---- lanes and waves of the workgroup ---- */

TILE_FN int tile_lane(void) { return tile_thread() & (TILE_LANES - 1); }
TILE_FN int tile_wave(void) { return tile_thread() / TILE_LANES; }

/* ---- memory: global (the arguments, the workspace) and LDS (what TILE_LDS names). Sizes are bytes; addresses are
   multiples of them; `regs` is the thread's own. ---- */

#define TILE_ASSIGN(to, x) (*(to) = (x))

#define TILE_STORING(name, bytes, T, put)                                                                              \
    TILE_FN void tile_##name##bytes(void *to, const void *regs) {                                                      \
        T x;                                                                                                           \
        tile_check(to, bytes, TILE_STORES, regs);                                                                      \
        __builtin_memcpy(&x, regs, bytes);                                                                             \
        put((TILE_GLOBAL T *)to, x);                                                                                   \
    }

#define TILE_SIZED(bytes, T)                                                                                           \
    TILE_FN void tile_load##bytes(const void *from, void *regs) {                                                      \
        tile_check(from, bytes, TILE_LOADS, 0);                                                                        \
        T x = *(TILE_GLOBAL const T *)from;                                                                            \
        __builtin_memcpy(regs, &x, bytes);                                                                             \
    }                                                                                                                  \
    TILE_STORING(store, bytes, T, TILE_ASSIGN)                                                                         \
    TILE_FN void tile_zero##bytes(void *regs) { __builtin_memset(regs, 0, bytes); }                                    \
    TILE_FN void tile_lds_load##bytes(const void *from, void *regs) {                                                  \
        tile_check(from, bytes, TILE_LDS_LOADS, 0);                                                                    \
        T x = *(const T *)from;                                                                                        \
        __builtin_memcpy(regs, &x, bytes);                                                                             \
    }                                                                                                                  \
    TILE_FN void tile_lds_store##bytes(void *to, const void *regs) {                                                   \
        T x;                                                                                                           \
        tile_check(to, bytes, TILE_LDS_STORES, regs);                                                                  \
        __builtin_memcpy(&x, regs, bytes);                                                                             \
        *(T *)to = x;                                                                                                  \
    }

TILE_SIZED(1, tile_v1)
TILE_SIZED(2, tile_v2)
TILE_SIZED(4, tile_v4)
TILE_SIZED(8, tile_v8)
TILE_SIZED(16, tile_v16)

/* Stores of what came in pieces, as one. */
#ifndef TILE_PUT
#define TILE_PUT TILE_ASSIGN
#endif

TILE_STORING(put, 8, tile_v8, TILE_PUT)
TILE_STORING(put, 16, tile_v16, TILE_PUT)

#define TILE_BY_SIZE(function, p, regs, bytes)                                                                         \
    switch (bytes) {                                                                                                   \
    case 2: function##2(p, regs); break;                                                                               \
    case 4: function##4(p, regs); break;                                                                               \
    case 8: function##8(p, regs); break;                                                                               \
    case 16: function##16(p, regs); break;                                                                             \
    }

/* The types of elements, (name, type, bytes): of at most 4 bytes; all. */
#define TILE_SHORT_TYPES(each)                                                                                         \
    each(f32, float, 4) each(f16, tile_f16, 2) each(bf16, tile_bf16, 2) each(f8e4m3, tile_f8e4m3, 1)                   \
        each(f8e5m2, tile_f8e5m2, 1) each(f8e4m3fnuz, tile_f8e4m3fnuz, 1) each(i32, int32_t, 4) each(i16, int16_t, 2)  \
            each(i8, int8_t, 1) each(u8, uint8_t, 1) each(bool, uint8_t, 1)

#define TILE_TYPES(each) each(f64, double, 8) each(i64, int64_t, 8) TILE_SHORT_TYPES(each)

#define TILE_TYPED(name, T, bytes)                                                                                     \
    TILE_FN T tile_load_##name(const T *from) {                                                                        \
        T x;                                                                                                           \
        tile_load##bytes(from, &x);                                                                                    \
        return x;                                                                                                      \
    }                                                                                                                  \
    TILE_FN void tile_store_##name(T *to, T x) { tile_store##bytes(to, &x); }                                          \
    TILE_FN void tile_load_some_##name(const T *from, T *regs, int n, int64_t exist) {                                 \
        if (exist >= n) {                                                                                              \
            TILE_BY_SIZE(tile_load, from, regs, n * bytes)                                                             \
        } else {                                                                                                       \
            _Pragma("unroll") for (int i = 0; i < n; i++) regs[i] = i < exist ? tile_load_##name(from + i) : (T)0;     \
        }                                                                                                              \
    }                                                                                                                  \
    TILE_FN void tile_store_some_##name(T *to, const T *regs, int n, int64_t exist) {                                  \
        if (exist >= n) {                                                                                              \
            TILE_BY_SIZE(tile_store, to, regs, n * bytes)                                                              \
        } else {                                                                                                       \
            _Pragma("unroll") for (int i = 0; i < n; i++) if (i < exist) tile_store_##name(to + i, regs[i]);           \
        }                                                                                                              \
    }                                                                                                                  \
    TILE_FN T tile_lds_load_##name(const void *from) {                                                                 \
        T x;                                                                                                           \
        tile_lds_load##bytes(from, &x);                                                                                \
        return x;                                                                                                      \
    }                                                                                                                  \
    TILE_FN void tile_lds_store_##name(void *to, T x) { tile_lds_store##bytes(to, &x); }

TILE_TYPES(TILE_TYPED)

#include "device/tile_odd.h"

#define TILE_START(elem, p) tile_load_##elem(p)
#include "device/tile_ragged.h"

#include "device/tile_deal.h"

/* Packed elements: one, by its number, or as many as so many bytes hold, into one register each. */
#define TILE_PACKED_RUN(bytes, name, each)                                                                             \
    TILE_FN void tile_load##bytes##_##name(const tile_packed *from, int64_t i, int8_t *regs) {                         \
        tile_packed x[bytes];                                                                                          \
        tile_load##bytes(&from[i / each], x);                                                                          \
        for (int k = 0; k < bytes * each; k++) regs[k] = tile_##name##_at(x, k);                                       \
    }

#define TILE_PACKED(name, each)                                                                                        \
    TILE_FN int8_t tile_load_##name(const tile_packed *from, int64_t i) {                                              \
        tile_packed x;                                                                                                 \
        tile_load1(&from[i / each], &x);                                                                               \
        return tile_##name##_at(&x, i % each);                                                                         \
    }                                                                                                                  \
    TILE_PACKED_RUN(1, name, each)                                                                                     \
    TILE_PACKED_RUN(2, name, each)                                                                                     \
    TILE_PACKED_RUN(4, name, each)                                                                                     \
    TILE_PACKED_RUN(8, name, each)                                                                                     \
    TILE_PACKED_RUN(16, name, each)

TILE_PACKED(i4, 2)
TILE_PACKED(t2, 4)

TILE_FN void tile_zero32(void *regs) { __builtin_memset(regs, 0, 32); }
TILE_FN void tile_zero64(void *regs) { __builtin_memset(regs, 0, 64); }

/* ---- shuffles: all lanes of the wave together; the value of another lane ---- */

TILE_FN uint32_t tile_shuffle_xor(uint32_t x, int mask) { return tile_shuffle(x, tile_lane() ^ mask); }

#define TILE_SHUFFLE_NARROW(name, T)                                                                                   \
    TILE_FN T tile_shuffle_##name(T x, int lane) {                                                                     \
        uint32_t u = 0;                                                                                                \
        __builtin_memcpy(&u, &x, sizeof x);                                                                            \
        u = tile_shuffle(u, lane);                                                                                     \
        __builtin_memcpy(&x, &u, sizeof x);                                                                            \
        return x;                                                                                                      \
    }                                                                                                                  \
    TILE_FN T tile_shuffle_xor_##name(T x, int mask) { return tile_shuffle_##name(x, tile_lane() ^ mask); }

#define TILE_SHUFFLE_WIDE(name, T)                                                                                     \
    TILE_FN T tile_shuffle_##name(T x, int lane) {                                                                     \
        uint32_t u[2];                                                                                                 \
        __builtin_memcpy(u, &x, sizeof x);                                                                             \
        u[0] = tile_shuffle(u[0], lane);                                                                               \
        u[1] = tile_shuffle(u[1], lane);                                                                               \
        __builtin_memcpy(&x, u, sizeof x);                                                                             \
        return x;                                                                                                      \
    }                                                                                                                  \
    TILE_FN T tile_shuffle_xor_##name(T x, int mask) { return tile_shuffle_##name(x, tile_lane() ^ mask); }

TILE_SHUFFLE_WIDE(f64, double)
TILE_SHUFFLE_WIDE(i64, int64_t)
TILE_SHUFFLE_NARROW(f32, float)
TILE_SHUFFLE_NARROW(i32, int32_t)
TILE_SHUFFLE_NARROW(f16, tile_f16)
TILE_SHUFFLE_NARROW(bf16, tile_bf16)
TILE_SHUFFLE_NARROW(f8e4m3, tile_f8e4m3)
TILE_SHUFFLE_NARROW(f8e5m2, tile_f8e5m2)
TILE_SHUFFLE_NARROW(f8e4m3fnuz, tile_f8e4m3fnuz)
TILE_SHUFFLE_NARROW(i16, int16_t)
TILE_SHUFFLE_NARROW(i8, int8_t)
TILE_SHUFFLE_NARROW(u8, uint8_t)
TILE_SHUFFLE_NARROW(bool, uint8_t)

/* ---- element types of the matrix instructions, as arrays hold them ---- */

#define TILE_TYPE_f64 double
#define TILE_TYPE_f32 float
#define TILE_TYPE_f16 tile_f16
#define TILE_TYPE_bf16 tile_bf16
#define TILE_TYPE_f8e4m3 tile_f8e4m3
#define TILE_TYPE_f8e5m2 tile_f8e5m2
#define TILE_TYPE_f8e4m3fnuz tile_f8e4m3fnuz
#define TILE_TYPE_f8e5m2fnuz uint8_t
#define TILE_TYPE_i32 int32_t
#define TILE_TYPE_i8 int8_t
#define TILE_TYPE_u8 uint8_t

#endif
