/* tiles.c: the fastest tile of those that fit, by a count of clocks.
   Takes: sizes and the machine's facts. Gives: the plan of a workgroup.
   Clocks of a step = the most of: products; operands read from shared memory; operands copied from the L2.
   Time = clocks until the first product + rounds of tasks * (steps + storing). */
#include "passes/plan/tiles.h"

#include "ir/roles.h"

#include "target/rates.h"

#include <math.h>

enum {
    GROUP = 128,           /* threads of a group, which a wgmma computes with (PTX ISA) */
    GROUP_ROWS = 64,       /* of a wgmma */
    LEAST_STAGES = 2,      /* one is read, one is copied */
    MOST_STAGES = 16,      /* more bring nothing [measured: bench/gpu/log.md] */
    MOST_OUTS = 2,         /* one is stored while the next is written */
    OUT_ROW = 128,         /* bytes of a row of a slot of results: those of a swizzled box */
    BARRIERS = 1024,       /* bytes of the rings' barriers, at most */
    SLOT_ALIGN = 1024,     /* bytes; swizzled boxes begin at multiples of so many (PTX ISA, tensors in shared memory) */
    COPY_REGISTERS = 40,   /* of a thread of the group that copies: 30 values spill with 24 (compiled) */
    GATHER_REGISTERS = 64, /* likewise of who copies row by row, 16 rows a lane: 56 spill (compiled) */
    ALL_REGISTERS = 512,   /* of four threads, one of each of four groups: 65,536 in all */
    MOST_REGISTERS = 232,  /* of a thread that multiplies: three groups have 504 of 512 so */
    KEPT_CUTS = 4,         /* of a panel: a warp writes 16 columns at once (tile_sums.h) */
    KEPT_APART = 4,        /* turns from one to the next, at most; measured on an H200, bench/gpu/log.md */
    KEPT_REGISTERS = 40,   /* of a thread, beside sums and what is kept (compiled: 128 and 64 spill nothing) */
    MOST_SINGLES = 240,    /* columns, where bytes leave one by one: 256 are serialised (compiled: C7514) */
    MOST_SUMS = 3,         /* tiles: a cell of four gates spills, and ptxas serialises its products (C7514) */
    SUM_REGISTERS = 128,   /* of a thread, for sums; the epilogue has the others [guess], .. */
    RUN_REGISTERS = 40,    /* .. but so many where sums of two steps are held (compiled), .. */
    OWN_REGISTERS = 56,    /* .. and at least so many (compiled: tiles of 192 x 192 spill nothing) */
    SLOW = 4,              /* times as long results take that threads store from registers [guess] */
    LATENCY = 900,         /* clocks from a copy's begin to its end, beside its bytes [guess] */
    USUAL_ROWS = 128,      /* of a tile, by GROUP_ROWS */
    MOST_ROWS = 192,       /* likewise, with three groups that do not end in turn: where they gain */
    SHARED = 16,           /* rows of a tile that two copy half of: a swizzle repeats after 8 (PTX ISA) */
    MOST_COLUMNS = 256,    /* of a tile, .. */
    COLUMNS_STEP = 8,
    SHARE_STEP = 16,
    MOST_SLICES = 8, /* workgroups of the largest portable cluster (CUDA programming guide) */
    WIDE = 128,
    WIDE_STEP = 16 /* .. in steps of 8, beyond 128 of 16 (tile_piece.h) */
};

static int64_t ceil_of(int64_t n, int64_t d) { return (n + d - 1) / d; }

/* ---- what fits ---- */

/* Of tiles of so many positions, of which some lie in panels that run across what is contracted. */
static int64_t column_bytes(const TileQuestion *q, int positions) {
    int64_t width = q->width;
    return q->column_across * panel_room(PANEL_MN128, width * positions, q->depth) +
           (q->column_tiles - q->column_across) * panel_room(PANEL_K128, width * q->depth, positions);
}

