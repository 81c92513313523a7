/* order.c: does one access happen before another in the same generation?
   Directly: the later task waits for a word that the earlier one signals after its access; or through tasks between. */
#include "passes/proof/run.h"

/* Waits between two accesses, signals looked at: time of the proof; chosen: no measurement is recorded. */
enum { MAX_DEPTH = 4, SEARCH_BUDGET = 8192 };

static const Task *task_at(const Run *r, const Event *e) { return &r->task.p[e->task]; }
static int event_number(const Run *r, const Event *e) { return (int)(e - r->event.p); }

/* Does the wait name the word of this signal? */
static bool wait_meets(const Run *r, const Event *wait, const Event *signal) {
    const Flag *f = &r->p->flag.p[wait->ref];
    int to = task_at(r, wait)->rank;
    if (f->axis >= 0 && (r->coord[to][f->axis] < signal->rank_lo || r->coord[to][f->axis] > signal->rank_hi)) return false;
    const Bounds *want = &r->box.p[wait->box], *have = &r->box.p[signal->box];
    for (int d = 0; d < f->dim.n; d++)
        if (have[d].lo < want[d].lo || have[d].lo > want[d].hi) return false;
    return true;
}

static bool wait_follows(const Run *r, const Event *wait, const Event *a) {
    const Task *t = task_at(r, a);
    for (int i = t->first + t->n - 1; i >= event_number(r, a); i--) {
        const Event *s = &r->event.p[i];
        if (s->kind == EVENT_SIGNAL && s->ref == wait->ref && s->sync && wait_meets(r, wait, s)) return true;
    }
    return false;
}

/* Certainly executed before b. */
static bool wait_counts(const Run *r, const Event *wait, const Event *b) {
    return wait->kind == EVENT_WAIT && wait->sync && wait->until >= event_number(r, b);
}

/* By the order of launches: of one rank; or b's rank has waited, in an earlier node, for a signal that follows a. */
static bool order_launches(const Run *r, const Event *a, const Event *b) {
    const Task *ta = task_at(r, a), *tb = task_at(r, b);
    if (!r->launches) return false;
    if (ta->rank == tb->rank) return ta->node < tb->node;
    int32_t first = *run_heard(r, ta->node + 1, ta->rank, tb->rank);
    return first && first <= tb->node;
}

bool order_direct(const Run *r, const Event *a, const Event *b, int64_t lag) {
    const Task *ta = task_at(r, a), *tb = task_at(r, b);
    for (const Event *w = b - 1; w >= &r->event.p[tb->first]; w--) {
        if (!wait_counts(r, w, b) || w->op->lag != lag || r->p->flag.p[w->ref].producer != ta->node) continue;
        if (wait_has_source(r, w, ta->rank) && wait_follows(r, w, a)) return true;
    }
    return false;
}

static bool search(const Run *r, const Event *a, const Event *b, int depth, int *budget);

static bool search_word(const Run *r, const Event *a, const Event *w, int64_t at, int depth, int *budget) {
    const Words *words = &r->words[w->ref];
    for (int i = words->first[at]; i < words->first[at + 1]; i++) {
        const Event *s = &r->event.p[words->signal[i]];
        if ((*budget)-- <= 0) return false;
        if (s->sync && wait_meets(r, w, s) && search(r, a, s, depth - 1, budget)) return true;
    }
    return false;
}

static bool search_source(const Run *r, const Event *a, const Event *w, int source, int depth, int *budget) {
    int n = r->p->flag.p[w->ref].dim.n;
    const int64_t *extent = r->words[w->ref].extent + source * n;
    const Bounds *box = &r->box.p[w->box];
    Bounds at[MAX_RANGES], cut[MAX_RANGES];
    for (int d = 0; d < n; d++) {
        cut[d].lo = box[d].lo < 0 ? 0 : box[d].lo;
        cut[d].hi = box[d].hi < extent[d] ? box[d].hi : (int32_t)extent[d] - 1;
        at[d] = cut[d];
        if (cut[d].lo > cut[d].hi) return false;
    }
    for (int d = 0; d >= 0 && *budget > 0;) {
        int64_t word = source * r->words[w->ref].words + word_linear(r, w->ref, source, at);
        if (search_word(r, a, w, word, depth, budget)) return true;
        for (d = n - 1; d >= 0 && ++at[d].lo > cut[d].hi; d--) at[d] = cut[d];
    }
    return false;
}

static bool search(const Run *r, const Event *a, const Event *b, int depth, int *budget) {
    if (order_launches(r, a, b) || order_direct(r, a, b, 0)) return true;
    if (depth == 0) return false;
    const Task *tb = task_at(r, b);
    for (const Event *w = b - 1; w >= &r->event.p[tb->first] && *budget > 0; w--) {
        if (!wait_counts(r, w, b) || w->op->lag != 0) continue;
        int from = task_at(r, a)->node, through = r->p->flag.p[w->ref].producer;
        if (through < from || (through == from && !r->own_order[from])) continue;
        for (int source = 0; source < r->ranks; source++)
            if (wait_has_source(r, w, source) && search_source(r, a, w, source, depth, budget)) return true;
    }
    return false;
}

bool order_holds(const Run *r, const Event *a, const Event *b) {
    int budget = SEARCH_BUDGET;
    if (a->task == b->task) return a < b;
    return search(r, a, b, MAX_DEPTH, &budget);
}

static bool wait_has_all(const Run *r, const Event *w) {
    const Flag *f = &r->p->flag.p[w->ref];
    const Bounds *box = &r->box.p[w->box];
    if (!r->words[w->ref].signals_last || (f->axis >= 0 && w->rank_hi - w->rank_lo + 1 != r->m->axis.p[f->axis].ranks)) return false;
    for (int d = 0; d < f->dim.n; d++) {
        if (f->dim.p[d].group == GROUP_DEST || box[d].lo > 0) return false;
        for (int rank = 0; rank < r->ranks; rank++)
            if (box[d].hi < r->words[w->ref].extent[rank * f->dim.n + d] - 1) return false;
    }
    return true;
}

bool order_after_node(const Run *r, int node, int axis, const Event *b) {
    const Task *tb = task_at(r, b);
    if (r->launches && axis < 0) return node < tb->node;
    for (const Event *w = b - 1; w >= &r->event.p[tb->first]; w--) {
        if (!wait_counts(r, w, b) || w->op->lag != 0) continue;
        const Flag *f = &r->p->flag.p[w->ref];
        if (f->producer == node && (axis < 0 || f->axis == axis) && wait_has_all(r, w)) return true;
    }
    return false;
}
