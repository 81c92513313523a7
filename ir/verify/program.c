/* program.c: tensors, the interface, kernel calls and collectives. */
#include "ir/verify/verify.h"

static void place_verify(Verifier *v, const Tensor *t, int axis) {
    int split = 0;
    for (int d = 0; d < t->ndim; d++) split += size_is_split_over(t->dim[d], axis);
    if (axis < v->m->axis.n && t->place[axis].kind == PLACE_S && split != 1)
        violation(v, t->loc, "'%s' is split over '%s' along %d dimensions", t->name, v->m->axis.p[axis].name, split);
    if (axis >= v->m->axis.n && t->place[axis].kind != PLACE_R)
        violation(v, t->loc, "'%s' is placed on a mesh axis that does not exist", t->name);
}

/* Bounds are the same on every rank. */
static void values_verify(Verifier *v, const Tensor *t) {
    if (t->role != ROLE_INPUT || !elem_is_int(t->elem) || elem_bits(t->elem) < 8)
        violation(v, t->loc, "'%s' has a range of values, and is no input of integers", t->name);
    const Size bound[] = {t->least, t->past};
    for (int i = 0; i < 2; i++)
        if (bound[i].axis >= 0 || bound[i].sym >= v->m->symbol.n)
            violation(v, t->loc, "the range of '%s' is no number or run-time dimension", t->name);
}

static void tensor_verify(Verifier *v, const Tensor *t) {
    if (t->ndim < 0 || t->ndim > (t->role == ROLE_TEMP ? MAX_DIMS : SOURCE_DIMS)) {
        violation(v, t->loc, "'%s' has %d dimensions", t->name, t->ndim);
        return;
    }
    shape_verify(v, t->loc, t->dim, t->ndim, t->elem);
    for (int i = 0; i < MAX_AXES; i++) place_verify(v, t, i);
    if (t->ndim == 0 && t->role != ROLE_INPUT) violation(v, t->loc, "scalar '%s' is not an input", t->name);
    if (t->checked) values_verify(v, t);
    if (t->symmetric != -1) axis_verify(v, t->loc, t->symmetric);
    if (t->symmetric >= 0 && t->ndim == 0) violation(v, t->loc, "scalar '%s' is symmetric", t->name);
    if (t->slots < 1 || t->slots > INT16_MAX) violation(v, t->loc, "'%s' has %d slots", t->name, t->slots);
    if (t->packet && (t->symmetric < 0 || elem_bits(t->elem) > 32))
        violation(v, t->loc, "packet '%s' is not symmetric, or its elements have more than 32 bits", t->name);
}

static void tensors_verify(Verifier *v, const Program *g) {
    for (int i = 0; i < g->tensor.n; i++) {
        const Tensor *t = &g->tensor.p[i];
        if (!t->name) violation(v, t->loc, "tensor %d has no name", i);
        if (t->id != i) violation(v, t->loc, "tensor %d has id %d", i, t->id);
        if (t->name) tensor_verify(v, t);
    }
}

static bool tensor_there(Verifier *v, const Program *g, Loc loc, int t) {
    if (t >= 0 && t < g->tensor.n) return true;
    violation(v, loc, "there is no tensor %d", t);
    return false;
}

static void io_verify(Verifier *v, const Program *g) {
    int *times = ARENA_ARRAY(v->scratch, int, g->tensor.n + 1);
    for (int i = 0; i < g->io.n; i++)
        if (tensor_there(v, g, g->loc, g->io.p[i])) times[g->io.p[i]]++;
    for (int i = 0; i < g->tensor.n; i++) {
        const Tensor *t = &g->tensor.p[i];
        if (times[i] != (t->role != ROLE_TEMP))
            violation(v, t->loc, "'%s' stands %d times in the interface", t->name, times[i]);
    }
}

/* Of dimension d of the tensor. */
static bool dim_matches(const Module *m, const Tensor *t, const Arg *a, const Param *p, int d) {
    Size s = t->dim[d], want = p->dim[d - a->lead];
    return size_equal(size_even(m, size_split(s, a->slice[d])), size_even(m, want));
}

static bool lead_fits(const Tensor *t, const Arg *a) {
    if (a->lead < 0 || a->lead > t->ndim || (a->lead && a->lead == t->ndim)) return false;
    for (int d = 0; d < a->lead; d++)
        if (!size_is_number(t->dim[d]) || a->at[d] < 0 || a->at[d] >= t->dim[d].c || a->slice[d] >= 0) return false;
    return true;
}

/* Both sides are numbers, of one product, behind the dimensions that agree. */
static bool view_fits(const Tensor *t, const Arg *a, const Param *p) {
    int64_t have = 1, want = 1;
    int same = arg_same_dims(t, a, p);
    for (int d = a->lead + same; d < t->ndim; d++)
        if (!size_is_number(t->dim[d]) || __builtin_mul_overflow(have, t->dim[d].c, &have)) return false;
    for (int d = same; d < p->ndim; d++)
        if (!size_is_number(p->dim[d]) || __builtin_mul_overflow(want, p->dim[d].c, &want)) return false;
    for (int d = 0; d < t->ndim; d++)
        if (a->slice[d] >= 0) return false;
    return have == want;
}

