/* view.c: a result that is only copied, in other extents, is stored as these at once: its producer writes a view of
   what the copy made. Used by fuse. */
#include "passes/fuse/fuse.h"

/* The body loads one parameter and stores the other, at the same places. */
static bool is_copy(const Kernel *k) {
    const Op *load = k->body->first, *store = load ? load->next : NULL;
    if (k->param.n != 2 || !store || store->next || load->kind != OP_LOAD || store->kind != OP_STORE) return false;
    int16_t from[MAX_DIMS], to[MAX_DIMS];
    if (store->mode != STORE_SET || store->arg.p[0] != load->res.p[0] || load->param || store->param != 1) return false;
    if (!fuse_identity_access(k, load, from) || !fuse_identity_access(k, store, to)) return false;
    for (int d = 0; d < load->sub.n; d++)
        if (from[d] != to[d]) return false;
    return true;
}

static bool has_numbers(const Tensor *t) {
    for (int d = 0; d < t->ndim; d++)
        if (!size_is_number(t->dim[d])) return false;
    return t->symmetric < 0 && !t->packet && t->slots == 1;
}

/* Neither the producer nor what stands up to the copy uses what this makes. */
static bool is_free(const Program *p, int tensor, const Node *producer, const Node *copy) {
    for (int i = producer->id; i < copy->id; i++)
        if (fuse_uses(p->node.p[i], tensor)) return false;
    return true;
}

bool fuse_view(PassContext *c, Program *p, Node *copy, const Use *use) {
    if (copy->kind != NODE_CALL || copy->arg.n != 2 || copy->otherwise.n || !is_copy(copy->kernel)) return false;
    const Arg *from = &copy->arg.p[0], *to = &copy->arg.p[1];
    const Tensor *made = &p->tensor.p[from->tensor], *wanted = &p->tensor.p[to->tensor];
    const Use *u = &use[from->tensor];
    Node *producer = u->producer;
    if (!from->view || from->lead || !arg_is_whole(to) || made->role != ROLE_TEMP || u->uses != 2 || u->updated)
        return false;
    if (use[to->tensor].updated || !has_numbers(made) || !has_numbers(wanted) || made->elem != wanted->elem)
        return false;
    if (!producer || producer->id >= copy->id || producer->otherwise.n || producer->when || copy->when) return false;
    if (!arg_is_whole(&producer->arg.p[u->out]) || !is_free(p, to->tensor, producer, copy)) return false;
    remark(c, "fuse", copy->loc, "%s stores '%s' as '%s', in other extents", producer->kernel->name, made->name,
           wanted->name);
    producer->arg.p[u->out] = *to;
    producer->arg.p[u->out].view = true;
    fuse_drop_node(p, copy);
    return true;
}
