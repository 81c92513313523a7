/* mutants.h: every way to weaken a synchronised program by one step: kinds, how many places each has, and making one. */
#ifndef TILEC_TEST_MUTATE_MUTANTS_H
#define TILEC_TEST_MUTATE_MUTANTS_H

#include "ir/ir.h"

#include <string.h>

#define MUTATIONS(M)                                                                                                    \
    M(DELETE_WAIT, "wait deleted") M(DELETE_SIGNAL, "signal deleted") M(ORDER_WAIT, "wait relaxed")                       \
    M(ORDER_SIGNAL, "signal relaxed") M(SCOPE_WAIT, "wait at device scope") M(SCOPE_SIGNAL, "signal at device scope")     \
    M(SCOPE_FLAG, "flag at device scope") M(LAG_MORE, "wait one generation back") M(LAG_LESS, "wait one generation ahead") \
    M(EQUAL, "wait compares ==") M(ARRIVALS_MORE, "one more arrival") M(ARRIVALS_LESS, "one arrival fewer")               \
    M(SWAP_WAITS, "flags of two waits swapped") M(SWAP_SIGNALS, "flags of two signals swapped")                           \
    M(MOVE_WAIT, "wait after its use") M(MOVE_SIGNAL, "signal before the store") M(SHRINK_LO, "span from one later")      \
    M(SHRINK_HI, "span to one earlier") M(SHIFT_SPAN, "span shifted") M(SOURCE_LESS, "one source fewer")                  \
    M(SOURCE_SHIFT, "sources shifted") M(SIGNAL_SHIFT, "signal of the next word") M(DEST_LESS, "one destination fewer")   \
    M(DEST_SHIFT, "destinations shifted")

typedef enum {
#define M(name, text) MUTATE_##name,
    MUTATIONS(M)
#undef M
    MUTATE_COUNT
} Mutation;

static const char *const mutation_text[] = {
#define M(name, text) text,
    MUTATIONS(M)
#undef M
};

typedef VEC(Op *) Ops;
typedef struct {
    Module *m;
    Program *p;
    Ops wait, signal;
} Sites;

static void sites_in(Sites *s, Region *r) {
    for (Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < 2; i++)
            if (op->region[i]) sites_in(s, op->region[i]);
        if (op->kind == OP_WAIT) vec_push(s->m->arena, &s->wait, op);
        if (op->kind == OP_SIGNAL) vec_push(s->m->arena, &s->signal, op);
    }
}

static Sites sites_of(Module *m) {
    Sites s = {.m = m, .p = m->program.p[0]};
    for (int i = 0; i < s.p->node.n; i++) sites_in(&s, s.p->node.p[i]->kernel->body);
    return s;
}

static Ops *sites_for(Sites *s, Mutation k) {
    switch (k) {
    case MUTATE_DELETE_SIGNAL:
    case MUTATE_ORDER_SIGNAL:
    case MUTATE_SCOPE_SIGNAL:
    case MUTATE_SWAP_SIGNALS:
    case MUTATE_MOVE_SIGNAL:
    case MUTATE_SIGNAL_SHIFT:
    case MUTATE_DEST_LESS:
    case MUTATE_DEST_SHIFT:
    case MUTATE_SCOPE_FLAG:
    case MUTATE_ARRIVALS_MORE:
    case MUTATE_ARRIVALS_LESS: return &s->signal;
    default: return &s->wait;
    }
}

static bool is_access(const Op *op) { return op->kind == OP_LOAD || op->kind == OP_STORE; }

static bool has_access(const Op *op) {
    if (is_access(op)) return true;
    for (int k = 0; k < 2; k++)
        for (const Op *in = op->region[k] ? op->region[k]->first : NULL; in; in = in->next)
            if (has_access(in)) return true;
    return false;
}

/* Past the next access of its region, if there is one. */
static bool move_wait(Op *op) {
    Op *at = op->next;
    while (at && !has_access(at)) at = at->next;
    if (!at || !at->next) return false;
    Op *after = at->next;
    op_remove(op);
    op_insert_before(after, op);
    return true;
}

