/* steps.c: how often a task comes to an operation, and how many elements it has there in all tasks. */
#include "passes/model/count.h"

static double range_steps(const Count *c, int range, bool positions) {
    double n = positions ? c->length[range] : c->trips[range];
    return n > 0 ? n : 0;
}

double count_elements(const Count *c, Type t) {
    double n = c->part;
    for (int i = 0; i < c->k->ngrid; i++) n *= range_steps(c, i, type_has(t, i));
    for (int i = 0; i < c->open.n; i++) n *= range_steps(c, c->open.p[i], type_has(t, c->open.p[i]));
    return n;
}

double count_times(const Count *c) {
    double n = 1;
    for (int i = 0; i < c->open.n; i++) n *= range_steps(c, c->open.p[i], false);
    return n;
}
