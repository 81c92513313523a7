/* tile_edges.c: tiles over an edge of the result: copies that lie outside of their tensor, and what tasks take that
   come last. Takes: a question and a plan of its tiles. Gives: clocks. */
#include "passes/plan/tile_parts.h"

#include <math.h>

int tile_copies_outside(const TileQuestion *q, const TilePlan *p) {
    int64_t along = p->beside ? q->columns : q->rows, across = p->beside ? q->rows : q->columns;
    int tile = p->beside ? p->columns : p->rows, shared = p->beside ? p->rows : p->columns;
    int64_t last = across % shared;
    return p->cluster == 1 ? 0 : (ceil_div(along, tile) % p->cluster != 0) + (last && last <= shared / p->cluster);
}

/* Of a stage: a workgroup's own tile, or its part of the shared one. */
double tile_outside_bytes(const TileQuestion *q, const TilePlan *p) {
    double rows = (double)tile_row_bytes(q, p->rows), columns = (double)tile_column_bytes(q, p->columns);
    return fmax(rows / (p->beside ? p->cluster : 1), columns / (p->beside ? 1 : p->cluster)) / q->rings;
}

/* Clocks of a task over an edge, of so many rows or columns; where a cluster's tiles lie along the edge, of the first.
 */
static double edge_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p, int64_t rows,
                          int64_t columns) {
    TilePlan edge = *p, copied = *p;
    edge.rows = copied.rows = (int)fmin(p->rows, (double)(ceil_div(rows, GROUP_ROWS) * GROUP_ROWS));
    edge.columns = (int)fmin(p->columns, (double)(ceil_div(columns, WIDE_STEP) * WIDE_STEP));
    copied.columns = (int)fmin(p->columns, (double)(ceil_div(columns, PANEL_COLUMNS) * PANEL_COLUMNS));
    double read = tile_bytes_read(q, &edge) / g->lds / q->rings,
           step = fmax(fmax(tile_product_clocks(op, g, q, &edge), read), tile_copy_clocks(g, q, &copied));
    return tile_task_clocks(g, q, &copied, fmax(step, tile_slot_clocks(g, q, &copied, step) / tile_steps_away(q, p)));
}

/* Tasks of equal length that are done before `time`, by workers that begin at another one. */
static double done_before(double workers, double time, double begin, double each) {
    return time > begin ? workers * floor((time - begin) / each) : 0;
}

double tile_edges_clocks(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, const TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    const int64_t tall = (int64_t)p->rows * (p->beside ? 1 : p->cluster),
                  wide = (int64_t)p->columns * (p->beside ? p->cluster : 1), once = t->processors / p->cluster,
                  down = q->rows / tall, across = q->columns / wide, below = q->rows % tall, right = q->columns % wide,
                  beside = right ? down : 0, under = below ? across + (right != 0) : 0;
    const double sum = (beside ? (double)beside * edge_clocks(op, g, q, p, tall, right) : 0) +
                       (under ? (double)under * edge_clocks(op, g, q, p, below, wide) : 0);
    const int64_t rounds = down * across / once, busy = down * across % once;
    const double edges = (double)(beside + under), each = sum / edges, early = (double)rounds * p->clocks,
                 late = early + (busy ? p->clocks : 0);
    double end = late;
    while (done_before((double)(once - busy), end, early, each) + done_before((double)busy, end, late, each) < edges)
        end += each / 8;
    return end;
}

bool tile_has_edges(const TileQuestion *q, const TilePlan *p) {
    const int tall = p->rows * (p->beside ? 1 : p->cluster), wide = p->columns * (p->beside ? p->cluster : 1);
    return (q->rows % p->rows || q->columns % p->columns) && q->rows >= tall && q->columns >= wide;
}
