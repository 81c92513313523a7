/* sketch.c: facts at given sizes that the proof for all ranks takes: tasks of one node that touch one place, and
   which ranks every rank hears.
   Takes: a program with flags. Looks at the tasks of the first rank alone, node by node: other ranks differ only
   where a subscript names the rank. */
#include "passes/proof/sketch.h"

#include "passes/proof/run.h"

#include <string.h>

/* Operations of one value: time of the proof; chosen: no measurement is recorded. */
enum { VALUE_BUDGET = 64 };

/* ---- waits that are the same on every rank ---- */

static bool value_is_alike(const Kernel *k, const Value *v, int *budget) {
    const Op *op = v->def;
    if (!op || (*budget)-- <= 0) return false;
    switch (op->kind) {
    case OP_CONST: return true;
    case OP_SIZE: return op->size.axis < 0;
    case OP_POS:
    case OP_BEGIN:
    case OP_END: return k->range.p[op->range].of.axis < 0;
    default: break;
    }
    OpClass class = op_info[op->kind].class;
    if (class != CLASS_BINARY && class != CLASS_COMPARE && class != CLASS_SELECT && class != CLASS_CAST) return false;
    for (int i = 0; i < op->arg.n; i++)
        if (!value_is_alike(k, op->arg.p[i], budget)) return false;
    return true;
}

static bool affine_is_alike(const Kernel *k, const Affine *a, bool ranks) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        int budget = VALUE_BUDGET;
        if (ranks && t->kind == TERM_RANK) continue;
        bool number = t->kind == TERM_INDEX || (t->kind == TERM_POS && k->range.p[t->id].of.axis < 0);
        bool size = t->kind == TERM_SIZE && t->size.axis < 0;
        if (!number && !size && !(t->kind == TERM_VALUE && value_is_alike(k, t->value, &budget))) return false;
    }
    return true;
}

static bool loops_are_alike(const Kernel *k, const Op *op) {
    for (const Op *up = op->in->parent; up; up = up->in->parent) {
        int budget = VALUE_BUDGET;
        if (up->kind != OP_FOR || !value_is_alike(k, up->arg.p[0], &budget) || !value_is_alike(k, up->arg.p[1], &budget)) return false;
    }
    return true;
}

static bool wait_is_alike(const Run *r, const Kernel *k, const Op *w) {
    const Flag *f = &r->p->flag.p[w->flag];
    if (f->axis < 0 || w->order != ORDER_ACQ_REL || w->scope != SCOPE_SYSTEM || f->scope != SCOPE_SYSTEM) return false;
    for (int d = 0; d < f->dim.n; d++) {
        const Span *s = &w->sub.p[d];
        bool one = affine_equal(&s->lo, &s->hi);
        if (!affine_is_alike(k, &s->lo, one) || !affine_is_alike(k, &s->hi, one)) return false;
    }
    return affine_is_alike(k, &w->dest.lo, false) && affine_is_alike(k, &w->dest.hi, false) && loops_are_alike(k, w);
}

/* How much less, and more, than on the first rank the sum is on another. */
static Bounds rank_terms(const Module *m, const Affine *a) {
    Bounds b = {0, 0};
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind != TERM_RANK) continue;
        int64_t most = t->mul * ((m->axis.p[t->id].ranks - 1) / t->div);
        if (most < 0) b.lo += (int32_t)most;
        else b.hi += (int32_t)most;
    }
    return b;
}

/* On every rank, some word that the wait names is really signalled. */
static bool wait_has_word(const Run *r, const Event *e) {
    const Flag *f = &r->p->flag.p[e->ref];
    int64_t word[MAX_RANGES];
    for (int d = 0; d < f->dim.n; d++) {
        Bounds a = r->box.p[e->box + d], more = rank_terms(r->m, &e->op->sub.p[d].lo);
        word[d] = a.lo < 0 ? 0 : a.lo;
        if (word[d] > a.hi || a.hi + more.lo < 0 || word[d] + more.hi >= flag_words(r->m, &f->dim.p[d], r->sym)) return false;
    }
    return flag_arrivals(r->m, f, word, r->sym) > 0;
}

static void hear_waits(const Run *r, const Kernel *k, Lags *heard) {
    const Op *asked = NULL;
    bool alike = false;
    for (int i = 0; i < r->event.n; i++) {
        const Event *e = &r->event.p[i];
        if (e->kind != EVENT_WAIT || !e->sync || e->until != ALWAYS) continue;
        if (e->op != asked) asked = e->op, alike = wait_is_alike(r, k, e->op);
        if (alike && wait_has_word(r, e)) lags_hear(heard, r->p->flag.p[e->ref].axis, e->op->lag, e->rank_lo, e->rank_hi);
    }
}

/* ---- node by node ---- */

static bool node_look(Run *r, int node, Lags *heard) {
    const Node *n = r->p->node.p[node];
    if (!trace_node(r, node, 1)) return r->proof->too_large;
    if (heard) hear_waits(r, n->kernel, heard);
    if (r->own_order[node]) return true;
    run_list(r);
    for (int a = 0; a < n->arg.n; a++)
        if (r->written[n->arg.p[a].tensor] && !cells_siblings(r, n->arg.p[a].tensor)) return false;
    return true;
}

static void run_forget(Run *r) {
    for (int i = 0; i < r->event.n; i++)
        if (r->event.p[i].kind == EVENT_READ || r->event.p[i].kind == EVENT_WRITE) r->access[r->event.p[i].ref] = (Accesses){0};
}

bool proof_sketch(const Module *m, const Program *p, const int64_t *sym, Lags *heard, Proof *proof, Arena *out) {
    Arena *arena = arena_new();
    Proof found = {.loc = p->loc, .flag = -1};
    Run r = run_begin(m, p, sym, arena, &found);
    r.access = ARENA_ARRAY(arena, Accesses, p->tensor.n + 1);
    bool good = true;
    for (int i = 0; i < p->node.n && good; i++) {
        Run one = r;
        one.arena = arena_new();
        good = p->node.p[i]->kind != NODE_CALL || node_look(&one, i, heard);
        run_forget(&one);
        if (!good) *proof = found, proof_keep(proof, out);
        arena_free(one.arena);
        found = (Proof){.loc = p->loc, .flag = -1};
    }
    arena_free(arena);
    return good;
}
