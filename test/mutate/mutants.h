/* mutants.h: every way to change the synchronisation of a program by one step: kinds, how many places each has, and making
   one. Takes: a module with flags. Gives: the module changed; some changes leave what the verifier refuses. */
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
    M(DEST_SHIFT, "destinations shifted") M(SOURCE_FIRST, "sources from one later") M(DEST_FIRST, "destinations from one later") \
    M(SOURCE_MORE, "sources beyond the axis") M(DEST_MORE, "destinations beyond the axis") M(FLAG_AXIS, "flag over another axis") \
    M(FLAG_LOCAL, "flag inside a rank") M(FLAG_KEEP, "dropped words kept") M(FLAG_DROP, "kept words dropped")             \
    M(FLAG_DIVIDE, "words divided by two more") M(WAIT_DIVIDE, "index of a wait divided") M(WAIT_DOUBLE, "index of a wait doubled") \
    M(WAIT_RANK, "rank added to a wait's index") M(WAIT_ZERO, "index of a wait constant") M(SIGNAL_RANK, "rank added to a signal's index") \
    M(SIGNAL_DIVIDE, "index of a signal divided") M(SIGNAL_ZERO, "index of a signal constant") M(LAG_FAR, "wait six generations back") \
    M(RETARGET, "wait for the next flag") M(HOIST, "wait before its loop or condition") M(SINK, "wait inside the next loop or condition") \
    M(SIGNAL_TWICE, "signal twice") M(SIGNAL_INSIDE, "signal inside a loop or condition")

/* Of what is stored and read: the program changes with it, and the interpreter may differ. */
#define ACCESS_MUTATIONS(M)                                                                                              \
    M(SLOTS_LESS, "one slot fewer") M(SLOTS_MORE, "one slot more") M(STORE_SHIFT, "store one place on")                    \
    M(STORE_RANK, "store to the next rank") M(STORE_OWN, "store of every rank to one") M(LOAD_SHIFT, "load from one place on") \
    M(LOAD_RANK, "load from the next rank") M(STORE_SET, "sum in order becomes a store")

typedef enum {
#define M(name, text) MUTATE_##name,
    MUTATIONS(M)
    MUTATE_COUNT, /* the first of the others */
    MUTATE_BEFORE = MUTATE_COUNT - 1,
    ACCESS_MUTATIONS(M)
#undef M
    MUTATE_ALL
} Mutation;

static const char *const mutation_text[] = {
#define M(name, text) text,
    MUTATIONS(M)
    ACCESS_MUTATIONS(M)
#undef M
};

typedef VEC(Op *) Ops;
typedef struct {
    Module *m;
    Program *p;
    Ops wait, signal, store, load; /* accesses of temporaries */
} Sites;

static void sites_in(Sites *s, const Node *n, Region *r) {
    for (Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < 2; i++)
            if (op->region[i]) sites_in(s, n, op->region[i]);
        if (op->kind == OP_WAIT) vec_push(s->m->arena, &s->wait, op);
        if (op->kind == OP_SIGNAL) vec_push(s->m->arena, &s->signal, op);
        if (op->kind != OP_LOAD && op->kind != OP_STORE) continue;
        if (s->p->tensor.p[n->arg.p[op->param].tensor].role != ROLE_TEMP) continue;
        vec_push(s->m->arena, op->kind == OP_STORE ? &s->store : &s->load, op);
    }
}

