/* chain_tasks.c: tasks of products in a chain: how many there are, and whether some are longer.
   Takes: a kernel that fits. Gives: answers. */
#include "passes/roles/slice.h"

#include <math.h>

/* ---- tasks: those that are longer first, where bounds of loops tell them apart ---- */

static bool follows_task(const Value *v, int depth) {
    enum { DEEP = 16 /* operations */ };
    const Op *d = v->def;
    if (!d || depth > DEEP) return true;
    if (d->kind == OP_BEGIN || d->kind == OP_END || d->kind == OP_LOAD || d->kind == OP_POS) return true;
    for (int i = 0; i < d->arg.n; i++)
        if (follows_task(d->arg.p[i], depth + 1)) return true;
    return false;
}

/* Where a loop begins, 0, or where it ends, 1. */
bool chain_tasks_differ(const Slice *s, int bound) {
    for (int i = 0; i < s->op.n; i++)
        if (s->op.p[i]->kind == OP_FOR && follows_task(s->op.p[i]->arg.p[bound], 0)) return true;
    return false;
}

double chain_tasks(const Slice *s, int64_t rows) {
    double tasks = 1;
    for (int i = 0; i < s->k->ngrid; i++) {
        const Range *r = &s->k->range.p[i];
        if (!size_is_number(r->of)) return INFINITY;
        if (r->kind != RANGE_WHOLE) tasks *= (double)ceil_div(r->of.c, i == s->row ? rows : r->size);
    }
    return tasks;
}
