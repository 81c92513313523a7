/* schedule.c: whose turn it is, drawn from a seed.
   Mostly the worker of highest priority runs, so that some get far ahead of others; priorities change now and then. */
#include "ir/interp/agent.h"

uint64_t schedule_draw(Schedule *s) {
    uint64_t z = s->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void schedule_start(Schedule *s, uint64_t seed) {
    s->random = seed;
    s->patience = (uint64_t)1 << (1 + schedule_draw(s) % 12);
}

void schedule_add(World *w, Schedule *s, Worker *x) {
    x->priority = schedule_draw(s);
    vec_push(w->arena, &s->worker, x);
}

static bool blocked_passes(const Blocked *b) {
    return b->equal ? *b->seen == b->want : (int64_t)(*b->seen - b->want) >= 0;
}

bool worker_is_blocked(const Worker *x) { return x->blocked && !blocked_passes(&x->on); }

Worker *schedule_pick(Schedule *s, bool (*can_run)(const void *, const Worker *), const void *of) {
    Worker *best = NULL;
    uint64_t draw = schedule_draw(s), number = 0;
    bool any = (draw & (s->patience - 1) & 63) == 0;
    if ((draw >> 8 & (s->patience - 1)) == 0)
        s->worker.p[(draw >> 20) % (uint64_t)s->worker.n]->priority = schedule_draw(s);
    for (int i = 0; i < s->worker.n; i++) {
        Worker *x = s->worker.p[i];
        if (!can_run(of, x)) continue;
        number++;
        if (!best || (any ? (draw >> 32) % number == 0 : x->priority > best->priority)) best = x;
    }
    return best;
}

InterpFault blocked_fault(const Worker *x) {
    return (InterpFault){.kind = FAULT_DEADLOCK,
                         .at = task_id(x->task),
                         .other.rank = -1,
                         .tensor = x->on.tensor,
                         .home = x->on.home,
                         .element = x->on.element,
                         .flag = x->on.flag,
                         .from = x->on.from,
                         .word = x->on.word,
                         .want = (int64_t)x->on.want,
                         .seen = (int64_t)*x->on.seen};
}
