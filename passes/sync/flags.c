/* flags.c: order between nodes becomes flags: each dependence a family of words, signalled by the producer's tasks and
   waited for where a consumer's tile needs it.
   Takes: value form without flags, no collectives. Gives: the same results in any schedule; proved (proof.c). */
#include "passes/sync/flags.h"
#include "passes/sync/flags_repair.h"

#include <string.h>

/* Nodes in a tensor's list from which on a write of all of it ends the list: flags then grow no faster than nodes (test/passes/growth).
   16 is chosen, not measured: shorter lists keep the flag from each earlier node, and a task waits for just the tiles it needs. */
enum { MANY_NODES = 16 };

/* ---- kernels of their own ---- */

/* Waits and signals may come into it. Where nodes are launches, kernels of private tensors need none. */
static bool may_synchronise(const Module *m, const Kernel *k) {
    bool peers = !(m->form & FORM_LAUNCHES);
    for (int i = 0; i < k->param.n; i++) peers = peers || k->param.p[i].ranks >= 0;
    return peers || kernel_orders_tasks(k);
}

/* Flags belong to one node: a kernel that several call is copied. */
static void kernels_part(Module *m, Program *p) {
    int *uses = ARENA_ARRAY(m->arena, int, m->kernel.n + 1);
    for (int i = 0; i < m->kernel.n; i++) m->kernel.p[i]->id = i;
    for (int i = 0; i < m->program.n; i++)
        for (int j = 0; j < m->program.p[i]->node.n; j++) {
            const Node *n = m->program.p[i]->node.p[j];
            if (n->kind == NODE_CALL) uses[n->kernel->id]++;
        }
    for (int j = 0; j < p->node.n; j++) {
        Node *n = p->node.p[j];
        if (n->kind != NODE_CALL || uses[n->kernel->id] == 1 || !may_synchronise(m, n->kernel)) continue;
        uses[n->kernel->id]--;
        n->kernel = kernel_clone(m, n->kernel);
    }
}

static Flags flags_begin(PassContext *c, Program *p) {
    Flags f = {.pass = c, .m = c->m, .p = p};
    kernels_part(c->m, p);
    f.access = ARENA_ARRAY(c->m->arena, AccessList, p->node.n + MAX_AXES);
    f.coarse = ARENA_ARRAY(c->m->arena, bool, p->node.n + 1);
    for (int i = 0; i < p->node.n; i++) f.access[i] = node_accesses(c->m, p, i, c->m->arena);
    return f;
}

/* ---- a program ---- */

/* Accesses of two nodes that meet in a tensor, one of them a write; packets need none. */
static bool accesses_conflict(const Program *p, const Access *from, const Access *to) {
    if (from->tensor != to->tensor || (!from->write && !to->write) || accesses_apart(from, to)) return false;
    return !(p->tensor.p[from->tensor].packet && from->write && !to->write);
}

static Edge edge_for(const Flags *f, const Access *from, const Access *to, bool whole) {
    CommForm a = f->p->node.p[from->node]->form, b = f->p->node.p[to->node]->form;
    Edge e = edge_whole(f->p, from, to);
    if (whole) e.axis = f->p->tensor.p[from->tensor].symmetric;
    return whole || (e.axis >= 0 && (a == COMM_UNFUSED || b == COMM_UNFUSED)) ? e : edge_of(f->p, from, to);
}

static void order_nodes(Flags *f, int from, int to, bool whole) {
    for (int i = 0; i < f->access[to].n; i++)
        for (int j = 0; j < f->access[from].n; j++) {
            const Access *a = &f->access[from].p[j], *b = &f->access[to].p[i];
            if (!accesses_conflict(f->p, a, b)) continue;
            Edge e = edge_for(f, a, b, whole);
            if (e.axis >= 0 || !(f->m->form & FORM_LAUNCHES)) flags_insert(f, &e, 0, whole);
        }
}

/* Tasks of a rank, or those that send to others and those that take what is sent. */
static void order_siblings(Flags *f, const Access *from, const Access *to) {
    Edge e = edge_of(f->p, from, to);
    if (e.axis >= 0 && e.source.known) flags_insert(f, &e, 0, false);
    else flags_insert_self(f, from, to);
}

