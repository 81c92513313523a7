/* explain_caches.c: tilec explain --cache-sim: what the caches of chiplets do for each kernel, in its order and row-major.
   Simulations share nothing, so threads take them one after the other, and what is printed hangs on no thread. */
#include "driver/explain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_THREADS = 16 }; /* each has tens of MB of simulated caches and slots */

typedef struct {
    const Module *m;
    CacheCase *cases;
    int n;
    atomic_int next;
} Team;

static void name_add(Text *to, const void *kernel, int range) { text_add(to, ((const Kernel *)kernel)->range.p[range].name); }

static double percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

static void *cases_take(void *state) {
    Team *t = state;
    for (int i = atomic_fetch_add(&t->next, 1); i < t->n; i = atomic_fetch_add(&t->next, 1)) {
        CacheCase *c = &t->cases[i];
        Arena *arena = arena_new();
        if (!c->other) c->sim = cache_simulate(t->m, c->kernel, &c->machine, c->order, arena);
        arena_free(arena);
    }
    return NULL;
}

static void cases_run(const Module *m, CacheCase *cases, int n) {
    Team t = {.m = m, .cases = cases, .n = n};
    pthread_t thread[MOST_THREADS];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int begun = 0;
    while (begun + 1 < n && begun + 1 < processors && begun < MOST_THREADS)
        if (pthread_create(&thread[begun], NULL, cases_take, &t)) break;
        else begun++;
    cases_take(&t);
    for (int i = 0; i < begun; i++) pthread_join(thread[i], NULL);
}

static void case_print(const CacheCase *c) {
    const double seconds = c->sim.fetched / c->machine.last_rate + c->sim.memory / c->machine.rate;
    Text order = {0};
    if (c->order) order_text(&order, c->order, name_add, c->kernel);
    printf("cache-sim: '%s', %s%s: L2 hits %.1f %%, last level %.1f %%; %.3g bytes to the L2, %.3g of memory, %.3g us to move"
           "; %.0f of %.0f tasks%s\n",
           c->kernel->name, c->order ? "order " : "row-major", text_str(&order), percent(c->sim.hits, c->sim.requests),
           percent(c->sim.last_hits, c->sim.fetched), c->sim.fetched, c->sim.memory, seconds * 1e6, c->sim.tasks, c->sim.all,
           c->sim.unknown ? "; without what data decide" : "");
    text_free(&order);
}

void explain_cases(const Module *m, CacheCase *cases, int n) {
    cases_run(m, cases, n);
    for (int i = 0; i < n; i++)
        if (cases[i].other) printf("cache-sim: '%s': the caches of '%s' are not modelled\n", cases[i].kernel->name, cases[i].other);
        else case_print(&cases[i]);
}

void explain_caches(const Session *s) {
    VEC(CacheCase) cases = {0};
    for (int i = 0; i < s->m->kernel.n; i++) {
        CacheCase c = {.kernel = s->m->kernel.p[i]};
        if (!remap_machine(s->target.machine, c.kernel, &c.machine)) c.other = s->target.machine;
        vec_push(s->arena, &cases, c);
        c.order = c.kernel->plan.order;
        if (c.order && !c.other) vec_push(s->arena, &cases, c);
    }
    explain_cases(s->m, cases.p, cases.n);
}
