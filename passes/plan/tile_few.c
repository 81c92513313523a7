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

/* Panels that run across what is contracted are copied whole: columns of the next tile come, too. In a cluster it reads
   them at the same time. */
static double beyond(const TileQuestion *q, const TilePlan *p) {
    const double own = (double)q->column_tiles * p->columns * q->depth * q->width;
    return q->exchanged || p->cluster > 1 ? 1 : (double)tile_column_bytes(q, p->columns) / own;
}

/* All bytes come from memory once, as fast as copies that are under way let them; in a last round to the processors that
   have one of its tasks. */
static double memory_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const FewRates *r = &gpu_facts(t->name)->few;
    const int64_t own = beside(t, p), groups = workgroups(q, p), last = groups % own;
    const double flight = (double)(groups < own ? groups : own) * p->stages * bytes_of(q, p).large,
                 step = (double)q->depth * q->width * (double)(q->row_tiles * q->rows + q->column_tiles * q->columns),
                 bytes = step * (double)q->steps * (double)q->tasks * beyond(q, p), share = (double)last / (double)groups,
                 rate = fmin(r->memory, (double)last * r->alone),
                 time = (1 - share) * bytes / r->memory + (last ? share * bytes / rate : 0);
    return together(time, bytes * r->latency / flight);
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
   If some find room and others do not, the next launch is late. Weights that come before the launch before has ended
   come to the processors that have a task. Measured on an H200, a decoding step of Qwen3-8B at batch 1 and 8: 4189, 4760
   us where half of the processors have one, 4083, 4586 where two share each task. */
static double gap_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    enum { FULL = 8 /* processors; with no more idle ones workgroups of the next launch begin together, too */ };
    const FewRates *r = &gpu_facts(t->name)->few;
    const int64_t groups = workgroups(q, p), own = beside(t, p), idle = own - groups;
    if (q->early) return r->prompt + r->late * (double)((own - groups % own) % own) / (double)own;
    if (p->resident > 1) return 0;
    if (idle >= groups) return 2 * r->prompt;
    return idle >= 0 && idle <= FULL ? r->prompt : r->late * (1 + fmax(0, (double)idle) / (double)groups);
}

double tile_few_seconds(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    const GpuFacts *g = gpu_facts(t->name);
    const double time = together(memory_seconds(t, q, p), copy_seconds(t, q, p)),
                 rounds = (double)ceil_div(workgroups(q, p), beside(t, p)),
                 sums = p->slices == 1 ? 0 : g->few.meeting + (double)tile_sum_bytes(q, p) / g->few.sent,
                 over = p->slices == 1 || rounds < 2 || tiles_sums_apart(t, q, p) ? 0 : g->sum * p->groups / g->clock;
    return g->fill + time + rounds * (sums + over) + gap_seconds(t, q, p);
}

/* The few rows are one tile: others would bring the other operand again. Processors hold several workgroups of few
   sums alone. */
bool tile_few_fits(const MatrixTarget *t, const TileQuestion *q, const TilePlan *p) {
    enum { STEP = 8 /* columns of an instruction */, MANY = 33 /* rows that may be those of an instruction, .. */ };
    const int64_t block = STEP * (int64_t)p->slices, few = q->exchanged ? q->columns : q->rows;
    /* .. and that come slower to a cluster whose workgroups may share a processor. */
    if (p->resident > 1 && p->cluster * p->slices > 1 && few >= MANY && !q->only_resident) return false;
    if (p->slices > 1 && workgroups(q, p) > beside(t, p) && !q->only_slices) return false;
    /* What comes before the launch before has ended takes all of the memory: 4129, 4745 us with half of it, as above. */
    if (q->early && p->resident > 1 && !q->only_resident) return false;
    if (!q->exchanged) return q->only_rows || (p->rows == GROUP_ROWS && q->rows >= MANY);
    return q->only_columns || p->columns == ceil_div(q->columns, block) * block;
}

bool tile_few_flows(const TileQuestion *q, const TilePlan *p) {
    enum { LEAST = 5 /* copies of 128 bytes a row; fewer were slower in all cases but for whom a file asks */ };
    return p->stages * q->depth * q->width >= LEAST * 128 || q->only_rows || q->only_columns;
}
