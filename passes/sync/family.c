/* family.c: flag families and their waits: the words that an edge needs, who signals them, and where a consumer waits.
   Takes: an edge. Gives: a family, its signal at the end of the producer's tasks, a wait before the access. */
#include "passes/sync/flags.h"

static const Affine zero = {.c = 0};

static Span span_ranks(const Module *m, int axis) {
    return (Span){.lo = affine_const(0), .hi = affine_const(axis < 0 ? 0 : m->axis.p[axis].ranks - 1)};
}

bool grid_is_one_tile(const Module *m, const Range *r) {
    return r->kind == RANGE_WHOLE || (!r->starts && r->of.sym < 0 && size_bound(m, r->of) <= r->size);
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
    FlagDim fd = flag_dim(f->p->node.p[e->from->node]->kernel, d, GROUP_DROP);
    const Kernel *from = f->p->node.p[e->from->node]->kernel;
    *wait = (Span){.lo = zero, .hi = zero};
    if (from->plan.workgroups && d == from->ngrid - 1) return fd; /* few copy: no word for each part of their rows */
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

/* It only loads, and computes element by element. */
static bool is_light(const Region *r) {
    for (const Op *op = r->first; op; op = op->next) {
        const OpClass class = op_info[op->kind].class;
        if (class == CLASS_CONST || class == CLASS_INDEX || op_is_elementwise(op)) continue;
        if (op->kind != OP_LOAD && op->kind != OP_WAIT && op->kind != OP_YIELD) return false;
    }
    return true;
}

static bool goes_through_ranks(const Module *m, const Kernel *k, const Op *loop, int axis) {
    const Range *r = &k->range.p[loop->range];
    return r->kind == RANGE_POSITION && value_is(loop->arg.p[0], 0) && value_is(loop->arg.p[1], m->axis.p[axis].ranks);
}

static bool is_turn(const Affine *a, int range) {
    const Affine pos = affine_term(TERM_POS, range, 1, 1), index = affine_term(TERM_INDEX, range, 1, 1);
    return affine_equal(a, &pos) || affine_equal(a, &index);
}

/* A loop that sums what each rank has sent would wait and load in turns. One wait in front of it is for all ranks:
   threads poll at once, and the loads are under way together. */
static void wait_for_all(const Flags *f, const Edge *e, Op *wait) {
    const Op *loop = e->to->op->in->parent;
    const Kernel *k = f->p->node.p[e->to->node]->kernel;
    if (!(f->m->form & FORM_LAUNCHES) || e->axis < 0 || !loop || loop->kind != OP_FOR) return;
    if (!is_turn(&wait->dest.lo, loop->range) || !is_turn(&wait->dest.hi, loop->range)) return;
    for (int i = 0; i < wait->sub.n; i++)
        if (span_needs(&wait->sub.p[i], loop)) return;
    if (goes_through_ranks(f->m, k, loop, e->axis) && is_light(loop->region[0])) wait->dest = span_ranks(f->m, e->axis);
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
    wait_for_all(f, e, op);
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
