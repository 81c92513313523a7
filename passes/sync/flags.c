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

Flags flags_begin(PassContext *c, Program *p) {
    Flags f = {.pass = c, .m = c->m, .p = p};
    kernels_part(c->m, p);
    f.access = ARENA_ARRAY(c->m->arena, AccessList, p->node.n + MAX_AXES);
    f.coarse = ARENA_ARRAY(c->m->arena, bool, p->node.n + 1);
    for (int i = 0; i < p->node.n; i++) f.access[i] = node_accesses(c->m, p, i, c->m->arena);
    return f;
}

/* ---- families ---- */

static const Affine zero = {.c = 0};

static Span span_ranks(const Module *m, int axis) {
    return (Span){.lo = affine_const(0), .hi = affine_const(axis < 0 ? 0 : m->axis.p[axis].ranks - 1)};
}

bool grid_is_one_tile(const Module *m, const Range *r) {
    return r->kind == RANGE_WHOLE || (r->of.sym < 0 && size_bound(m, r->of) <= r->size);
}

/* lo = k X, hi = k X + k - 1: k tiles at a time. */
static int64_t need_group(const Need *n) {
    Affine length = n->hi;
    if (!affine_add(&length, &n->lo, -1) || !affine_is_const(&length) || length.c < 1) return 1;
    int64_t k = length.c + 1;
    for (int i = 0; i < n->lo.nterm; i++)
        if (n->lo.term[i].mul % k) return 1;
    return n->lo.c % k ? 1 : k;
}

static Span need_span(const Need *n, int64_t group) {
    Span s = {.lo = n->lo, .hi = n->hi};
    if (group == 1) return s;
    affine_floor_div(&n->lo, group, &s.lo);
    s.hi = s.lo;
    return s;
}

/* How words run along a grid dimension of the producer, and which of them the wait names. */
static FlagDim dim_of(const Flags *f, const Edge *e, int d, Span *wait) {
    const Range *r = &f->p->node.p[e->from->node]->kernel->range.p[d];
    FlagDim fd = {.of = r->of, .size = r->size, .group = GROUP_DROP};
    *wait = (Span){.lo = zero, .hi = zero};
    if (e->dest_known && d == e->dest_dim) fd.group = GROUP_DEST;
    else if (e->dest_known && d == e->owner_dim && !e->dim[d].known) {
        fd.group = e->owner_group;
        *wait = span_of(affine_term(TERM_RANK, e->axis, 1, 1));
    } else if (e->dim[d].known && (d == e->owner_dim || !grid_is_one_tile(f->m, r))) {
        fd.group = need_group(&e->dim[d]);
        *wait = need_span(&e->dim[d], fd.group);
    }
    return fd;
}

static bool same_words(const Flag *a, const FlagDim *dim, int n) {
    if (a->dim.n != n) return false;
    for (int d = 0; d < n; d++)
        if (a->dim.p[d].group != dim[d].group) return false;
    return true;
}

static const Op *signal_of(const Kernel *k, int flag) {
    for (const Op *op = k->body->last; op; op = op->prev)
        if (op->kind == OP_SIGNAL && op->flag == flag) return op;
    return NULL;
}

static bool span_equal(const Span *a, const Span *b) { return affine_equal(&a->lo, &b->lo) && affine_equal(&a->hi, &b->hi); }

static int family_find(const Flags *f, const Edge *e, const FlagDim *dim, const Span *dest) {
    const Kernel *k = f->p->node.p[e->from->node]->kernel;
    for (int i = f->p->flag.n - 1; i >= 0; i--) {
        const Flag *g = &f->p->flag.p[i];
        if (g->producer != e->from->node || g->consumer != e->to->node || g->axis != e->axis) continue;
        if (same_words(g, dim, k->ngrid) && span_equal(&signal_of(k, i)->dest, dest)) return i;
    }
    return -1;
}

static void signal_add(Flags *f, const Edge *e, int flag, const Span *dest) {
    Kernel *k = f->p->node.p[e->from->node]->kernel;
    const Flag *g = &f->p->flag.p[flag];
    Op *op = op_new(f->m, OP_SIGNAL, e->from->op->loc);
    op->flag = flag;
    op->scope = g->scope;
    op->dest = *dest;
    for (int d = 0; d < g->dim.n; d++) {
        int64_t group = g->dim.p[d].group;
        vec_push(f->m->arena, &op->sub, span_of(group > 0 ? affine_term(TERM_INDEX, d, 1, group) : zero));
    }
    op_append_to(k->body, op);
    f->signals++;
}

