/* proof_symbolic.c: the proof where sizes are known at run time only: for all of them at once, over isl.
   Takes: a program with flags. Narrower than the proof of given sizes: every pair of accesses must be covered directly by a
   wait that dominates the later one, flags must have the plain form that the compiler gives them, and reuse of slots must
   be covered by a wait for tasks of all sizes. Ranks are numbers, so that blocks are affine. */
#include "passes/proof_symbolic.h"

#include "ir/isl_context.h"
#include "passes/proof_meeting.h"

#include <stdarg.h>
#include <string.h>

enum { MAX_OPERATIONS = 2000000 };

static bool fail(Symbolic *y, Loc loc, const char *format, ...) {
    va_list list;
    va_start(list, format);
    proof_fail(y->proof, y->out, loc, format, list);
    va_end(list);
    return false;
}

bool symbolic_fail_pair(Symbolic *y, const Access *a, const Access *b, int64_t later) {
    Proof *p = y->proof;
    if (p->why) return false;
    p->from = a->op, p->to = b->op, p->from_node = a->node, p->to_node = b->node, p->later = later;
    return fail(y, b->op->loc, "nothing orders %s of '%s' before %s of '%s' on '%s' for all sizes%s", a->write ? "a write" : "a read",
                y->p->node.p[a->node]->kernel->name, b->write ? "a write" : "a read", y->p->node.p[b->node]->kernel->name,
                y->p->tensor.p[a->tensor].name, later ? ", generations later" : "");
}

/* ---- flags in plain form ---- */

static const Op *signal_of(const Kernel *k, int flag) {
    for (const Op *op = k->body->last; op && op->kind == OP_SIGNAL; op = op->prev)
        if (op->flag == flag) return op;
    return NULL;
}

static int count_signals(const Region *r, int flag) {
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) {
        n += op->kind == OP_SIGNAL && op->flag == flag;
        for (int i = 0; i < 2; i++)
            if (op->region[i]) n += count_signals(op->region[i], flag);
    }
    return n;
}

static bool names_all(const Module *m, int axis, const Span *s) {
    if (axis < 0) return true;
    return affine_is_const(&s->lo) && affine_is_const(&s->hi) && s->lo.c <= 0 && s->hi.c >= m->axis.p[axis].ranks - 1;
}

static bool is_index(const Affine *a, int range, int64_t div) {
    Affine plain = affine_term(TERM_INDEX, range, 1, div);
    return affine_equal(a, &plain);
}

/* One signal, last in every task, of the task's own word, to all ranks or to each rank by one task. */
static bool flag_is_plain(const Symbolic *y, const Flag *f) {
    const Kernel *k = y->p->node.p[f->producer]->kernel;
    const Op *s = signal_of(k, f->id);
    if (!s || count_signals(k->body, f->id) != 1 || f->arrivals || s->order != ORDER_ACQ_REL) return false;
    if (f->axis >= 0 && (s->scope != SCOPE_SYSTEM || f->scope != SCOPE_SYSTEM)) return false;
    int dest = -1;
    for (int d = 0; d < f->dim.n; d++) {
        if (f->dim.p[d].group == GROUP_DEST) dest = d;
        if (f->dim.p[d].group > 0 && !is_index(&s->sub.p[d].lo, d, f->dim.p[d].group)) return false;
    }
    if (dest < 0) return names_all(y->m, f->axis, &s->dest);
    const Range *r = &k->range.p[dest];
    bool every = r->kind == RANGE_POSITION && size_is_number(r->of) && f->axis >= 0 && r->of.c == y->m->axis.p[f->axis].ranks;
    return every && is_index(&s->dest.lo, dest, 1) && is_index(&s->dest.hi, dest, 1);
}

