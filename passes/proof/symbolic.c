/* symbolic.c: the proof where sizes are known at run time only: for all of them at once, over isl.
   Takes: a program with flags. This proof is narrower than that of given sizes. A wait that dominates the later
   access must cover every pair of accesses directly. Flags must have the plain form that the compiler gives them. A
   wait for tasks of all sizes must cover the reuse of slots. Ranks are variables: the cost does not depend on how
   many there are. */
#include "passes/proof/symbolic.h"

#include "ir/poly/isl_context.h"
#include "passes/proof/meeting.h"
#include "passes/proof/sketch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Operations of isl for a program: seconds; chosen: no measurement is recorded. */
enum { MAX_OPERATIONS = 2000000 };

static bool pair_covered(Symbolic *y, const Access *a, const Access *b, MeetRanks ranks) {
    y->proof->pairs++;
    if (y->m->form & FORM_LAUNCHES && ranks == MEET_SAME) return true;
    if (symbolic_wait_covers(y, NULL, a, b, ranks)) return true;
    Meeting *m = meeting_of(y, a, b, ranks);
    bool covered = meeting_empty(y, m, "") || symbolic_wait_covers(y, m, a, b, ranks);
    text_free(&m->text);
    return covered;
}

static bool pair_check(Symbolic *y, const Access *a, const Access *b) {
    const Tensor *t = &y->p->tensor.p[a->tensor];
    if (a->tensor != b->tensor || (!a->write && !b->write) || (t->packet && a->write && !b->write)) return true;
    if (accesses_apart(a, b) || a->node < y->covered[a->tensor]) return true;
    bool good = pair_covered(y, a, b, MEET_SAME) && (t->symmetric < 0 || pair_covered(y, a, b, MEET_OTHER));
    return good || symbolic_fail_pair(y, a, b, 0);
}

/* What came before a write of the whole tensor is ordered through it: each element is written by some task between. */
static void note_covered(Symbolic *y, int node) {
    for (int i = 0; i < y->access[node].n; i++)
        if (access_covers(y->p, &y->access[node].p[i])) y->covered[y->access[node].p[i].tensor] = node;
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
    if (wait_acquires(f, w)) lags_wait(&y->heard, k, f, w);
}

static void waits_reach(Symbolic *y, const Kernel *k, const Region *body) {
    for (const Op *op = walk(body); op; op = walk_next(op, body))
        if (op->kind == OP_WAIT) wait_reaches(y, k, op);
}

/* A wait of b's task for all of a's node on every rank, no more than `slots` generations back. */
static bool reuse_covered(const Symbolic *y, const Access *a, const Access *b, const Tensor *t) {
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
    Text unheard = {0};
    int n = y->m->axis.p[axis].ranks, many = 0;
    for (int c = 0, end; c < n; c = end + 1) {
        for (end = c; end < n && !lags_after(&y->heard, axis, slots, end);) end++;
        if (end > c) text_printf(&unheard, "%s %d <= pr%d < %d", many++ ? " or" : "", c, axis, end);
    }
    bool meet = false;
    if (many) {
        Meeting *m = meeting_of_ranks(y, a, b, MEET_OTHER);
        text_printf(&m->text, " and (%s)", unheard.p);
        meet = !meeting_empty(y, m, "");
        text_free(&m->text);
    }
    text_free(&unheard);
    return meet;
}

static bool slot_reuse_check(Symbolic *y, int from, int to) {
    for (int i = 0; i < y->access[to].n; i++)
        for (int j = 0; j < y->access[from].n; j++) {
            const Access *a = &y->access[from].p[j], *b = &y->access[to].p[i];
            const Tensor *t = &y->p->tensor.p[a->tensor];
            bool follows = b->write || (a->write && a->node >= b->node); /* other reads follow a write that does */
            if (a->tensor != b->tensor || t->symmetric < 0 || !follows || reuse_covered(y, a, b, t)) continue;
            if (ranks_meet(y, a, b, t->symmetric, t->slots)) return symbolic_fail_pair(y, a, b, t->slots);
        }
    return true;
}

/* ---- a program ---- */