static void arg_shape_verify(Verifier *v, const Node *n, const Tensor *t, const Arg *a, const Param *p) {
    if (!lead_fits(t, a)) {
        violation(v, n->loc, "'%s' has no part at these places", t->name);
        return;
    }
    if (a->view) {
        if (!view_fits(t, a, p)) violation(v, n->loc, "parameter '%s' is no view of '%s'", p->name, t->name);
        return;
    }
    if (t->ndim - a->lead != p->ndim) {
        violation(v, n->loc, "'%s' has %d dimensions, and parameter '%s' %d", t->name, t->ndim - a->lead, p->name,
                  p->ndim);
        return;
    }
    for (int d = a->lead; d < t->ndim; d++) {
        if (!axis_list_verify(v, n->loc, size_split(t->dim[d], a->slice[d]).axis)) return;
        if (!dim_matches(v->m, t, a, p, d))
            violation(v, n->loc, "dimension %d of '%s' is not that of parameter '%s'", d, t->name, p->name);
    }
}

static void arg_verify(Verifier *v, const Program *g, const Node *n, int i) {
    const Arg *a = &n->arg.p[i];
    const Param *p = &n->kernel->param.p[i];
    if (!tensor_there(v, g, n->loc, a->tensor)) return;
    const Tensor *t = &g->tensor.p[a->tensor];
    arg_shape_verify(v, n, t, a, p);
    if (t->elem != p->elem)
        violation(v, n->loc, "'%s' is %s, and parameter '%s' %s", t->name, elem_text(t->elem), p->name,
                  elem_text(p->elem));
    if (p->ranks >= 0 && p->ranks != t->symmetric)
        violation(v, n->loc, "'%s' is not symmetric along the axis of parameter '%s'", t->name, p->name);
    if (p->ranks >= 0 && p->packet != t->packet)
        violation(v, n->loc, "only one of '%s' and parameter '%s' is of packets", t->name, p->name);
    if ((p->out || p->inout) && t->role == ROLE_INPUT) violation(v, n->loc, "input '%s' is written", t->name);
}

static void aliases_verify(Verifier *v, const Program *g, const Node *n) {
    for (int i = 0; i < n->arg.n; i++)
        if (n->kernel->param.p[i].out || n->kernel->param.p[i].inout) v->writer[n->arg.p[i].tensor] = i + 1;
    for (int i = 0; i < n->arg.n; i++) {
        const Tensor *t = &g->tensor.p[n->arg.p[i].tensor];
        if (t->symmetric < 0 && v->writer[t->id] && v->writer[t->id] != i + 1)
            violation(v, n->loc, "the call writes '%s' and uses it a second time", t->name);
    }
    for (int i = 0; i < n->arg.n; i++) v->writer[n->arg.p[i].tensor] = 0;
}

static bool kernel_there(Verifier *v, const Node *n, const Kernel *k) {
    if (k && k->id >= 0 && k->id < v->m->kernel.n && v->m->kernel.p[k->id] == k) return true;
    violation(v, n->loc, "node %d calls a kernel that is not of the module", n->id);
    return false;
}

static bool same_parameters(const Kernel *a, const Kernel *b) {
    if (a->param.n != b->param.n) return false;
    for (int i = 0; i < a->param.n; i++) {
        const Param *x = &a->param.p[i], *y = &b->param.p[i];
        if (x->elem != y->elem || x->ndim != y->ndim || x->out != y->out || x->inout != y->inout || x->ranks != y->ranks)
            return false;
        for (int d = 0; d < x->ndim; d++)
            if (!size_equal(x->dim[d], y->dim[d])) return false;
    }
    return true;
}

/* Flags count the tasks of one kernel. Where costs decide, the first one has a cost, too. */
static void otherwise_verify(Verifier *v, const Program *g, const Node *n) {
    for (int i = 0; i < g->flag.n; i++)
        if (n->otherwise.n && (g->flag.p[i].producer == n->id || g->flag.p[i].consumer == n->id))
            violation(v, n->loc, "node %d has several kernels, and a flag counts its tasks", n->id);
    for (int i = 0; i < n->otherwise.n; i++) {
        const Kernel *k = n->otherwise.p[i];
        if (!kernel_there(v, n, k)) return;
        if (k->plan.cost && !n->kernel->plan.cost)
            violation(v, n->loc, "'%s' has a cost, and '%s' none", k->name, n->kernel->name);
        if (!same_parameters(n->kernel, k)) violation(v, n->loc, "'%s' has other parameters than '%s'", k->name, n->kernel->name);
    }
}

static void call_verify(Verifier *v, const Program *g, const Node *n) {
    const Kernel *k = n->kernel;
    int before = v->violations;
    if (!kernel_there(v, n, k)) return;
    otherwise_verify(v, g, n);
    if (n->arg.n != k->param.n) {
        violation(v, n->loc, "'%s' takes %d arguments, not %d", k->name, k->param.n, n->arg.n);
        return;
    }
    for (int i = 0; i < n->arg.n; i++) arg_verify(v, g, n, i);
    if (v->violations == before) aliases_verify(v, g, n);
}