static int64_t row_bytes(const TileQuestion *q, int positions) {
    const Panel panel = q->made_words ? PANEL_ROWS : PANEL_K128; /* of any length, in which rows come to be made of */
    return q->row_across * panel_room(PANEL_MN128, (int64_t)q->width * positions, q->depth) +
           (q->row_tiles - q->row_across) * panel_room(panel, (int64_t)q->row_bits * q->depth / 8, positions);
}

static int64_t stage_bytes(const TileQuestion *q, const TilePlan *p) {
    return row_bytes(q, p->rows) + column_bytes(q, p->columns);
}

/* Of the rings of results, and of what comes beside them: slots of a panel of columns. */
static int64_t out_bytes(const TileQuestion *q, const TilePlan *p) {
    return (int64_t)(q->slots * p->outs + q->nears * p->nears) * p->rows * OUT_ROW;
}

/* What comes beside results in a task, in slots of its ring. */
static int near_panels(const TileQuestion *q, const TilePlan *p) {
    return q->nears ? (int)ceil_of(p->columns / p->slices, PANEL_COLUMNS) : 0;
}

static bool sums_fit(const TileQuestion *q, const TilePlan *p) {
    const int room = p->registers - OWN_REGISTERS - q->made_words, most = room < SUM_REGISTERS ? room : SUM_REGISTERS;
    const int each = p->columns * (p->rows / p->groups) / GROUP;
    if (q->parts && (q->sums - 1 + 2 * q->parts) * each > p->registers - RUN_REGISTERS) return false;
    return q->sums <= MOST_SUMS && q->sums * each <= most;
}

/* A quarter of the rows of a tile, on average. What takes time then are the other operand's tiles, one for each group that
   has rows: narrow tiles deal them out evenly. Measured on an H200, 1024 rows in 64 groups by 2048 x 2048: 135 us for
   equal groups and 51 where a quarter of them has all rows, in tiles of 64 x 128 with 8 stages; 140 and 66 in clusters
   of 64 x 256. */
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
    if (q->oblong ? p->rows == p->columns : q->exchanged && !q->made_words && p->columns > WIDE) return false;
    if (q->singles && p->columns > MOST_SINGLES) return false;
    if (q->even_rows % p->rows || q->even_columns % p->columns) return false;
    return (!q->only_rows || q->only_rows == p->rows) && (!q->only_columns || q->only_columns == p->columns) &&
           (!q->only_cluster || q->only_cluster == p->cluster || p->slices > 1);
}

/* ---- time ---- */

/* A group's instruction reads its rows and all columns. */
static double bytes_read(const TileQuestion *q, const TilePlan *p) {
    return (double)q->products * q->depth * q->width * (p->rows + p->rows / GROUP_ROWS * p->columns);
}

/* Bytes of a stage that a workgroup asks for: its own tile, and its part of the shared one. */
static double bytes_asked(const TileQuestion *q, const TilePlan *p) {
    double rows = (double)row_bytes(q, p->rows), columns = (double)column_bytes(q, p->columns);
    return rows / (p->beside ? p->cluster : 1) + columns / (p->beside ? 1 : p->cluster);
}

/* All workgroups read the few rows of exchanged operands. */
static double boxes_rate(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    enum {
        READERS = 2, /* tiles that have one of the other operand; four bring the usual rate (bench/gpu/log.md) */
        LARGE = 128  /* rows of both tiles: 16, 32 and 56 by 64 bring the usual rate, 128 by 64 more */
    };
    const bool few = q->exchanged && !q->made_words && ceil_of(q->columns, p->columns) <= READERS,
               large = p->rows + p->columns >= LARGE;
    return few && large ? g->boxes_few : g->boxes;
}

static double copy_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    double asked = q->apart ? (1 + (g->apart - 1) * p->share) * bytes_asked(q, p) : 0;
    return fmax((double)stage_bytes(q, p), asked) / boxes_rate(g, q, p) / q->rings;
}

static double product_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    return (double)q->products * (q->depth / op->ad->k) * (p->rows / GROUP_ROWS) * matrix_cycles(op, p->columns) /
           g->busy / q->rings;
}

