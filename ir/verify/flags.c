/* flags.c: flag families, and the waits and signals of the kernels that a program calls. The proof, not this file,
   decides whether waits and signals are enough. */
#include "ir/verify/verify.h"

static bool nodes_of_flag(Verifier *v, const Program *g, const Flag *f) {
    int n = g->node.n;
    if (f->producer >= 0 && f->producer < n && f->consumer >= 0 && f->consumer < n) {
        if (g->node.p[f->producer]->kind == NODE_CALL) return true;
        violation(v, g->loc, "the producer of flag '%s' is a collective", f->name);
        return false;
    }
    violation(v, g->loc, "flag '%s' names a node that does not exist", f->name);
    return false;
}

static void flag_dim_verify(Verifier *v, const Program *g, const Flag *f, int i) {
    const FlagDim *d = &f->dim.p[i];
    const Range *r = &g->node.p[f->producer]->kernel->range.p[i];
    if (!size_equal(d->of, r->of) || d->size != r->size)
        violation(v, g->loc, "dimension %d of flag '%s' is not that of its producer's grid", i, f->name);
    if (d->ragged != (r->starts > 0) || (d->ragged && !size_equal(d->groups, range_groups(g->node.p[f->producer]->kernel, i))))
        violation(v, g->loc, "dimension %d of flag '%s' has not the groups of its producer's grid", i, f->name);
    if (d->group < GROUP_DEST || d->group > MAX_EXTENT)
        violation(v, g->loc, "a dimension of flag '%s' is divided by %lld", f->name, (long long)d->group);
    if (d->group == GROUP_DEST && f->axis < 0)
        violation(v, g->loc, "flag '%s' has a destination and crosses no axis", f->name);
}

static void flag_verify(Verifier *v, const Program *g, const Flag *f, int i) {
    if (f->id != i) violation(v, g->loc, "flag %d has id %d", i, f->id);
    if (!f->name) {
        violation(v, g->loc, "flag %d has no name", i);
        return;
    }
    if (f->axis != -1) axis_verify(v, g->loc, f->axis);
    if (f->arrivals < 0) violation(v, g->loc, "flag '%s' has %lld arrivals", f->name, (long long)f->arrivals);
    if (!nodes_of_flag(v, g, f)) return;
    int ngrid = g->node.p[f->producer]->kernel->ngrid;
    if (f->dim.n != ngrid)
        violation(v, g->loc, "flag '%s' has %d dimensions, and its producer's grid %d", f->name, f->dim.n, ngrid);
    for (int d = 0; d < f->dim.n && d < ngrid; d++) flag_dim_verify(v, g, f, d);
}

static void sync_of_node(Verifier *v, const Program *g, const Node *n, const Op *op) {
    if (op_info[op->kind].class != CLASS_SYNC) return;
    const char *text = op_info[op->kind].text;
    if (op->flag < 0 || op->flag >= g->flag.n) {
        violation(v, op->loc, "%s of flag %d, which does not exist", text, op->flag);
        return;
    }
    const Flag *f = &g->flag.p[op->flag];
    if (op->sub.n != f->dim.n)
        violation(v, op->loc, "%s of flag '%s' has %d subscripts, not %d", text, f->name, op->sub.n, f->dim.n);
    if (op->kind == OP_SIGNAL && f->producer != n->id)
        violation(v, op->loc, "node %d signals flag '%s' of node %d", n->id, f->name, f->producer);
    if (op->kind == OP_SIGNAL && flag_has_dest(f) && !affine_equal(&op->dest.lo, &op->dest.hi))
        violation(v, op->loc, "a signal of flag '%s', which has a destination, names several ranks", f->name);
}

static void syncs_verify(Verifier *v, const Program *g, const Node *n, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        sync_of_node(v, g, n, op);
}

void flags_verify(Verifier *v, const Program *g) {
    int before = v->violations;
    if (g->flag.n && !(v->m->form & FORM_FLAGS)) violation(v, g->loc, "flags in a module without them");
    for (int i = 0; i < g->flag.n; i++) flag_verify(v, g, &g->flag.p[i], i);
    if (!(v->m->form & FORM_FLAGS) || v->violations > before) return;
    for (int i = 0; i < g->node.n; i++)
        if (g->node.p[i]->kind == NODE_CALL) syncs_verify(v, g, g->node.p[i], g->node.p[i]->kernel->body);
}
