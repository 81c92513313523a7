/* part.c: parts of tensors: the first dimensions at places known at compile time, as in kc[l].
   Takes a subscripted expression; gives the same tensor with fewer dimensions, which nothing copies. */
#include "frontend/program/program.h"

#include <string.h>

/* ---- parts ---- */

static void dims_drop(Tensor *t, int n) {
    t->ndim -= n;
    memmove(t->dim, t->dim + n, sizeof *t->dim * (size_t)t->ndim);
}

Tensor value_tensor(const Prog *c, const ProgValue *v) {
    Tensor t = c->p->tensor.p[v->tensor];
    t.checked = false; /* where it comes in, and not again */
    dims_drop(&t, v->lead);
    if (v->view) {
        t.ndim = v->view->ndim;
        memcpy(t.dim, v->view->dim, sizeof t.dim);
    }
    dims_drop(&t, v->nspot);
    return t;
}

ProgValue scalar_of(Prog *c, ProgValue v) {
    v.spot = ARENA_NEW(c->arena, Affine);
    v.nspot = 1;
    return v;
}

ProgValue scalar_new(Prog *c, Tensor t, const TensorInfo *info, Loc loc) {
    t.ndim = 1;
    t.dim[0] = size_number(1);
    return scalar_of(c, prog_tensor(c, tensor_new(c, t, info), loc));
}

bool value_is_scalar(const Prog *c, const ProgValue *v) {
    const Tensor *t = &c->p->tensor.p[v->tensor];
    return v->kind == PROG_TENSOR && t->ndim == 1 && v->nspot == 1 && !v->view && affine_is_const(&v->spot[0]) &&
           size_is_number(t->dim[0]) && t->dim[0].c == 1;
}

ProgValue value_whole(Prog *c, ProgValue part) { return value_cast(c, part, value_tensor(c, &part).elem); }

ProgValue value_cast(Prog *c, ProgValue part, Elem elem) {
    Tensor t = value_tensor(c, &part);
    TensorInfo info = c->info.p[part.tensor];
    memmove(info.dim, info.dim + value_lead(&part), sizeof *info.dim * (size_t)(MAX_DIMS - value_lead(&part)));
    t.name = name_of(c->m->names, arena_format(c->arena, "%s_part", t.name));
    t.role = ROLE_TEMP;
    if (t.elem != elem) t.elem = info.whole_elem = elem;
    ProgValue whole = t.ndim ? prog_tensor(c, tensor_new(c, t, &info), part.loc) : scalar_new(c, t, &info, part.loc);
    if (!map_copy(c, part, &whole, part.loc)) return prog_error(part.loc);
    memcpy(whole.place, part.place, sizeof whole.place); /* a rank's own block of a part is one of the copy */
    return whole;
}

/* ---- x[l] ---- */

static bool report(Prog *c, Loc loc, const char *id, const char *text) {
    diag_error(c->diags, loc, id, "%s", text);
    return false;
}

/* At a number, in front of everything else, the tensor itself is taken in part; else the kernel is told the place. */
static void place_take(Prog *c, ProgValue *v, const Affine *at) {
    bool leaves = v->lead + 1 < c->p->tensor.p[v->tensor].ndim;
    if (affine_is_const(at) && !v->view && !v->nspot && leaves &&
        size_is_number(c->p->tensor.p[v->tensor].dim[v->lead])) {
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
    Size extent = value_tensor(c, v).dim[0];
    if (extent.axis >= 0)
        return report(c, e->loc, "split-part", "this dimension is split: gather it first, all_gather(..)");
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
    int ndim = value_tensor(c, &v).ndim;
    if (e->args.n > ndim) {
        diag_error(c->diags, e->loc, "wrong-rank", "'%s' has %d dimension%s, %d subscripts are given",
                   tensor_text(c, &v), ndim, ndim == 1 ? "" : "s", e->args.n);
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
        return report(c, e->loc, "view-shape", "extents that change are numbers, and not split");
    if (have == want) return true;
    diag_error(c->diags, e->loc, "view-shape",
               "behind the first %d dimensions this has %lld elements, and the view %lld", same, (long long)have,
               (long long)want);
    return false;
}

ProgValue view_lower(Prog *c, const Expr *e) {
    const Expr *shape = e->args.n == 2 && e->args.p[1]->kind == EXPR_LIST ? e->args.p[1] : NULL;
    if (!shape || shape->args.n > SOURCE_DIMS) {
        report(c, e->loc, "wrong-arguments", "view takes a tensor and its new extents: view(x, [n, 32])");
        return prog_error(e->loc);
    }
    ProgValue v = tensor_lower(c, e->args.p[0], &expected_nothing);
    if (v.kind != PROG_TENSOR) return prog_error(e->loc);
    if (v.nspot) v = value_whole(c, v);
    if (v.kind != PROG_TENSOR) return v;
    v.view = NULL;
    Tensor from = value_tensor(c, &v), to = from;
    to.ndim = shape->args.n;
    for (int d = 0; d < to.ndim; d++)
        if (!extent_of(c->scope, shape->args.p[d], &to.dim[d])) return prog_error(e->loc);
    if (!view_fits(c, e, &from, &to)) return prog_error(e->loc);
    if (!dims_equal(&from, &to)) v.view = arena_copy(c->arena, &to, sizeof to);
    v.loc = e->loc;
    return v;
}