static void order_tasks(Flags *f, int node) {
    const AccessList *list = &f->access[node];
    for (int i = 0; i < list->n; i++)
        for (int j = 0; j < list->n; j++)
            if (siblings_need_order(f->p->node.p[node]->kernel, &list->p[j], &list->p[i]))
                order_siblings(f, &list->p[j], &list->p[i]);
}

/* Which earlier nodes wrote a tensor that this one reads, or touched one that it writes: no other pair is looked at. What came
   before a write of the whole tensor is ordered through it; the waits that this leaves out of a few are pruned. */
static void order_program(Flags *f, bool whole) {
    typedef VEC(int) Nodes;
    Nodes *touched = ARENA_ARRAY(f->m->arena, Nodes, f->p->tensor.n + 1), *wrote = ARENA_ARRAY(f->m->arena, Nodes, f->p->tensor.n + 1);
    int *seen = ARENA_ARRAY(f->m->arena, int, f->p->node.n + 1);
    for (int n = 0; n < f->p->node.n; n++) {
        order_tasks(f, n);
        for (int i = 0; i < f->access[n].n; i++) {
            const Access *x = &f->access[n].p[i];
            const Nodes *t = x->write ? &touched[x->tensor] : &wrote[x->tensor];
            for (int j = 0; j < t->n; j++) {
                if (seen[t->p[j]] == n + 1) continue;
                seen[t->p[j]] = n + 1;
                order_nodes(f, t->p[j], n, whole);
            }
        }
        for (int i = 0; i < f->access[n].n; i++) {
            const Access *x = &f->access[n].p[i];
            Nodes *t = &touched[x->tensor], *w = &wrote[x->tensor];
            if (t->n > MANY_NODES && access_covers(f->p, x)) t->n = w->n = 0;
            if (t->n == 0 || vec_last(t) != n) vec_push(f->m->arena, t, n);
            if (x->write && (w->n == 0 || vec_last(w) != n)) vec_push(f->m->arena, w, n);
        }
    }
}

static bool conditions_gone(PassContext *c, const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->when) {
            diag_error(c->m->diags, p->node.p[i]->loc, "wrong-form", "a node has a condition: when must run before flags");
            return false;
        }
    return true;
}

static const char *dim_text(Arena *a, const FlagDim *d, Name range) {
    if (d->group == GROUP_DROP) return "";
    if (d->group == GROUP_DEST) return arena_format(a, " %s: destination", range);
    return d->group == 1 ? arena_format(a, " %s", range) : arena_format(a, " %s / %lld", range, (long long)d->group);
}

static void explain(Flags *f) {
    for (int i = 0; i < f->p->flag.n; i++) {
        const Flag *g = &f->p->flag.p[i];
        const Kernel *k = f->p->node.p[g->producer]->kernel;
        const char *words = "";
        for (int d = 0; d < g->dim.n; d++)
            words = arena_format(f->m->arena, "%s%s", words, dim_text(f->m->arena, &g->dim.p[d], k->range.p[d].name));
        remark(f->pass, "flags", k->loc, "'%s' to '%s' (%s): %s%s", k->name, f->p->node.p[g->consumer]->kernel->name,
               g->axis < 0 ? "inside a rank" : "between ranks", *words ? "a word for each" : "one word for all tasks", words);
    }
}

bool flags_synchronise(PassContext *c, bool whole) {
    for (int i = 0; i < c->m->program.n; i++)
        if (!collectives_gone(c, c->m->program.p[i], "flags") || !conditions_gone(c, c->m->program.p[i])) return false;
    c->m->form |= FORM_FLAGS;
    for (int i = 0; i < c->m->program.n; i++) {
        Flags f = flags_begin(c, c->m->program.p[i]);
        order_program(&f, whole);
        flags_repair(&f);
        if (!whole) flags_prune(&f);
        explain(&f);
    }
    return proof_check(c);
}

static bool flags_run(PassContext *c) { return flags_synchronise(c, false); }

const Pass pass_flags = {
    .name = "flags", .help = "replace the order between nodes by flags of tiles",
    .needs = 0, .breaks = FORM_FLAGS, .run = flags_run,
};
