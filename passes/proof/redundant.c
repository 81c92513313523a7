/* redundant.c: is a program still proved without one of its waits?
   Takes: a program with flags. The tasks' accesses are listed once: leaving out a wait outside of loops changes
   nothing else. */
#include "passes/proof/run.h"
#include "passes/proof/redundant.h"

struct Redundant {
    Run run;
    Proof proof;
};

Redundant *redundant_new(const Module *m, const Program *p, Arena *arena) {
    Redundant *r = arena_alloc(arena, sizeof *r);
    r->run = run_begin(m, p, NULL, arena, &r->proof);
    return run_trace(&r->run) ? r : NULL;
}

bool redundant_knows(const Op *wait) {
    for (const Op *up = wait->in->parent; up; up = up->in->parent)
        if (up->kind == OP_FOR) return false;
    return true;
}

static void events_mark(Run *r, const Op *op, EventKind kind) {
    for (int i = 0; i < r->event.n; i++)
        if (r->event.p[i].op == op) r->event.p[i].kind = (uint8_t)kind;
}

bool redundant_wait(Redundant *r, const Op *wait) {
    Arena *own = r->run.arena, *scratch = arena_new();
    events_mark(&r->run, wait, EVENT_NONE);
    r->proof = (Proof){.flag = -1};
    run_renew(&r->run, scratch);
    bool proved = run_orders(&r->run);
    if (!proved) events_mark(&r->run, wait, EVENT_WAIT);
    r->run.arena = own;
    arena_free(scratch);
    return proved;
}
