/* ends.c: edits of the kernels at both ends of a collective: stores that go to peers, loads that come from them.
   A kernel is cloned before it is edited, since other calls may share it. */
#include "passes/comm/comm.h"

#include "ir/poly/relation.h"
#include "passes/fuse/inline.h"
#include "passes/plan/plan.h"

#include <string.h>

Affine affine_rank(int axis) { return affine_term(TERM_RANK, axis, 1, 1); }

/* rank * B. Of a run-time extent B is not a number: then it is a value, opaque to analysis. */
Affine comm_own_block(Builder *b, Size split) {
    if (split.sym < 0) return affine_term(TERM_RANK, axes_last(split.axis), size_block(b->m, split, NULL), 1);
    Value *origin = build_size(b, OP_ORIGIN, split);
    if (axes_rest(split.axis) < 0) return affine_value(origin);
    return affine_value(build_binary(b, OP_SUB, origin, build_size(b, OP_ORIGIN, size_gathered(split))));
}

static int64_t axis_ranks(const Comm *c, int axis) { return c->m->axis.p[axis].ranks; }

/* ---- walking ---- */

typedef struct {
    Comm *c;
    Kernel *k;
    int param;
    OpKind kind;
    void (*edit)(void *arg, Kernel *, Op *);
    void *arg;
} Walk;

static void walk_region(const Walk *w, Region *r) {
    for (Op *op = walk(r), *next; op; op = next) {
        next = walk_next(op, r);
        if (op->kind == w->kind && op->param == w->param) w->edit(w->arg, w->k, op);
    }
}

static void each_access(Kernel *k, OpKind kind, int param, void (*edit)(void *, Kernel *, Op *), void *arg) {
    Walk w = {.k = k, .param = param, .kind = kind, .edit = edit, .arg = arg};
    walk_region(&w, k->body);
}

static void sub_set(Module *m, Op *op, const Span *sub, int n) {
    op->sub.n = 0;
    for (int i = 0; i < n; i++) vec_push(m->arena, &op->sub, sub[i]);
}

/* ---- producers, readers, new tensors ---- */

/* In place, or tile by tile where its own tasks read it. */
static bool updates(const Node *n, int tensor) {
    for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor && (n->kernel->param.p[a].inout || kernel_reads_result(n->kernel, a))) return true;
    return false;
}

bool comm_updates(const Comm *c, int tensor) {
    for (int i = 0; i < c->p->node.n; i++)
        if (updates(c->p->node.p[i], tensor)) return true;
    return false;
}

/* Several nodes store the arms of a choice: each does so only where it is chosen. */
static bool node_stores(const Node *n, int tensor) {
    if (n->kind == NODE_COLLECTIVE) return n->dst == tensor;
    for (int a = 0; a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor && n->kernel->param.p[a].out) return true;
    return false;
}

static int count_producers(const Comm *c, int tensor) {
    int count = 0;
    for (int i = 0; i < c->out.n; i++) count += node_stores(&c->out.p[i], tensor);
    return count;
}

bool comm_alone(const Comm *c, int tensor) {
    for (int i = c->at + 1; i < c->p->node.n; i++)
        if (node_stores(c->p->node.p[i], tensor)) return false;
    return count_producers(c, tensor) == 0;
}

static bool touches(const Node *n, int tensor) {
    for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor) return true;
    return false;
}

bool comm_is_scheduled(const Comm *c, int tensor) {
    for (int i = 0; i < c->out.n; i++)
        if (touches(&c->out.p[i], tensor) && plan_takes(c->pass, c->out.p[i].kernel)) return true;
    for (int i = c->at + 1; i < c->p->node.n; i++)
        if (touches(c->p->node.p[i], tensor) && plan_takes(c->pass, c->p->node.p[i]->kernel)) return true;
    return false;
}

/* None where the tensor is updated in place (what its producer stores is not what the collective takes), read again by
   its producer, or stored by several. */
Node *comm_only_producer(Comm *c, int tensor) {
    if (comm_updates(c, tensor) || comm_reads_itself(c, tensor) || count_producers(c, tensor) != 1) return NULL;
    for (int i = c->out.n - 1; i >= 0; i--) {
        Node *n = &c->out.p[i];
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++) {
            if (n->arg.p[a].tensor != tensor || !n->kernel->param.p[a].out) continue;
            return n->when == c->when ? n : NULL;
        }
    }
    return NULL;
}

Node *comm_producer(Comm *c, int tensor) {
    Node *n = comm_is_scheduled(c, tensor) ? NULL : comm_only_producer(c, tensor);
    if (n) n->kernel = kernel_clone(c->m, n->kernel);
    return n;
}