/* Groups make an operand, and hardly beside each other. Measured on an H200, weights of 8, 4 and 2 bits by 1 to 64 rows: a
   step of 128 positions takes 560 clocks, of 256 780; of two groups 880 and 1330. */
static double made_clocks(const TileQuestion *q, const TilePlan *p) {
    const double one = 300, position = 2, more = 0.6; /* clocks of a step, and of a position; of a further group */
    return q->made_words ? (one + position * q->depth) * (1 + more * (p->groups - 1)) : 0;
}

static double step_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    double read = bytes_read(q, p) / g->lds / q->rings, products = product_clocks(op, g, q, p) + made_clocks(q, p);
    return fmax(fmax(products, read), copy_clocks(g, q, p));
}

int64_t tiles_of(int64_t n, int64_t groups, int64_t size) {
    return groups > 1 ? groups * ceil_of(ceil_of(n, groups), size) : ceil_of(n, size);
}

static int64_t clusters_at_once(const MatrixTarget *t, const TilePlan *p) {
    return p->slices > 1 ? gpu_facts(t->name)->at_once[p->slices] : t->processors / p->cluster;
}

/* A cluster has tiles beside each other, or above; one of a pair may lie outside. */
static double task_rounds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    int64_t down = tiles_of(q->rows, q->row_groups, p->rows),
            across = tiles_of(q->columns, q->column_groups, p->columns);
    *(p->beside ? &across : &down) = ceil_of(p->beside ? across : down, p->cluster);
    return (double)ceil_of(q->tasks * down * across, clusters_at_once(t, p));
}

/* Of processors that copy at once: where all do, the L2 gives no more. */
static double share_of(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const int64_t tasks =
        q->tasks * tiles_of(q->rows, q->row_groups, p->rows) * tiles_of(q->columns, q->column_groups, p->columns);
    return fmin(1, (double)(tasks * p->slices) / t->processors);
}

TileTimes tiles_times(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, const TilePlan *planned) {
    const GpuFacts *g = gpu_facts(t->name);
    TilePlan shared = *planned;
    const TilePlan *p = &shared;
    shared.share = share_of(t, q, planned);
    const double steps = task_rounds(t, q, p) * (double)ceil_of(q->steps, p->slices) / g->clock;
    return (TileTimes){.products = steps * product_clocks(op, g, q, p),
                       .shared = steps * bytes_read(q, p) / g->lds / q->rings,
                       .copies = steps * copy_clocks(g, q, p)};
}

/* How often copies lie outside: where a workgroup of a cluster has no tile, and where the last shared tile ends before
   the part that it copies. */
static int copies_outside(const TileQuestion *q, const TilePlan *p) {
    int64_t along = p->beside ? q->columns : q->rows, across = p->beside ? q->rows : q->columns;
    int tile = p->beside ? p->columns : p->rows, shared = p->beside ? p->rows : p->columns;
    int64_t last = across % shared;
    return p->cluster == 1 ? 0 : (ceil_of(along, tile) % p->cluster != 0) + (last && last <= shared / p->cluster);
}

/* Of a stage: a workgroup's own tile, or its part of the shared one. */
static double outside_bytes(const TileQuestion *q, const TilePlan *p) {
    double rows = (double)row_bytes(q, p->rows), columns = (double)column_bytes(q, p->columns);
    return fmax(rows / (p->beside ? p->cluster : 1), columns / (p->beside ? 1 : p->cluster)) / q->rings;
}

/* Clocks from a copy's begin until its slot is free again. */
static double slot_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p, double step) {
    return LATENCY + copy_clocks(g, q, p) + step;
}

static int64_t room_of(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    return t->lds_bytes - BARRIERS - SLOT_ALIGN - out_bytes(q, p);
}

static int most_outs(const TileQuestion *q, const TilePlan *p) {
    return q->sends ? (int)ceil_of(p->columns, PANEL_COLUMNS) : MOST_OUTS;
}

