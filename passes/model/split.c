/* split.c: the predicted time of a loop in parts: rounds of tasks that read their steps and store what they carry,
   then a second launch that reads all parts. A processor runs two tasks at once, and all tasks share the memory's
   rate. */
#include "passes/model/model.h"

static double rounds(double tasks, double resident) {
    int64_t n = (int64_t)((tasks + resident - 1) / resident);
    return (double)(n > 0 ? n : 1);
}

double model_split(const TargetFacts *f, const SplitCost *c, int64_t parts) {
    /* Tasks that a processor has at once; chosen: no measurement is recorded. */
    enum { RESIDENT_TASKS = 2 };
    double resident = (double)RESIDENT_TASKS * c->processors, rate = f->memory / resident;
    int64_t steps = (c->steps + parts - 1) / parts;
    double seconds = rounds((double)c->tasks * (double)parts, resident) * (double)steps * c->step / rate;
    if (parts == 1) return seconds;
    double merged = rounds((double)c->tasks, resident) * (double)parts * c->part / f->cached;
    return seconds + c->part / rate + merged + f->start;
}
