/* tile_tasks.c: how many tasks a plan of tiles has, and how many of them run at once.
   Takes: a question and a plan of its tiles. Gives: rounds; the share of processors at work. */
#include "passes/plan/tile_parts.h"

#include <math.h>

int64_t tiles_of(int64_t n, int64_t groups, int64_t size) {
    return groups > 1 ? groups * ceil_div(ceil_div(n, groups), size) : ceil_div(n, size);
}

static int64_t clusters_at_once(const MatrixTarget *t, const TilePlan *p) {
    return gpu_facts(t->name)->at_once[p->slices * p->cluster];
}

/* A cluster has tiles beside each other, or above; one of a pair may lie outside. */
double tile_tasks(const TileQuestion *q, const TilePlan *p) {
    int64_t down = tiles_of(q->rows, q->row_groups, p->rows),
            across = tiles_of(q->columns, q->column_groups, p->columns);
    *(p->beside ? &across : &down) = ceil_div(p->beside ? across : down, p->cluster);
    return (double)(q->tasks * down * across);
}

double tile_rounds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    return ceil(tile_tasks(q, p) / (double)clusters_at_once(t, p));
}

double tile_share(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const int64_t tasks =
        q->tasks * tiles_of(q->rows, q->row_groups, p->rows) * tiles_of(q->columns, q->column_groups, p->columns);
    return fmin(1, (double)(tasks * p->slices) / t->processors);
}