static bool reads(const Node *n, int a, int tensor) {
    return n->kind == NODE_CALL && n->arg.p[a].tensor == tensor && !n->kernel->param.p[a].out;
}

static int count_reads(const Node *n, int tensor) {
    int count = (n->kind == NODE_COLLECTIVE && n->src == tensor) + (n->when == tensor + 1);
    for (int a = 0; a < n->arg.n; a++) count += reads(n, a, tensor);
    return count;
}

int comm_readers(const Comm *c, int tensor) {
    int count = 0;
    for (int i = 0; i < c->out.n; i++) count += count_reads(&c->out.p[i], tensor);
    for (int i = c->at + 1; i < c->p->node.n; i++) count += count_reads(c->p->node.p[i], tensor);
    return count;
}

static bool has_starts(const Node *n, int tensor) {
    for (int i = 0; n->kind == NODE_CALL && i < n->kernel->ngrid; i++) {
        int starts = n->kernel->range.p[i].starts;
        if (starts && n->arg.p[starts - 1].tensor == tensor) return true;
    }
    return false;
}

bool comm_decides(const Comm *c, int tensor) {
    for (int i = c->at + 1; i < c->p->node.n; i++)
        if (c->p->node.p[i]->when == tensor + 1 || has_starts(c->p->node.p[i], tensor)) return true;
    return false;
}

Tensor comm_symmetric_like(const Comm *c, int like, const char *what, int axis, const Size *dim, int ndim, Elem elem) {
    const Tensor *t = &c->p->tensor.p[like];
    Tensor s = {.name = name_of(c->m->names, arena_format(c->m->arena, "%s_%s", t->name, what)), .elem = elem,
                .ndim = ndim, .role = ROLE_TEMP, .symmetric = (int16_t)axis, .slots = 2, .loc = t->loc};
    for (int d = 0; d < ndim; d++) s.dim[d] = dim[d];
    for (int a = 0; a < c->m->axis.n; a++) s.place[a].kind = PLACE_V;
    return s;
}

int comm_symmetric(Comm *c, int like, const char *what, int axis, const Size *dim, int ndim, Elem elem) {
    return program_tensor(c->m, c->p, comm_symmetric_like(c, like, what, axis, dim, ndim, elem));
}

void param_symmetric(Kernel *k, int param, const Tensor *t) {
    Param *p = &k->param.p[param];
    p->ranks = t->symmetric;
    p->packet = t->packet;
    p->ndim = t->ndim;
    memcpy(p->dim, t->dim, sizeof p->dim);
}

/* ---- own rank ---- */

typedef struct {
    Comm *c;
    int axis;
} OwnEdit;

static void address_own(void *arg, Kernel *k, Op *op) {
    (void)k;
    OwnEdit *e = arg;
    Span sub[MAX_DIMS + 1] = {span_of(affine_rank(e->axis))};
    int n = op->sub.n;
    memcpy(sub + 1, op->sub.p, sizeof *sub * (size_t)n);
    sub_set(e->c->m, op, sub, n + 1);
}

void comm_argument_own(Comm *c, Node *n, int a, int tensor, int axis) {
    OwnEdit e = {c, axis};
    n->kernel = kernel_clone(c->m, n->kernel);
    n->arg.p[a].tensor = tensor;
    Param *p = &n->kernel->param.p[a];
    p->ranks = (int16_t)axis;
    p->packet = c->p->tensor.p[tensor].packet;
    each_access(n->kernel, OP_LOAD, a, address_own, &e);
    each_access(n->kernel, OP_STORE, a, address_own, &e);
}

bool comm_reads_itself(const Comm *c, int tensor) {
    for (int i = 0; i < c->out.n; i++) {
        const Node *n = &c->out.p[i];
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
            if (n->arg.p[a].tensor == tensor && kernel_reads_result(n->kernel, a)) return true;
    }
    return false;
}

void comm_publish_temp(Comm *c, int tensor, int axis) {
    Tensor *t = &c->p->tensor.p[tensor];
    t->symmetric = (int16_t)axis;
    t->slots = 2;
    for (int i = 0; i < c->out.n + c->p->node.n - c->at; i++) {
        Node *n = i < c->out.n ? &c->out.p[i] : c->p->node.p[c->at + i - c->out.n];
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
            if (n->arg.p[a].tensor == tensor) comm_argument_own(c, n, a, tensor, axis);
    }
}

void comm_read_own(Comm *c, int from, int to, int axis) {
    for (int i = c->at + 1; i < c->p->node.n; i++)
        for (int a = 0; a < c->p->node.p[i]->arg.n; a++)
            if (reads(c->p->node.p[i], a, from)) comm_argument_own(c, c->p->node.p[i], a, to, axis);
}

