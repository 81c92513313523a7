/* slot_reuse.c: slots of peer-visible memory are used again `slots` generations later: is that ordered across ranks?
   Accesses that the order of whole generations (reach.h) leaves open are looked at one by one. */
#include "passes/proof/run.h"

enum { PAIRS_AN_EVENT = 64 }; /* looked at, of the most events */

/* ---- accesses ---- */

static bool boxes_meet(const Run *r, const Event *a, const Event *b) {
    if (a->rank_hi < b->rank_lo || b->rank_hi < a->rank_lo) return false;
    for (int d = 0; d < r->p->tensor.p[a->ref].ndim; d++) {
        Bounds x = r->box.p[a->box + d], y = r->box.p[b->box + d];
        if (x.hi < y.lo || y.hi < x.lo) return false;
    }
    return true;
}

static int rank_of(const Run *r, const Event *e) { return r->task.p[e->task].rank; }

static bool same_group(const Run *r, int axis, int q, int s) { return mesh_rank_along(r->m, q, axis, r->coord[s][axis]) == s; }

/* Some packet of those sent is among those read. */
static bool packets_meet(const Run *r, const Accesses *sent, const Accesses *read) {
    for (int i = 0; i < sent->n; i++)
        for (int j = 0; j < read->n; j++)
            if (boxes_meet(r, &r->event.p[sent->p[i]], &r->event.p[read->p[j]])) return true;
    return false;
}

/* A packet that is certainly read is an acquire of its sender. */
static void packet_reuse(Run *r, int tensor) {
    const Accesses *list = &r->access[tensor];
    Accesses *of[2] = {ARENA_ARRAY(r->arena, Accesses, r->ranks), ARENA_ARRAY(r->arena, Accesses, r->ranks)}; /* sent, read */
    for (int i = 0; i < list->n; i++) {
        const Event *e = &r->event.p[list->p[i]];
        if (e->until == ALWAYS && e->dense) vec_push(r->arena, &of[e->kind == EVENT_READ][rank_of(r, e)], list->p[i]);
    }
    for (int q = 0; q < r->ranks; q++)
        for (int s = 0; s < r->ranks; s++)
            if (same_group(r, r->p->tensor.p[tensor].symmetric, q, s) && packets_meet(r, &of[0][q], &of[1][s]))
                reach_acquire(&r->reach, 0, q, s);
}

/* The wait names a word of the source that is really signalled. */
static bool wait_acquires(const Run *r, const Event *w, int source) {
    const Flag *f = &r->p->flag.p[w->ref];
    int64_t word[MAX_RANGES];
    if (r->words[w->ref].weak || !wait_has_source(r, w, source)) return false;
    for (int d = 0; d < f->dim.n; d++) {
        Bounds a = r->box.p[w->box + d];
        int64_t last = r->words[w->ref].extent[source * f->dim.n + d] - 1;
        word[d] = a.lo < 0 ? 0 : a.lo;
        if (word[d] > a.hi || word[d] > last) return false;
    }
    return flag_arrivals(r->m, f, word, r->sym) > 0;
}

/* By what b's task has waited for: of q, in a generation after a's; or of a rank that follows q. */
static bool ordered_by_waits(const Run *r, const Event *a, const Event *b, int64_t slots) {
    const Task *tb = &r->task.p[b->task];
    for (const Event *w = b - 1; w >= &r->event.p[tb->first]; w--) {
        if (w->kind != EVENT_WAIT || !w->sync || w->until < (int)(b - r->event.p) || w->op->lag >= slots) continue;
        for (int s = 0; s < r->ranks; s++)
            if (reach_after(&r->reach, slots - w->op->lag, rank_of(r, a), s) && wait_acquires(r, w, s)) return true;
    }
    return order_direct(r, a, b, slots);
}

/* By who has waited for a signal that follows a. */
static bool ordered_by_signals(const Run *r, const Event *a, int to, int64_t slots) {
    const Task *ta = &r->task.p[a->task];
    for (const Event *s = a + 1; s < &r->event.p[ta->first + ta->n]; s++) {
        if (s->kind != EVENT_SIGNAL || !s->sync) continue;
        int64_t word = word_linear(r, s->ref, ta->rank, &r->box.p[s->box]);
        for (int home = 0; home < r->ranks; home++)
            if (reach_after(&r->reach, slots, home, to) && r->words[s->ref].waited[word_slot(r, s->ref, home, ta->rank, word)]) return true;
    }
    return false;
}

static bool pair_check(Run *r, const Event *a, const Event *b, int64_t slots) {
    bool packet = r->p->tensor.p[a->ref].packet; /* its reads tell generations apart */
    if (b->kind == EVENT_READ && (packet || a->kind == EVENT_READ)) return true;
    if (reach_after(&r->reach, slots, rank_of(r, a), rank_of(r, b)) || !boxes_meet(r, a, b)) return true;
    r->proof->pairs++;
    if (ordered_by_waits(r, a, b, slots) || ordered_by_signals(r, a, rank_of(r, b), slots)) return true;
    return run_fail_pair(r, a, b, slots);
}

static bool all_reuse_slots(const Run *run, int axis, int64_t slots) {
    for (int q = 0; q < run->ranks; q++)
        for (int r = 0; r < run->ranks; r++)
            if (same_group(run, axis, q, r) && !reach_after(&run->reach, slots, q, r)) return false;
    return true;
}

static bool tensor_reuse_ordered(Run *r, int tensor) {
    const Tensor *x = &r->p->tensor.p[tensor];
    const Accesses *list = &r->access[tensor];
    if (x->symmetric < 0 || !r->written[tensor] || all_reuse_slots(r, x->symmetric, x->slots)) return true;
    if ((int64_t)list->n * list->n > PAIRS_AN_EVENT * (int64_t)r->most_events) return run_fail_size(r, x->loc, x->name);
    for (int i = 0; i < list->n; i++)
        for (int j = 0; j < list->n; j++) {
            const Event *a = &r->event.p[list->p[i]], *b = &r->event.p[list->p[j]];
            if (same_group(r, x->symmetric, rank_of(r, a), rank_of(r, b)) && !pair_check(r, a, b, x->slots)) return false;
        }
    return true;
}

bool slot_reuse_check(Run *r) {
    for (int i = 0; i < r->p->tensor.n; i++)
        if (r->p->tensor.p[i].packet && r->p->tensor.p[i].symmetric >= 0) packet_reuse(r, i);
    reach_close(&r->reach);
    for (int i = 0; i < r->p->tensor.n; i++)
        if (!tensor_reuse_ordered(r, i)) return false;
    return true;
}