/* The dimension that becomes split; -1: none does. */
static int dim_that_splits(const Node *n) {
    const CollInfo *info = &coll_info[n->coll];
    return !info->splits ? -1 : info->gathers ? n->dim2 : n->dim;
}

/* The extent of the result along dimension d of the source. */
static Size result_dim(const Node *n, const Tensor *src, int d) {
    if (coll_info[n->coll].gathers && d == n->dim) return size_gathered(src->dim[d]);
    return d == dim_that_splits(n) ? size_split(src->dim[d], n->axis) : src->dim[d];
}

static bool is_dim(const Tensor *t, int d) { return d >= 0 && d < t->ndim; }

/* Is the source split where the collective needs it, and not where its result will be? */
static bool source_fits(const Node *n, const Tensor *src) {
    const CollInfo *info = &coll_info[n->coll];
    int to = dim_that_splits(n);
    if (info->gathers && (!is_dim(src, n->dim) || axes_last(src->dim[n->dim].axis) != n->axis || n->dim == to)) return false;
    return !info->splits || (is_dim(src, to) && !size_is_split_over(src->dim[to], n->axis));
}

static bool result_fits(const Module *m, const Node *n, const Tensor *src, const Tensor *dst) {
    int lead = coll_info[n->coll].stacks;
    if (dst->ndim != src->ndim + lead) return false;
    if (lead && (n->dim != 0 || !size_equal(dst->dim[0], size_number(m->axis.p[n->axis].ranks)))) return false;
    for (int d = 0; d < src->ndim; d++)
        if (!size_equal(dst->dim[d + lead], result_dim(n, src, d))) return false;
    return true;
}

static void collective_verify(Verifier *v, const Program *g, const Node *n) {
    if (!tensor_there(v, g, n->loc, n->src) || !tensor_there(v, g, n->loc, n->dst)) return;
    if (!axis_verify(v, n->loc, n->axis)) return;
    const Tensor *src = &g->tensor.p[n->src], *dst = &g->tensor.p[n->dst];
    if (n->src == n->dst) violation(v, n->loc, "a collective gives '%s' to itself", src->name);
    if (dst->role == ROLE_INPUT) violation(v, n->loc, "input '%s' is written", dst->name);
    if (src->elem != dst->elem && !(elem_is_float(src->elem) && elem_is_float(dst->elem)))
        violation(v, n->loc, "a collective gives %s of %s", elem_text(dst->elem), elem_text(src->elem));
    if (!source_fits(n, src))
        violation(v, n->loc, "'%s' is not split as the collective needs it", src->name);
    else if (!result_fits(v->m, n, src, dst))
        violation(v, n->loc, "'%s' does not have the shape that the collective gives", dst->name);
    int64_t ranks = v->m->axis.p[n->axis].ranks;
    CollArgument argument = coll_info[n->coll].argument;
    if (argument == ARG_ROOT && (n->shift < 0 || n->shift >= ranks))
        violation(v, n->loc, "there is no rank %lld to %s from", (long long)n->shift, coll_info[n->coll].name);
    if (argument == ARG_SHIFT && (n->shift <= -ranks || n->shift >= ranks))
        violation(v, n->loc, "a shift by %lld ranks", (long long)n->shift);
}

/* The condition of a node is one bool, everywhere the same, and not what the node itself makes. */
static void when_verify(Verifier *v, const Program *g, const Node *n) {
    if (!n->when || !tensor_there(v, g, n->loc, n->when - 1)) return;
    const Tensor *t = &g->tensor.p[n->when - 1];
    bool one = t->elem == ELEM_BOOL && t->ndim == 1 && size_equal(t->dim[0], size_number(1)) && t->symmetric < 0;
    for (int a = 0; a < v->m->axis.n; a++) one = one && t->place[a].kind == PLACE_R;
    if (!one) violation(v, n->loc, "the condition '%s' is not one bool that every rank has", t->name);
    bool made = n->kind == NODE_COLLECTIVE && n->dst == t->id;
    for (int i = 0; i < n->arg.n; i++) made = made || n->arg.p[i].tensor == t->id;
    if (made) violation(v, n->loc, "a node has its own condition '%s' as an argument", t->name);
    if (v->m->form) violation(v, n->loc, "a node has a condition of its own in this form");
}

static void node_verify(Verifier *v, const Program *g, const Node *n) {
    when_verify(v, g, n);
    if (n->kind == NODE_CALL)
        call_verify(v, g, n);
    else
        collective_verify(v, g, n);
}

void program_verify(Verifier *v, const Program *g) {
    int before = v->violations;
    v->writer = ARENA_ARRAY(v->scratch, int, g->tensor.n + 1);
    tensors_verify(v, g);
    if (v->violations == before) io_verify(v, g);
    int nodes = v->violations == before ? g->node.n : 0;
    for (int i = 0; i < nodes; i++) {
        if (g->node.p[i]->id != i) violation(v, g->node.p[i]->loc, "node %d has id %d", i, g->node.p[i]->id);
        node_verify(v, g, g->node.p[i]);
    }
    if (v->violations == before) flags_verify(v, g);
}
