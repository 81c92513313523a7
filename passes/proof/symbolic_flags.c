/* symbolic_flags.c: flags and waits of the proof for all sizes: is every word completed exactly, by earlier tasks?
   Takes: a program with flags. Gives: each signal is the plain one, from which exact arrivals follow; waits go forward. */
#include "passes/proof/meeting.h"

/* ---- flags in plain form ---- */

static int count_signals(const Region *r, int flag) {
    int n = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) n += op->kind == OP_SIGNAL && op->flag == flag;
    return n;
}

static bool is_index(const Affine *a, int range, int64_t div) {
    Affine plain = affine_term(TERM_INDEX, range, 1, div);
    return affine_equal(a, &plain);
}

/* One signal, last in every task, of the task's own word, to all ranks or to each rank by one task. */
static bool flag_is_plain(const Symbolic *y, const Flag *f) {
    const Kernel *k = y->p->node.p[f->producer]->kernel;
    const Op *s = flag_signal(k, f->id);
    if (!s || count_signals(k->body, f->id) != 1 || f->arrivals || s->order != ORDER_ACQ_REL) return false;
    if (f->axis >= 0 && (s->scope != SCOPE_SYSTEM || f->scope != SCOPE_SYSTEM)) return false;
    int dest = -1;
    for (int d = 0; d < f->dim.n; d++) {
        if (f->dim.p[d].group == GROUP_DEST && dest >= 0) return false;
        if (f->dim.p[d].group == GROUP_DEST) dest = d;
        if (f->dim.p[d].group > 0 && !is_index(&s->sub.p[d].lo, d, f->dim.p[d].group)) return false;
    }
    if (dest < 0) return ranks_all(y->m, f->axis, &s->dest, true);
    const Range *r = &k->range.p[dest];
    bool every = r->kind == RANGE_POSITION && size_is_number(r->of) && f->axis >= 0 && r->of.c == y->m->axis.p[f->axis].ranks;
    return every && is_index(&s->dest.lo, dest, 1) && is_index(&s->dest.hi, dest, 1);
}

static bool flag_fail(Symbolic *y, const Op *op, const char *why) {
    y->proof->flag = op->flag;
    return symbolic_fail(y, op->loc, "flag '%s': %s for all sizes", y->p->flag.p[op->flag].name, why);
}

/* ---- a program ---- */

static bool wait_check(Symbolic *y, int node, const Op *w) {
    const Flag *f = &y->p->flag.p[w->flag];
    if (w->equal) return flag_fail(y, w, "a wait compares for equality");
    if (w->lag < 0 || w->lag > MAX_LAG) return flag_fail(y, w, "a wait goes back or ahead too many generations");
    bool earlier = w->lag > 0 || f->producer < node || (f->producer == node && symbolic_names_earlier(y, node, w));
    if (earlier && flag_is_plain(y, f)) return true;
    return flag_fail(y, w, "a wait is not for earlier tasks that signal");
}

/* Also where nobody waits: a word that there is not would be written. */
static bool signal_check(Symbolic *y, int node, const Op *s) {
    const Flag *f = &y->p->flag.p[s->flag];
    if (f->producer == node && flag_is_plain(y, f)) return true;
    return flag_fail(y, s, "a signal is not the last, of the task's own word, to ranks that there are,");
}

static bool region_check(Symbolic *y, int node, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op->kind == OP_WAIT && !wait_check(y, node, op)) return false;
        if (op->kind == OP_SIGNAL && !signal_check(y, node, op)) return false;
        y->proof->waits += op->kind == OP_WAIT;
        y->proof->signals += op->kind == OP_SIGNAL;
    }
    return true;
}

bool symbolic_flags_check(Symbolic *y) {
    for (int i = 0; i < y->p->node.n; i++)
        if (!region_check(y, i, y->p->node.p[i]->kernel->body)) return false;
    return true;
}
