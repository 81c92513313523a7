/* pointwise.c: a consumer that works element by element runs where its producer stores, at whatever places: pixels of a
   convolution are quotients of one position. Used by fuse. */
#include "passes/fuse/fuse.h"

/* Every access of more than a scalar is at the place of the pair's load, in a tensor of the same extents. */
static bool accesses_agree(const Pair *f) {
    const Kernel *k = f->consumer->kernel;
    const Param *own = &k->param.p[f->in];
    int16_t range[MAX_DIMS];
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op_info[op->kind].class == CLASS_INDEX) return false;
        if (op_info[op->kind].class != CLASS_MEMORY || !op->sub.n) continue;
        const Param *p = &k->param.p[op->param];
        if (op->sub.n != f->load->sub.n || p->packet || p->ranks >= 0 || !fuse_identity_access(k, op, range)) return false;
        for (int d = 0; d < op->sub.n; d++)
            if (range[d] != f->loaded[d] || !size_equal(p->dim[d], own->dim[d])) return false;
    }
    return true;
}

/* Of a kernel that does not read its own result. */
static const Op *only_store(const Kernel *k, int param) {
    int count;
    const Op *op = fuse_access(k, param, &count);
    return op && count == 1 && op->kind == OP_STORE && op->mode == STORE_SET ? op : NULL;
}

bool fuse_is_pointwise(Pair *f) {
    const Kernel *a = f->producer->kernel, *b = f->consumer->kernel;
    if (a->nvalue + b->nvalue > FUSE_MOST_VALUES || !only_store(a, f->out)) return false;
    f->load = fuse_access(b, f->in, &f->loads);
    if (!f->load || !fuse_identity_access(b, f->load, f->loaded) || !fuse_elementwise(b, f->load)) return false;
    return f->pointwise = accesses_agree(f);
}

static Type type_of_places(const Kernel *k, const Op *access, Elem e) {
    Type t = type_scalar(e);
    for (int d = 0; d < access->sub.n; d++) t = type_union(t, affine_type(k, &access->sub.p[d].lo));
    return t;
}

void fuse_pointwise_access(Inline *in, const Pair *f, const Op *op) {
    Op *copy = op_like(in->m, op);
    for (int i = 0; i < op->arg.n; i++) vec_push(in->m->arena, &copy->arg, in->value[op->arg.p[i]->id]);
    for (int d = 0; d < op->sub.n; d++) copy->sub.p[d] = f->store->sub.p[d];
    copy->param = (int16_t)in->param[op->param];
    op_append_to(in->at, copy);
    if (op->kind == OP_LOAD)
        in->value[op->res.p[0]->id] = op_result(in->m, in->into, copy, type_of_places(in->into, f->store, op->res.p[0]->type.elem));
}
