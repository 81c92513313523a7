/* oracle.h: a second opinion on small programs: executes a few generations task by task in ticket order, with a clock per
   task, and looks at every element. Slow and plain: it shares the list of events with the proof, none of its reasoning. */
#ifndef TILEC_TEST_MUTATE_ORACLE_H
#define TILEC_TEST_MUTATE_ORACLE_H

#include "passes/proof/run.h"

#include <stdlib.h>
#include <string.h>

enum { GENERATIONS = 4 };

typedef VEC(int32_t) Seen; /* instance * 4096 + event within it, of accesses to one element */

typedef struct {
    Run *r;
    int instances;
    uint16_t *known;   /* [instance][instance]: how many events of the other happened before */
    uint16_t **release; /* per word and generation */
    int32_t *arrived;
    int64_t *word_base;
    uint16_t *boundary; /* [rank]: clock of everything of the generation before */
    uint16_t *done, *launch; /* [rank]: of what has ended; of what had when the rank's node began */
    int *node;               /* [rank] */
    Seen *element;     /* writers and readers: two a place */
    int64_t *element_base;
    const char *why;
} Oracle;

static int instance_of(const Oracle *o, int gen, int task) { return gen * o->r->task.n + task; }

static uint16_t *clock_of(const Oracle *o, int instance) { return o->known + (size_t)instance * (size_t)o->instances; }

static void clock_join(const Oracle *o, uint16_t *to, const uint16_t *from) {
    for (int i = 0; i < o->instances; i++)
        if (from[i] > to[i]) to[i] = from[i];
}

static int64_t word_slots(const Oracle *o, int flag) {
    int64_t n = 1;
    for (int rank = 0; rank < o->r->ranks; rank++) {
        int64_t words = 1;
        const Flag *f = &o->r->p->flag.p[flag];
        for (int d = 0; d < f->dim.n; d++) words *= flag_words(o->r->m, &f->dim.p[d], o->r->sym);
        if (words > n) n = words;
    }
    return n;
}

/* Row-major in the source's own extents; -1 outside. */
static int64_t word_index(const Oracle *o, int flag, const int64_t *at) {
    const Flag *f = &o->r->p->flag.p[flag];
    int64_t index = 0;
    for (int d = 0; d < f->dim.n; d++) {
        int64_t n = flag_words(o->r->m, &f->dim.p[d], o->r->sym);
        if (at[d] < 0 || at[d] >= n) return -1;
        index = index * n + at[d];
    }
    return index;
}

static int64_t place_of(const Oracle *o, int flag, int home, int source, int64_t index, int gen) {
    int64_t per = word_slots(o, flag);
    return ((o->word_base[flag] + (home * o->r->ranks + source) * per + index) * GENERATIONS) + gen;
}

static void oracle_signal(Oracle *o, const Event *e, int gen, const uint16_t *clock) {
    const Flag *f = &o->r->p->flag.p[e->ref];
    int rank = o->r->task.p[e->task].rank;
    int64_t at[MAX_RANGES];
    for (int d = 0; d < f->dim.n; d++) at[d] = o->r->box.p[e->box + d].lo;
    int64_t index = word_index(o, e->ref, at);
    if (index < 0) {
        o->why = "signals a word that there is not";
        return;
    }
    for (int c = f->axis < 0 ? 0 : e->rank_lo; c <= (f->axis < 0 ? 0 : e->rank_hi); c++) {
        int home = f->axis < 0 ? rank : mesh_rank_along(o->r->m, rank, f->axis, c);
        int64_t place = place_of(o, e->ref, home, rank, index, gen);
        o->arrived[place]++;
        if (!o->release[place]) o->release[place] = ARENA_ARRAY(o->r->arena, uint16_t, o->instances);
        if (e->sync) clock_join(o, o->release[place], clock);
    }
}

static void oracle_wait_word(Oracle *o, const Event *e, int gen, int source, const int64_t *at, uint16_t *clock) {
    const Flag *f = &o->r->p->flag.p[e->ref];
    int64_t want = gen - e->op->lag;
    int64_t arrivals = flag_arrivals(o->r->m, f, at, o->r->sym);
    if (want < 0 || arrivals == 0) return;
    int64_t index = word_index(o, e->ref, at);
    int64_t place = place_of(o, e->ref, o->r->task.p[e->task].rank, source, index, (int)want);
    if (want > gen || o->arrived[place] != arrivals) o->why = "waits for a word that is not completed by earlier tasks";
    else if (e->sync) clock_join(o, clock, o->release[place]);
}

