/* words.c: is every word that is waited for completed, exactly once a generation, by earlier tasks?
   Takes: the events of a generation. Gives: signals sorted by word, and which ranks follow which. */
#include "passes/proof/run.h"

#include <string.h>

static const Flag *flag_at(const Run *r, int flag) { return &r->p->flag.p[flag]; }

static bool words_new(Run *r, int flag) {
    const Flag *f = flag_at(r, flag);
    Words *w = &r->words[flag];
    w->extent = ARENA_ARRAY(r->arena, int64_t, r->ranks * f->dim.n + 1);
    for (int rank = 0; rank < r->ranks; rank++) {
        int64_t n = 1;
        for (int d = 0; d < f->dim.n; d++) {
            int64_t extent = flag_words(r->m, &f->dim.p[d], r->sym);
            w->extent[rank * f->dim.n + d] = extent;
            n = extent && n > MAX_EVENTS / extent ? MAX_EVENTS : n * extent;
        }
        if (n > w->words) w->words = n;
    }
    int64_t slots = w->words * r->ranks * r->ranks;
    if (slots > MAX_EVENTS) return run_fail_size(r, r->p->loc, f->name);
    w->count = ARENA_ARRAY(r->arena, int32_t, slots + 1);
    w->waited = ARENA_ARRAY(r->arena, int32_t, slots + 1);
    w->signals_last = true;
    return true;
}

/* ---- signals ---- */

static bool count_signal(Run *r, const Event *e) {
    const Flag *f = flag_at(r, e->ref);
    const Task *t = &r->task.p[e->task];
    if (f->producer != t->node)
        return run_fail_flag(r, e->ref, e->op, "%s signals, but another node is the producer", task_text(r, t));
    int64_t word = word_linear(r, e->ref, t->rank, &r->box.p[e->box]);
    if (word < 0) return run_fail_flag(r, e->ref, e->op, "%s signals a word that there is not", task_text(r, t));
    if (f->axis < 0) r->words[e->ref].count[word_slot(r, e->ref, t->rank, t->rank, word)]++;
    else
        for (int c = e->rank_lo; c <= e->rank_hi; c++)
            r->words[e->ref].count[word_slot(r, e->ref, mesh_rank_along(r->m, t->rank, f->axis, c), t->rank, word)]++;
    return true;
}

/* A completion releases what all of its arrivals do, or nothing: one weak signal makes its family weak. */
static void spread_weakness(Run *r) {
    for (int i = 0; i < r->event.n; i++) {
        const Event *e = &r->event.p[i];
        if (e->kind == EVENT_SIGNAL && !e->sync) r->words[e->ref].weak = true;
    }
    for (int i = 0; i < r->event.n; i++) {
        Event *e = &r->event.p[i];
        if (e->kind == EVENT_SIGNAL && r->words[e->ref].weak) e->sync = false;
    }
}

static void note_signals(Run *r, const Task *t) {
    bool access = false;
    for (int i = t->first + t->n - 1; i >= t->first; i--) {
        const Event *e = &r->event.p[i];
        if (e->kind == EVENT_READ || e->kind == EVENT_WRITE) access = true;
        if (e->kind == EVENT_SIGNAL && (access || !e->sync)) r->words[e->ref].signals_last = false;
    }
}

/* Counting sort of a flag's signals by (source, word). */
static void sort_signals(Run *r) {
    int flags = r->p->flag.n;
    for (int f = 0; f < flags; f++) r->words[f].first = ARENA_ARRAY(r->arena, int32_t, r->words[f].words * r->ranks + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < r->event.n; i++) {
            const Event *e = &r->event.p[i];
            if (e->kind != EVENT_SIGNAL) continue;
            Words *w = &r->words[e->ref];
            int source = r->task.p[e->task].rank;
            int64_t at = source * w->words + word_linear(r, e->ref, source, &r->box.p[e->box]);
            if (pass == 0) w->first[at + 2]++;
            else w->signal[w->first[at + 1]++] = i;
        }
        for (int f = 0; pass == 0 && f < flags; f++) {
            Words *w = &r->words[f];
            int64_t n = w->words * r->ranks;
            for (int64_t i = 2; i <= n + 1; i++) w->first[i] += w->first[i - 1];
            w->signal = ARENA_ARRAY(r->arena, int32_t, w->first[n + 1] + 1);
        }
    }
}

/* ---- waits ---- */

/* Tasks of one number on several ranks: those that wait for none of their node are done first. So the lowest number that
   is not done, on all ranks, has a task that can go on. */
static bool waits_for_siblings(const Run *r, const Task *t) {
    for (int i = t->first; i < t->first + t->n; i++) {
        const Event *e = &r->event.p[i];
        if (e->kind == EVENT_WAIT && e->op->lag == 0 && flag_at(r, e->ref)->producer == t->node) return true;
    }
    return false;
}

static bool is_earlier(const Run *r, const Task *t, const Task *than) {
    if (t->number != than->number) return t->number < than->number;
    return t->rank != than->rank && !waits_for_siblings(r, t);
}

static bool goes_to(const Run *r, const Event *signal, const Task *t) {
    const int axis = flag_at(r, signal->ref)->axis;
    return axis < 0 || (r->coord[t->rank][axis] >= signal->rank_lo && r->coord[t->rank][axis] <= signal->rank_hi);
}

