/* edit.c: edits of nodes and kernels that fusing needs: parameters taken over and dropped, nodes moved and removed. */
#include "passes/fuse/fuse.h"

#include <string.h>

int fuse_results(const Kernel *k) {
    int n = 0;
    for (int i = 0; i < k->param.n; i++) n += k->param.p[i].out || k->param.p[i].inout;
    return n;
}

void fuse_take_params(Module *m, const Node *from, int but, Node *to, Inline *in) {
    for (int i = 0; i < in->from->param.n; i++) {
        if (i == but) continue;
        in->param[i] = kernel_param(m, to->kernel, in->from->param.p[i]);
        vec_push(m->arena, &to->arg, from->arg.p[i]);
    }
}

static void shift_params(Region *r, int gone) {
    for (Op *op = walk(r); op; op = walk_next(op, r))
        if (op_info[op->kind].class == CLASS_MEMORY && op->param > gone) op->param--;
}

void fuse_drop_param(Node *n, int gone) {
    Kernel *k = n->kernel;
    memmove(&k->param.p[gone], &k->param.p[gone + 1], sizeof(Param) * (size_t)(k->param.n - gone - 1));
    memmove(&n->arg.p[gone], &n->arg.p[gone + 1], sizeof(Arg) * (size_t)(n->arg.n - gone - 1));
    for (int i = 0; i < k->ngrid; i++) k->range.p[i].starts -= k->range.p[i].starts - 1 > gone;
    k->param.n--;
    n->arg.n--;
    shift_params(k->body, gone);
}

Value *fuse_loaded_value(Builder *b, const Pair *f, const Op *store) {
    Value *v = build_cast(b, b->k->param.p[f->out].elem, store->arg.p[0]);
    Type t = v->type;
    for (int d = 0; d < store->sub.n; d++)
        if (b->k->range.p[f->stored[d]].kind != RANGE_POSITION) t = type_with(t, f->stored[d]);
    return build_broadcast(b, t, v);
}

static bool is_called_once(const Module *m, const Kernel *k) {
    int calls = 0;
    for (int i = 0; i < m->program.n; i++)
        for (int n = 0; n < m->program.p[i]->node.n; n++) calls += m->program.p[i]->node.p[n]->kernel == k;
    return calls <= 1; /* a copy on trial is not called at all */
}

Kernel *fuse_own_kernel(Module *m, Node *n) {
    if (!is_called_once(m, n->kernel)) n->kernel = kernel_clone(m, n->kernel);
    return n->kernel;
}

Node fuse_clone_node(Module *m, const Node *n) {
    Node fresh = *n;
    fresh.kernel = kernel_clone(m, n->kernel);
    fresh.arg.p = NULL, fresh.arg.n = fresh.arg.cap = 0;
    for (int i = 0; i < n->arg.n; i++) vec_push(m->arena, &fresh.arg, n->arg.p[i]);
    return fresh;
}

/* A long chain is called after its beginning. */
Name fuse_name(Module *m, const Kernel *a, const Kernel *b) {
    if (strlen(a->name) + strlen(b->name) > 100) return a->name;
    return name_of(m->names, arena_format(m->arena, "%s_%s", a->name, b->name));
}

void fuse_drop_node(Program *p, const Node *gone) {
    int n = 0;
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i] != gone) p->node.p[n++] = p->node.p[i];
    p->node.n = n;
    for (int i = 0; i < n; i++) p->node.p[i]->id = i;
}

void fuse_move_down(Program *p, Node *producer, Node *consumer) {
    fuse_drop_node(p, producer);
    producer->id = consumer->id;
    p->node.p[producer->id] = producer;
}