/* Those for other ranks leave a panel to what comes beside own ones. */
static int outs_wanted(const TileQuestion *q, const TilePlan *p) {
    return q->sends ? most_outs(q, p) - (q->nears > 0) : 1;
}

static bool rings_try(const MatrixTarget *t, const TileQuestion *q, TilePlan *p, int least) {
    for (p->nears = near_panels(q, p); p->nears >= (q->nears > 0); p->nears--)
        for (p->outs = most_outs(q, p); p->outs >= least; p->outs--)
            if (p->stages * stage_bytes(q, p) <= room_of(t, q, p)) return true;
    return false;
}

void tiles_rings(const MatrixTarget *t, const TileQuestion *q, TilePlan *p) {
    if (!rings_try(t, q, p, outs_wanted(q, p)) && !rings_try(t, q, p, 1)) p->outs = 0;
}

/* As many as keep products going, and have room. In a single round of narrow tiles the first copies come late: measured
   on an H200, 100 rows by 4096 x 4096 in tiles of 104 x 64 16.6 us with 6 stages, 12.8 with 9. Steps of 8 bits are the
   shortest: 128 x 7168 x 16384 with scales of blocks 47.7 us with 5 stages, 45.1 with 8; 4096^3 131.3 with 5, 129.5
   with 6. Tiles of 64 x 128 in small groups take 51 us with 8 stages, 61 with 5. */
static int stages_of(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p, double slot, double step) {
    int64_t room = room_of(t, q, p);
    double wanted = ceil(slot / step) + 1, fit = room > 0 ? (double)(room / stage_bytes(q, p)) : 0;
    bool few = p->groups == 1 && p->cluster == 1 && task_rounds(t, q, p) == 1;
    bool all = few || p->slices > 1 || q->made_words || q->width == 1 || q->row_groups > 1 || q->column_groups > 1;
    return (int)fmin(all ? MOST_STAGES : wanted, fit);
}

/* Of a thread. */
static bool kept_fits(const TileQuestion *q, const TilePlan *p) {
    const int words = p->columns * (p->rows / p->groups) / GROUP;
    return q->sums * words + q->kept * words / 2 + KEPT_REGISTERS <= p->registers && p->columns % PANEL_COLUMNS == 0;
}

/* With one task a workgroup there is no next one. */
int tiles_late(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const int panels = p->columns / PANEL_COLUMNS;
    if (!q->kept || p->slices > 1 || !kept_fits(q, p) || task_rounds(t, q, p) < 2) return 0;
    for (int cuts = KEPT_CUTS; cuts; cuts /= 2)
        if (q->steps >= panels * cuts) return cuts * (int)fmin((double)(q->steps / (panels * cuts)), KEPT_APART);
    return 0;
}

/* Panels that come beside results are wanted one by one, with so many turns between that one slot does for all. */
static bool is_apart(const TilePlan *p) { return p->late >= KEPT_CUTS * KEPT_APART; }

/* Clocks for which panels that come beside results, and did not fit from the first on, are waited for. Measured on an
   H200: 6000 for three panels of four. What other ranks send, for half of the tasks, is waited for anyway, and two
   slots do: GEMM+RS of 8192 rows took 444 us in tiles of 256 columns with two slots, 461 in tiles of 192 with three. */
static double near_clocks(const TileQuestion *q, const TilePlan *p) {
    enum { DO = 2 /* slots */ };
    if (!q->nears || is_apart(p) || (q->sends && p->nears >= DO)) return 0;
    return 2.0 * LATENCY * (near_panels(q, p) - p->nears) / p->nears;
}

static int64_t sum_bytes(const TileQuestion *q, const TilePlan *p) {
    return (int64_t)q->sums * p->rows * p->columns * (int64_t)sizeof(float);
}

/* Clocks for which workgroups that share a tile add up its sums. */
static double share_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    enum { MADE = 1500, MADE_BYTES = 24 /* clocks, bytes a clock: where operands are made, with which tiles were measured */ };
    if (p->slices == 1) return 0;
    if (q->made_words) return MADE + (double)sum_bytes(q, p) / MADE_BYTES;
    return g->sum * p->groups + (double)sum_bytes(q, p) / g->summed;
}

