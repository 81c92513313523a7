/* chain_parts.c: few tasks leave most of the machine idle: `split` then cuts the loop over keys into parts, each a task,
   and a second kernel merges them (Flash-Decoding). Takes: a chain with its tiles. Gives: how many parts. */
#include "passes/model/model.h"
#include "passes/roles/slice.h"

#include <math.h>

enum {
    MOST_PARTS = 32, /* the second kernel reads them one after the other */
    LEAST_STEPS = 4, /* of a part: what a task begins and ends with takes as long as two */
    ENDS = 2,        /* steps that a task's begin and end take [guess] */
    RATE = 40,       /* bytes a clock that one processor copies, if others leave it that (PIPELINES.md, c), .. */
    RATE_ROWS = 27   /* .. row by row, by two warps: 8 and 64 tasks on an H200 (bench/gpu/log.md, decode attention) */
};

/* What parts leave behind, and the second kernel reads. */
static double bytes_left(const Slice *s, const Op *loop, const TilePlan *t) {
    double bytes = 0;
    for (int i = 0; i < loop->res.n; i++) {
        const Type type = loop->res.p[i]->type;
        double n = elem_bits(type.elem) / 8.0;
        for (int r = 0; r < type.nrange; r++)
            n *= type.range[r] == s->row ? t->rows : (double)slice_extent(s, type.range[r]);
        bytes += 2 * n;
    }
    return bytes;
}

typedef struct {
    double tasks, steps;       /* steps of a task */
    double clocks, bytes, left; /* products of a step; what it copies; what a part leaves */
    double sharers;             /* tasks that copy the same, from the L2 */
} Work;

static double seconds_of(const Slice *s, const Work *w, double parts) {
    const GpuFacts *gpu = gpu_facts(s->target->name);
    const TargetFacts *facts = target_facts(s->target->name);
    const double busy = fmin(w->tasks * parts, s->target->processors), all = facts->memory / gpu->clock;
    const double rate = slice_has_fill(s, FILL_ROWS) ? RATE_ROWS : RATE;
    const double step = fmax(w->clocks, w->bytes / fmin(rate, all * w->sharers / busy));
    const double rounds = ceil(w->tasks * parts / s->target->processors);
    const double seconds = rounds * (ceil(w->steps / parts) + ENDS) * step / gpu->clock;
    return parts > 1 ? seconds + gpu->launch + w->tasks * parts * w->left / facts->memory : seconds;
}

int64_t chain_parts(const Slice *s, const TilePlan *t, const Op *loop, double clocks, double bytes) {
    const int64_t asked = s->c->options->split ? s->c->options->split : s->k->plan.parts;
    const double gain = 0.9; /* of the time, at most */
    if (s->k->plan.cut || !loop->region[1] || !split_fits(s->m, s->k)) return 1;
    const Work w = {.tasks = chain_tasks(s, t->rows),
                    .steps = ceil((double)value_most(s->m, s->k, loop->arg.p[1]) / t->columns),
                    .clocks = clocks,
                    .bytes = bytes,
                    .left = bytes_left(s, loop, t),
                    .sharers = ceil((double)size_most(s->m, s->k->range.p[s->row].of) / t->rows)};
    int64_t best = 1;
    if (asked || !isfinite(w.tasks)) return asked ? asked : 1;
    for (int64_t n = 2; n <= MOST_PARTS && (double)n * LEAST_STEPS <= w.steps; n++)
        if (seconds_of(s, &w, (double)n) < (best > 1 ? 1 : gain) * seconds_of(s, &w, (double)best)) best = n;
    return best;
}
