/* tile_clocks.c: clocks of a step, a task, and all tasks of a plan of tiles.
   Clocks of a step = the most of: products; operands read from shared memory; operands copied from the L2.
   Time = clocks until the first product + rounds of tasks * (steps + storing). */
#include "passes/plan/tile_parts.h"

#include <math.h>

enum {
    SLOW = 4 /* times as long results take that threads store from registers [guess] */
};

double tile_bytes_read(const TileQuestion *q, const TilePlan *p) {
    return (double)q->products * q->depth * q->width * (p->rows + p->rows / GROUP_ROWS * p->columns);
}

/* Bytes of a stage that a workgroup asks for: its own tile, and its part of the shared one. */
static double bytes_asked(const TileQuestion *q, const TilePlan *p) {
    double rows = (double)tile_row_bytes(q, p->rows), columns = (double)tile_column_bytes(q, p->columns);
    return rows / (p->beside ? p->cluster : 1) + columns / (p->beside ? 1 : p->cluster);
}

/* All workgroups read the few rows of exchanged operands. Where few processors copy, each gets more: the next launch
   copies beside them, too. */
static double boxes_rate(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    enum {
        READERS = 2, /* tiles that have one of the other operand; four bring the usual rate (bench/gpu/log.md) */
        LARGE = 128  /* rows of both tiles: 16, 32 and 56 by 64 bring the usual rate, 128 by 64 more */
    };
    const double alone = 0.6; /* power of the share of processors (bench/gpu/log.md, "Clocks of tiles") */
    const bool few = q->exchanged && !q->made_words, large = p->rows + p->columns >= LARGE;
    const double rate = few && large && ceil_div(q->columns, p->columns) <= READERS ? g->boxes_few : g->boxes;
    return few ? fmax(rate, fmin(rate * pow(p->share, -alone), g->boxes_most)) : rate;
}

double tile_copy_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    double asked = q->apart ? (1 + (g->apart - 1) * p->share) * bytes_asked(q, p) : 0;
    return fmax((double)tile_stage_bytes(q, p), asked) / boxes_rate(g, q, p) / q->rings;
}

double tile_product_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    return (double)q->products * (q->depth / op->ad->k) * (p->rows / GROUP_ROWS) * matrix_cycles(op, p->columns) /
           g->busy / q->rings;
}

/* Groups make an operand, and hardly beside each other. Measured on an H200, weights of 8, 4 and 2 bits by 1 to 64
   rows: a step of 128 positions takes 560 clocks, of 256 780; of two groups 880 and 1330. */
static double made_clocks(const TileQuestion *q, const TilePlan *p) {
    const double one = 300, position = 2, more = 0.6; /* clocks of a step, and of a position; of a further group */
    return q->made_words ? (one + position * q->depth) * (1 + more * (p->groups - 1)) : 0;
}

double tile_step_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    double read = tile_bytes_read(q, p) / g->lds / q->rings,
           products = tile_product_clocks(op, g, q, p) + made_clocks(q, p);
    return fmax(fmax(products, read), tile_copy_clocks(g, q, p));
}

double tile_slot_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p, double step) {
    return LATENCY + tile_copy_clocks(g, q, p) + step;
}

/* Clocks for which panels that come beside results, and did not fit from the first on, are waited for. Measured on an
   H200: 6000 for three panels of four. What other ranks send, for half of the tasks, is waited for anyway, and two
   slots do: GEMM+RS of 8192 rows took 444 us in tiles of 256 columns with two slots, 461 in tiles of 192 with three. Three
   groups do not end in turn, so nobody multiplies while they read: a convolution of 32 images of 56 x 56 x 256 with a
   residual takes 171 us in tiles of 192 x 128, 162 to 165 in those of 128 x 256. */