static bool check_wait(Symbolic *y, int node, const Op *w) {
    const Flag *f = &y->p->flag.p[w->flag];
    bool earlier = w->lag > 0 || f->producer < node || (f->producer == node && symbolic_names_earlier(y, node, w));
    bool good = !w->equal && w->lag >= 0 && earlier && flag_is_plain(y, f);
    if (good) return true;
    y->proof->flag = w->flag;
    return fail(y, w->loc, "flag '%s': a wait is not for earlier tasks that signal for all sizes", f->name);
}

static bool check_waits(Symbolic *y, int node, const Region *r) {
    for (const Op *op = r->first; op; op = op->next) {
        if (op->kind == OP_WAIT && !check_wait(y, node, op)) return false;
        y->proof->waits += op->kind == OP_WAIT;
        y->proof->signals += op->kind == OP_SIGNAL;
        for (int i = 0; i < 2; i++)
            if (op->region[i] && !check_waits(y, node, op->region[i])) return false;
    }
    return true;
}

/* ---- cover ---- */

static bool rank_within(const Symbolic *y, Meeting *m, int rank, RelationText *w, const Span *s) {
    if (affine_is_const(&s->lo) && affine_is_const(&s->hi)) return rank >= s->lo.c && rank <= s->hi.c;
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    return meeting_within(y, m, text, w, &s->lo, &s->hi);
}

static bool words_cover(const Symbolic *y, Meeting *m, const Flag *f, const Op *w) {
    for (int d = 0; d < f->dim.n; d++) {
        char word[64];
        if (f->dim.p[d].group <= 0) continue;
        snprintf(word, sizeof word, "floor((p%d)/%lld)", d, (long long)f->dim.p[d].group);
        if (!meeting_within(y, m, word, &m->to, &w->sub.p[d].lo, &w->sub.p[d].hi)) return false;
    }
    if (f->axis < 0) return true;
    const Op *s = signal_of(m->from.k, f->id);
    return rank_within(y, m, y->coord[m->source][f->axis], &m->to, &w->dest) &&
           rank_within(y, m, y->coord[m->rank][f->axis], &m->from, &s->dest);
}

static bool wait_acquires(const Flag *f, const Op *w) {
    return w->order == ORDER_ACQ_REL && (f->axis < 0 || w->scope == SCOPE_SYSTEM);
}

static bool wait_is_whole(const Symbolic *y, const Flag *f, const Op *w) {
    for (int d = 0; d < f->dim.n; d++)
        if (f->dim.p[d].group != GROUP_DROP) return false;
    return names_all(y->m, f->axis, &w->dest);
}

bool symbolic_wait_covers(const Symbolic *y, Meeting *m, const Access *a, const Access *b, bool same_rank) {
    for (const Op *at = b->op; at; at = at->in->parent)
        for (const Op *w = at->prev; w; w = w->prev) {
            if (w->kind != OP_WAIT || w->lag || y->p->flag.p[w->flag].producer != a->node) continue;
            const Flag *f = &y->p->flag.p[w->flag];
            if (!wait_acquires(f, w) || (f->axis < 0 && !same_rank)) continue;
            if (m ? words_cover(y, m, f, w) : wait_is_whole(y, f, w)) return true;
        }
    return false;
}

static bool pair_covered(const Symbolic *y, const Access *a, const Access *b, int source, int rank) {
    if (y->m->form & FORM_LAUNCHES && source == rank) return true;
    if (symbolic_wait_covers(y, NULL, a, b, source == rank)) return true;
    Meeting *m = meeting_of(y, a, b, source, rank);
    bool covered = meeting_empty(y, m, "") || symbolic_wait_covers(y, m, a, b, source == rank);
    text_free(&m->text);
    return covered;
}

static bool same_group(const Symbolic *y, int axis, int q, int r) {
    for (int i = 0; i < y->m->axis.n; i++)
        if (i != axis && y->coord[q][i] != y->coord[r][i]) return false;
    return true;
}