/* ---- the owner of a position ----
   Along the split dimension a tile number t of extent s lies in the block of rank floor(t / (B / s)), where B is the
   block's extent and s divides it: then no tile straddles two owners. Tiles behind the split dimension have no owner. */

static bool ends_within(Size of, Size whole) {
    return size_equal(of, whole) || (size_is_number(of) && size_is_number(whole) && of.c <= whole.c);
}

static bool owner_known(const Kernel *k, const Span *sub, Size split, int64_t block) {
    const Affine *a = &sub->lo;
    if (split.sym >= 0 || a->nterm != 1 || a->c || a->term[0].kind != TERM_POS) return false;
    if (a->term[0].mul != 1 || a->term[0].div != 1) return false;
    const Range *r = &k->range.p[a->term[0].id];
    bool tiled = r->kind != RANGE_WHOLE && r->owner < 0 && r->size > 0 && block > 0 && block % r->size == 0;
    return tiled && ends_within(r->of, size_gathered(split));
}

/* INDEX counts tiles from 0 only where the range starts at 0. */
static bool starts_at_zero(const Kernel *k, int range, const Op *op) {
    if (k->range.p[range].grid) return !range_is_ragged(k, range);
    for (Op *up = op->in->parent; up; up = up->in->parent)
        if (up->kind == OP_FOR && up->range == range) {
            return value_is(up->arg.p[0], 0);
        }
    return false;
}

static void owner_split(const Kernel *k, const Span *sub, int64_t block, Affine *owner, Affine *local) {
    int range = sub->lo.term[0].id;
    int64_t tiles = block / k->range.p[range].size;
    *owner = affine_term(TERM_INDEX, range, 1, tiles);
    Affine start = affine_term(TERM_INDEX, range, -block, tiles);
    *local = sub->lo;
    affine_add(local, &start, 1);
}

typedef struct {
    Comm *c;
    int axis, dim;
    Size split;
    int64_t block;
    bool stacked, legal;
} OwnerEdit;

static void test_owner(void *arg, Kernel *k, Op *op) {
    OwnerEdit *e = arg;
    const Span *sub = &op->sub.p[e->dim];
    e->legal = e->legal && owner_known(k, sub, e->split, e->block) && starts_at_zero(k, sub->lo.term[0].id, op);
}

static bool reader_can_pull(const Comm *c, const Node *n, int a, OwnerEdit *e) {
    (void)c;
    if (!arg_is_whole(&n->arg.p[a])) return false;
    each_access(n->kernel, OP_LOAD, a, test_owner, e);
    return e->legal;
}

bool comm_can_pull(const Comm *c, int tensor, int dim, Size split) {
    if (split.sym >= 0) return false;
    OwnerEdit e = {.dim = dim, .split = split, .block = size_block(c->m, split, NULL), .legal = true};
    if (c->p->tensor.p[tensor].role == ROLE_OUTPUT || comm_decides(c, tensor)) return false;
    for (int i = c->at + 1; i < c->p->node.n; i++) {
        const Node *n = c->p->node.p[i];
        if (n->kind == NODE_COLLECTIVE && n->src == tensor) return false;
        for (int a = 0; a < n->arg.n; a++)
            if (reads(n, a, tensor) && !reader_can_pull(c, n, a, &e)) return false;
    }
    return true;
}

static void address_owner(void *arg, Kernel *k, Op *op) {
    OwnerEdit *e = arg;
    Span sub[MAX_DIMS + 1];
    Affine owner, local;
    owner_split(k, &op->sub.p[e->dim], e->block, &owner, &local);
    int n = 0;
    sub[n++] = span_of(owner);
    for (int d = 0; d < op->sub.n; d++) {
        if (d == e->dim && e->stacked) continue;
        sub[n++] = d == e->dim ? span_of(local) : op->sub.p[d];
    }
    sub_set(e->c->m, op, sub, n);
}

void comm_read_owner(Comm *c, int from, int to, int axis, int dim, Size split, bool stacked) {
    OwnerEdit e = {.c = c, .axis = axis, .dim = dim, .split = split, .block = size_block(c->m, split, NULL), .stacked = stacked};
    for (int i = c->at + 1; i < c->p->node.n; i++) {
        Node *n = c->p->node.p[i];
        for (int a = 0; a < n->arg.n; a++) {
            if (!reads(n, a, from)) continue;
            n->kernel = kernel_clone(c->m, n->kernel);
            each_access(n->kernel, OP_LOAD, a, address_owner, &e);
            param_symmetric(n->kernel, a, &c->p->tensor.p[to]);
            n->arg.p[a].tensor = to;
        }
    }
}

