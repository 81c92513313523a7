/* chain_groups.c: how many groups of 64 rows multiply products in a chain, and in how long steps.
   Takes: a kernel that fits, with its streams, and tiles. Gives: whether three groups are better than two, or one. */
#include "passes/roles/slice.h"

#include <math.h>

enum {
    GROUP_ROWS = 64, /* that a group multiplies */
    PAIR = 2,        /* groups, .. */
    TRIPLE = 3,      /* .. or so many */
    MOST_KEYS = 128  /* of a step */
};

/* Over tiles of keys; a loop over positions, as over the chunks of a sequence, has steps of whole widths. */
bool chain_is_step(const Slice *s, const Op *op) {
    return op->kind == OP_FOR && loop_multiplies(op) && s->k->range.p[op->range].kind == RANGE_TILE;
}

int64_t chain_positions(const Slice *s, const Op *loop) {
    int64_t first;
    const int64_t end = value_most(s->m, s->k, loop->arg.p[1]);
    return value_const(loop->arg.p[0], &first) && end > first ? end - first : INT64_MAX;
}

static double rounds_of(const Slice *s, int64_t rows) {
    const double tasks = chain_tasks(s, rows);
    return isfinite(tasks) ? ceil(tasks / s->target->processors) : 1.0 / (double)rows;
}

/* Longest steps of the only loop that multiplies; 0: there are more, or none. */
static double steps_alone(const Slice *s) {
    double steps = 0;
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i]))
            steps = steps ? -INFINITY : (double)chain_positions(s, s->op.p[i]) / MOST_KEYS;
    return fmax(0, steps);
}

/* Three groups have the products of two beside the exponentials of one; they take longer to begin and end a task.
   [measured: bench/gpu/log.md, narrow rows without a mask and with a causal one] */
bool chain_three_are_better(const Slice *s, const TilePlan *three) {
    enum { LONG = 32 /* steps */, LONG_IF_THEY_DIFFER = 128 };
    static const double step = 1.27; /* times that of two groups */
    const double steps = steps_alone(s);
    const bool differ = chain_tasks_differ(s, 0) || chain_tasks_differ(s, 1);
    return s->store.n == 1 && three->columns == MOST_KEYS && steps >= (differ ? LONG_IF_THEY_DIFFER : LONG) &&
           isfinite(steps) && step * rounds_of(s, GROUP_ROWS * TRIPLE) < rounds_of(s, GROUP_ROWS * PAIR);
}

/* Loops that can be cut into parts, where these are not off. */
static bool loops_merge(const Slice *s) {
    bool merges = !s->k->plan.cut && split_fits(s->m, s->k);
    for (int i = 0; i < s->op.n; i++) merges = merges && (!chain_is_step(s, s->op.p[i]) || s->op.p[i]->region[1]);
    return merges;
}

/* Tasks of a group each then have a processor of their own. Measured on an H200: 0.66 to 0.82 of the time of half as many
   tasks, for 2 to 16 steps; parts of longer loops gain more (bench/gpu/log.md). */
bool chain_tasks_are_few(const Slice *s) {
    enum { LONG = 24 /* steps */ };
    const double steps = steps_alone(s);
    return chain_tasks(s, GROUP_ROWS) <= s->target->processors && steps > 0 && (steps <= LONG || !loops_merge(s));
}

/* Short steps hide less of a causal mask's last one: one group alone, up to 512 keys, takes 0.8 to 0.95 of the time
   [measured: bench/gpu/log.md]. */
int chain_keys_most(const Slice *s, int groups) {
    enum { FEW = 4 /* steps */ };
    const double steps = steps_alone(s);
    const bool few = groups == 1 && s->wide < 0 && steps > 0 && steps <= FEW;
    return few && chain_tasks_differ(s, 1) && chain_tasks(s, GROUP_ROWS) <= s->target->processors ? MOST_KEYS / 2 : MOST_KEYS;
}

/* Chunks of a sequence follow each other: two groups would share the products of a processor, where one alone waits
   for its own, step by step, and another processor is idle. */
bool chain_chunks_are_few(const Slice *s) {
    bool chunks = false;
    for (int i = 0; i < s->op.n; i++)
        chunks = chunks || (s->op.p[i]->kind == OP_FOR && loop_multiplies(s->op.p[i]) && !chain_is_step(s, s->op.p[i]));
    return chunks && rounds_of(s, GROUP_ROWS) <= rounds_of(s, GROUP_ROWS * PAIR);
}
