/* tile_host.h: what the C of the CPU target calls: memory, sums that tasks share.
   tile_scalar.h has arithmetic of single elements, tile_math.h functions of floats, tile_dot.h products of matrices.
   Compile with -O3 -march=native -fopenmp-simd: the loops of generated code are marked for vectors. */
#ifndef TILE_DEVICE_TILE_HOST_H
#define TILE_DEVICE_TILE_HOST_H

/* gcc leaves half of a vector register of AVX-512 unused, for the sake of the first processors that had it. */
#if defined __AVX512F__ && !defined __clang__
#pragma GCC target("prefer-vector-width=512")
#endif

#include "device/host.h"

#include <math.h>

typedef _Float16 tile_f16;

#include "device/tile_scalar.h"

#define TILE_START(elem, p) (*(p))
#include "device/tile_ragged.h"

/* Ends a task that finds no groups: a start is wrong. */
static inline int tile_refuse_starts(const tile_task *t, const char *name, int64_t at, int64_t seen) {
    tile_record why = tile_record_make(t, -1, -1, 1, (uint64_t)seen);
    why.code = TILE_E_RANGE;
    why.task = at;
    strncpy(why.name, name, sizeof why.name - 1);
    why.name[sizeof why.name - 1] = 0;
    return tile_give_up(t, why);
}

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

/* The same pointer, and the compiler does not know it. */
static inline const void *tile_anew(const void *p) {
    __asm__("" : "+r"(p));
    return p;
}

static inline void *tile_at(void *base, size_t bytes) { return (char *)base + bytes; }

/* ---- sums into memory that other tasks also add to ---- */

#define TILE_ATOMIC_ADD(name, T, PLUS)                                                                                 \
    static inline void tile_atomic_add_##name(T *to, T x) {                                                            \
        T seen, sum;                                                                                                   \
        __atomic_load(to, &seen, __ATOMIC_RELAXED);                                                                    \
        do sum = PLUS;                                                                                                 \
        while (!__atomic_compare_exchange(to, &seen, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));                 \
    }

TILE_ATOMIC_ADD(f32, float, seen + x)
TILE_ATOMIC_ADD(f64, double, seen + x)
TILE_ATOMIC_ADD(i32, int32_t, tile_add_i32(seen, x))
TILE_ATOMIC_ADD(i64, int64_t, tile_add_i64(seen, x))

#include "device/tile_math.h"

#include "device/tile_dot_memory.h"

#include "device/tile_few.h"

#include "device/tile_gathered.h"

#include "device/tile_nontemporal.h"

#endif
