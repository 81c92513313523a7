/* relation_cover.c: writes that certainly reach every element of a tensor.
   Takes: accesses of a node. Gives: those that hide older ones, whatever the sizes are. */
#include "ir/poly/relation.h"

/* Each dimension by the positions of a range of the grid over just its extent, each in a task of its own right. */
bool access_covers(const Program *p, const Access *a) {
    const Node *n = p->node.p[a->node];
    const Tensor *t = &p->tensor.p[a->tensor];
    const Op *op = a->op;
    uint64_t ranges = 0;
    if (!a->write || op->mode != STORE_SET || op->in->parent || t->symmetric >= 0 || !arg_is_whole(&n->arg.p[op->param])) return false;
    for (int d = 0; d < t->ndim; d++) {
        int range = affine_position(&op->sub.p[d].lo);
        if (range < 0 || range >= 64 || ranges >> range & 1) return false;
        const Range *r = &n->kernel->range.p[range];
        if (!r->grid || r->starts || r->owner >= 0 || !size_equal(r->of, t->dim[d])) return false;
        ranges |= (uint64_t)1 << range;
    }
    return true;
}