/* Results go by whole panels. With one slot of results a group waits for its store. */
static double task_clocks(const GpuFacts *g, const TileQuestion *q, const TilePlan *p, double step) {
    int64_t columns = ceil_of(p->columns, PANEL_COLUMNS) * PANEL_COLUMNS;
    double ways = q->slots * fmax(MOST_OUTS + 1 - p->outs, 1) + (q->results - q->slots) * SLOW;
    double storing = p->late ? 0 : ways * p->rows * (double)(q->slots ? columns : p->columns) * q->width / g->boxes;
    return (double)ceil_of(q->steps, p->slices) * step + storing / p->slices + near_clocks(q, p) +
           share_clocks(g, q, p);
}

/* ---- the choice ---- */

/* Steps for which a slot is away. Measured on an H200: tiles of 128 x 256 with all that comes beside results in slots
   take 1.01 of the time with 3 stages that they take with 4; with all results in slots, for other ranks, 0.99. */
static int steps_away(const TileQuestion *q, const TilePlan *p) {
    const bool near = q->nears > 0 && p->nears == near_panels(q, p) && !is_apart(p);
    return p->stages - 1 + (q->sends ? p->outs >= outs_wanted(q, p) : near);
}

/* Of one of many: a slot has to come back before its turn. */
static double step_in_turn(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    double step = step_clocks(op, g, q, p);
    return fmax(step, slot_clocks(g, q, p, step) / steps_away(q, p));
}

static double apart_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    TileQuestion apart = *q;
    TilePlan all = *p;
    apart.apart = true;
    all.share = 1; /* a run may have more tasks */
    return task_clocks(g, q, p, step_in_turn(op, g, &apart, &all)) - p->clocks;
}

/* Few rows come fast where all tasks run at once. Measured on an H200, 256 and 512 rows by 4096 x 4096 in tiles of 256
   x 64, two slices each: 16.9 and 34.6 us. */
static double again_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p) {
    TileQuestion many = *q;
    many.exchanged = false;
    return fmax(task_clocks(g, q, p, step_in_turn(op, g, &many, p)) - p->clocks, 0);
}

/* Of a round: all operands come from memory once, and slices bring them no faster. Groups may have no rows, gathered rows
   are few of many. */
static double memory_clocks(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    if (q->row_groups > 1 || q->column_groups > 1 || q->gathers) return 0;
    double sums = (double)q->tasks * (double)q->steps * q->depth / q->rings,
           bits = sums * (double)(q->row_tiles * q->rows * q->row_bits + q->column_tiles * q->columns * 8 * q->width);
    return bits / 8 / target_facts(t->name)->memory * gpu_facts(t->name)->clock / task_rounds(t, q, p);
}

/* Clocks of a task over an edge, of so many rows or columns; where a cluster's tiles lie along the edge, of the first.
 */
static double edge_clocks(const MatrixOp *op, const GpuFacts *g, const TileQuestion *q, const TilePlan *p, int64_t rows,
                          int64_t columns) {
    TilePlan edge = *p, copied = *p;
    edge.rows = copied.rows = (int)fmin(p->rows, (double)(ceil_of(rows, GROUP_ROWS) * GROUP_ROWS));
    edge.columns = (int)fmin(p->columns, (double)(ceil_of(columns, WIDE_STEP) * WIDE_STEP));
    copied.columns = (int)fmin(p->columns, (double)(ceil_of(columns, PANEL_COLUMNS) * PANEL_COLUMNS));
    double read = bytes_read(q, &edge) / g->lds / q->rings,
           step = fmax(fmax(product_clocks(op, g, q, &edge), read), copy_clocks(g, q, &copied));
    return task_clocks(g, q, &copied, fmax(step, slot_clocks(g, q, &copied, step) / steps_away(q, p)));
}

