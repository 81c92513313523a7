/* prologue.c: an elementwise kernel runs where its result is loaded, once, by a kernel that is not elementwise
   itself (a norm, a softmax). The result is still stored where others read it, or the program gives it.
   Products of matrices load what they read again and again, and have schedules: they stay apart. */
#include "passes/fuse/fuse.h"

/* A contraction that gives a matrix; sums of squares are contractions as well. */
static bool has_product(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_DOT && op->res.p[0]->type.nrange > 1) return true;
    return false;
}

static bool pair_fits(Pair *f) {
    const Kernel *a = f->producer->kernel, *b = f->consumer->kernel;
    return fuse_accesses_meet(f) && fuse_elementwise(a, f->store) && fuse_results(a) == 1 && f->loads == 1 &&
           f->load->in == b->body && b->ngrid == f->load->sub.n && !has_product(b->body);
}

typedef struct {
    Inline *in;
    const Pair *pair;
    Builder b;
    Value *value; /* what the consumer would have loaded */
} Prologue;

static bool take_value(void *ctx, const Op *op) {
    Prologue *p = ctx;
    if (op != p->pair->store) return false;
    Elem stored = p->in->from->param.p[op->param].elem;
    Value *v = build_cast(&p->b, stored, p->in->value[op->arg.p[0]->id]);
    p->value = build_broadcast(&p->b, p->pair->load->res.p[0]->type, v);
    return !p->pair->kept;
}

static void fuse_pair(PassContext *c, Pair *f) {
    Module *m = c->m;
    Node *n = f->consumer;
    Kernel *k = fuse_own_kernel(m, n);
    f->load = fuse_access(k, f->in, &f->loads);
    k->name = fuse_name(m, f->producer->kernel, k);
    Region *aside = region_new(m, NULL);
    Inline in = inline_begin(m, f->producer->kernel, k, aside);
    for (int d = 0; d < f->load->sub.n; d++) in.range[f->stored[d]] = f->loaded[d];
    fuse_take_params(m, f->producer, f->kept ? -1 : f->out, n, &in);
    Prologue p = {.in = &in, .pair = f, .b = {.m = m, .k = k, .at = aside, .loc = f->load->loc}};
    in.access = take_value;
    in.ctx = &p;
    inline_region(&in, f->producer->kernel->body);
    region_splice_before(f->load, aside);
    region_replace(k->body, f->load->res.p[0], p.value);
    op_remove(f->load);
    fuse_drop_param(n, f->in);
}

bool fuse_prologue(PassContext *c, Program *p, Node *consumer, const Use *use) {
    if (consumer->kind != NODE_CALL || fuse_touches_updated(use, consumer)) return false;
    for (int a = 0; a < consumer->arg.n; a++) {
        Pair f = {.p = p, .consumer = consumer, .tensor = consumer->arg.p[a].tensor, .in = a};
        if (!fuse_find_producer(&f, use) || !pair_fits(&f)) continue;
        remark(c, "fuse", consumer->loc, "%s runs where %s reads '%s'%s", f.producer->kernel->name,
               consumer->kernel->name, p->tensor.p[f.tensor].name,
               f.kept ? ", and stores it as well" : ": it stays out of memory");
        fuse_pair(c, &f);
        fuse_drop_node(p, f.producer);
        return true;
    }
    return false;
}
