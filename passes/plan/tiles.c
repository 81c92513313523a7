/* tiles.c: the fastest tile of those that fit, by a count of clocks (tile_clocks.c).
   Takes: sizes and the machine's facts. Gives: the plan of a workgroup. */
#include "passes/plan/tile_parts.h"

#include <math.h>

enum {
    LEAST_STAGES = 2,      /* one is read, one is copied */
    COPY_REGISTERS = 40,   /* of a thread of the group that copies: 30 values spill with 24 (compiled) */
    GATHER_REGISTERS = 64, /* likewise of who copies row by row, 16 rows a lane: 56 spill (compiled), .. */
    ROOMY_REGISTERS = 96,  /* .. and 80 where groups of rows are searched (compiled); two groups leave so many .. */
    ROOMY_SUMS = 96,       /* .. beside sums in so many registers */
    ALL_REGISTERS = 512,   /* of four threads, one of each of four groups: 65,536 in all */
    MOST_REGISTERS = 232,  /* of a thread that multiplies: three groups have 504 of 512 so */
    MOST_SINGLES = 240,    /* columns, where bytes leave one by one: 256 are serialised (compiled: C7514) */
    MOST_SUMS = 3,         /* tiles: a cell of four gates spills, and ptxas serialises its products (C7514) */
    SUM_REGISTERS = 128,   /* of a thread, for sums; the epilogue has the others [guess], .. */
    RUN_REGISTERS = 40,    /* .. but so many where sums of two steps are held (compiled), .. */
    OWN_REGISTERS = 56,    /* .. and at least so many (compiled: tiles of 192 x 192 spill nothing) */
    USUAL_ROWS = 128,      /* of a tile, by GROUP_ROWS */
    MOST_ROWS = 192,       /* likewise, with three groups that do not end in turn: where they gain */
    SHARED = 8,            /* rows of a tile that each of a cluster copies at least: a swizzle repeats (PTX ISA) */
    MOST_COLUMNS = 256,    /* of a tile */
    SHARE_STEP = 16,
    MOST_CLUSTER = 8,
    MOST_SLICES = 8 /* workgroups of the largest portable cluster (CUDA programming guide) */
};

#define LEAST_OWN 0.75 /* of the clocks of few rows, those that a run of more rows takes again for each tile [guess]   \
                        */

/* ---- what fits ---- */

static bool sums_fit(const TileQuestion *q, const TilePlan *p) {
    const int room = p->registers - OWN_REGISTERS - q->made_words, most = room < SUM_REGISTERS ? room : SUM_REGISTERS;
    const int each = p->columns * (p->rows / p->groups) / GROUP;
    if (q->parts && (q->sums - 1 + 2 * q->parts) * each > p->registers - RUN_REGISTERS) return false;
    return q->sums <= MOST_SUMS && q->sums * each <= most;
}

/* A quarter of the rows of a tile, on average. What takes time then are the other operand's tiles, one for each group
   that has rows: narrow tiles deal them out evenly. Measured on an H200, 1024 rows in 64 groups by 2048 x 2048: 135 us
   for equal groups and 51 where a quarter of them has all rows, in tiles of 64 x 128 with 8 stages; 140 and 66 in
   clusters of 64 x 256. */
static bool has_small_groups(const TileQuestion *q) {
    return q->row_groups > 1 && 4 * q->rows <= GROUP_ROWS * q->row_groups;
}

/* A workgroup finishes a share of the columns. */
static bool share_fits(const MatrixOp *op, const TileQuestion *q, const TilePlan *p) {
    const int share = p->columns / p->slices, step = q->slots ? SHARE_STEP : COLUMNS_STEP;
    if (p->slices == 1) return true;
    return p->columns % p->slices == 0 && share % step == 0 && matrix_n(op, share) &&
           !(q->nears && share % PANEL_COLUMNS);
}

/* Up to 64 rows on average: half of the groups have more, and two tiles of 64 rows read their weights twice, at half
   the rate. Of a tile of 128 rows that has fewer, boxes of 64 are left out. Measured on an H200, 8 groups with 512 rows
   by 4096 x 4096, equal, unequal and some: 74, 71, 53 us in tiles of 128 x 128; 73, 84, 62 in clusters of 64 x 256. */
static bool has_half_groups(const TileQuestion *q) {
    const bool open = !q->gathers && !q->only_rows && !q->only_columns && q->even_rows % USUAL_ROWS == 0;
    return open && q->row_groups > 1 && !has_small_groups(q) && q->rows <= GROUP_ROWS * q->row_groups;
}

