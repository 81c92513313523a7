/* tile_few.c: results of few rows: what memory brings takes the time.
   Takes: a question and a plan of its tiles. Gives: seconds of all tasks, fitted to 1 to 64 rows by 4096 x 4096 to
   14336 x 4096 on an H200 (bench/gpu/few.py, bench/gpu/log.md). */
#include "passes/plan/tile_parts.h"

#include <math.h>

/* Bytes of a step of one tile of each operand: of the one that is read once, of that with few rows. */
typedef struct {
    double large, few;
} Bytes;

static Bytes bytes_of(const TileQuestion *q, const TilePlan *p) {
    const double rows = (double)tile_row_bytes(q, p->rows), columns = (double)tile_column_bytes(q, p->columns);
    return q->exchanged ? (Bytes){rows, columns} : (Bytes){columns, rows};
}

static int64_t workgroups(const TileQuestion *q, const TilePlan *p) {
    return q->tasks * ceil_div(q->rows, p->rows) * ceil_div(q->columns, p->columns) * p->slices;
}

/* Those that have a processor of their own. */
static int64_t beside(const MatrixTarget *t, const TilePlan *p) {
    const int cluster = p->cluster * p->slices;
    return (int64_t)gpu_facts(t->name)->at_once[cluster] * cluster;
}

static double together(double a, double b) {
    enum { POWER = 6 /* what goes on at once takes a little longer than the longest */ };
    return pow(pow(a, POWER) + pow(b, POWER), 1.0 / POWER);
}

/* All bytes come from memory once, as fast as copies that are under way let them. */
static double memory_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const FewRates *r = &gpu_facts(t->name)->few;
    const int64_t at_once = beside(t, p) * p->resident, groups = workgroups(q, p);
    const double flight = (double)(groups < at_once ? groups : at_once) * p->stages * bytes_of(q, p).large,
                 step = (double)q->depth * q->width * (double)(q->row_tiles * q->rows + q->column_tiles * q->columns),
                 bytes = step * (double)q->steps * (double)q->tasks;
    return together(bytes / r->memory, bytes * r->latency / flight);
}

/* What all ask the L2 for, and what comes to one processor; a step takes a while beside its bytes. */
static double copy_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    const FewRates *r = &g->few;
    const Bytes b = bytes_of(q, p);
    const int64_t groups = workgroups(q, p), each = ceil_div(groups, beside(t, p));
    const double steps = (double)ceil_div(q->steps, p->slices), asked = b.large + b.few / p->cluster,
                 step = fmax(r->step + r->panel * q->depth * q->width / 128, (b.large + b.few) / r->copied),
                 shared = (double)groups * steps * asked / (g->boxes * t->processors);
    return fmax(steps * step * (double)each, shared) / g->clock;
}

/* Between a launch and the next one. Workgroups that find room beside all of those before them begin while these end.
   If some find room and others do not, the next launch is late. */
static double gap_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    enum { FULL = 8 /* processors; with no more idle ones workgroups of the next launch begin together, too */ };
    const FewRates *r = &gpu_facts(t->name)->few;
    const int64_t groups = workgroups(q, p), idle = beside(t, p) * p->resident - groups;
    if (idle >= groups) return p->resident > 1 ? 0 : 2 * r->prompt;
    return idle >= 0 && idle <= FULL ? r->prompt : r->late;
}

double tile_few_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    const double time = together(memory_seconds(t, q, p), copy_seconds(t, q, p)),
                 sums = p->slices == 1 ? 0 : g->few.meeting + (double)tile_sum_bytes(q, p) / g->few.sent,
                 over = p->slices == 1 || tiles_sums_apart(t, q, p) ? 0 : g->sum * p->groups / g->clock;
    return g->fill + time + sums + over + gap_seconds(t, q, p);
}

/* The few rows are one tile: others would bring the other operand again. Processors hold several workgroups of few
   sums alone. */
bool tile_few_fits(const TileQuestion *q, const TilePlan *p) {
    enum { STEP = 8 /* columns of an instruction */, MANY = 33 /* rows that may be those of an instruction, .. */ };
    const int64_t block = STEP * (int64_t)p->slices, few = q->exchanged ? q->columns : q->rows;
    /* .. and that come slower to a cluster whose workgroups may share a processor. */
    if (p->resident > 1 && p->cluster * p->slices > 1 && few >= MANY && !q->only_resident) return false;
    if (!q->exchanged) return q->only_rows || (p->rows == GROUP_ROWS && q->rows >= MANY);
    return q->only_columns || p->columns == ceil_div(q->columns, block) * block;
}

bool tile_few_flows(const TileQuestion *q, const TilePlan *p) {
    enum { LEAST = 5 /* copies of 128 bytes a row; fewer were slower in all cases but for whom a file asks */ };
    return p->stages * q->depth * q->width >= LEAST * 128 || q->only_rows || q->only_columns;
}