static void oracle_wait(Oracle *o, const Event *e, int gen, uint16_t *clock) {
    const Flag *f = &o->r->p->flag.p[e->ref];
    for (int source = 0; source < o->r->ranks; source++) {
        int64_t lo[MAX_RANGES], hi[MAX_RANGES], at[MAX_RANGES];
        bool some = wait_has_source(o->r, e, source);
        for (int d = 0; d < f->dim.n; d++) {
            Bounds a = o->r->box.p[e->box + d];
            int64_t n = flag_words(o->r->m, &f->dim.p[d], o->r->sym);
            lo[d] = at[d] = a.lo < 0 ? 0 : a.lo;
            hi[d] = a.hi < n ? a.hi : n - 1;
            some = some && lo[d] <= hi[d];
        }
        for (int d = some ? 0 : -1; d >= 0;) {
            oracle_wait_word(o, e, gen, source, at, clock);
            for (d = f->dim.n - 1; d >= 0 && ++at[d] > hi[d]; d--) at[d] = lo[d];
        }
    }
    if (e->op->equal) o->why = "compares for equality";
}

static bool is_sum(const Event *e) { return e->kind == EVENT_WRITE && e->op->mode == STORE_SUM; }

/* Of one node, and neither reads what the node writes, nor adds to it in order. */
static bool siblings(const Oracle *o, const Event *a, const Event *b) {
    const Task *x = &o->r->task.p[a->task], *y = &o->r->task.p[b->task];
    return x->node == y->node && !event_reads_result(o->r, a) && !event_reads_result(o->r, b) && !is_sum(a) && !is_sum(b);
}

static void oracle_touch(Oracle *o, const Event *e, int64_t place, int instance, const uint16_t *clock, bool packet) {
    int number = (int)(e - o->r->event.p) - o->r->task.p[e->task].first;
    Seen *write = &o->element[2 * place], *read = write + 1;
    for (int k = 0; k < 2; k++) {
        const Seen *s = k ? read : write;
        if (k == 1 && e->kind == EVENT_READ) continue;
        for (int i = 0; i < s->n; i++) {
            int other = s->p[i] / 4096, event = s->p[i] % 4096;
            if (other == instance || clock[other] > event) continue;
            if (other / o->r->task.n == instance / o->r->task.n) {
                if (siblings(o, e, &o->r->event.p[o->r->task.p[other % o->r->task.n].first + event])) continue;
                if (packet && k == 0 && e->kind == EVENT_READ) continue;
            }
            o->why = e->kind == EVENT_READ ? "a read follows no write" : "a write follows no access";
        }
    }
    vec_push(o->r->arena, e->kind == EVENT_READ ? read : write, instance * 4096 + number);
}

static void oracle_access(Oracle *o, const Event *e, int gen, int instance, const uint16_t *clock) {
    const Tensor *t = &o->r->p->tensor.p[e->ref];
    int rank = o->r->task.p[e->task].rank;
    for (int c = t->symmetric < 0 ? 0 : e->rank_lo; c <= (t->symmetric < 0 ? 0 : e->rank_hi); c++) {
        int memory = t->symmetric < 0 ? rank : mesh_rank_along(o->r->m, rank, t->symmetric, c);
        int64_t at[MAX_DIMS];
        for (int d = 0; d < t->ndim; d++) at[d] = o->r->box.p[e->box + d].lo;
        for (int d = 0; d >= 0;) {
            int64_t index = memory * t->slots + gen % t->slots;
            for (int i = 0; i < t->ndim; i++) index = index * size_block(o->r->m, t->dim[i], o->r->sym) + at[i];
            oracle_touch(o, e, o->element_base[e->ref] + index, instance, clock, t->packet);
            for (d = t->ndim - 1; d >= 0 && ++at[d] > o->r->box.p[e->box + d].hi; d--) at[d] = o->r->box.p[e->box + d].lo;
        }
    }
}

/* A packet that is read brings what its sender knew. */
static void oracle_packet(Oracle *o, const Event *e, int gen, uint16_t *clock) {
    const Tensor *t = &o->r->p->tensor.p[e->ref];
    if (!t->packet || e->kind != EVENT_READ) return;
    for (int i = 0; i < o->r->access[e->ref].n; i++) {
        const Event *w = &o->r->event.p[o->r->access[e->ref].p[i]];
        int from = o->r->task.p[w->task].rank, to = o->r->task.p[e->task].rank, axis = t->symmetric;
        bool meet = w->kind == EVENT_WRITE && mesh_rank_along(o->r->m, from, axis, o->r->coord[to][axis]) == to;
        meet = meet && w->rank_lo <= e->rank_hi && e->rank_lo <= w->rank_hi;
        for (int d = 0; d < t->ndim; d++)
            meet = meet && o->r->box.p[w->box + d].lo <= o->r->box.p[e->box + d].hi && o->r->box.p[e->box + d].lo <= o->r->box.p[w->box + d].hi;
        if (meet) clock_join(o, clock, clock_of(o, instance_of(o, gen, w->task)));
    }
}

