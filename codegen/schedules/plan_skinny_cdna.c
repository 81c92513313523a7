/* plan_skinny_cdna.c: products of few rows by the schedule of a machine whose threads load the operands: in which
   tiles, and in how many parts of their sums (split cuts them), by a prediction from counts. Nothing of it is measured.
 */
#include "passes/model/model.h"
#include "codegen/schedules/arms.h"
#include "codegen/schedules/skinny_cdna.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_COLUMNS = 16, /* of the result */
    FEWEST_RUNS = 4,     /* of positions */
    MOST_PARTS = 16,
    RUNS_OF_WAVE = 2 /* at least, in a part */
};

static const double load_seconds = 2e-6, /* of a load where memory is busy */
    reached = 0.5,                       /* of what caches and matrix instructions could do at best */
    gain = 0.9;                          /* of the time, at most, in parts */

typedef struct {
    PassContext *c;
    const Kernel *k;
    const MatrixTarget *t;
    const Product *f;
    const TargetFacts *facts;
    const GpuFacts *gpu;
    int bytes; /* of an element */
} Work;

typedef struct {
    SkinnyShape shape; /* facts NULL: none */
    int64_t parts;
    double seconds;
} SkinnyChoice;

static int64_t rows_of(const Work *w) { return w->k->range.p[0].of.c; }
static int64_t columns_of(const Work *w) { return w->k->range.p[1].of.c; }

static double bytes_of_b(const Work *w) { return (double)w->f->depth * (double)columns_of(w) * w->bytes * w->f->sums; }

/* Of the memory's rate, what so many workgroups ask for at once. */
static double rate_of(const Work *w, const SkinnyShape *s, double groups) {
    double asked = s->waves * (s->stages - 0.5) * s->facts->columns * SKINNY_RUN;
    return fmin(1, groups * asked / (w->facts->memory * load_seconds));
}

/* b from memory; the last round of workgroups may be too few for the memory's rate. */
static double stream_seconds(const Work *w, const SkinnyShape *s, int64_t groups) {
    int64_t once = (int64_t)w->t->processors * (s->pair ? 2 : 1), rest = groups % once;
    double whole = (double)(groups - rest) / rate_of(w, s, (double)once);
    double all = whole + (rest ? (double)rest / rate_of(w, s, (double)rest) : 0);
    return bytes_of_b(w) / w->facts->memory * all / (double)groups;
}

/* What a processor loads and multiplies, of all its workgroups. */
static double processor_seconds(const Work *w, const SkinnyShape *s, int64_t groups, int64_t positions) {
    double own = (double)ceil_div(groups, w->t->processors);
    double loaded = (double)positions * w->bytes * (s->rows + s->facts->columns);
    const MatrixOp *op = product_op_few(w->t, w->k, w->f);
    double products = (double)s->rows * s->facts->columns * (double)positions / (op->ad->m * op->ad->m * op->ad->k);
    return own / w->gpu->clock / reached * fmax(loaded / w->gpu->l2, products * op->cycles / 4);
}

/* All of b and, for each tile, of a. */
static double cache_seconds(const Work *w, const SkinnyShape *s, int64_t tiles) {
    double a = (double)tiles * s->rows * (double)w->f->depth * w->bytes;
    return (a + bytes_of_b(w) * (double)ceil_div(rows_of(w), s->rows)) / w->gpu->cached;
}

/* A launch that has them under way together. */
static double merge_seconds(const Work *w, int64_t parts) {
    if (parts == 1) return 0;
    double bytes = 8.0 * (double)parts * (double)rows_of(w) * (double)columns_of(w) * w->f->sums;
    return w->gpu->launch + w->gpu->load / w->gpu->clock + bytes / w->gpu->cached;
}

static double seconds_of(const Work *w, const SkinnyShape *s, int64_t parts) {
    int64_t tiles = ceil_div(rows_of(w), s->rows) * ceil_div(columns_of(w), s->columns), groups = tiles * parts;
    double busy = fmax(stream_seconds(w, s, groups), cache_seconds(w, s, tiles));
    return fmax(busy, processor_seconds(w, s, groups, ceil_div(w->f->depth, parts))) + merge_seconds(w, parts);
}

static bool parts_fit(const Work *w, const SkinnyShape *s, int64_t parts) {
    return parts == 1 || w->f->depth * w->bytes >= parts * RUNS_OF_WAVE * s->waves * SKINNY_RUN;
}

static void take_faster(SkinnyChoice *best, const Work *w, SkinnyShape s, int64_t parts) {
    double seconds = seconds_of(w, &s, parts);
    bool cut = parts > 1 && best->shape.facts && best->parts == 1;
    if (!best->shape.facts || seconds < best->seconds * (cut ? gain : 1)) *best = (SkinnyChoice){s, parts, seconds};
}

static SkinnyChoice choice_of(const Work *w) {
    SkinnyChoice best = {.parts = 1};
    int64_t asked = arm_parts_asked(w->c, w->k);
    for (int64_t parts = asked ? asked : 1; parts <= (asked ? asked : MOST_PARTS); parts++)
        for (const MatrixSchedule *s = w->t->schedule; s->name; s++) {
            if (strcmp(s->name, "skinny")) continue;
            SkinnyShape shape = skinny_shape(w->t, s, w->f, rows_of(w));
            bool wanted = !w->k->plan.columns || w->k->plan.columns == shape.columns;
            if (shape.facts && wanted && (asked || parts_fit(w, &shape, parts))) take_faster(&best, w, shape, parts);
        }
    return best;
}

static Work work_of(PassContext *c, const Kernel *k, const MatrixTarget *t, const Product *f) {
    return (Work){c, k, t, f, target_facts(t->name), gpu_facts(t->name), elem_bits(k->param.p[f->a].elem) / 8};
}

Planned skinny_plan_cdna(PassContext *c, const Kernel *k, const MatrixTarget *t, const Product *f) {
    Work w = work_of(c, k, t, f);
    int64_t runs = ceil_div(f->depth * w.bytes, SKINNY_RUN);
    if (columns_of(&w) < FEWEST_COLUMNS || runs < FEWEST_RUNS || !product_op_few(t, k, f)) return plan_refused("");
    SkinnyChoice choice = choice_of(&w);
    if (!choice.shape.facts) return plan_refused("");
    MatrixSchedule tile = *choice.shape.facts;
    tile.rows = choice.shape.rows;
    tile.columns = choice.shape.columns;
    Planned p = arm_planned(c, k, &tile, 0, 1);
    planned_tile(&p, f->loop->range, SKINNY_RUN / w.bytes);
    p.plan.parts = choice.parts > 1 ? (int)choice.parts : 0;
    return p;
}
