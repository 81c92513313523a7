/* order.c: which nodes read and make a program's tensors, and which producers may move down to their consumers past
   what stands between. */
#include "passes/fuse/fuse.h"

/* ---- who reads what ---- */

static void use_count(Use *use, Node *n) {
    if (n->kind == NODE_COLLECTIVE) use[n->src].uses++, use[n->dst].uses += n->src != n->dst;
    if (n->when) use[n->when - 1].uses += 2; /* it stays a tensor */
    for (int a = 0; a < n->arg.n; a++) {
        Use *u = &use[n->arg.p[a].tensor];
        u->uses++;
        if (n->kind != NODE_CALL) continue;
        u->updated |= n->kernel->param.p[a].inout;
        if (!n->kernel->param.p[a].out || u->producer) continue;
        u->producer = n;
        u->out = a;
    }
}

void fuse_count_uses(const Program *p, Use *use) {
    for (int i = 0; i < p->tensor.n; i++) use[i] = (Use){.updated = p->tensor.p[i].role == ROLE_STATE};
    for (int i = 0; i < p->node.n; i++) use_count(use, p->node.p[i]);
}

int fuse_uses(const Node *n, int tensor) {
    int count = (n->kind == NODE_COLLECTIVE && n->src == tensor) + (n->when == tensor + 1);
    for (int a = 0; a < n->arg.n; a++) count += n->arg.p[a].tensor == tensor;
    return count;
}

/* A kernel that touches what is updated in place stays where it is. */
bool fuse_touches_updated(const Use *use, const Node *n) {
    for (int a = 0; a < n->arg.n; a++)
        if (use[n->arg.p[a].tensor].updated) return true;
    return false;
}

/* ---- who may move down ---- */

/* The producer moves down to the consumer: nothing between may read its result. */
static bool is_read_between(const Pair *f) {
    for (int i = f->producer->id + 1; i < f->consumer->id; i++)
        if (fuse_uses(f->p->node.p[i], f->tensor)) return true;
    return false;
}

static bool parts_meet(const Arg *a, const Arg *b) {
    if (a->tensor != b->tensor) return false;
    for (int d = 0; d < a->lead && d < b->lead; d++)
        if (a->at[d] != b->at[d]) return false;
    return true;
}

bool fuse_makes(const Node *n, const Arg *arg) {
    if (n->kind == NODE_COLLECTIVE) return n->dst == arg->tensor;
    for (int a = 0; a < n->arg.n; a++)
        if (n->kernel->param.p[a].out && parts_meet(&n->arg.p[a], arg)) return true;
    return false;
}

/* The producer moves down to the consumer: neither that nor what stands between makes anew what it takes or gives, nor
   its condition. */
static bool is_made_anew(const Pair *f) {
    const Node *producer = f->producer;
    for (int i = producer->id + 1; i <= f->consumer->id; i++) {
        const Node *n = f->p->node.p[i];
        if (producer->when && fuse_makes(n, &(Arg){.tensor = producer->when - 1})) return true;
        for (int a = 0; a < producer->arg.n; a++)
            if (fuse_makes(n, &producer->arg.p[a])) return true;
    }
    return false;
}

static bool updates(const Node *n, int tensor) {
    for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
        if (n->kernel->param.p[a].inout && n->arg.p[a].tensor == tensor) return true;
    return false;
}

/* The producer moves down to the consumer: neither that nor what stands between updates what it reads in place. */
static bool is_updated_behind(const Pair *f) {
    for (int a = 0; a < f->producer->arg.n; a++)
        for (int i = f->producer->id; i <= f->consumer->id; i++)
            if (updates(f->p->node.p[i], f->producer->arg.p[a].tensor)) return true;
    return false;
}

bool fuse_find_producer(Pair *f, const Use *use) {
    const Tensor *t = &f->p->tensor.p[f->tensor];
    const Use *u = &use[f->tensor];
    if (f->consumer->kernel->param.p[f->in].out || !arg_is_whole(&f->consumer->arg.p[f->in])) return false;
    if ((t->role != ROLE_TEMP && t->role != ROLE_OUTPUT) || t->symmetric >= 0 || u->updated) return false;
    if (fuse_uses(f->consumer, f->tensor) > 1) return false; /* also as another argument, which would come too early */
    if (!u->producer || u->producer->id >= f->consumer->id || u->producer->when != f->consumer->when) return false;
    if (kernel_prints(u->producer->kernel) || kernel_prints(f->consumer->kernel)) return false; /* records keep their order */
    f->producer = u->producer;
    f->out = u->out;
    f->kept = t->role != ROLE_TEMP || u->uses != 2;
    return arg_is_whole(&u->producer->arg.p[u->out]) && !is_updated_behind(f) &&
           !is_read_between(f) && !is_made_anew(f);
}
