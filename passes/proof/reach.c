/* reach.c: order of generations across ranks. A rank finishes a generation before it begins the next: after(1, r, r).
   A wait of r for a word of q, l generations back, gives after(l + 2, q, r): the word follows all of q's generation
   before, and precedes all of r's next. The relation composes. */
#include "passes/proof/reach.h"

#include <string.h>

Reach reach_new(Arena *a, const Program *p, int ranks) {
    Reach x = {.ranks = ranks, .lags = MAX_LAG + 1, .most = 2};
    for (int i = 0; i < p->tensor.n; i++)
        if (p->tensor.p[i].symmetric >= 0) {
            x.needed = true;
            if (p->tensor.p[i].slots > x.most) x.most = p->tensor.p[i].slots;
        }
    if (!x.needed) return x;
    x.acquired = ARENA_ARRAY(a, bool, x.lags * ranks * ranks);
    x.after = ARENA_ARRAY(a, bool, (x.most + 1) * ranks * ranks);
    return x;
}

static size_t place(const Reach *x, int64_t k, int q, int r) {
    return ((size_t)k * (size_t)x->ranks + (size_t)q) * (size_t)x->ranks + (size_t)r;
}

void reach_acquire(Reach *x, int64_t lag, int source, int rank) {
    if (x->needed) x->acquired[place(x, lag, source, rank)] = true;
}

static bool acquired(const Reach *x, int64_t lag, int source, int rank) {
    return lag >= 0 && lag < x->lags && x->acquired[place(x, lag, source, rank)];
}

bool reach_after(const Reach *x, int64_t k, int q, int r) { return x->after[place(x, k, q, r)]; }

/* One generation alone leads to no other rank. */
static bool composes(const Reach *x, int64_t k, int q, int r) {
    if (k > 1 && reach_after(x, k - 1, q, r)) return true;
    for (int64_t a = 2; a < k - 1; a++)
        for (int s = 0; s < x->ranks; s++)
            if (reach_after(x, a, q, s) && reach_after(x, k - a, s, r)) return true;
    return false;
}

void reach_close(Reach *x) {
    for (int64_t k = 1; x->needed && k <= x->most; k++)
        for (int q = 0; q < x->ranks; q++)
            for (int r = 0; r < x->ranks; r++)
                x->after[place(x, k, q, r)] = q == r || acquired(x, k - 2, q, r) || composes(x, k, q, r);
}

/* ---- all ranks of a group at once ---- */

Lags lags_new(Arena *a, const Module *m) {
    Lags x = {.m = m};
    for (int i = 0; i < m->axis.n; i++) {
        x.least[i] = ARENA_ARRAY(a, int8_t, m->axis.p[i].ranks);
        memset(x.least[i], MAX_LAG + 1, (size_t)m->axis.p[i].ranks);
    }
    return x;
}

void lags_hear(Lags *x, int axis, int64_t lag, int64_t lo, int64_t hi) {
    int64_t last = x->m->axis.p[axis].ranks - 1;
    for (int64_t c = lo < 0 ? 0 : lo; c <= hi && c <= last; c++)
        if (lag < x->least[axis][c]) x->least[axis][c] = (int8_t)lag;
}

bool lags_after(const Lags *x, int axis, int64_t k, int c) {
    int64_t lag = x->least[axis][c];
    return lag <= MAX_LAG && lag + 2 <= k;
}

/* ---- waits that are executed whatever the sizes are ---- */

/* Only inside loops over numbers, which have a trip. */
static bool always_executed(const Op *op) {
    for (const Op *up = op->in->parent; up; up = up->in->parent) {
        int64_t lo, hi;
        if (up->kind != OP_FOR || !value_const(up->arg.p[0], &lo) || !value_const(up->arg.p[1], &hi) || lo >= hi) return false;
    }
    return true;
}

/* In the task (0, 0, ..), where the terms are tile numbers of the grid. */
static bool at_origin(const Kernel *k, const Affine *a, int64_t *value) {
    *value = a->c;
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind != TERM_INDEX || !k->range.p[a->term[i].id].grid) return false;
    return true;
}

static bool names_first_word(const Kernel *k, const Flag *f, const Op *w) {
    for (int d = 0; d < f->dim.n; d++) {
        int64_t lo, hi;
        if (f->dim.p[d].group <= 0) continue;
        if (!at_origin(k, &w->sub.p[d].lo, &lo) || !at_origin(k, &w->sub.p[d].hi, &hi) || lo > 0 || hi < 0) return false;
    }
    return true;
}

static const Op *loop_of(const Op *op, int range) {
    for (const Op *up = op->in->parent; up; up = up->in->parent)
        if (up->kind == OP_FOR && up->range == range) return up;
    return NULL;
}

/* One coordinate that a loop over numbers counts through, position by position. */
static bool counted(const Kernel *k, const Op *w, int64_t *lo, int64_t *hi) {
    const Affine *a = &w->dest.lo;
    if (!affine_equal(a, &w->dest.hi) || a->nterm != 1 || a->term[0].kind != TERM_INDEX || a->term[0].mul != 1 || a->term[0].div != 1) return false;
    const Op *loop = loop_of(w, a->term[0].id);
    if (!loop || k->range.p[loop->range].kind != RANGE_POSITION) return false;
    *lo = a->c;
    *hi = a->c + loop->arg.p[1]->def->imm - loop->arg.p[0]->def->imm - 1;
    return true;
}

static bool coordinates(const Kernel *k, const Op *w, int64_t *lo, int64_t *hi) {
    *lo = w->dest.lo.c, *hi = w->dest.hi.c;
    return (affine_is_const(&w->dest.lo) && affine_is_const(&w->dest.hi)) || counted(k, w, lo, hi);
}

void lags_wait(Lags *x, const Kernel *k, const Flag *f, const Op *w) {
    int64_t lo, hi;
    if (f->axis >= 0 && always_executed(w) && names_first_word(k, f, w) && coordinates(k, w, &lo, &hi)) lags_hear(x, f->axis, w->lag, lo, hi);
}