/* A word of the waiting task's own node: tickets of all that complete it are lower, or it is of another rank's. */
static bool check_earlier(Run *r, const Event *e, int source, int64_t word) {
    const Words *w = &r->words[e->ref];
    const Task *t = &r->task.p[e->task];
    int64_t at = source * w->words + word;
    for (int i = w->first[at]; i < w->first[at + 1]; i++) {
        const Event *s = &r->event.p[w->signal[i]];
        if (goes_to(r, s, t) && !is_earlier(r, &r->task.p[s->task], t))
            return run_fail_flag(r, e->ref, e->op, "%s waits for a task that is not earlier", task_text(r, t));
    }
    return true;
}

/* Tasks come in the order of their nodes. */
static void note_waiter(int32_t *first, const Task *t) {
    if (!*first) *first = t->node + 1;
}

static bool check_word(Run *r, const Event *e, int source, const int64_t *index) {
    const Flag *f = flag_at(r, e->ref);
    const Task *t = &r->task.p[e->task];
    int64_t want = flag_arrivals(r->m, f, index, r->sym), word = 0;
    if (want == 0) return true;
    for (int d = 0; d < f->dim.n; d++) word = word * r->words[e->ref].extent[source * f->dim.n + d] + index[d];
    size_t slot = word_slot(r, e->ref, t->rank, source, word);
    int32_t got = r->words[e->ref].count[slot];
    if (got != want)
        return run_fail_flag(r, e->ref, e->op, "%s waits for word %lld from rank %d, which gets %d of %lld signals",
                             task_text(r, t), (long long)word, source, got, (long long)want);
    if (f->producer == t->node && e->op->lag == 0 && !check_earlier(r, e, source, word)) return false;
    if (!e->sync || e->until != ALWAYS || r->words[e->ref].weak) return true;
    if (e->op->lag == 0) note_waiter(&r->words[e->ref].waited[slot], t);
    if (e->op->lag == 0 && r->launches) note_waiter(run_heard(r, f->producer, source, t->rank), t);
    reach_acquire(&r->reach, e->op->lag, source, t->rank);
    return true;
}

static bool check_source(Run *r, const Event *e, int source) {
    const Flag *f = flag_at(r, e->ref);
    const int64_t *extent = r->words[e->ref].extent + source * f->dim.n;
    const Bounds *box = &r->box.p[e->box];
    int64_t lo[MAX_RANGES], hi[MAX_RANGES], at[MAX_RANGES];
    for (int d = 0; d < f->dim.n; d++) {
        lo[d] = at[d] = box[d].lo < 0 ? 0 : box[d].lo;
        hi[d] = box[d].hi < extent[d] ? box[d].hi : extent[d] - 1;
        if (lo[d] > hi[d]) return true;
    }
    for (int d = 0; d >= 0;) {
        if (!check_word(r, e, source, at)) return false;
        for (d = f->dim.n - 1; d >= 0 && ++at[d] > hi[d]; d--) at[d] = lo[d];
    }
    return true;
}

static bool same_wait(const Run *r, const Event *a, const Event *b) {
    if (!a || r->task.p[a->task].rank != r->task.p[b->task].rank || a->op->lag != b->op->lag) return false;
    if (a->sync != b->sync || a->op->equal != b->op->equal || (a->until == ALWAYS) != (b->until == ALWAYS)) return false;
    if (a->rank_lo != b->rank_lo || a->rank_hi != b->rank_hi) return false;
    int n = flag_at(r, a->ref)->dim.n;
    return memcmp(&r->box.p[a->box], &r->box.p[b->box], (size_t)n * sizeof(Bounds)) == 0;
}

static bool check_wait(Run *r, const Event *e) {
    const Flag *f = flag_at(r, e->ref);
    const Task *t = &r->task.p[e->task];
    if (e->op->equal) return run_fail_flag(r, e->ref, e->op, "a wait compares for equality");
    if (e->op->lag < 0 || (e->op->lag == 0 && f->producer > t->node))
        return run_fail_flag(r, e->ref, e->op, "%s waits for a task that is not earlier", task_text(r, t));
    if (e->op->lag >= r->reach.lags)
        return run_fail_flag(r, e->ref, e->op, "a wait goes back %lld generations", (long long)e->op->lag);
    for (int source = 0; source < r->ranks; source++)
        if (wait_has_source(r, e, source) && !check_source(r, e, source)) return false;
    return true;
}

/* Who waits for a later node follows the earlier ones as well. */
static void spread_hearing(Run *r) {
    for (int n = r->p->node.n - 1; r->launches && n >= 0; n--)
        for (int q = 0; q < r->ranks; q++)
            for (int s = 0; s < r->ranks; s++) {
                int32_t *first = run_heard(r, n, q, s), later = *run_heard(r, n + 1, q, s);
                if (later && (!*first || later < *first)) *first = later;
            }
}

bool words_check(Run *r) {
    r->words = ARENA_ARRAY(r->arena, Words, r->p->flag.n + 1);
    const Event **last = ARENA_ARRAY(r->arena, const Event *, r->p->flag.n + 1);
    for (int f = 0; f < r->p->flag.n; f++)
        if (!words_new(r, f)) return false;
    for (int i = 0; i < r->event.n; i++)
        if (r->event.p[i].kind == EVENT_SIGNAL && !count_signal(r, &r->event.p[i])) return false;
    spread_weakness(r);
    for (int i = 0; i < r->task.n; i++) note_signals(r, &r->task.p[i]);
    sort_signals(r);
    for (int i = 0; i < r->event.n; i++) {
        const Event *e = &r->event.p[i];
        if (e->kind != EVENT_WAIT || same_wait(r, last[e->ref], e)) continue;
        if (!check_wait(r, e)) return false;
        last[e->ref] = e;
    }
    spread_hearing(r);
    return true;
}
