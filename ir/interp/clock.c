/* clock.c: vector clocks over tasks.
   Takes and gives clocks of one run, which all have the same length; dropped ones are used again. */
#include "ir/interp/agent.h"

#include <string.h>

static Clock *clock_take(Agents *a) {
    Clock *c = a->free_clock;
    if (c) {
        a->free_clock = c->next;
    } else {
        c = ARENA_NEW(a->w->arena, Clock);
        c->at = ARENA_ARRAY(a->w->arena, Stamp, a->entries);
        c->weak = a->packets ? ARENA_ARRAY(a->w->arena, Stamp, a->entries) : c->at;
    }
    c->refs = 1;
    return c;
}

Clock *clock_new(Agents *a) {
    Clock *c = clock_take(a);
    memset(c->at, 0, (size_t)a->entries * sizeof(Stamp));
    if (a->packets) memset(c->weak, 0, (size_t)a->entries * sizeof(Stamp));
    return c;
}

Clock *clock_copy(Agents *a, const Clock *from) {
    Clock *c = clock_take(a);
    memcpy(c->at, from->at, (size_t)a->entries * sizeof(Stamp));
    if (a->packets) memcpy(c->weak, from->weak, (size_t)a->entries * sizeof(Stamp));
    return c;
}

void clock_drop(Agents *a, Clock *c) {
    if (!c || --c->refs) return;
    c->next = a->free_clock;
    a->free_clock = c;
}

static void stamps_join(int64_t n, Stamp *restrict to, const Stamp *restrict from) {
    for (int64_t i = 0; i < n; i++) to[i] = to[i] > from[i] ? to[i] : from[i];
}

void clock_join(const Agents *a, Clock *to, const Clock *from) {
    if (to == from) return;
    stamps_join(a->entries, to->at, from->at);
    if (a->packets) stamps_join(a->entries, to->weak, from->weak);
}

void clock_join_weak(const Agents *a, Clock *to, const Clock *from) {
    if (to != from) stamps_join(a->entries, to->weak, from->weak);
}

Clock *clock_release(Agents *a, Worker *worker) {
    Clock *c = clock_copy(a, worker->clock);
    Stamp now = worker->clock->at[worker->entry] + 1;
    if ((now & STAMP_LAST) == STAMP_LAST) now--; /* the last stamp is that of a finished task */
    worker->clock->at[worker->entry] = worker->clock->weak[worker->entry] = now;
    return c;
}