static bool kernels_are_own(Symbolic *y) {
    bool *seen = ARENA_ARRAY(y->arena, bool, y->m->kernel.n + 1);
    for (int i = 0; i < y->p->node.n; i++) {
        const Kernel *k = y->p->node.p[i]->kernel;
        if (!k) continue;
        if (seen[k->id] && region_synchronises(k->body)) return symbolic_fail(y, y->p->loc, "two nodes share kernel '%s'", k->name);
        seen[k->id] = true;
    }
    return true;
}

/* ---- which nodes ---- */

static int compare_nodes(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Of each tensor, the nodes that access it; twice where they do so in turn. */
static void list_nodes(Symbolic *y) {
    y->nodes = ARENA_ARRAY(y->arena, NodeList, y->p->tensor.n + 1);
    y->seen = ARENA_ARRAY(y->arena, int, y->p->node.n + 1);
    for (int n = 0; n < y->p->node.n; n++)
        for (int i = 0; i < y->access[n].n; i++) {
            NodeList *list = &y->nodes[y->access[n].p[i].tensor];
            if (list->n == 0 || vec_last(list) != n) vec_push(y->arena, list, n);
        }
}

/* The first of the list that is `node` or behind it. */
static int first_at(const NodeList *list, int node) {
    int lo = 0, hi = list->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (list->p[mid] < node) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* The nodes before `end` that access a tensor of this node, in their order. */
static NodeList *nodes_beside(Symbolic *y, int to, int end) {
    NodeList *list = &y->beside;
    list->n = 0;
    y->turn++;
    for (int i = 0; i < y->access[to].n; i++) {
        const NodeList *of = &y->nodes[y->access[to].p[i].tensor];
        if (!y->written[y->access[to].p[i].tensor]) continue;
        for (int j = end <= to ? first_at(of, y->covered[y->access[to].p[i].tensor]) : 0; j < of->n && of->p[j] < end; j++)
            if (y->seen[of->p[j]] != y->turn) {
                y->seen[of->p[j]] = y->turn;
                vec_push(y->arena, list, of->p[j]);
            }
    }
    if (list->n) qsort(list->p, (size_t)list->n, sizeof *list->p, compare_nodes);
    return list;
}

static bool program_check(Symbolic *y) {
    int n = y->p->node.n;
    if (!kernels_are_own(y)) return false;
    for (int i = 0; i < n; i++) {
        if (y->p->node.p[i]->kind != NODE_CALL) return symbolic_fail(y, y->p->node.p[i]->loc, "a collective has no flags");
        y->access[i] = node_accesses(y->m, y->p, i, y->arena);
    }
    list_nodes(y);
    if (!symbolic_flags_check(y)) return false;
    for (int to = 0; to < n; to++) {
        if (!symbolic_own_order(y, to) || !symbolic_packets_check(y, to)) return false;
        const NodeList *from = nodes_beside(y, to, to);
        for (int i = 0; i < from->n; i++)
            if (!nodes_check(y, from->p[i], to)) return false;
        note_covered(y, to);
    }
    for (int i = 0; i < n; i++) waits_reach(y, y->p->node.p[i]->kernel, y->p->node.p[i]->kernel->body);
    if (!program_has_symbols(y->p) && !proof_sketch(y->m, y->p, NULL, &y->heard, y->proof, y->out)) return false;
    for (int to = 0; to < n; to++) {
        const NodeList *from = nodes_beside(y, to, n);
        for (int i = 0; i < from->n; i++)
            if (!slot_reuse_check(y, from->p[i], to)) return false;
    }
    return true;
}

Proof proof_symbolic(const Module *m, const Program *p, Arena *out) {
    Proof proof = {.loc = p->loc, .flag = -1, .symbolic = true};
    Symbolic y = {.m = m, .p = p, .arena = arena_new(), .out = out, .proof = &proof};
    y.access = ARENA_ARRAY(y.arena, AccessList, p->node.n + 1);
    y.asked = names_new(y.arena);
    y.answer = ARENA_NEW(y.arena, NameMap);
    y.answer->arena = y.arena;
    y.heard = lags_new(y.arena, m);
    y.written = program_written(p, y.arena);
    y.covered = ARENA_ARRAY(y.arena, int, p->tensor.n + 1);
    y.isl = isl_context_open(MAX_OPERATIONS);
    proof.proved = program_check(&y);
    for (int i = 0; i < p->node.n; i++) proof.tasks += p->node.p[i]->kind == NODE_CALL;
    isl_context_close(y.isl);
    arena_free(y.arena);
    return proof;
}
