/* ir_ragged.c: tiles of ragged ranges: each position is in one tile, the numbers of all tiles are below the bound,
   groups that are empty have none. Starts that fall, or lie outside, give tiles inside of the range. */
#include "ir/ir.h"
#include "test/unit/check.h"

enum { GROUPS = 9, POSITIONS = 60, RUNS = 4000 };

static int64_t start_at(void *start, int64_t i) { return ((const int64_t *)start)[i]; }

static int failures;
static uint64_t state = 15;

static int64_t draw(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static void starts_draw(int64_t *start, int64_t groups, int64_t n) {
    start[0] = 0;
    for (int64_t g = 1; g <= groups; g++)
        start[g] = g == groups ? n : start[g - 1] + draw(n - start[g - 1] + 1) / (1 + draw(3));
}

static void check_partition(int64_t *start, int64_t groups, int64_t n, int64_t size) {
    int seen[POSITIONS + 1] = {0};
    int64_t last = 0;
    for (int64_t t = 0; t < ceil_div(n, size) + groups; t++) {
        RaggedTile x = ragged_tile(start_at, start, groups, n, size, t);
        CHECK(x.begin <= x.end && x.end - x.begin <= size && x.group >= 0 && x.group < groups);
        if (x.begin == x.end) continue;
        CHECK(x.begin >= last && x.begin >= start[x.group] && x.end <= start[x.group + 1]);
        CHECK((x.begin - start[x.group]) % size == 0 && (x.end == start[x.group + 1] || x.end - x.begin == size));
        for (int64_t i = x.begin; i < x.end; i++) seen[i]++;
        last = x.end;
    }
    for (int64_t i = 0; i < n; i++) CHECK(seen[i] == 1);
}

static void check_wrong(int64_t *start, int64_t groups, int64_t n, int64_t size) {
    for (int64_t t = 0; t < ceil_div(n, size) + groups; t++) {
        RaggedTile x = ragged_tile(start_at, start, groups, n, size, t);
        CHECK(x.begin <= x.end && x.begin >= 0 && x.end <= n && x.group >= 0 && x.group < groups);
    }
}

int main(void) {
    for (int run = 0; run < RUNS; run++) {
        int64_t start[GROUPS + 1], groups = 1 + draw(GROUPS), n = draw(POSITIONS + 1), size = 1 + draw(20);
        starts_draw(start, groups, n);
        check_partition(start, groups, n, size);
        for (int64_t g = 0; g <= groups; g++) start[g] = draw(3 * POSITIONS) - POSITIONS;
        check_wrong(start, groups, n, size);
    }
    CHECK(ragged_tile(start_at, NULL, 0, 7, 4, 1).end == 0);
    return failures != 0;
}
