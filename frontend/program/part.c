/* part.c: parts of tensors: the first dimensions at places known at compile time, as in kc[l].
   Takes a subscripted expression; gives the same tensor with fewer dimensions, which nothing copies. */
#include "frontend/program/program.h"

/* ---- x[l] ---- */

/* At a number, in front of everything else, the tensor itself is taken in part; else the kernel is told the place. */
static void place_take(Prog *c, ProgValue *v, const Affine *at) {
    bool leaves = v->lead + 1 < c->graph->p->tensor.p[v->tensor].ndim;
    if (affine_is_const(at) && !v->view && !v->nspot && leaves &&
        size_is_number(c->graph->p->tensor.p[v->tensor].dim[v->lead])) {
        v->at[v->lead++] = at->c;
        return;
    }
    Affine *spot = ARENA_ARRAY(c->arena, Affine, v->nspot + 1);
    for (int i = 0; i < v->nspot; i++) spot[i] = v->spot[i];
    spot[v->nspot++] = *at;
    v->spot = spot;
}

static bool place_lower(Prog *c, const Expr *e, ProgValue *v) {
    Affine at;
    Size extent = value_tensor(c->graph, v).dim[0];
    if (extent.axis >= 0)
        return diag_refuse(c->diags, e->loc, "split-part", "this dimension is split: gather it first, all_gather(..)");
    if (!spot_lower(c, e, &at)) return false;
    if (affine_is_const(&at) && (at.c < 0 || at.c >= size_bound(c->m, extent))) {
        diag_error(c->diags, e->loc, "out-of-range", "%lld is outside of the dimension, which has %lld",
                   (long long)at.c, (long long)size_bound(c->m, extent));
        return false;
    }
    place_take(c, v, &at);
    return true;
}

ProgValue part_lower(Prog *c, const Expr *e) {
    ProgValue v = tensor_lower(c, e->base, &expected_nothing);
    if (v.kind != PROG_TENSOR) return prog_error(e->loc);
    int ndim = value_tensor(c->graph, &v).ndim;
    if (e->args.n > ndim) {
        diag_error(c->diags, e->loc, "wrong-rank", "'%s' has %d dimension%s, %d subscripts are given",
                   tensor_text(c->graph, &v), ndim, ndim == 1 ? "" : "s", e->args.n);
        return prog_error(e->loc);
    }
    for (int i = 0; i < e->args.n; i++)
        if (!place_lower(c, e->args.p[i], &v)) return prog_error(e->loc);
    v.loc = e->loc;
    return v;
}

/* ---- view(x, [..]) ---- */

static bool elements_of(const Tensor *t, int from, int64_t *n) {
    *n = 1;
    for (int d = from; d < t->ndim; d++)
        if (!size_is_number(t->dim[d]) || __builtin_mul_overflow(*n, t->dim[d].c, n)) return false;
    return true;
}

/* A split dimension in front stays split. */
static int same_dims(const Tensor *from, Tensor *to) {
    int same = 0;
    for (; same < from->ndim && same < to->ndim; same++) {
        if (!size_equal(size_whole(from->dim[same]), to->dim[same])) break;
        to->dim[same] = from->dim[same];
    }
    return same;
}

static bool view_fits(Prog *c, const Expr *e, const Tensor *from, Tensor *to) {
    int64_t have, want;
    int same = same_dims(from, to);
    if (!elements_of(from, same, &have) || !elements_of(to, same, &want))
        return diag_refuse(c->diags, e->loc, "view-shape", "extents that change are numbers, and not split");
    if (have == want) return true;
    diag_error(c->diags, e->loc, "view-shape",
               "behind the first %d dimensions this has %lld elements, and the view %lld", same, (long long)have,
               (long long)want);
    return false;
}

ProgValue view_lower(Prog *c, const Expr *e) {
    const Expr *shape = e->args.n == 2 && e->args.p[1]->kind == EXPR_LIST ? e->args.p[1] : NULL;
    if (!shape || shape->args.n > SOURCE_DIMS) {
        diag_error(c->diags, e->loc, "wrong-arguments", "view takes a tensor and its new extents: view(x, [n, 32])");
        return prog_error(e->loc);
    }
    ProgValue v = tensor_lower(c, e->args.p[0], &expected_nothing);
    if (v.kind != PROG_TENSOR) return prog_error(e->loc);
    if (v.nspot) v = value_whole(c->graph, v);
    if (v.kind != PROG_TENSOR) return v;
    v.view = NULL;
    Tensor from = value_tensor(c->graph, &v), to = from;
    to.ndim = shape->args.n;
    for (int d = 0; d < to.ndim; d++)
        if (!extent_of(c->scope, shape->args.p[d], &to.dim[d])) return prog_error(e->loc);
    if (!view_fits(c, e, &from, &to)) return prog_error(e->loc);
    if (!dims_equal(&from, &to)) v.view = arena_copy(c->arena, &to, sizeof to);
    v.loc = e->loc;
    return v;
}
