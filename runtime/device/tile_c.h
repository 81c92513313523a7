/* tile_c.h: what the C of a program calls whether it has a runtime (tile_host.h) or none (tile_alone.h). The including
   header has defined TILE_ADD_TO(to, T, PLUS), statements that replace what `to` points to, called `seen`, by PLUS. */
#ifndef TILE_DEVICE_TILE_C_H
#define TILE_DEVICE_TILE_C_H

#include "device/tile_scalar.h"

#define TILE_START(elem, p) (*(p))
#include "device/tile_ragged.h"

#ifndef TILE_INTEGERS
typedef _Float16 tile_f16; /* gcc for Arm has it with -mfp16-format=ieee */

static inline float tile_f32_of_f16(tile_f16 x) { return (float)x; }
static inline tile_f16 tile_f16_of_f32(float x) { return (tile_f16)x; }

static inline uint32_t tile_bits_of_f16(tile_f16 x) {
    uint16_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

static inline tile_f16 tile_f16_of_bits(uint32_t u) {
    tile_f16 x;
    __builtin_memcpy(&x, &(uint16_t){(uint16_t)u}, sizeof x);
    return x;
}
#endif

/* The same pointer, and the compiler does not know it. */
static inline const void *tile_anew(const void *p) {
    __asm__("" : "+r"(p));
    return p;
}

static inline void *tile_at(void *base, size_t bytes) { return (char *)base + bytes; }

/* ---- sums into memory that other tasks also add to ---- */

#define TILE_SHARED_ADD(name, T, PLUS)                                                                                 \
    static inline void tile_atomic_add_##name(T *to, T x) { TILE_ADD_TO(to, T, PLUS); }

TILE_SHARED_ADD(f32, float, seen + x)
TILE_SHARED_ADD(f64, double, seen + x)
TILE_SHARED_ADD(i32, int32_t, tile_add_i32(seen, x))
TILE_SHARED_ADD(i64, int64_t, tile_add_i64(seen, x))

#ifdef TILE_INTEGERS
#include "device/tile_dot.h"
#else
#include "device/tile_math.h"

#include "device/tile_dot_memory.h"

#include "device/tile_few.h"

#include "device/tile_gathered.h"
#endif

#include "device/tile_integers.h"

#endif