static bool is_allowed(const TileQuestion *q, const TilePlan *p) {
    if (q->only_slices && q->only_slices != p->slices) return false;
    if (has_half_groups(q) && (p->rows != USUAL_ROWS || p->columns > WIDE || p->cluster > 1)) return false;
    if (has_small_groups(q) && !q->only_columns && (p->columns > WIDE || p->cluster > 1)) return false;
    /* Wider tiles of exchanged operands have results in slots: those that are turned (slice_turns). */
    if (!q->oblong && q->exchanged && !q->made_words && p->columns > WIDE) return false;
    if (q->exchanged && !q->made_words && p->columns == p->rows) return false; /* tiles tell whether operands are */
    if (q->singles && p->columns > MOST_SINGLES) return false;
    if (q->even_rows % p->rows || q->even_columns % p->columns) return false;
    return (!q->only_rows || q->only_rows == p->rows) && (!q->only_columns || q->only_columns == p->columns) &&
           (!q->only_cluster || q->only_cluster == p->cluster || p->slices > 1);
}

/* ---- the choice ---- */

/* Of all tasks: rounds of those that take longest, or those over an edge last. */
static void seconds_count(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    p->outside = p->cluster > 1 ? (double)q->steps * tile_outside_bytes(q, p) / g->outside : 0;
    const bool again = tile_rounds(t, q, p) > 1 && q->tasks == 1 && q->row_groups == 1 && q->column_groups == 1;
    const double task = p->clocks + (again ? p->again : 0),
                 last = fmax(task, tile_copies_outside(q, p) * p->outside),
                 meet = p->cluster * p->slices > 1 ? g->cluster : 0;
    p->seconds = g->fill + (meet + (tile_rounds(t, q, p) - 1) * task + last) / g->clock;
    if (q->few) {
        p->seconds = tile_few_seconds(t, q, p);
        const double all = (p->seconds - g->fill) * g->clock;
        p->clocks = fmax(all - meet, LEAST_OWN * all) / tile_rounds(t, q, p);
        p->again = p->clocks; /* a second tile of rows brings the other operand again */
    }
    if (p->edges) p->seconds = g->fill + (meet + tile_edges_clocks(t, op, q, p)) / g->clock;
}

/* Where a processor holds several workgroups, groups give none to others: sums are few. Threads that copy rows have
   what the others leave. */
static void registers_share(const TileQuestion *q, TilePlan *p) {
    const int begin = ALL_REGISTERS / p->resident / (p->groups + 1) / 8 * 8; /* of a thread */
    const bool roomy = p->groups <= 2 && q->sums * p->columns * (p->rows / p->groups) / GROUP <= ROOMY_SUMS;
    p->copy_registers = !q->gathers ? COPY_REGISTERS : roomy ? ROOMY_REGISTERS : GATHER_REGISTERS;
    p->registers = (int)fmin(MOST_REGISTERS, (begin * (p->groups + 1) - p->copy_registers) / p->groups / 8 * 8);
    const int left = (begin * (p->groups + 1) - p->registers * p->groups) / 8 * 8;
    if (q->gathers) p->copy_registers = (int)fmin(MOST_REGISTERS, left);
    if (p->resident > 1) p->copy_registers = p->registers = begin;
}

TileTimes tiles_times(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, const TilePlan *planned) {
    const GpuFacts *g = gpu_facts(t->name);
    TilePlan counted = *planned;
    const TilePlan *p = &counted;
    counted.share = tile_share(t, q, planned);
    tile_count(t, op, q, &counted);
    seconds_count(t, op, q, &counted);
    const double steps = tile_rounds(t, q, p) * (double)ceil_div(q->steps, p->slices) / g->clock;
    return (TileTimes){.products = steps * tile_product_clocks(op, g, q, p),
                       .shared = steps * tile_bytes_read(q, p) / g->lds / q->rings,
                       .copies = steps * tile_copy_clocks(g, q, p),
                       .counted = p->seconds};
}

static bool plan_try(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    p->groups = p->rows / GROUP_ROWS;
    if (!p->resident) p->resident = q->only_resident ? q->only_resident : 1;
    if (q->only_resident && q->only_resident != p->resident) return false;
    if (q->few && !tile_few_fits(t, q, p)) return false;
    registers_share(q, p);
    if (!matrix_n(op, p->columns) || !share_fits(op, q, p) || !is_allowed(q, p) || !sums_fit(q, p)) return false;
    p->late = tiles_late(t, q, p);
    p->share = tile_share(t, q, p);
    double step = tile_step_clocks(op, g, q, p), slot = tile_slot_clocks(g, q, p, step);
    p->stages = tile_stages(t, q, p, slot, step);
    if (p->stages < LEAST_STAGES || (q->few && !tile_few_flows(q, p))) return false;
    const bool over = p->slices > 1 && !tiles_sums_apart(t, q, p); /* sums lie over operands */
    if (over && p->stages * tile_stage_bytes(q, p) < tile_sum_bytes(q, p)) return false;
    tile_count(t, op, q, p);
    seconds_count(t, op, q, p);
    return true;
}

