/* copy.c: nodes that call kernels, and those that copy a tensor, or part of one, into another.
   Takes values; gives nodes, and values that are tensors of their own. */
#include "frontend/program/made.h"

#include <string.h>

/* ---- calls ---- */

ActualArg actual_of_tensor(const Graph *g, const ProgValue *v, const Arg *part) {
    ActualArg a = {.loc = v->loc};
    Tensor t = value_tensor(g, v);
    a.elem = t.elem;
    a.ndim = t.ndim;
    for (int d = 0; d < t.ndim; d++) a.dim[d] = size_split(t.dim[d], part->slice[value_lead(v) + d]);
    return a;
}

bool node_call(Graph *g, Kernel *k, const ProgValue *arg, const Arg *part, int narg, const ProgValue *result, int n,
               Loc loc) {
    Node node = {.kind = NODE_CALL, .loc = loc, .kernel = k};
    VEC(const ProgValue *) value = {0};
    for (int i = 0; i < narg; i++) {
        if (arg[i].kind != PROG_TENSOR) continue;
        vec_push(g->arena, &node.arg, part[i]);
        vec_push(g->arena, &value, &arg[i]);
    }
    for (int i = 0; i < n; i++) {
        ProgValue *to = arena_copy(g->arena, &result[i], sizeof *to);
        if (value_is_scalar(g, to)) *to = value_unspotted(to);
        vec_push(g->arena, &node.arg, value_arg(to));
        vec_push(g->arena, &value, to);
    }
    for (int i = 0; i < value.n; i++)
        if (!value_lives(g, value.p[i])) return false;
    if (!node_widen(g, &node, value.p, value.n)) return false;
    node_new(g, node);
    return true;
}

/* ---- copies ---- */

/* The dimensions of which the kernel sees this rank's block: a view that is cut so is a tensor of its own. */
static bool block_take(Graph *g, ProgValue *from, const ProgValue *to, Arg *part) {
    Tensor have = value_tensor(g, from), want = value_tensor(g, to);
    bool sliced = false;
    for (int i = 0; i < have.ndim; i++) sliced = sliced || have.dim[i].axis != want.dim[i].axis;
    if (sliced && from->view) *from = value_whole(g, *from);
    if (from->kind != PROG_TENSOR) return false;
    *part = value_arg(from);
    for (int i = 0; i < have.ndim; i++) {
        int rest;
        bool more = axes_begin_with(want.dim[i].axis, have.dim[i].axis, &rest);
        if (more) part->slice[value_lead(from) + i] = (int16_t)rest;
    }
    return true;
}

static bool call_copy(Graph *g, const Decl *d, ProgValue *from, const ProgValue *to, Loc loc) {
    Arg part;
    if (!block_take(g, from, to, &part)) return false;
    ActualArg actual = actual_of_tensor(g, from, &part);
    ExpectedResult expected = {value_tensor(g, to).elem, true};
    Kernel *k = kernel_instantiate(&g->f->lower, d, &actual, 1, &expected, 1, loc);
    return k && node_call(g, k, from, &part, 1, to, 1, loc);
}

bool value_copy(Graph *g, ProgValue from, const ProgValue *to, Loc loc) {
    Made m = {.g = g, .a = g->arena, .loc = loc, .good = true};
    int ndim = value_tensor(g, to).ndim;
    Expr *value = leaf_of(&m, from);
    if (!g->f->copy[ndim]) g->f->copy[ndim] = kernel_made(&m, "copy", value, ndim);
    return call_copy(g, g->f->copy[ndim], &from, to, loc);
}

ProgValue value_whole(Graph *g, ProgValue part) { return value_cast(g, part, value_tensor(g, &part).elem); }

ProgValue value_cast(Graph *g, ProgValue part, Elem elem) {
    Tensor t = value_tensor(g, &part);
    TensorInfo info = *tensor_info(g, part.tensor);
    memmove(info.dim, info.dim + value_lead(&part), sizeof *info.dim * (size_t)(MAX_DIMS - value_lead(&part)));
    t.name = name_of(g->m->names, arena_format(g->arena, "%s_part", t.name));
    t.role = ROLE_TEMP;
    if (t.elem != elem) t.elem = info.whole_elem = elem;
    ProgValue whole = t.ndim ? prog_tensor(g, tensor_new(g, t, &info), part.loc) : scalar_new(g, t, &info, part.loc);
    if (!value_copy(g, part, &whole, part.loc)) return prog_error(part.loc);
    memcpy(whole.place, part.place, sizeof whole.place); /* a rank's own block of a part is one of the copy */
    return whole;
}