static uint16_t *of_rank(const Oracle *o, uint16_t *clocks, int rank) { return clocks + (size_t)rank * (size_t)o->instances; }

/* Where nodes are launches, a task follows everything that ended before its node began on its rank. */
static void oracle_launch(Oracle *o, const Task *t, uint16_t *clock) {
    uint16_t *launch = of_rank(o, o->launch, t->rank);
    if (!(o->r->m->form & FORM_LAUNCHES)) return;
    if (o->node[t->rank] != t->node) clock_join(o, launch, of_rank(o, o->done, t->rank));
    o->node[t->rank] = t->node;
    clock_join(o, clock, launch);
}

static void oracle_task(Oracle *o, int gen, int task) {
    const Task *t = &o->r->task.p[task];
    int instance = instance_of(o, gen, task);
    uint16_t *clock = clock_of(o, instance);
    clock_join(o, clock, of_rank(o, o->boundary, t->rank));
    oracle_launch(o, t, clock);
    for (int i = 0; i < t->n && !o->why; i++) {
        const Event *e = &o->r->event.p[t->first + i];
        clock[instance] = (uint16_t)(i + 1);
        if (e->kind == EVENT_SIGNAL) oracle_signal(o, e, gen, clock);
        else if (e->kind == EVENT_WAIT) oracle_wait(o, e, gen, clock);
        else {
            oracle_packet(o, e, gen, clock);
            oracle_access(o, e, gen, instance, clock);
        }
    }
    clock_join(o, of_rank(o, o->done, t->rank), clock);
}

static void oracle_begin(Oracle *o) {
    Run *r = o->r;
    o->instances = GENERATIONS * r->task.n;
    o->known = ARENA_ARRAY(r->arena, uint16_t, o->instances * o->instances + 1);
    o->word_base = ARENA_ARRAY(r->arena, int64_t, r->p->flag.n + 1);
    o->element_base = ARENA_ARRAY(r->arena, int64_t, r->p->tensor.n + 1);
    int64_t words = 0, elements = 0;
    for (int f = 0; f < r->p->flag.n; f++) o->word_base[f] = words, words += word_slots(o, f) * r->ranks * r->ranks;
    for (int t = 0; t < r->p->tensor.n; t++) {
        int64_t n = r->ranks * r->p->tensor.p[t].slots;
        for (int d = 0; d < r->p->tensor.p[t].ndim; d++) n *= size_block(r->m, r->p->tensor.p[t].dim[d], r->sym);
        o->element_base[t] = elements, elements += n;
    }
    o->boundary = ARENA_ARRAY(r->arena, uint16_t, r->ranks * o->instances + 1);
    o->done = ARENA_ARRAY(r->arena, uint16_t, r->ranks * o->instances + 1);
    o->launch = ARENA_ARRAY(r->arena, uint16_t, r->ranks * o->instances + 1);
    o->node = ARENA_ARRAY(r->arena, int, r->ranks + 1);
    for (int i = 0; i < r->ranks; i++) o->node[i] = -1;
    o->release = ARENA_ARRAY(r->arena, uint16_t *, words * GENERATIONS + 1);
    o->arrived = ARENA_ARRAY(r->arena, int32_t, words * GENERATIONS + 1);
    o->element = ARENA_ARRAY(r->arena, Seen, 2 * elements + 1);
}

/* NULL when every element's accesses are ordered and every wait ends. */
static const char *oracle_program(const Module *m, const Program *p, const int64_t *sym) {
    Proof proof = {0};
    Run r = run_begin(m, p, sym, arena_new(), &proof);
    Oracle o = {.r = &r};
    r.access = ARENA_ARRAY(r.arena, Accesses, p->tensor.n + 1);
    if (!trace_program(&r)) o.why = "the events are not known";
    for (int i = 0; i < r.event.n && !o.why; i++) {
        const Event *e = &r.event.p[i];
        if (e->kind == EVENT_READ || e->kind == EVENT_WRITE) vec_push(r.arena, &r.access[e->ref], i);
    }
    if (!o.why) oracle_begin(&o);
    for (int g = 0; g < GENERATIONS && !o.why; g++) {
        for (int t = 0; t < r.task.n && !o.why; t++) oracle_task(&o, g, t);
        for (int t = 0; t < r.task.n; t++)
            clock_join(&o, o.boundary + (size_t)r.task.p[t].rank * (size_t)o.instances, clock_of(&o, instance_of(&o, g, t)));
    }
    arena_free(r.arena);
    return o.why;
}

#endif