static double near_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    enum { DO = 2 /* slots */, IN_TURN = 2 /* groups */ };
    if (!q->nears || tile_is_apart(p) || (q->sends && p->nears >= DO)) return 0;
    const double read = p->groups > IN_TURN ? q->nears * (double)p->rows * p->columns * 2 / g->boxes : 0;
    return 2.0 * LATENCY * (tile_near_panels(q, p) - p->nears) / p->nears + read;
}

/* Clocks for which workgroups that share a tile add up its sums. */
static double share_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    enum {
        MADE = 1500,    /* clocks, where operands are made, with which tiles were measured (bench/gpu/log.md) */
        MADE_BYTES = 24 /* a clock, likewise */
    };
    if (p->slices == 1) return 0;
    if (q->made_words) return MADE + (double)tile_sum_bytes(q, p) / MADE_BYTES;
    return g->sum * p->groups + (double)tile_sum_bytes(q, p) / g->summed;
}

/* Of which one bounds a task, but where both are near: copies from memory do not come evenly. */
static double both(double a, double b) { return cbrt(a * a * a + b * b * b); }

/* Results go by whole panels. With one slot of results a group waits for its store. */
double tile_task_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p, double step) {
    int64_t columns = ceil_div(p->columns, PANEL_COLUMNS) * PANEL_COLUMNS;
    double ways = q->slots * fmax(MOST_OUTS + 1 - p->outs, 1) + (q->results - q->slots) * SLOW;
    double storing = p->late ? 0 : ways * p->rows * (double)(q->slots ? columns : p->columns) * q->width / g->boxes;
    return both((double)ceil_div(q->steps, p->slices) * step, p->memory) + storing / p->slices + near_clocks(g, q, p) +
           share_clocks(g, q, p);
}

/* Of one of many: a slot has to come back before its turn. A pair with one group each of exchanged operands waits for
   each other. */
static double step_in_turn(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    const double pair = 1.1; /* times as long (bench/gpu/log.md, "Clocks of tiles") */
    double step = tile_step_clocks(op, g, q, p);
    if (q->exchanged && p->cluster > 1 && p->groups == 1) step *= pair;
    return fmax(step, tile_slot_clocks(g, q, p, step) / tile_steps_away(q, p));
}

static double apart_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    TileQuestion apart = *q;
    TilePlan all = *p;
    apart.apart = true;
    all.share = 1; /* a run may have more tasks */
    return tile_task_clocks(g, q, p, step_in_turn(op, g, &apart, &all)) - p->clocks;
}

/* Few rows come fast where all tasks run at once, and on few processors. Measured on an H200, 256 and 512 rows by 4096 x
   4096 in tiles of 256 x 64, two slices each: 16.9 and 34.6 us; 64, 72 and 104 rows in a tile of 64 columns 11 to 12.8,
   in two 13.5, 15.5 and 17.2. */
static double again_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    TileQuestion many = *q;
    many.exchanged = false;
    return fmax(tile_task_clocks(g, q, p, step_in_turn(op, g, &many, p)) - p->clocks, 0);
}

/* Of a round: all operands come from memory once, or the part of a tensor that a task reads, and slices bring them no
   faster. Groups may have no rows, gathered
   rows are few of many. */
static double memory_clocks(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    if (q->row_groups > 1 || q->column_groups > 1 || q->gathers || q->made_words) return 0;
    const double sums = (double)q->tasks * (double)q->steps * q->depth / q->rings,
                 bits = sums * (double)(q->row_tiles * q->rows * q->row_bits + q->column_tiles * q->columns * 8 * q->width);
    return fmin(bits / 8, q->bytes) / target_facts(t->name)->memory * gpu_facts(t->name)->clock / tile_rounds(t, q, p);
}

void tile_count(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    p->memory = memory_clocks(t, q, p);
    p->clocks = tile_task_clocks(g, q, p, step_in_turn(op, g, q, p));
    p->apart = apart_clocks(op, g, q, p);
    p->again = again_clocks(op, g, q, p);
    p->few = tile_rounds(t, q, p) > 1 ? 0 : tile_tasks(q, p);
}
