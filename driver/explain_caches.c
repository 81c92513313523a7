/* explain_caches.c: tilec explain --cache-sim: what the caches of chiplets do for each kernel, in its order and row-major. */
#include "driver/explain.h"
#include "passes/remap/simulate.h"

#include <stdio.h>

static void name_add(Text *to, const void *kernel, int range) { text_add(to, ((const Kernel *)kernel)->range.p[range].name); }

static double percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

void explain_cache(const Module *module, const Kernel *k, const RemapMachine *m, const Order *o) {
    Arena *arena = arena_new();
    const CacheSim c = cache_simulate(module, k, m, o, arena);
    const double seconds = c.fetched / m->last_rate + c.memory / m->rate;
    Text order = {0};
    if (o) order_text(&order, o, name_add, k);
    printf("cache-sim: '%s', %s%s: L2 hits %.1f %%, last level %.1f %%; %.3g bytes to the L2, %.3g of memory, %.3g us to move"
           "; %.0f of %.0f tasks%s\n",
           k->name, o ? "order " : "row-major", text_str(&order), percent(c.hits, c.requests), percent(c.last_hits, c.fetched),
           c.fetched, c.memory, seconds * 1e6, c.tasks, c.all, c.unknown ? "; without what data decide" : "");
    text_free(&order);
    arena_free(arena);
}

void explain_caches(const Session *s) {
    for (int i = 0; i < s->m->kernel.n; i++) {
        const Kernel *k = s->m->kernel.p[i];
        RemapMachine m;
        if (!remap_machine(s->target.machine, k, &m)) {
            printf("cache-sim: '%s': the caches of '%s' are not modelled\n", k->name, s->target.machine);
            continue;
        }
        explain_cache(s->m, k, &m, NULL);
        if (k->plan.tasks_in) explain_cache(s->m, k, &m, k->plan.tasks_in);
    }
}
