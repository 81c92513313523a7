/* run.c: a run of the checker: its tables, and the words of flags in them. */
#include "passes/proof/run.h"

static void find_own_order(Run *r) {
    r->own_order = ARENA_ARRAY(r->arena, bool, r->p->node.n + 1);
    for (int i = 0; i < r->p->flag.n; i++)
        if (r->p->flag.p[i].producer == r->p->flag.p[i].consumer) r->own_order[r->p->flag.p[i].producer] = true;
}

void run_list(Run *r) {
    for (int i = 0; i < r->event.n; i++) {
        const Event *e = &r->event.p[i];
        switch (e->kind) {
        case EVENT_WAIT: r->proof->waits++; break;
        case EVENT_SIGNAL: r->proof->signals++; break;
        case EVENT_READ:
        case EVENT_WRITE: vec_push(r->arena, &r->access[e->ref], i); break;
        case EVENT_NONE: break;
        }
    }
}

void run_renew(Run *r, Arena *arena) {
    r->arena = arena;
    r->reach = reach_new(arena, r->p, r->ranks);
    if (r->launches) r->heard = ARENA_ARRAY(arena, int32_t, (r->p->node.n + 1) * r->ranks * r->ranks);
}

Run run_begin(const Module *m, const Program *p, const int64_t *sym, Arena *arena, Proof *proof) {
    Run r = {.m = m, .p = p, .sym = sym, .arena = arena, .ranks = (int)mesh_ranks(m), .most_events = MAX_EVENTS, .proof = proof};
    r.launches = m->form & FORM_LAUNCHES;
    r.coord = arena_alloc(arena, sizeof *r.coord * (size_t)r.ranks);
    for (int i = 0; i < r.ranks; i++) mesh_coord(m, i, r.coord[i]);
    r.written = program_written(p, arena);
    find_own_order(&r);
    return r;
}

size_t word_slot(const Run *r, int flag, int home, int source, int64_t word) {
    return (((size_t)home * (size_t)r->ranks) + (size_t)source) * (size_t)r->words[flag].words + (size_t)word;
}

int64_t word_linear(const Run *r, int flag, int source, const Bounds *box) {
    const Flag *f = &r->p->flag.p[flag];
    const int64_t *extent = r->words[flag].extent + source * f->dim.n;
    int64_t at = 0;
    for (int d = 0; d < f->dim.n; d++) {
        if (box[d].lo < 0 || box[d].lo >= extent[d]) return -1;
        at = at * extent[d] + box[d].lo;
    }
    return at;
}

bool wait_has_source(const Run *r, const Event *wait, int source) {
    int rank = r->task.p[wait->task].rank, axis = r->p->flag.p[wait->ref].axis;
    if (axis < 0) return source == rank;
    int coord = r->coord[source][axis];
    return coord >= wait->rank_lo && coord <= wait->rank_hi && mesh_rank_along(r->m, rank, axis, coord) == source;
}

int32_t *run_heard(const Run *r, int node, int source, int rank) {
    return &r->heard[((int64_t)node * r->ranks + source) * r->ranks + rank];
}
