/* tile_parts.h: what the plan of tiles asks of its parts: rings of a workgroup (tile_rings.c), rounds of tasks
   (tile_tasks.c), clocks of steps and of a task (tile_clocks.c), tiles over an edge (tile_edges.c). */
#ifndef TILEC_PASSES_PLAN_TILE_PARTS_H
#define TILEC_PASSES_PLAN_TILE_PARTS_H

#include "passes/plan/tiles.h"

#include "ir/size.h"
#include "target/rates.h"

enum {
    GROUP = 128,      /* threads of a group, which a wgmma computes with (PTX ISA) */
    GROUP_ROWS = 64,  /* of a wgmma */
    MOST_OUTS = 2,    /* slots of results: one is stored while the next is written */
    LATENCY = 900,    /* clocks from a copy's begin to its end, beside its bytes [guess] */
    WIDE = 128,       /* columns of a tile, .. */
    COLUMNS_STEP = 8, /* .. in steps of 8, .. */
    WIDE_STEP = 16    /* .. beyond 128 of 16 (tile_piece.h) */
};

/* ---- rings ---- */

/* Bytes of a step's tiles of so many rows, of so many columns, of both. */
int64_t tile_row_bytes(const TileQuestion *, int rows);
int64_t tile_column_bytes(const TileQuestion *, int columns);
int64_t tile_stage_bytes(const TileQuestion *, const TilePlan *);

int64_t tile_sum_bytes(const TileQuestion *, const TilePlan *);

/* Slots of results, at most; of what comes beside results in a task. */
int tile_most_outs(const TileQuestion *, const TilePlan *);
int tile_near_panels(const TileQuestion *, const TilePlan *);

/* Panels that come beside results are wanted one by one, with so many turns between that one slot does for all. */
bool tile_is_apart(const TilePlan *);

/* Slots of a ring of operands: as many as keep products going, and have room. slot, step: clocks for which a slot is
   away, and of a step. */
int tile_stages(const MatrixTarget *, const TileQuestion *, const TilePlan *, double slot, double step);

/* Steps for which a slot is away. */
int tile_steps_away(const TileQuestion *, const TilePlan *);

/* ---- tasks ---- */

/* Of clusters, where these have a tile for each workgroup, or share one. */
double tile_tasks(const TileQuestion *, const TilePlan *);

double tile_rounds(const MatrixTarget *, const TileQuestion *, const TilePlan *);

/* Of processors that copy at once: where all do, the L2 gives no more. */
double tile_share(const MatrixTarget *, const TileQuestion *, const TilePlan *);

/* ---- few rows: tile_few.c ---- */

/* Of all tasks. */
double tile_few_seconds(const MatrixTarget *, const TileQuestion *, const TilePlan *);
bool tile_few_fits(const MatrixTarget *, const TileQuestion *, const TilePlan *);  /* a plan that may be the fastest one */
bool tile_few_flows(const TileQuestion *, const TilePlan *); /* its stages are enough */

/* ---- clocks ---- */

/* A group's instructions of a step read so many bytes of shared memory. */
double tile_bytes_read(const TileQuestion *, const TilePlan *);

/* Of a step: its products, its copies; the most of all that it does. */
double tile_product_clocks(const MatrixOp *, const GpuFacts *, const TileQuestion *, const TilePlan *);
double tile_copy_clocks(const GpuFacts *, const TileQuestion *, const TilePlan *);
double tile_step_clocks(const MatrixOp *, const GpuFacts *, const TileQuestion *, const TilePlan *);

/* From a copy's begin until its slot is free again. */
double tile_slot_clocks(const GpuFacts *, const TileQuestion *, const TilePlan *, double step);

double tile_task_clocks(const GpuFacts *, const TileQuestion *, const TilePlan *, double step);

/* Fills in what a task takes: clocks, apart, again. */
void tile_count(const MatrixTarget *, const MatrixOp *, const TileQuestion *, TilePlan *);

/* ---- edges ---- */

/* How often copies lie outside: where a workgroup of a cluster has no tile, and where the last shared tile ends before
   the part that it copies. Bytes of a step then. */
int tile_copies_outside(const TileQuestion *, const TilePlan *);
double tile_outside_bytes(const TileQuestion *, const TilePlan *);

/* Some tiles lie over one, and more are whole. */
bool tile_has_edges(const TileQuestion *, const TilePlan *);

/* Clocks of all tasks where those over an edge come last: to clusters that have fewer whole tiles first. */
double tile_edges_clocks(const MatrixTarget *, const MatrixOp *, const TileQuestion *, const TilePlan *);

#endif
