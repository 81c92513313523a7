/* tile_ragged.h: the tile of a task in a ragged range: groups of positions that starts bound, tiles inside of groups. For
   every target. Numbers of tiles: ir/size.h. The including header has defined TILE_START(elem, p), what p points to. */
#ifndef TILE_DEVICE_TILE_RAGGED_H
#define TILE_DEVICE_TILE_RAGGED_H

#include "device/tile_scalar.h"

/* Of a task's tile: its group, where it begins, its positions; 0 of them: no group has the number. */
typedef struct {
    int64_t group, begin, count;
} tile_ragged;

/* Starts that each task looks at whole, so that a task sees what is wrong before any stores; of more groups the first does.
   Chosen: no measurement is recorded. */
enum { TILE_STARTS_SEEN = 4096 };

TILE_FN int64_t tile_start_within(int64_t x, int64_t n) { return tile_most(0, tile_least(x, n)); }

/* Below the start before, or outside of 0 .. n; with `whole` also where positions are left out before the first group or
   behind the last. */
TILE_FN bool tile_start_is_wrong(int64_t g, int64_t groups, int64_t before, int64_t x, int64_t n, bool whole) {
    if (x < before || x > n) return true;
    return whole && ((g == 0 && x != 0) || (g == groups && x != n));
}

/* The last group whose first tile has no higher number. Starts are cut to 0 .. n, so that no tile lies outside. */
#define TILE_RAGGED(elem, T)                                                                                                \
    TILE_FN tile_ragged tile_ragged_##elem(const T *start, int64_t groups, int64_t n, int64_t size, int64_t number) {       \
        int64_t lo = 0, hi = groups;                                                                                      \
        const tile_ragged none = {0, 0, 0};                                                                                \
        if (groups <= 0) return none;                                                                                     \
        while (hi - lo > 1) {                                                                                             \
            const int64_t mid = lo + (hi - lo) / 2, first = tile_start_within(TILE_START(elem, &start[mid]), n);          \
            if (first / size + mid <= number)                                                                             \
                lo = mid;                                                                                                 \
            else                                                                                                          \
                hi = mid;                                                                                                 \
        }                                                                                                                 \
        const int64_t first = tile_start_within(TILE_START(elem, &start[lo]), n);                                         \
        const int64_t past = tile_start_within(TILE_START(elem, &start[lo + 1]), n), tile = number - first / size - lo;   \
        const bool some = tile >= 0 && past - first > tile * size;                                                        \
        const int64_t begin = some ? first + tile * size : past;                                                          \
        const tile_ragged found = {lo, begin, tile_least(size, past - begin)};                                             \
        return found;                                                                                                     \
    }                                                                                                                     \
    /* The first start from number `from` on, in steps, that is wrong; -1: none. */                                       \
    TILE_FN int64_t tile_starts_wrong_##elem(const T *start, int64_t groups, int64_t n, int64_t number, bool whole,       \
                                             int64_t from, int64_t step) {                                                \
        if (number > 0 && groups > TILE_STARTS_SEEN) return -1;                                                           \
        for (int64_t g = from; g <= groups; g += step) {                                                                  \
            const int64_t before = g ? TILE_START(elem, &start[g - 1]) : 0;                                               \
            if (tile_start_is_wrong(g, groups, before, TILE_START(elem, &start[g]), n, whole)) return g;                  \
        }                                                                                                                 \
        return -1;                                                                                                        \
    }

TILE_RAGGED(i32, int32_t)
TILE_RAGGED(i64, int64_t)

#undef TILE_RAGGED

#endif
