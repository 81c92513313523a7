/* tile_order.h: orders of tasks of the form roles: from a task's number to the row and column of its tile, or of its
   cluster's tiles. Each is a bijection for every number of rows and columns. */
#ifndef TILE_DEVICE_TILE_ORDER_H
#define TILE_DEVICE_TILE_ORDER_H

typedef struct {
    int i, j;
} tile_place;

/* `band` rows at a time, down the columns, so that workgroups at work together share rows and columns in L2. */
TILE_FN tile_place tile_order_raster(int task, int rows, int columns, int band) {
    const int first = task / (band * columns) * band, in = task % (band * columns);
    const int height = tile_min_i32(band, rows - first);
    return {first + in % height, in / height};
}

/* The number of the task at a place. */
TILE_FN int tile_order_raster_task(tile_place at, int rows, int columns, int band) {
    const int first = at.i / band * band;
    return first * columns + at.j * tile_min_i32(band, rows - first) + at.i - first;
}

/* Of `tile_order_raster` within the rows of each rank, which have them in the order of their numbers: those of rank `first` come first,
   then those of the ranks behind it; last what is left over. */
TILE_FN tile_place tile_order_own_first(int task, int rows, int columns, int band, int ranks, int first) {
    const int each = rows / ranks, block = each * columns, turn = block ? task / block : ranks;
    if (turn >= ranks) {
        const tile_place left = tile_order_raster(task - ranks * block, rows - ranks * each, columns, band);
        return {ranks * each + left.i, left.j};
    }
    const tile_place at = tile_order_raster(task % block, each, columns, band);
    return {(turn + first) % ranks * each + at.i, at.j};
}

/* Rows of rank `first` between those of the other ranks, which take turns, and alone at the end: links are at work most
   of the time, and done before the last tasks are. */
TILE_FN tile_place tile_order_own_late(int task, int rows, int columns, int band, int ranks, int first) {
    const int each = rows / ranks, all = ranks * each * columns, away = all - each * columns;
    if (task >= all) {
        const tile_place left = tile_order_raster(task - all, rows - ranks * each, columns, band);
        return {ranks * each + left.i, left.j};
    }
    /* `away` of the first (away + all) / 2 tasks are of other ranks, at equal distances */
    const int before = tile_min_i32(away, (int)((int64_t)task * 2 * away / (away + all))),
              behind = tile_min_i32(away, (int)((int64_t)(task + 1) * 2 * away / (away + all)));
    if (behind == before) {
        const tile_place at = tile_order_raster(task - before, each, columns, band);
        return {first * each + at.i, at.j};
    }
    const tile_place at = tile_order_raster(before, (ranks - 1) * each, columns, band);
    return {(first + 1 + at.i % (ranks - 1)) % ranks * each + at.i / (ranks - 1), at.j};
}

/* Rows of rank `first` that wait for what the other ranks send for them: on every rank each comes behind the tiles of
   other ranks that have the same number in their blocks. `lag` tiles of other ranks come before all own ones, as many as
   run at once; then 2 (ranks - 1) of every 2 ranks - 1, until none is left. */
TILE_FN tile_place tile_order_own_behind(int task, int rows, int columns, int band, int ranks, int first, int lag) {
    const int each = rows / ranks, away = each * columns * (ranks - 1), all = each * columns * ranks;
    if (task >= all) {
        const tile_place left = tile_order_raster(task - all, rows - ranks * each, columns, band);
        return {ranks * each + left.i, left.j};
    }
    const int least = lag < 2 * ranks ? 2 * ranks : lag, head = least < away ? least : away, others = 2 * (ranks - 1);
    const int behind = task < head ? 0 : task - head;
    const int before = task < head ? task : tile_min_i32(away, head + (int)((int64_t)behind * others / (others + 1))),
              after = task < head ? task + 1
                                  : tile_min_i32(away, head + (int)((int64_t)(behind + 1) * others / (others + 1)));
    if (after == before) {
        const tile_place at = tile_order_raster(task - before, each, columns, band);
        return {first * each + at.i, at.j};
    }
    const tile_place at = tile_order_raster(before / (ranks - 1), each, columns, band);
    return {(first + 1 + before % (ranks - 1)) % ranks * each + at.i, at.j};
}

/* Whole tiles as above, then those over the edge: the last column, if it is one of them, then the last row. They are the
   shorter ones, so that workgroups without a whole tile in the last round take them. */
TILE_FN tile_place tile_order_edges_last(int task, int rows, int columns, int whole_rows, int whole_columns, int band) {
    const int edge = task - whole_rows * whole_columns, side = columns > whole_columns ? rows : 0;
    if (edge < 0) return tile_order_raster(task, whole_rows, whole_columns, band);
    if (edge < side) return {edge, columns - 1};
    return {rows - 1, edge - side};
}

#endif
