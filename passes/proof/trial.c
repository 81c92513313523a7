/* trial.c: is a program still proved without one of its waits?
   Takes: a program with flags. What its tasks do is looked at once; a wait outside of loops leaves nothing else changed. */
#include "passes/proof/run.h"
#include "passes/proof/trial.h"

struct Trial {
    Run run;
    Proof proof;
};

Trial *trial_new(const Module *m, const Program *p, Arena *arena) {
    Trial *t = arena_alloc(arena, sizeof *t);
    t->run = run_begin(m, p, NULL, arena, &t->proof);
    return run_trace(&t->run) ? t : NULL;
}

bool trial_takes(const Op *wait) {
    for (const Op *up = wait->in->parent; up; up = up->in->parent)
        if (up->kind == OP_FOR) return false;
    return true;
}

static void events_mark(Run *r, const Op *op, EventKind kind) {
    for (int i = 0; i < r->event.n; i++)
        if (r->event.p[i].op == op) r->event.p[i].kind = (uint8_t)kind;
}

bool trial_without(Trial *t, const Op *wait) {
    Arena *own = t->run.arena, *scratch = arena_new();
    events_mark(&t->run, wait, EVENT_NONE);
    t->proof = (Proof){.flag = -1};
    run_renew(&t->run, scratch);
    bool proved = run_orders(&t->run);
    if (!proved) events_mark(&t->run, wait, EVENT_WAIT);
    t->run.arena = own;
    arena_free(scratch);
    return proved;
}
