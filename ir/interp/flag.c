/* flag.c: words and counters of flag families, waits and signals.
   An acquire that reads a word joins what was released with it, when both reach far enough: a word of another rank only
   if both are of system scope. Relaxed operations move values, not views. */
#include "ir/interp/agent.h"

/* ---- setting up ---- */

static void flag_extents(Agents *a, FlagState *s) {
    const World *w = a->w;
    int n = s->f->dim.n;
    s->extent = ARENA_ARRAY(w->arena, int64_t, w->ranks *n);
    s->most = ARENA_ARRAY(w->arena, int64_t, n);
    s->words = 1;
    s->by_dest = flag_has_dest(s->f);
    for (int d = 0; d < n; d++) {
        for (int r = 0; r < w->ranks; r++) {
            int64_t words = flag_words(w->m, &s->f->dim.p[d], w->sym);
            s->extent[r * n + d] = words;
            if (words > s->most[d]) s->most[d] = words;
        }
        s->words *= s->most[d];
    }
}

void flags_make(Agents *a) {
    World *w = a->w;
    a->flag = ARENA_ARRAY(w->arena, FlagState, w->p->flag.n);
    for (int i = 0; i < w->p->flag.n; i++) {
        FlagState *s = &a->flag[i];
        s->f = &w->p->flag.p[i];
        s->ranks = s->f->axis < 0 ? 1 : w->m->axis.p[s->f->axis].ranks;
        flag_extents(a, s);
        s->word = ARENA_ARRAY(w->arena, Word, w->ranks * s->ranks * s->words);
        s->counter = ARENA_ARRAY(w->arena, Counter, w->ranks * s->ranks * s->words);
    }
}

/* ---- names of words ---- */

static int64_t coordinate_along(const World *w, const FlagState *s, int rank) {
    return s->f->axis < 0 ? 0 : w->coord[rank][s->f->axis];
}

static int rank_of(const World *w, const FlagState *s, int rank, int64_t coordinate) {
    return s->f->axis < 0 ? rank : mesh_rank_along(w->m, rank, s->f->axis, coordinate);
}

static int64_t word_number(const FlagState *s, const int64_t *index) {
    int64_t n = 0;
    for (int d = 0; d < s->f->dim.n; d++) n = n * s->most[d] + index[d];
    return n;
}

static Word *word_at(const FlagState *s, int home, int64_t source, int64_t number) {
    return &s->word[(home * s->ranks + source) * s->words + number];
}

static void fault_flag(Task *t, const FlagState *s, const char *text) {
    world_fault(t->w, (InterpFault){.kind = FAULT_FLAG,
                                    .at = task_id(t),
                                    .other.rank = -1,
                                    .tensor = -1,
                                    .element = -1,
                                    .flag = s->f->id,
                                    .text = text});
}

/* ---- waits ---- */

typedef struct {
    Task *t;
    const Op *op;
    FlagState *s;
    uint64_t want;
    int64_t lo[MAX_RANGES], hi[MAX_RANGES]; /* of the words of the source in hand; hi inclusive */
} Wait;

/* Spans are cut to the words that exist; false: none. */
static bool wait_span(Wait *w, int source_rank) {
    int n = w->s->f->dim.n;
    for (int d = 0; d < n; d++) {
        int64_t extent = w->s->extent[source_rank * n + d];
        bool named = w->s->f->dim.p[d].group > 0;
        w->lo[d] = named ? affine_scalar(w->t, &w->op->sub.p[d].lo) : 0;
        w->hi[d] = named ? affine_scalar(w->t, &w->op->sub.p[d].hi) : 0;
        if (w->lo[d] < 0) w->lo[d] = 0;
        if (w->hi[d] >= extent) w->hi[d] = extent - 1;
        if (w->lo[d] > w->hi[d]) return false;
    }
    return true;
}

static bool span_next(const Wait *w, int64_t *index) {
    for (int d = w->s->f->dim.n - 1; d >= 0; d--) {
        if (++index[d] <= w->hi[d]) return true;
        index[d] = w->lo[d];
    }
    return false;
}

static bool word_passes(const Wait *w, const Word *word) {
    return w->op->equal ? word->value == w->want : (int64_t)(word->value - w->want) >= 0;
}

static void block_on(const Wait *w, const Word *word, int source_rank, int64_t number) {
    w->t->worker->on = (Blocked){.seen = &word->value,
                                 .want = w->want,
                                 .equal = w->op->equal,
                                 .flag = w->s->f->id,
                                 .from = source_rank,
                                 .word = number,
                                 .tensor = -1,
                                 .element = -1};
}

static void acquire(const Wait *w, const Word *word, int source_rank) {
    int64_t generation = (int64_t)w->want, oldest = (int64_t)word->value - RELEASES + 1;
    if (generation <= 0 || w->op->order != ORDER_ACQ_REL) return;
    if (generation < oldest) generation = oldest;
    const Release *r = &word->past[generation % RELEASES];
    bool near = source_rank == w->t->rank;
    bool reaches = near || (w->op->scope == SCOPE_SYSTEM && r->scope == SCOPE_SYSTEM);
    if (r->clock && r->generation == generation && reaches) clock_join(w->t->w->agents, w->t->worker->clock, r->clock);
}