static int family_new(Flags *f, const Edge *e, const FlagDim *dim, const Span *dest) {
    const Kernel *from = f->p->node.p[e->from->node]->kernel, *to = f->p->node.p[e->to->node]->kernel;
    Flag g = {.id = f->p->flag.n, .producer = e->from->node, .consumer = e->to->node, .axis = (int16_t)e->axis};
    g.name = name_of(f->m->names, arena_format(f->m->arena, "%s_to_%s", from->name, to->name));
    g.scope = e->axis < 0 ? SCOPE_DEVICE : SCOPE_SYSTEM;
    for (int d = 0; d < from->ngrid; d++) vec_push(f->m->arena, &g.dim, dim[d]);
    vec_push(f->m->arena, &f->p->flag, g);
    signal_add(f, e, g.id, dest);
    return g.id;
}

int flags_family(Flags *f, const Edge *e, const FlagDim *dim, const Span *dest) {
    int flag = family_find(f, e, dim, dest);
    return flag < 0 ? family_new(f, e, dim, dest) : flag;
}

/* ---- waits ---- */

static bool inside(const Region *r, const Op *op) {
    for (; r && r->parent; r = r->parent->in)
        if (r->parent == op) return true;
    return false;
}

static bool affine_needs(const Affine *a, const Op *op) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE && inside(t->value->def ? t->value->def->in : t->value->arg_of, op)) return true;
        if (op->kind != OP_FOR) continue;
        if ((t->kind == TERM_INDEX || t->kind == TERM_POS || t->kind == TERM_BLOCK) && t->id == op->range) return true;
    }
    return false;
}

static bool span_needs(const Span *s, const Op *op) { return affine_needs(&s->lo, op) || affine_needs(&s->hi, op); }

static bool wait_needs(const Op *wait, const Op *op) {
    for (int i = 0; i < wait->sub.n; i++)
        if (span_needs(&wait->sub.p[i], op)) return true;
    return span_needs(&wait->dest, op);
}

/* For other tasks of the same node: those that a condition leaves out may be later ones. */
static bool decides(const Op *parent, bool own) { return own && parent->kind == OP_IF && condition_is_known(parent); }

/* Just before the access, but outside of the loops and conditions that the wait does not depend on. */
static Op *wait_place(const Op *wait, Op *access, bool own) {
    Op *at = access;
    for (Op *up; (up = at->in->parent) && !wait_needs(wait, up) && !decides(up, own);) at = up;
    return at;
}

static bool wait_exists(const Op *wait, const Op *at) {
    for (; at; at = at->in->parent)
        for (const Op *op = at->prev; op; op = op->prev)
            if (op_same_attributes(op, wait)) return true;
    return false;
}

void flags_wait(Flags *f, const Edge *e, int flag, const Span *sub, int64_t lag, bool first) {
    Op *op = op_new(f->m, OP_WAIT, e->to->op->loc);
    op->flag = flag;
    op->lag = lag;
    op->scope = f->p->flag.p[flag].scope;
    for (int d = 0; d < f->p->flag.p[flag].dim.n; d++) vec_push(f->m->arena, &op->sub, sub[d]);
    op->dest = e->source.known ? (Span){.lo = e->source.lo, .hi = e->source.hi} : span_ranks(f->m, e->axis);
    Op *at = first ? f->p->node.p[e->to->node]->kernel->body->first : wait_place(op, e->to->op, e->from->node == e->to->node);
    if (wait_exists(op, at) || (first && op_same_attributes(op, at))) return;
    op_insert_before(at, op);
    f->waits++;
}

void flags_insert(Flags *f, const Edge *e, int64_t lag, bool first) {
    FlagDim dim[MAX_RANGES];
    Span sub[MAX_RANGES];
    int n = f->p->node.p[e->from->node]->kernel->ngrid;
    for (int d = 0; d < n; d++) dim[d] = dim_of(f, e, d, &sub[d]);
    Span dest = e->dest_known ? span_of(e->dest) : span_ranks(f->m, e->axis);
    flags_wait(f, e, flags_family(f, e, dim, &dest), sub, lag, first);
}

/* ---- a program ---- */

bool accesses_conflict(const Program *p, const Access *from, const Access *to) {
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

static void order_tasks(Flags *f, int node) {
    const AccessList *list = &f->access[node];
    for (int i = 0; i < list->n; i++)
        for (int j = 0; j < list->n; j++)
            if (siblings_need_order(f->p->node.p[node]->kernel, &list->p[j], &list->p[i]))
                flags_insert_self(f, &list->p[j], &list->p[i]);
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