static bool box_names_rank(const Box *b) {
    for (int i = 0; b->known && i < b->start.nterm; i++)
        if (b->start.term[i].kind == TERM_RANK) return true;
    return false;
}

/* Private memory at places that do not depend on the rank: one rank stands for all. */
bool symbolic_ranks_alike(const Access *a, const Access *b) {
    for (int d = 0; d < a->ndim; d++)
        if (box_names_rank(&a->dim[d]) || box_names_rank(&b->dim[d])) return false;
    return !a->remote;
}

static bool pair_check(Symbolic *y, const Access *a, const Access *b) {
    const Tensor *t = &y->p->tensor.p[a->tensor];
    if (a->tensor != b->tensor || (!a->write && !b->write) || (t->packet && a->write && !b->write)) return true;
    if (accesses_apart(a, b)) return true;
    int ranks = symbolic_ranks_alike(a, b) ? 1 : y->ranks;
    for (int q = 0; q < ranks; q++)
        for (int r = 0; r < ranks; r++) {
            if (t->symmetric < 0 ? q != r : !same_group(y, t->symmetric, q, r)) continue;
            y->proof->pairs++;
            if (!pair_covered(y, a, b, q, r)) return symbolic_fail_pair(y, a, b, 0);
        }
    return true;
}

static bool nodes_check(Symbolic *y, int from, int to) {
    for (int i = 0; i < y->access[to].n; i++)
        for (int j = 0; j < y->access[from].n; j++)
            if (!pair_check(y, &y->access[from].p[j], &y->access[to].p[i])) return false;
    return true;
}

/* ---- later generations ---- */

static void wait_reaches(Symbolic *y, const Kernel *k, const Op *w) {
    const Flag *f = &y->p->flag.p[w->flag];
    if (!wait_acquires(f, w) || w->lag >= y->reach.lags) return;
    for (int r = 0; f->axis >= 0 && r < y->ranks; r++) {
        bool *named = ARENA_ARRAY(y->arena, bool, y->ranks);
        wait_names_always(y->m, k, f, w, y->coord[r], named);
        for (int c = 0; c < y->m->axis.p[f->axis].ranks; c++)
            if (named[c]) reach_acquire(&y->reach, w->lag, mesh_rank_along(y->m, r, f->axis, c), r);
    }
}

static void waits_reach(Symbolic *y, const Kernel *k, const Region *body) {
    for (const Op *op = body->first; op; op = op->next) {
        if (op->kind == OP_WAIT) wait_reaches(y, k, op);
        for (int i = 0; i < 2; i++)
            if (op->region[i]) waits_reach(y, k, op->region[i]);
    }
}

/* A wait of b's task for all of a's node on every rank, no more than `slots` generations back. */
static bool turn_covered(const Symbolic *y, const Access *a, const Access *b, const Tensor *t) {
    for (const Op *at = b->op; at; at = at->in->parent)
        for (const Op *w = at->prev; w; w = w->prev) {
            if (w->kind != OP_WAIT || w->lag < 1 || w->lag > t->slots) continue;
            const Flag *f = &y->p->flag.p[w->flag];
            if (f->producer != a->node || f->axis != t->symmetric) continue;
            if (wait_acquires(f, w) && wait_is_whole(y, f, w)) return true;
        }
    return false;
}

/* Can instances of two ranks touch the memory of one, in no order? On one rank, generations follow each other. Sizes, and with them
   where an element lies, differ between generations: places are not compared. */
static bool ranks_meet(const Symbolic *y, const Access *a, const Access *b, int axis, int slots) {
    for (int q = 0; q < y->ranks; q++)
        for (int r = 0; r < y->ranks; r++) {
            if (q == r || !same_group(y, axis, q, r) || reach_after(&y->reach, slots, q, r)) continue;
            Meeting *m = meeting_of_ranks(y, a, b, q, r);
            bool empty = meeting_empty(y, m, "");
            text_free(&m->text);
            if (!empty) return true;
        }
    return false;
}