/* First to see whether all words of a source have come (join false), then to join them. */
static bool wait_source(Wait *w, int64_t source, bool join) {
    const World *world = w->t->w;
    int rank = rank_of(world, w->s, w->t->rank, source);
    int64_t index[MAX_RANGES];
    if (!wait_span(w, rank)) return true;
    for (int d = 0; d < w->s->f->dim.n; d++) index[d] = w->lo[d];
    do {
        int64_t number = word_number(w->s, index);
        const Word *word = word_at(w->s, w->t->rank, source, number);
        if (join) {
            acquire(w, word, rank);
        } else if (!word_passes(w, word)) {
            block_on(w, word, rank, number);
            return false;
        }
    } while (span_next(w, index));
    return true;
}

static void ranks_span(const Task *t, const Op *op, const FlagState *s, int64_t *lo, int64_t *hi) {
    *lo = *hi = 0;
    if (s->f->axis < 0) return;
    *lo = affine_scalar(t, &op->dest.lo);
    *hi = affine_scalar(t, &op->dest.hi);
    if (*lo < 0) *lo = 0;
    if (*hi >= s->ranks) *hi = s->ranks - 1;
}

Step agents_wait(Task *t, const Op *op) {
    Wait w = {.t = t, .op = op, .s = &t->w->agents->flag[op->flag], .want = (uint64_t)(t->generation - op->lag)};
    int64_t lo, hi;
    ranks_span(t, op, w.s, &lo, &hi);
    for (int64_t r = lo; r <= hi; r++)
        if (!wait_source(&w, r, false)) return STEP_BLOCKED;
    for (int64_t r = lo; r <= hi; r++) wait_source(&w, r, true);
    t->w->report->waits++;
    return STEP_DONE;
}

/* ---- signals ---- */

/* Of several completions in one generation the first is what waits can rely on. */
static void word_publish(Agents *a, Word *word, int64_t generation, Clock *clock, SyncScope scope) {
    Release *r = &word->past[generation % RELEASES];
    word->value = (uint64_t)generation;
    if (r->generation == generation) return;
    clock_drop(a, r->clock);
    *r = (Release){.generation = generation, .clock = clock, .scope = scope};
    if (clock) clock->refs++;
}

/* Counts one arrival; true for the last one, with all that the arrivals released (NULL: nothing). */
static bool counter_arrive(Task *t, const Op *op, Counter *c, int64_t arrivals, Clock **released) {
    Agents *a = t->w->agents;
    Clock *past = op->order == ORDER_ACQ_REL ? clock_release(a, t->worker) : NULL;
    if (past && c->clock) {
        clock_join(a, c->clock, past);
        clock_drop(a, past);
    } else if (past) {
        c->clock = past;
    }
    if (++c->arrived < arrivals) return false;
    if (past && c->clock) clock_join(a, t->worker->clock, c->clock);
    *released = past ? c->clock : NULL;
    if (!past) clock_drop(a, c->clock);
    *c = (Counter){0};
    return true;
}

/* One arrival at a counter; the last one writes the words of ranks lo..hi. */
static void signal_ranks(Task *t, const Op *op, FlagState *s, const int64_t *index, int64_t lo, int64_t hi) {
    const World *w = t->w;
    int64_t number = word_number(s, index), arrivals = flag_arrivals(w->m, s->f, index, w->sym);
    Counter *c = &s->counter[(t->rank * s->ranks + (s->by_dest ? lo : 0)) * s->words + number];
    Clock *released = NULL;
    SyncScope scope = s->f->scope == SCOPE_SYSTEM ? op->scope : SCOPE_DEVICE;
    if (!counter_arrive(t, op, c, arrivals, &released)) return;
    for (int64_t r = lo; r <= hi; r++)
        word_publish(w->agents, word_at(s, rank_of(w, s, t->rank, r), coordinate_along(w, s, t->rank), number),
                     t->generation, released, scope);
    clock_drop(w->agents, released);
}

void agents_signal(Task *t, const Op *op) {
    FlagState *s = &t->w->agents->flag[op->flag];
    int n = s->f->dim.n;
    int64_t index[MAX_RANGES] = {0}, lo, hi;
    t->w->report->signals++;
    for (int d = 0; d < n; d++) {
        if (s->f->dim.p[d].group <= 0) continue;
        index[d] = affine_scalar(t, &op->sub.p[d].lo);
        if (index[d] < 0 || index[d] >= s->extent[t->rank * n + d]) {
            fault_flag(t, s, "a signal outside the words of its flag");
            return;
        }
    }
    ranks_span(t, op, s, &lo, &hi);
    if (!s->by_dest) signal_ranks(t, op, s, index, lo, hi);
    for (int64_t r = lo; s->by_dest && r <= hi; r++) signal_ranks(t, op, s, index, r, r);
}