static Sites sites_of(Module *m) {
    Sites s = {.m = m, .p = m->program.p[0]};
    for (int i = 0; i < s.p->node.n; i++) sites_in(&s, s.p->node.p[i], s.p->node.p[i]->kernel->body);
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
    case MUTATE_DEST_FIRST:
    case MUTATE_DEST_MORE:
    case MUTATE_FLAG_AXIS:
    case MUTATE_FLAG_LOCAL:
    case MUTATE_FLAG_KEEP:
    case MUTATE_FLAG_DROP:
    case MUTATE_FLAG_DIVIDE:
    case MUTATE_SIGNAL_RANK:
    case MUTATE_SIGNAL_DIVIDE:
    case MUTATE_SIGNAL_ZERO:
    case MUTATE_SIGNAL_TWICE:
    case MUTATE_SIGNAL_INSIDE:
    case MUTATE_ARRIVALS_LESS: return &s->signal;
    case MUTATE_SLOTS_LESS:
    case MUTATE_SLOTS_MORE:
    case MUTATE_STORE_SHIFT:
    case MUTATE_STORE_RANK:
    case MUTATE_STORE_OWN:
    case MUTATE_STORE_SET: return &s->store;
    case MUTATE_LOAD_SHIFT:
    case MUTATE_LOAD_RANK: return &s->load;
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

/* ---- flags and their words ---- */

static bool axis_edit(const Sites *s, const Op *op, bool local) {
    Flag *f = &s->p->flag.p[op->flag];
    if (f->axis < 0 || (!local && s->m->axis.n < 2)) return false;
    f->axis = (int16_t)(local ? -1 : (f->axis + 1) % s->m->axis.n);
    return true;
}

static bool group_edit(const Sites *s, const Op *op, bool kept, int64_t mul, int64_t add) {
    Flag *f = &s->p->flag.p[op->flag];
    for (int d = 0; d < f->dim.n; d++)
        if (kept ? f->dim.p[d].group > 0 : f->dim.p[d].group == GROUP_DROP) {
            f->dim.p[d].group = f->dim.p[d].group * mul + add;
            return true;
        }
    return false;
}

static bool index_scale(const Sites *s, Op *op, int64_t mul, int64_t div) {
    int d = word_dim(s, op);
    bool some = false;
    Affine *side[2] = {d < 0 ? NULL : &op->sub.p[d].lo, d < 0 ? NULL : &op->sub.p[d].hi};
    for (int k = 0; k < 2 && d >= 0; k++)
        for (int i = 0; i < side[k]->nterm; i++) {
            if (side[k]->term[i].kind != TERM_INDEX) continue;
            side[k]->term[i].mul *= mul, side[k]->term[i].div *= div;
            some = true;
        }
    return some;
}

static bool index_add_rank(const Sites *s, Op *op) {
    int d = word_dim(s, op);
    Affine rank = affine_term(TERM_RANK, 0, 1, 1);
    return d >= 0 && s->m->axis.n && affine_add(&op->sub.p[d].lo, &rank, 1) && affine_add(&op->sub.p[d].hi, &rank, 1);
}

static bool index_zero(const Sites *s, Op *op) {
    int d = word_dim(s, op);
    if (d < 0 || affine_is_const(&op->sub.p[d].lo)) return false;
    op->sub.p[d] = span_of(affine_const(0));
    return true;
}

static bool retarget(const Sites *s, Op *op) {
    int other = (op->flag + 1) % s->p->flag.n;
    if (other == op->flag || s->p->flag.p[other].dim.n != op->sub.n) return false;
    op->flag = other;
    return true;
}

/* ---- where a wait or signal stands ---- */

static bool hoist(Op *op) {
    Op *out = op->in->parent;
    if (!out) return false;
    op_remove(op);
    op_insert_before(out, op);
    return true;
}

/* To the beginning of the next region behind or around the operation. */
static bool sink(Op *op, bool back) {
    Op *at = op;
    while (at && !at->region[0]) at = back ? at->prev : at->next;
    if (!at || !at->region[0]->first) return false;
    op_remove(op);
    op_insert_before(at->region[0]->first, op);
    return true;
}

static bool signal_again(Sites *s, Op *op) {
    Op *copy = op_new(s->m, OP_SIGNAL, op->loc);
    Op linked = *copy;
    *copy = *op;
    copy->prev = linked.prev, copy->next = linked.next, copy->in = linked.in;
    op_insert_before(op, copy);
    return true;
}

/* ---- accesses ---- */

static Tensor *stored_tensor(const Sites *s, const Op *op) {
    for (int i = 0; i < s->p->node.n; i++) {
        const Node *n = s->p->node.p[i];
        const Region *r = op->in;
        while (r->parent) r = r->parent->in;
        if (n->kernel->body == r) return &s->p->tensor.p[n->arg.p[op->param].tensor];
    }
    return NULL;
}

static bool slots_edit(const Sites *s, const Op *op, int by) {
    Tensor *t = stored_tensor(s, op);
    if (!t || t->symmetric < 0 || t->slots + by < 1) return false;
    t->slots += by;
    return true;
}

static bool place_shift(const Sites *s, Op *op) {
    const Tensor *t = stored_tensor(s, op);
    int first = t && t->symmetric >= 0;
    if (op->sub.n <= first) return false;
    op->sub.p[first].lo.c++, op->sub.p[first].hi.c++;
    return true;
}

static bool memory_edit(const Sites *s, Op *op, bool one) {
    const Tensor *t = stored_tensor(s, op);
    if (!t || t->symmetric < 0 || (one && affine_is_const(&op->sub.p[0].lo))) return false;
    if (one) op->sub.p[0] = span_of(affine_const(0));
    else op->sub.p[0].lo.c++, op->sub.p[0].hi.c++;
    return true;
}

static bool set_instead(Op *op) {
    bool sums = op->mode == STORE_SUM;
    op->mode = STORE_SET;
    return sums;
}

static bool mutate_access(Sites *s, Mutation kind, Op *op) {
    switch (kind) {
    case MUTATE_SLOTS_LESS: return slots_edit(s, op, -1);
    case MUTATE_SLOTS_MORE: return slots_edit(s, op, 1);
    case MUTATE_STORE_SHIFT:
    case MUTATE_LOAD_SHIFT: return place_shift(s, op);
    case MUTATE_STORE_RANK:
    case MUTATE_LOAD_RANK: return memory_edit(s, op, false);
    case MUTATE_STORE_OWN: return memory_edit(s, op, true);
    case MUTATE_STORE_SET: return set_instead(op);
    default: return false;
    }
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
    case MUTATE_SOURCE_FIRST:
    case MUTATE_DEST_FIRST: return rank_edit(s, op, 1, 0);
    case MUTATE_SOURCE_MORE:
    case MUTATE_DEST_MORE: return rank_edit(s, op, 0, 2);
    case MUTATE_FLAG_AXIS: return axis_edit(s, op, false);
    case MUTATE_FLAG_LOCAL: return axis_edit(s, op, true);
    case MUTATE_FLAG_KEEP: return group_edit(s, op, false, 1, 1);
    case MUTATE_FLAG_DROP: return group_edit(s, op, true, 0, 0);
    case MUTATE_FLAG_DIVIDE: return group_edit(s, op, true, 2, 0);
    case MUTATE_WAIT_DIVIDE:
    case MUTATE_SIGNAL_DIVIDE: return index_scale(s, op, 1, 2);
    case MUTATE_WAIT_DOUBLE: return index_scale(s, op, 2, 1);
    case MUTATE_WAIT_RANK:
    case MUTATE_SIGNAL_RANK: return index_add_rank(s, op);
    case MUTATE_WAIT_ZERO:
    case MUTATE_SIGNAL_ZERO: return index_zero(s, op);
    case MUTATE_LAG_FAR: op->lag = 6; return true;
    case MUTATE_RETARGET: return retarget(s, op);
    case MUTATE_HOIST: return hoist(op);
    case MUTATE_SINK: return sink(op, false);
    case MUTATE_SIGNAL_TWICE: return signal_again(s, op);
    case MUTATE_SIGNAL_INSIDE: return sink(op, true);
    default: return mutate_access(s, kind, op);
    }
}

#endif
