/* role_slices.c: workgroups of a cluster that share a tile: each sums a slice of the loops, and no sum leaves a role
   but through a ring that adds up those of all. */
#include "ir/verify/roles.h"

/* Of the operation's operands, or of what it goes on with in the next iteration. */
static bool takes_flying(const bool *own, const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        if (own[op->arg.p[i]->id]) return true;
    return false;
}

static bool mark(bool *own, const Value *x) {
    bool fresh = !own[x->id];
    own[x->id] = true;
    return fresh;
}

/* What the slice's products have made, and no other workgroup has: also of what loops and conditions hand on. */
static bool mark_more(bool *own, const Region *r) {
    bool more = false;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        const Op *around = op->kind == OP_YIELD ? op->in->parent : NULL;
        for (int i = 0; around && i < op->arg.n && i < around->res.n; i++) {
            if (!own[op->arg.p[i]->id]) continue;
            more |= mark(own, around->res.p[i]);
            if (around->kind == OP_FOR) more |= mark(own, around->region[0]->arg.p[i]);
        }
        bool passes = op->kind != OP_WRITE && op->kind != OP_STORE && op->kind != OP_YIELD;
        if (op->kind != OP_MMA && !(passes && takes_flying(own, op))) continue;
        for (int i = 0; i < op->res.n; i++) more |= mark(own, op->res.p[i]);
    }
    return more;
}

static void write_verify(Verifier *v, const bool *own, const Op *op) {
    const Op *put = op->in->parent;
    bool stored = op->kind == OP_STORE, written = op->kind == OP_WRITE && !ring_sums(&v->k->roles->ring.p[put->ring]);
    if ((stored || written) && takes_flying(own, op))
        violation(v, op->loc, "%s takes the sums of one workgroup's slice", op_info[op->kind].text);
}

/* Around its products each workgroup runs other steps. */
static void loop_verify(Verifier *v, const Op *mma) {
    const int part = v->k->roles->cluster_range;
    for (const Op *op = mma->in->parent; op; op = op->in->parent)
        if (op->kind == OP_FOR && (scalar_follows(op->arg.p[0], part) || scalar_follows(op->arg.p[1], part))) return;
    violation(v, mma->loc, "all workgroups of a cluster compute the product, and the cluster sums it");
}

void role_slices_verify(Verifier *v, const Role *r) {
    if (!roles_slice(v->k)) return;
    bool *own = ARENA_ARRAY(v->scratch, bool, v->k->nvalue + 1);
    while (mark_more(own, r->body)) {
    }
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) {
        if (op->kind == OP_MMA) loop_verify(v, op);
        write_verify(v, own, op);
    }
}