static bool turns_check(Symbolic *y, int from, int to) {
    for (int i = 0; i < y->access[to].n; i++)
        for (int j = 0; j < y->access[from].n; j++) {
            const Access *a = &y->access[from].p[j], *b = &y->access[to].p[i];
            const Tensor *t = &y->p->tensor.p[a->tensor];
            bool follows = b->write || (a->write && a->node >= b->node); /* other reads follow a write that does */
            if (a->tensor != b->tensor || t->symmetric < 0 || !follows || turn_covered(y, a, b, t)) continue;
            if (ranks_meet(y, a, b, t->symmetric, t->slots)) return symbolic_fail_pair(y, a, b, t->slots);
        }
    return true;
}

/* ---- a program ---- */

static bool kernels_are_own(Symbolic *y) {
    for (int i = 0; i < y->p->node.n; i++)
        for (int j = 0; j < i; j++)
            if (y->p->node.p[i]->kernel == y->p->node.p[j]->kernel && region_synchronises(y->p->node.p[i]->kernel->body))
                return fail(y, y->p->loc, "two nodes share kernel '%s'", y->p->node.p[i]->kernel->name);
    return true;
}

static bool program_check(Symbolic *y) {
    int n = y->p->node.n;
    if (!kernels_are_own(y)) return false;
    for (int i = 0; i < n; i++) {
        if (y->p->node.p[i]->kind != NODE_CALL) return fail(y, y->p->node.p[i]->loc, "a collective has no flags");
        y->access[i] = node_accesses(y->m, y->p, i, y->arena);
    }
    for (int i = 0; i < n; i++)
        if (!check_waits(y, i, y->p->node.p[i]->kernel->body)) return false;
    for (int to = 0; to < n; to++) {
        if (!symbolic_own_order(y, to)) return false;
        for (int from = 0; from < to; from++)
            if (!nodes_check(y, from, to)) return false;
    }
    for (int i = 0; i < n; i++) waits_reach(y, y->p->node.p[i]->kernel, y->p->node.p[i]->kernel->body);
    reach_close(&y->reach);
    for (int to = 0; to < n; to++)
        for (int from = 0; from < n; from++)
            if (!turns_check(y, from, to)) return false;
    return true;
}

bool program_has_symbols(const Program *p) {
    for (int i = 0; i < p->tensor.n; i++)
        for (int d = 0; d < p->tensor.p[i].ndim; d++)
            if (p->tensor.p[i].dim[d].sym >= 0) return true;
    for (int i = 0; i < p->node.n; i++)
        for (int d = 0; p->node.p[i]->kernel && d < p->node.p[i]->kernel->ngrid; d++)
            if (p->node.p[i]->kernel->range.p[d].of.sym >= 0) return true;
    return false;
}

Proof proof_symbolic(const Module *m, const Program *p, Arena *out) {
    Proof proof = {.loc = p->loc, .flag = -1, .symbolic = true};
    Symbolic y = {.m = m, .p = p, .arena = arena_new(), .out = out, .ranks = (int)mesh_ranks(m), .proof = &proof};
    y.access = ARENA_ARRAY(y.arena, AccessList, p->node.n + 1);
    y.coord = arena_alloc(y.arena, sizeof *y.coord * (size_t)y.ranks);
    for (int i = 0; i < y.ranks; i++) mesh_coord(m, i, y.coord[i]);
    y.asked = names_new(y.arena);
    y.answer = ARENA_NEW(y.arena, NameMap);
    y.answer->arena = y.arena;
    y.reach = reach_new(y.arena, p, y.ranks);
    y.isl = isl_context_open(MAX_OPERATIONS);
    proof.proved = program_check(&y);
    for (int i = 0; i < p->node.n; i++) proof.tasks += p->node.p[i]->kind == NODE_CALL;
    isl_context_close(y.isl);
    arena_free(y.arena);
    return proof;
}