/* Tasks of equal length that are done before `time`, by workers that begin at another one. */
static double done_before(double workers, double time, double begin, double each) {
    return time > begin ? workers * floor((time - begin) / each) : 0;
}

/* Clocks of all tasks where those over an edge come last: to clusters that have fewer whole tiles first. */
static double edges_clocks(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, const TilePlan *p) {
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

/* Some tiles lie over one, and more are whole. */
static bool has_edges(const TileQuestion *q, const TilePlan *p) {
    const int tall = p->rows * (p->beside ? 1 : p->cluster), wide = p->columns * (p->beside ? p->cluster : 1);
    return (q->rows % p->rows || q->columns % p->columns) && q->rows >= tall && q->columns >= wide;
}

static bool plan_try(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    p->groups = p->rows / GROUP_ROWS;
    p->copy_registers = q->gathers ? GATHER_REGISTERS : COPY_REGISTERS;
    int begin = ALL_REGISTERS / (p->groups + 1) / 8 * 8; /* of a thread, before groups give some to others */
    p->registers = (int)fmin(MOST_REGISTERS, (begin * (p->groups + 1) - p->copy_registers) / p->groups / 8 * 8);
    if (!matrix_n(op, p->columns) || !share_fits(op, q, p) || !is_allowed(q, p) || !sums_fit(q, p)) return false;
    p->late = tiles_late(t, q, p);
    p->share = share_of(t, q, p);
    double step = step_clocks(op, g, q, p), slot = slot_clocks(g, q, p, step);
    p->stages = stages_of(t, q, p, slot, step);
    if (p->stages < LEAST_STAGES) return false;
    if (p->slices > 1 && p->stages * stage_bytes(q, p) < sum_bytes(q, p)) return false; /* sums lie over operands */
    step = step_in_turn(op, g, q, p);
    p->clocks = task_clocks(g, q, p, step);
    if (p->slices > 1 && !q->made_words) p->clocks = fmax(p->clocks, memory_clocks(t, q, p));
    p->outside = p->cluster > 1 ? (double)q->steps * outside_bytes(q, p) / g->outside : 0;
    p->apart = apart_clocks(op, g, q, p);
    p->again = again_clocks(op, g, q, p);
    double last = fmax(p->clocks, copies_outside(q, p) * p->outside),
           meet = p->cluster * p->slices > 1 ? g->cluster : 0;
    p->seconds = g->fill + (meet + (task_rounds(t, q, p) - 1) * p->clocks + last) / g->clock;
    if (p->edges) p->seconds = g->fill + (meet + edges_clocks(t, op, q, p)) / g->clock;
    return true;
}

static void plan_better(const MatrixTarget *t, const MatrixOp *op, const TileQuestion *q, TilePlan try,
                        TilePlan *best) {
    TilePlan own = {0};
    for (try.nears = near_panels(q, &try); try.nears >= (q->nears > 0); try.nears--)
        for (try.outs = most_outs(q, &try); try.outs >= 1; try.outs--)
            if (plan_try(t, op, q, &try) && (!own.rows || try.seconds < own.seconds)) own = try;
    if (own.rows && (!best->rows || own.seconds < TILES_GAIN * best->seconds)) *best = own;
}

/* A workgroup of a cluster copies a tile of its own and a part of one that is shared: both lie in the tensors, but at
   their ends. Columns that are shared may be all there are. */
static bool pair_fits(const TileQuestion *q, const TilePlan *p) {
    int64_t along = p->beside ? q->columns : q->rows, across = p->beside ? q->rows : q->columns;
    int tile = p->beside ? p->columns : p->rows, shared = p->beside ? p->rows : p->columns;
    return (p->beside ? q->clusters_columns : q->clusters_rows) && along > tile && across >= shared + p->beside &&
           shared % SHARED == 0;
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
        plan_better(t, op, q, p, best);
        p.edges = q->edges && p.slices == 1 && has_edges(q, &p);
        if (p.edges) plan_better(t, op, q, p, best);
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
    return best->rows > 0;
}
