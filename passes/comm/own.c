/* own.c: a product in roles that sends its tiles to their owners, and finishes its own: behind the sums of a tile of its
   own it adds what the other rank has sent for that tile, and stores the result. There is no kernel that sums.
   Results that all ranks want go to all of them. Takes: the node that makes a partial. Gives: the same node, which stores
   the reduced tensor, too:

     store x            if the tile is this rank's { y = load from the inbox; store x + y to the result }
                   =>   else { store x to the inbox of its owner } */
#include "passes/comm/comm.h"
#include "passes/fuse/inline.h"

#include "ir/size.h"

enum {
    RANKS = 2, /* their sum is the same in either order; of more, an epilogue would need the partials in order */
    MOST_TASKS = 1 << 17 /* of a program, all ranks together: those for which flags are proved task by task (proof.c) */
};

static Op *only_store(const Kernel *k, int param) {
    Op *found = NULL;
    for (Op *op = walk(k->body); op; op = walk_next(op, k->body)) {
        if (op->kind != OP_STORE || op->param != param) continue;
        if (found || op->in != k->body || op->mode != STORE_SET) return NULL;
        found = op;
    }
    return found;
}

static int result_of(const Node *n, int tensor) {
    for (int a = 0; a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor && n->kernel->param.p[a].out) return a;
    return -1;
}

static bool touches(const Node *n, int tensor) {
    for (int a = 0; a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor) return true;
    return n->when == tensor + 1;
}

/* Tasks of one node that wait for each other on two ranks are proved one by one. */
static bool is_proved(const Comm *c) {
    int64_t tasks = 0;
    for (int i = 0; i < c->p->node.n && !c->m->symbol.n; i++) {
        const Kernel *k = c->p->node.p[i]->kernel;
        int64_t n = mesh_ranks(c->m);
        for (int d = 0; k && d < k->ngrid && n <= MOST_TASKS; d++)
            if (k->range.p[d].size > 0) n *= ceil_div(size_bound(c->m, k->range.p[d].of), k->range.p[d].size);
        tasks += n;
    }
    return tasks > 0 && tasks <= MOST_TASKS;
}

/* The result is stored where the partial was, before nodes that stand between. */
static bool is_free(const Comm *c, int result) {
    for (int i = 0; i < c->out.n; i++)
        if (touches(&c->out.p[i], result)) return false;
    return comm_alone(c, result);
}

bool comm_can_sum_own(const Comm *c, const Node *n, const OwnSum *o) {
    const int param = result_of(n, o->partial);
    return c->m->axis.p[o->axis].ranks == RANKS && is_proved(c) && is_free(c, o->result.id) && param >= 0 &&
           only_store(n->kernel, param) && comm_can_store_to_owner(c, n, o->partial, o->dim, o->split);
}

/* ---- building ---- */

typedef struct {
    Comm *c;
    Kernel *k;
    const OwnSum *o;
    Op *store;
    int inbox, result; /* parameters */
    int64_t block;
} Edit;

static int result_add(const Edit *e, Node *n) {
    const Tensor *t = &e->o->result;
    Param p = {.name = t->name, .elem = t->elem, .ndim = t->ndim, .out = true, .ranks = t->symmetric};
    for (int d = 0; d < t->ndim; d++) p.dim[d] = t->dim[d];
    vec_push(e->c->m->arena, &n->arg, arg_whole(t->id));
    return kernel_param(e->c->m, e->k, p);
}

static Value *is_own(const Edit *e, Builder *b) {
    Value *begin = build_index(b, OP_BEGIN, e->store->sub.p[e->o->dim].lo.term[0].id);
    Value *owner = build_binary(b, OP_DIV, begin, build_const_i(b, ELEM_I64, e->block));
    return build_binary(b, OP_EQ, owner, build_rank(b, e->o->axis));
}

/* Places in this rank's block. */
static int own_places(const Edit *e, Span *sub) {
    const Affine back = affine_term(TERM_RANK, e->o->axis, -e->block, 1);
    for (int d = 0; d < e->store->sub.n; d++) {
        sub[d] = e->store->sub.p[d];
        if (d == e->o->dim) affine_add(&sub[d].lo, &back, 1);
    }
    return e->store->sub.n;
}

/* As it would have travelled. */
static Value *partial_of(const Edit *e, Builder *b, Elem elem) {
    return build_cast(b, elem, build_cast(b, e->k->param.p[e->inbox].elem, e->store->arg.p[0]));
}