/* Where each workgroup has one tile, pairs save nothing that comes late. Measured on an H200, tiles of 128 x 112 and 128 x
   128 of 256 x 7168 x 8192: 50.9 to 54.3 us alone, 52.6 to 55.5 in pairs; but of one group, and scaled blocks of 8 bits,
   52.9 and 47.7. */
static bool pairs_wait(const MatrixTarget *t, const TileQuestion *q, const TilePlan *alone, const TilePlan *pair) {
    return alone->rows && pair->groups > 1 && pair->cluster > alone->cluster && tile_rounds(t, q, alone) == 1 && tile_rounds(t, q, pair) == 1;
}

static void plan_better(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan try,
                        TilePlan *best) {
    TilePlan own = {0};
    for (try.nears = tile_near_panels(q, &try); try.nears >= (q->nears > 0); try.nears--)
        for (try.outs = tile_most_outs(q, &try); try.outs >= 1; try.outs--)
            if (plan_try(t, op, q, &try) && (!own.rows || try.seconds < own.seconds)) own = try;
    const double gain = q->few ? TILES_GAIN_FEW : pairs_wait(t, q, &own, best) ? 1 : TILES_GAIN;
    if (own.rows && (!best->rows || own.seconds < gain * best->seconds)) *best = own;
}

/* A workgroup of a cluster copies a tile of its own and a part of one that is shared: both lie in the tensors, but at
   their ends. Columns that are shared may be all there are. */
static bool pair_fits(const TileQuestion *q, const TilePlan *p) {
    int64_t along = p->beside ? q->columns : q->rows, across = p->beside ? q->rows : q->columns;
    int tile = p->beside ? p->columns : p->rows, shared = p->beside ? p->rows : p->columns;
    return (p->beside ? q->clusters_columns : q->clusters_rows) && along > tile &&
           across >= shared + (p->beside && p->cluster == 2) && shared % (SHARED * p->cluster) == 0;
}

/* Results leave registers for slots 16 columns at a time. */
static int columns_step(const TileQuestion *q, int columns) {
    return columns > WIDE || q->slots ? WIDE_STEP : COLUMNS_STEP;
}

/* In clusters above each other, beside each other, or alone. */
static void plans_try(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan p, TilePlan *best) {
    for (p.columns = MOST_COLUMNS; p.columns >= q->least_columns; p.columns -= columns_step(q, p.columns)) {
        if (p.cluster > 1 && !pair_fits(q, &p)) continue;
        p.edges = false;
        p.resident = 0;
        plan_better(t, op, q, p, best);
        p.edges = q->edges && !q->few && p.slices == 1 && tile_has_edges(q, &p);
        if (p.edges) plan_better(t, op, q, p, best);
        p.edges = false;
        p.resident = q->few && !q->only_resident ? 2 : 0;
        if (p.resident) plan_better(t, op, q, p, best);
    }
}

/* Each workgroup of a cluster with a slice of a tile's steps. */
static void slices_try(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan *best) {
    for (int slices = 2; slices <= MOST_SLICES && q->sliced; slices++)
        for (int rows = GROUP_ROWS; rows <= MOST_ROWS; rows += GROUP_ROWS)
            if (gpu_facts(t->name)->at_once[slices])
                plans_try(t, op, q, (TilePlan){.rows = rows, .cluster = 1, .slices = slices}, best);
}

/* Of tiles that take as long the first one: clusters fetch less, and alone a group of 64 rows was the faster one. */
bool tiles_plan(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan *best) {
    *best = (TilePlan){0};
    for (int rows = USUAL_ROWS; rows > 0; rows -= GROUP_ROWS)
        for (int beside = 0; beside < 2; beside++)
            plans_try(t, op, q, (TilePlan){.rows = rows, .cluster = 2, .slices = 1, .beside = beside}, best);
    for (int rows = GROUP_ROWS; rows <= USUAL_ROWS; rows += GROUP_ROWS)
        plans_try(t, op, q, (TilePlan){.rows = rows, .cluster = 1, .slices = 1}, best);
    for (int beside = 0; beside < 2; beside++)
        plans_try(t, op, q, (TilePlan){.rows = MOST_ROWS, .cluster = 2, .slices = 1, .beside = beside}, best);
    plans_try(t, op, q, (TilePlan){.rows = MOST_ROWS, .cluster = 1, .slices = 1}, best);
    slices_try(t, op, q, best);
    for (int cluster = MOST_CLUSTER; cluster > 2; cluster /= 2)
        for (int rows = USUAL_ROWS; rows > 0 && (q->few || q->only_cluster == cluster); rows -= GROUP_ROWS)
            for (int beside = 0; beside < 2; beside++)
                plans_try(t, op, q, (TilePlan){.rows = rows, .cluster = cluster, .slices = 1, .beside = beside}, best);
    return best->rows > 0;
}
