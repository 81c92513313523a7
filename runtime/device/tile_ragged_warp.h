/* tile_ragged_warp.h: of the tiles of a ragged range (tile_ragged.h) those that have positions, by a warp: their number,
   and the number that each of them has among all. All lanes together; results are the same in all. */
#ifndef TILE_DEVICE_TILE_RAGGED_WARP_H
#define TILE_DEVICE_TILE_RAGGED_WARP_H

/* As far as a search has come: the first group of those that lanes look at, and tiles of the groups before. */
typedef struct {
    int64_t group;
    int before;
} tile_ragged_walk;

/* The sum of the values of lanes up to the own one. */
TILE_FN int tile_warp_sum_to(int x) {
    for (int by = 1; by < TILE_LANES; by *= 2) {
        const int other = (int)tile_shuffle((uint32_t)x, tile_max_i32(tile_lane() - by, 0));
        if (tile_lane() >= by) x += other;
    }
    return x;
}

/* The first lane whose value is above y, of values that ascend; the last one, if none is. */
TILE_FN int tile_warp_above(int x, int y) {
    int lane = 0;
    for (int by = TILE_LANES / 2; by; by /= 2)
        if ((int)tile_shuffle((uint32_t)x, lane + by - 1) <= y) lane += by;
    return lane;
}

#define TILE_RAGGED_WARP(elem, T)                                                                                        \
    /* Of a group, those that have positions. */                                                                           \
    TILE_FN int tile_group_tiles_##elem(const T *start, int64_t groups, int64_t n, int64_t size, int64_t g) {              \
        if (g >= groups) return 0;                                                                                        \
        const int64_t first = tile_start_within(tile_load_##elem(&start[g]), n);                                          \
        return (int)tile_most(0, (tile_start_within(tile_load_##elem(&start[g + 1]), n) - first + size - 1) / size);      \
    }                                                                                                                     \
    /* Of all groups, `most` at most. */                                                                                   \
    TILE_FN int tile_ragged_tiles_##elem(const T *start, int64_t groups, int64_t n, int64_t size, int most) {              \
        int64_t tiles = 0;                                                                                                \
        for (int64_t g = tile_lane(); g < groups; g += TILE_LANES)                                                        \
            tiles += tile_group_tiles_##elem(start, groups, n, size, g);                                                  \
        return tile_min_i32(most, (int)tile_shuffle((uint32_t)tile_warp_sum_to((int)tile_least(tiles, INT32_MAX / TILE_LANES)), \
                                                    TILE_LANES - 1));                                                     \
    }                                                                                                                     \
    /* Of tile number i of these. Searches go on where the last one ended, if they may. */                                 \
    TILE_FN int tile_ragged_number_##elem(const T *start, int64_t groups, int64_t n, int64_t size, int i,                  \
                                          tile_ragged_walk *at) {                                                          \
        if (i < at->before) at->group = 0, at->before = 0;                                                                \
        for (;; at->group += TILE_LANES) {                                                                                \
            const int64_t g = at->group + tile_lane();                                                                    \
            const int own = tile_group_tiles_##elem(start, groups, n, size, g), upto = at->before + tile_warp_sum_to(own); \
            const int all = (int)tile_shuffle((uint32_t)upto, TILE_LANES - 1);                                            \
            if (i >= all && at->group + TILE_LANES < groups) {                                                            \
                at->before = all;                                                                                         \
                continue;                                                                                                 \
            }                                                                                                             \
            const int64_t first = g < groups ? tile_start_within(tile_load_##elem(&start[g]), n) : n;                     \
            const int64_t number = first / size + g + i - (upto - own);                                                   \
            return (int)tile_shuffle((uint32_t)number, tile_warp_above(upto, i));                                         \
        }                                                                                                                 \
    }

TILE_RAGGED_WARP(i32, int32_t)
TILE_RAGGED_WARP(i64, int64_t)

#undef TILE_RAGGED_WARP

#endif