static void add_and_store(const Edit *e, Builder b) {
    Affine other = affine_term(TERM_RANK, e->o->axis, -1, 1);
    other.c = RANKS - 1;
    Span sub[MAX_DIMS + 2] = {span_of(affine_rank(e->o->axis)), span_of(other)};
    const int n = own_places(e, sub + 2);
    const Elem elem = elem_arith(e->k->param.p[e->inbox].elem);
    Value *own = partial_of(e, &b, elem), *sent = build_cast(&b, elem, build_load(&b, e->inbox, sub, n + 2));
    Value *sum = build_binary(&b, e->o->op == PART_SUM ? OP_ADD : OP_MAX, own, sent);
    build_store(&b, e->result, sub + 2, n, build_cast(&b, e->k->param.p[e->result].elem, sum), STORE_SET);
    build_yield(&b, NULL, 0);
}

static void send(const Edit *e, Builder b) {
    Span sub[MAX_DIMS + 2];
    const int n = comm_owner_places(e->k, e->store, e->o->dim, e->block, e->o->axis, sub);
    build_store(&b, e->inbox, sub, n, e->store->arg.p[0], STORE_SET);
    build_yield(&b, NULL, 0);
}

void comm_sum_own(Comm *c, Node *n, const OwnSum *o) {
    Module *m = c->m;
    Edit e = {.c = c, .k = n->kernel, .o = o, .block = size_block(m, o->split, NULL)};
    e.inbox = result_of(n, o->partial);
    e.store = only_store(e.k, e.inbox);
    e.result = result_add(&e, n);
    param_symmetric(e.k, e.inbox, &o->inbox);
    n->arg.p[e.inbox].tensor = o->inbox.id;
    Region *aside = region_new(m, e.store->in->parent);
    Builder b = {.m = m, .k = e.k, .at = aside, .loc = e.store->loc}, own = b, away = b;
    Op *branch = build_if(&b, is_own(&e, &b), NULL, 0);
    own.at = branch->region[0], away.at = branch->region[1];
    add_and_store(&e, own);
    send(&e, away);
    region_splice_before(e.store, aside);
    op_remove(e.store);
}

/* ---- results that go to all ranks ---- */

bool comm_can_store_to_all(const Comm *c, const Node *n, const ToAll *to) {
    const int param = result_of(n, to->from);
    int stores = 0;
    for (const Op *op = param < 0 ? NULL : walk(n->kernel->body); op; op = walk_next(op, n->kernel->body)) {
        if (op->kind == OP_LOAD && op->param == param) return false;
        if (op->kind == OP_STORE && op->param == param) stores += op->mode == STORE_SET ? 1 : 2;
    }
    return stores == 1 && to->split.sym < 0 && c->m->axis.p[to->axis].ranks == RANKS;
}

/* store x  becomes  store x to 0; store x to 1 .. */
static void store_each(Comm *c, Kernel *k, Op *store, const ToAll *to, int param) {
    Region *aside = region_new(c->m, store->in->parent);
    Builder b = {.m = c->m, .k = k, .at = aside, .loc = store->loc};
    for (int64_t r = 0; r < c->m->axis.p[to->axis].ranks; r++) {
        Span sub[MAX_DIMS + 2] = {span_of(affine_const(r))};
        for (int d = 0; d < store->sub.n; d++) {
            const Affine own = d == to->dim ? comm_own_block(&b, to->split) : affine_const(0);
            sub[d + 1] = store->sub.p[d];
            affine_add(&sub[d + 1].lo, &own, 1);
        }
        build_store(&b, param, sub, store->sub.n + 1, store->arg.p[0], STORE_SET);
    }
    region_splice_before(store, aside);
}

void comm_store_to_all(Comm *c, Node *n, const ToAll *to) {
    Kernel *k = n->kernel;
    const int from = result_of(n, to->from);
    int param = from;
    if (to->keep) {
        const Arg arg = n->arg.p[from];
        vec_push(c->m->arena, &n->arg, arg);
        param = kernel_param(c->m, k, k->param.p[from]);
    }
    param_symmetric(k, param, &to->inbox);
    k->param.p[param].name = to->inbox.name;
    n->arg.p[param].tensor = to->inbox.id;
    for (Op *op = walk(k->body), *next; op; op = next) {
        next = walk_next(op, k->body);
        if (op->kind != OP_STORE || op->param != from) continue;
        store_each(c, k, op, to, param);
        if (!to->keep) op_remove(op);
        break;
    }
}
