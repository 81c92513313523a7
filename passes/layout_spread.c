/* layout_spread.c: a grid with fewer tasks than the machine has processors leaves some of them idle. Where tile sizes
   are the compiler's to choose and tasks share no work, they are halved. Takes: value form. Gives: the same results. */
#include "passes/layout.h"

static int64_t tasks_along(const Lay *l, int range) {
    const Range *r = &l->k->range.p[range];
    int64_t n = size_most(l->m, r->of);
    return r->kind == RANGE_WHOLE ? 1 : r->kind == RANGE_TILE ? (n + r->size - 1) / r->size : n;
}

int64_t lay_tasks(const Lay *l, int64_t most) {
    int64_t n = 1;
    for (int i = 0; i < l->k->ngrid && n < most; i++) n *= tasks_along(l, i);
    return n;
}

/* Products read the same operands in each task; the words of flags count tiles. */
static bool tasks_share(const Region *body) {
    for (const Op *op = body->first; op; op = op->next) {
        OpClass class = op_info[op->kind].class;
        if (class == CLASS_DOT || class == CLASS_SYNC || class == CLASS_CONTROL) return true;
    }
    return false;
}

static int64_t largest_tile(const Lay *l, const Region *r) {
    int64_t most = 0;
    for (const Op *op = r->first; op; op = op->next)
        for (int i = 0; i < op->res.n; i++) {
            int64_t n = lay_elements(l, op->res.p[i]->type);
            most = n > most ? n : most;
        }
    return most;
}

/* The outermost range that has more than one position a tile. */
static int range_to_halve(const Lay *l) {
    for (int i = 0; i < l->k->ngrid; i++) {
        const Range *r = &l->k->range.p[i];
        if (r->kind == RANGE_TILE && r->tunable && r->size > 1 && !kernel_needs_size(l->k, i)) return i;
    }
    return -1;
}

void lay_spread(Lay *l) {
    const int64_t least_tile = 4 * (int64_t)l->target->wave; /* a few elements a lane */
    int range;
    if (l->k->level != LEVEL_GROUP || tasks_share(l->k->body)) return;
    while (lay_tasks(l, l->target->processors) < l->target->processors && largest_tile(l, l->k->body) >= 2 * least_tile && (range = range_to_halve(l)) >= 0) {
        Range *r = &l->k->range.p[range];
        remark(l->c, "layout", r->loc, "'%s': tiles of %lld instead of %lld along %s, so that more processors work", l->k->name,
               (long long)(r->size / 2), (long long)r->size, r->name);
        r->size /= 2;
        lay_measure(l);
    }
}