/* ---- stores to peers ---- */

typedef struct {
    Comm *c;
    int axis, dim, to_param;
    Size split;
    bool stacked, keep;
} PeerEdit;

/* store x  becomes  for r of ranks { store x to r } */
static void store_to_peers(void *arg, Kernel *k, Op *op) {
    PeerEdit *e = arg;
    Module *m = e->c->m;
    Region *aside = region_new(m, op->in->parent);
    Builder b = {.m = m, .k = k, .at = aside, .loc = op->loc};
    int64_t ranks = axis_ranks(e->c, e->axis);
    Range range = {.name = name_of(m->names, "r"), .kind = RANGE_POSITION, .size = 1, .of = size_number(ranks), .owner = -1};
    int r = kernel_range(m, k, range);
    Value *lo = build_const_i(&b, ELEM_I64, 0), *hi = build_const_i(&b, ELEM_I64, ranks);
    Span sub[MAX_DIMS + 2] = {span_of(affine_term(TERM_POS, r, 1, 1))};
    int n = 1;
    if (e->stacked) sub[n++] = span_of(affine_rank(e->axis));
    for (int d = 0; d < op->sub.n; d++) {
        sub[n] = op->sub.p[d];
        Affine own = e->stacked || d != e->dim ? affine_const(0) : comm_own_block(&b, e->split);
        affine_add(&sub[n++].lo, &own, 1);
    }
    Op *loop = build_for(&b, r, lo, hi, NULL, 0);
    Builder in = b;
    in.at = loop->region[0];
    build_store(&in, e->to_param, sub, n, op->arg.p[0], op->mode);
    build_yield(&in, NULL, 0);
    region_splice_before(op, aside);
    if (!e->keep) op_remove(op);
}

void comm_store_to_peers(Comm *c, Node *n, int from, int to, int axis, int dim, Size split, bool stacked, bool keep) {
    for (int a = 0; a < n->arg.n; a++) {
        if (n->arg.p[a].tensor != from || !n->kernel->param.p[a].out) continue;
        Kernel *k = n->kernel;
        PeerEdit e = {.c = c, .axis = axis, .dim = dim, .to_param = a, .split = split, .stacked = stacked, .keep = keep};
        if (keep) {
            Param twin = k->param.p[a];
            e.to_param = kernel_param(c->m, k, twin);
            Arg arg = n->arg.p[a];
            vec_push(c->m->arena, &n->arg, arg);
        }
        each_access(k, OP_STORE, a, store_to_peers, &e);
        param_symmetric(k, e.to_param, &c->p->tensor.p[to]);
        k->param.p[e.to_param].name = c->p->tensor.p[to].name;
        n->arg.p[e.to_param].tensor = to;
        return;
    }
}

bool comm_can_store_to_owner(const Comm *c, const Node *n, int tensor, int dim, Size split) {
    if (split.sym >= 0) return false;
    OwnerEdit e = {.dim = dim, .split = split, .block = size_block(c->m, split, NULL), .legal = true};
    for (int a = 0; a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor) each_access(n->kernel, OP_STORE, a, test_owner, &e);
    return e.legal;
}

int comm_owner_places(const Kernel *k, const Op *store, int dim, int64_t block, int axis, Span *sub) {
    Affine owner, local;
    owner_split(k, &store->sub.p[dim], block, &owner, &local);
    int n = 0;
    sub[n++] = span_of(owner);
    sub[n++] = span_of(affine_rank(axis));
    for (int d = 0; d < store->sub.n; d++) sub[n++] = d == dim ? span_of(local) : store->sub.p[d];
    return n;
}

static void store_to_owner(void *arg, Kernel *k, Op *op) {
    OwnerEdit *e = arg;
    Span sub[MAX_DIMS + 2];
    const int n = comm_owner_places(k, op, e->dim, e->block, e->axis, sub);
    sub_set(e->c->m, op, sub, n);
}

void comm_store_to_owner(Comm *c, Node *n, int from, const Tensor *to, int axis, int dim, Size split) {
    OwnerEdit e = {.c = c, .axis = axis, .dim = dim, .split = split, .block = size_block(c->m, split, NULL)};
    for (int a = 0; a < n->arg.n; a++) {
        if (n->arg.p[a].tensor != from || !n->kernel->param.p[a].out) continue;
        each_access(n->kernel, OP_STORE, a, store_to_owner, &e);
        param_symmetric(n->kernel, a, to);
        n->arg.p[a].tensor = to->id;
    }
}
