/* order.cpp: orders of tasks that know ranks: each is a bijection; and with own_behind a rank's own tile has a later
   number than the other ranks' tasks of that tile. Prints what is wrong. */
#include <stdint.h>
#include <stdio.h>

#include <vector>

#define TILE_FN static inline
static inline int tile_min_i32(int a, int b) { return a < b ? a : b; }
#include "device/tile_order.h"

typedef std::vector<int> Numbers; /* by place; -1: no task has it */

enum { FIRST, LATE, BEHIND };

static tile_place place(int how, int task, int rows, int columns, int band, int ranks, int rank, int lag) {
    if (how == FIRST) return tile_order_own_first(task, rows, columns, band, ranks, rank);
    if (how == LATE) return tile_order_own_late(task, rows, columns, band, ranks, rank);
    return tile_order_own_behind(task, rows, columns, band, ranks, rank, lag);
}

static bool order_check(int how, int rows, int columns, int band, int ranks, int rank, int lag, Numbers *numbers) {
    *numbers = Numbers((size_t)(rows * columns), -1);
    for (int task = 0; task < rows * columns; task++) {
        const tile_place at = place(how, task, rows, columns, band, ranks, rank, lag);
        if (at.i < 0 || at.i >= rows || at.j < 0 || at.j >= columns) return false;
        int *number = &(*numbers)[(size_t)(at.i * columns + at.j)];
        if (*number >= 0) return false;
        *number = task;
    }
    return true;
}

/* Rows of each rank; those left over belong to none. */
static bool own_are_behind(const std::vector<Numbers> &of, int rows, int columns, int ranks) {
    const int each = rows / ranks;
    for (int at = 0; at < each * ranks * columns; at++) {
        const int owner = at / columns / each;
        for (int rank = 0; rank < ranks; rank++)
            if (rank != owner && of[(size_t)rank][(size_t)at] >= of[(size_t)owner][(size_t)at]) return false;
    }
    return true;
}

int main(void) {
    int wrong = 0, checked = 0;
    for (int how = FIRST; how <= BEHIND; how++)
        for (int ranks = 2; ranks <= 5; ranks++)
            for (int rows = 1; rows < 23; rows++)
                for (int columns = 1; columns < 12; columns++)
                    for (int band = 1; band < 9; band += 7)
                        for (int lag = 1; lag < 70; lag += 11) {
                            std::vector<Numbers> of((size_t)ranks);
                            bool good = true;
                            for (int rank = 0; rank < ranks; rank++)
                                good &= order_check(how, rows, columns, band, ranks, rank, lag, &of[(size_t)rank]);
                            if (good && how == BEHIND) good = own_are_behind(of, rows, columns, ranks);
                            checked++;
                            if (!good && wrong++ < 5)
                                printf("order %d: %d x %d tiles, bands of %d, %d ranks, lag %d\n", how, rows, columns,
                                       band, ranks, lag);
                        }
    printf("%d orders, %d wrong\n", checked, wrong);
    return wrong > 0;
}
