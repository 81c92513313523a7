/* join.c: the operations of one kernel go beside those of another with the same tasks: loops over equal tiles
   become one loop, what both load is loaded once. Used by fuse for siblings and for parts of a producer. */
#include "passes/fuse/fuse.h"

/* ---- which bodies ---- */

bool fuse_same_tiles(const Range *a, const Range *b) { return a->kind == b->kind && a->size == b->size; }

/* The one loop of a region that holds no other control flow. */
static Op *loop_of(const Region *r) {
    Op *loop = NULL;
    for (Op *op = r->first; op; op = op->next) {
        if (op_info[op->kind].class != CLASS_CONTROL || op->kind == OP_YIELD) continue;
        if (loop || op->kind != OP_FOR || op->region[1]) return NULL;
        loop = op;
    }
    return loop;
}

static bool has_control(const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        if (op_info[op->kind].class == CLASS_CONTROL && op->kind != OP_YIELD) return true;
    return false;
}

static bool same_bound(const Value *a, const Value *b) {
    bool known = a->def && b->def && (a->def->kind == OP_CONST || a->def->kind == OP_SIZE);
    return known && op_same_attributes(a->def, b->def);
}

/* Both have a loop over the same tiles that carries something, and in it again, or nothing but operations. */
static bool loops_agree(const Kernel *a, const Region *ra, const Kernel *b, const Region *rb) {
    const Op *x = loop_of(ra), *y = loop_of(rb);
    if (!x || !y) return !has_control(ra) && !has_control(rb);
    const Range *rx = &a->range.p[x->range], *ry = &b->range.p[y->range];
    return x->res.n && y->res.n && fuse_same_tiles(rx, ry) && rx->tunable == ry->tunable &&
           same_bound(x->arg.p[0], y->arg.p[0]) && same_bound(x->arg.p[1], y->arg.p[1]) &&
           loops_agree(a, x->region[0], b, y->region[0]);
}

/* Stores set elements once, and nothing that is stored is loaded. */
static bool is_simple(const Kernel *k, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op->kind == OP_STORE && op->mode != STORE_SET) return false;
        if (op->kind == OP_LOAD && k->param.p[op->param].out) return false;
    }
    return true;
}

/* ---- joining ---- */

typedef struct {
    Inline *in;
    Region *into; /* where the operation in hand goes, .. */
    Op *before;   /* .. and in front of which one; NULL: its end */
} Join;

/* What `into` has loaded already. */
static bool take_load(void *ctx, const Op *op) {
    Join *j = ctx;
    if (op->kind != OP_LOAD) return false;
    for (const Op *o = j->into->first; o != j->before; o = o->next) {
        bool same = o->kind == OP_LOAD && o->param == j->in->param[op->param] && o->sub.n == op->sub.n;
        for (int d = 0; same && d < op->sub.n; d++) {
            Affine a = inline_affine(j->in, &op->sub.p[d].lo);
            same = affine_equal(&a, &o->sub.p[d].lo);
        }
        if (same) return j->in->value[op->res.p[0]->id] = o->res.p[0], true;
    }
    return false;
}

static void join_op(Join *j, const Op *op) {
    Region *aside = region_new(j->in->m, j->into->parent);
    j->in->at = aside;
    inline_op(j->in, op);
    if (j->before)
        region_splice_before(j->before, aside);
    else
        region_take(j->into, aside);
}

static void join_region(Join *j, Region *a, const Region *b);

static void join_loop(Join *j, Op *a, const Op *b) {
    Module *m = j->in->m;
    Region *ra = a->region[0], *rb = b->region[0];
    j->in->range[b->range] = a->range;
    for (int i = 0; i < rb->arg.n; i++) {
        Value *init = j->in->value[b->arg.p[i + 2]->id];
        vec_push(m->arena, &a->arg, init);
        j->in->value[rb->arg.p[i]->id] = region_arg(m, j->in->into, ra, init->type, rb->arg.p[i]->name);
    }
    join_region(j, ra, rb);
    for (int i = 0; i < rb->arg.n; i++) {
        vec_push(m->arena, &ra->last->arg, j->in->value[rb->last->arg.p[i]->id]);
        Value *v = op_result(m, j->in->into, a, inline_type(j->in, b->res.p[i]->type));
        v->name = b->res.p[i]->name;
        j->in->value[b->res.p[i]->id] = v;
    }
}

/* What stands before b's loop goes before a's, what stands behind it to the end. */
static void join_region(Join *j, Region *a, const Region *b) {
    Op *x = loop_of(a);
    const Op *y = loop_of(b);
    Op *end = a->last && a->last->kind == OP_YIELD ? a->last : NULL;
    Op *before = x ? x : end;
    for (const Op *op = b->first; op; op = op->next) {
        j->into = a, j->before = before;
        if (op == y)
            join_loop(j, x, y), before = end;
        else if (op->kind != OP_YIELD)
            join_op(j, op);
    }
}

bool fuse_bodies_agree(const Kernel *a, const Kernel *b) {
    return loops_agree(a, a->body, b, b->body) && is_simple(a, a->body) && is_simple(b, b->body);
}

bool fuse_has_loop(const Kernel *k) { return loop_of(k->body) != NULL; }

void fuse_join(Inline *in) {
    Join j = {.in = in};
    in->access = take_load;
    in->ctx = &j;
    join_region(&j, in->into->body, in->from->body);
}