static bool move_signal(Op *op) {
    Op *at = op->prev;
    while (at && !has_access(at)) at = at->prev;
    if (!at) return false;
    op_remove(op);
    op_insert_before(at, op);
    return true;
}

static bool swap_flags(Ops *ops, int at) {
    Op *a = ops->p[at], *b = ops->p[(at + 1) % ops->n];
    if (a == b || a->flag == b->flag || a->in != b->in || a->sub.n != b->sub.n) return false;
    int flag = a->flag;
    a->flag = b->flag;
    b->flag = flag;
    return true;
}

/* The first dimension whose words count; -1: none. */
static int word_dim(const Sites *s, const Op *op) {
    const Flag *f = &s->p->flag.p[op->flag];
    for (int d = 0; d < f->dim.n; d++)
        if (f->dim.p[d].group > 0) return d;
    return -1;
}

static bool span_edit(const Sites *s, Op *op, int64_t lo, int64_t hi) {
    int d = word_dim(s, op);
    if (d < 0) return false;
    op->sub.p[d].lo.c += lo;
    op->sub.p[d].hi.c += hi;
    return true;
}

static bool rank_edit(const Sites *s, Op *op, int64_t lo, int64_t hi) {
    if (s->p->flag.p[op->flag].axis < 0) return false;
    op->dest.lo.c += lo;
    op->dest.hi.c += hi;
    return true;
}

static bool scope_edit(SyncScope *scope) {
    bool can = *scope == SCOPE_SYSTEM;
    *scope = SCOPE_DEVICE;
    return can;
}

static bool arrivals_edit(const Sites *s, const Op *op, int64_t by) {
    Flag *f = &s->p->flag.p[op->flag];
    int64_t word[MAX_RANGES] = {0}, size = 40, n = flag_arrivals(s->m, f, word, &size);
    if (n + by < 1) return false;
    f->arrivals = n + by;
    return true;
}

/* False where the kind does not apply. */
static bool mutate(Sites *s, Mutation kind, int at) {
    Ops *ops = sites_for(s, kind);
    Op *op = ops->p[at];
    switch (kind) {
    case MUTATE_DELETE_WAIT:
    case MUTATE_DELETE_SIGNAL: op_remove(op); return true;
    case MUTATE_ORDER_WAIT:
    case MUTATE_ORDER_SIGNAL: op->order = ORDER_RELAXED; return true;
    case MUTATE_SCOPE_WAIT:
    case MUTATE_SCOPE_SIGNAL: return scope_edit(&op->scope);
    case MUTATE_SCOPE_FLAG: return scope_edit(&s->p->flag.p[op->flag].scope);
    case MUTATE_LAG_MORE: op->lag++; return true;
    case MUTATE_LAG_LESS: op->lag--; return true;
    case MUTATE_EQUAL: op->equal = true; return true;
    case MUTATE_ARRIVALS_MORE: return arrivals_edit(s, op, 1);
    case MUTATE_ARRIVALS_LESS: return arrivals_edit(s, op, -1);
    case MUTATE_SWAP_WAITS:
    case MUTATE_SWAP_SIGNALS: return swap_flags(ops, at);
    case MUTATE_MOVE_WAIT: return move_wait(op);
    case MUTATE_MOVE_SIGNAL: return move_signal(op);
    case MUTATE_SHRINK_LO: return span_edit(s, op, 1, 0);
    case MUTATE_SHRINK_HI: return span_edit(s, op, 0, -1);
    case MUTATE_SHIFT_SPAN: return span_edit(s, op, 1, 1);
    case MUTATE_SOURCE_LESS: return rank_edit(s, op, 0, -1);
    case MUTATE_SOURCE_SHIFT: return rank_edit(s, op, 1, 1);
    case MUTATE_SIGNAL_SHIFT: return span_edit(s, op, 1, 1);
    case MUTATE_DEST_LESS: return rank_edit(s, op, 0, -1);
    case MUTATE_DEST_SHIFT: return rank_edit(s, op, 1, 1);
    case MUTATE_COUNT: break;
    }
    return false;
}

#endif
