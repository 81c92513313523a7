/* split.c: what a loop takes in parts: rounds of tasks that read their steps and store what they carry, then a
   second launch that reads all parts. A processor runs two tasks at once, and all of them share the memory's rate. */
#include "passes/model/model.h"

static double rounds(double tasks, double at_once) {
    int64_t n = (int64_t)((tasks + at_once - 1) / at_once);
    return (double)(n > 0 ? n : 1);
}

double model_split(const TargetFacts *f, const SplitCost *c, int64_t parts) {
    enum { TASKS_AT_ONCE = 2 };
    double at_once = (double)TASKS_AT_ONCE * c->processors, rate = f->memory / at_once;
    int64_t steps = (c->steps + parts - 1) / parts;
    double seconds = rounds((double)c->tasks * (double)parts, at_once) * (double)steps * c->step / rate;
    if (parts == 1) return seconds;
    double merged = rounds((double)c->tasks, at_once) * (double)parts * c->part / f->cached;
    return seconds + c->part / rate + merged + f->start;
}
