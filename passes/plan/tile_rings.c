/* tile_rings.c: what lies in a workgroup's shared memory: slots of operands, of results and of what comes beside them.
   Takes: a question and a plan of its tiles. Gives: bytes, and the number of slots that fit. */
#include "passes/plan/tile_parts.h"

#include "ir/roles.h"

#include <math.h>

enum {
    MOST_STAGES = 16,   /* more bring nothing [measured: bench/gpu/log.md] */
    OUT_ROW = 128,      /* bytes of a row of a slot of results: those of a swizzled box */
    BARRIERS = 1024,    /* bytes of the rings' barriers, at most */
    LEFT = 9216,        /* bytes that weights which come early leave to a kernel of rows beside [chosen] */
    KEPT_BYTES = 1024,  /* of a processor's memory, by each workgroup (CUDA programming guide) */
    SLOT_ALIGN = 1024,  /* bytes; swizzled boxes begin at multiples of so many (PTX ISA, tensors in shared memory) */
    KEPT_CUTS = 4,      /* of a panel: a warp writes 16 columns at once (tile_sums.h) */
    KEPT_APART = 4,     /* turns from one to the next, at most; measured on an H200, bench/gpu/log.md */
    KEPT_REGISTERS = 40 /* of a thread, beside sums and what is kept (compiled: 128 and 64 spill nothing) */
};

/* Of tiles of so many positions, of which some lie in panels that run across what is contracted. */
int64_t tile_column_bytes(const TileQuestion *q, int positions) {
    int64_t width = q->width;
    return q->column_across * panel_room(PANEL_MN128, width * positions, q->depth) +
           (q->column_tiles - q->column_across) * panel_room(PANEL_K128, width * q->depth, positions);
}

int64_t tile_row_bytes(const TileQuestion *q, int positions) {
    const Panel panel = q->made_words ? PANEL_ROWS : PANEL_K128; /* of any length, in which rows come to be made of */
    return q->row_across * panel_room(PANEL_MN128, (int64_t)q->width * positions, q->depth) +
           (q->row_tiles - q->row_across) * panel_room(panel, (int64_t)q->row_bits * q->depth / 8, positions);
}

int64_t tile_stage_bytes(const TileQuestion *q, const TilePlan *p) {
    return tile_row_bytes(q, p->rows) + tile_column_bytes(q, p->columns);
}

/* Of the rings of results, and of what comes beside them: slots of a panel of columns. */
static int64_t out_bytes(const TileQuestion *q, const TilePlan *p) {
    return (int64_t)(q->slots * p->outs + q->nears * p->nears) * p->rows * OUT_ROW;
}

/* What comes beside results in a task, in slots of its ring. */
int tile_near_panels(const TileQuestion *q, const TilePlan *p) {
    return q->nears ? (int)ceil_div(p->columns / p->slices, PANEL_COLUMNS) : 0;
}

static int64_t own_bytes(const MatrixTarget *t, const TilePlan *p) {
    return (t->lds_bytes + KEPT_BYTES) / p->resident - KEPT_BYTES;
}

/* Where they cost few stages: workgroups that write to each other need not wait until all have read their operands. */
bool tiles_sums_apart(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    enum { PART = 8 /* of a workgroup's memory, that they take at most [guess] */ };
    return p->slices > 1 && PART * tile_sum_bytes(q, p) <= own_bytes(t, p);
}

static int64_t room_of(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const int64_t sums = tiles_sums_apart(t, q, p) ? tile_sum_bytes(q, p) : 0;
    return own_bytes(t, p) - (q->early ? LEFT : 0) - BARRIERS - SLOT_ALIGN - out_bytes(q, p) - sums;
}

int tile_most_outs(const TileQuestion *q, const TilePlan *p) {
    return q->sends ? (int)ceil_div(p->columns, PANEL_COLUMNS) : MOST_OUTS;
}

/* Those for other ranks leave a panel to what comes beside own ones. */
static int outs_wanted(const TileQuestion *q, const TilePlan *p) {
    return q->sends ? tile_most_outs(q, p) - (q->nears > 0) : 1;
}

static bool rings_try(const MatrixTarget *t, const TileQuestion *q, TilePlan *p, int least) {
    for (p->nears = tile_near_panels(q, p); p->nears >= (q->nears > 0); p->nears--)
        for (p->outs = tile_most_outs(q, p); p->outs >= least; p->outs--)
            if (p->stages * tile_stage_bytes(q, p) <= room_of(t, q, p)) return true;
    return false;
}

void tiles_rings(const MatrixTarget *t, const TileQuestion *q, TilePlan *p) {
    if (!rings_try(t, q, p, outs_wanted(q, p)) && !rings_try(t, q, p, 1)) p->outs = 0;
}

/* As many as keep products going, and have room. In a single round of narrow tiles the first copies come late: measured
   on an H200, 100 rows by 4096 x 4096 in tiles of 104 x 64 16.6 us with 6 stages, 12.8 with 9. Steps of 8 bits are the
   shortest: 128 x 7168 x 16384 with scales of blocks 47.7 us with 5 stages, 45.1 with 8; 4096^3 131.3 with 5, 129.5
   with 6. Tiles of 64 x 128 in small groups take 51 us with 8 stages, 61 with 5. */
int tile_stages(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p, double slot, double step) {
    int64_t room = room_of(t, q, p);
    double wanted = ceil(slot / step) + 1, fit = room > 0 ? (double)(room / tile_stage_bytes(q, p)) : 0;
    bool few = p->groups == 1 && p->cluster != 2 && tile_rounds(t, q, p) == 1;
    bool all =
        few || q->few || p->slices > 1 || q->made_words || q->width == 1 || q->row_groups > 1 || q->column_groups > 1;
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
    if (!q->kept || p->slices > 1 || !kept_fits(q, p) || tile_rounds(t, q, p) < 2) return 0;
    for (int cuts = KEPT_CUTS; cuts; cuts /= 2)
        if (q->steps >= panels * cuts) return cuts * (int)fmin((double)(q->steps / (panels * cuts)), KEPT_APART);
    return 0;
}

bool tile_is_apart(const TilePlan *p) { return p->late >= KEPT_CUTS * KEPT_APART; }

int64_t tile_sum_bytes(const TileQuestion *q, const TilePlan *p) {
    return (int64_t)q->sums * p->rows * p->columns * (int64_t)sizeof(float);
}

/* Steps for which a slot is away. Measured on an H200: tiles of 128 x 256 with all that comes beside results in slots
   take 1.01 of the time with 3 stages that they take with 4; with all results in slots, for other ranks, 0.99. */
int tile_steps_away(const TileQuestion *q, const TilePlan *p) {
    const bool near = q->nears > 0 && p->nears == tile_near_panels(q, p) && !tile_is_apart(p);
    return p->stages - 1 + (q->sends ? p->outs >= outs_wanted(q, p) : near);
}
