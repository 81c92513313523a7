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
#include "device/tile_print.h"

#include <math.h>

/* Other tasks add to the same place. */
#define TILE_ADD_TO(to, T, PLUS)                                                                                       \
    T seen, sum;                                                                                                       \
    __atomic_load(to, &seen, __ATOMIC_RELAXED);                                                                        \
    do sum = PLUS;                                                                                                     \
    while (!__atomic_compare_exchange(to, &seen, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))

#include "device/tile_c.h"

/* Ends a task that finds no groups: a start is wrong. */
static inline int tile_refuse_starts(const tile_task *t, const char *name, int64_t at, int64_t seen) {
    tile_record why = tile_record_make(t, -1, -1, 1, (uint64_t)seen);
    why.code = TILE_E_RANGE;
    why.task = at;
    strncpy(why.name, name, sizeof why.name - 1);
    why.name[sizeof why.name - 1] = 0;
    return tile_give_up(t, why);
}

/* A record, and one of an assertion that fails. */
static inline void tile_print(tile_prints *to, int64_t site, uint64_t value, const int64_t *place, int n) {
    const uint64_t number = __atomic_fetch_add(&to->count, 1, __ATOMIC_RELAXED);
    if (number >= to->room) return;
    to->record[number].site = (uint64_t)site;
    to->record[number].value = value;
    for (int i = 0; i < n; i++) to->record[number].place[i] = place[i];
}

static inline void tile_failed(tile_prints *to, int64_t site, uint64_t value, const int64_t *place, int n) {
    __atomic_fetch_add(&to->failed, 1, __ATOMIC_RELAXED);
    tile_print(to, site, value, place, n);
}

#include "device/tile_nontemporal.h"

#endif
