/* program_part.c: parts of tensors: the first dimensions at places known at compile time, as in kc[l].
   Takes a subscripted expression; gives the same tensor with fewer dimensions, which nothing copies. */
#include "frontend/program.h"

#include <string.h>

/* ---- parts ---- */

Tensor value_tensor(const Prog *c, const ProgValue *v) {
    Tensor t = c->p->tensor.p[v->tensor];
    t.checked = false; /* where it comes in, and not again */
    t.ndim -= v->lead;
    memmove(t.dim, t.dim + v->lead, sizeof *t.dim * (size_t)t.ndim);
    if (!v->view) return t;
    t.ndim = v->view->ndim;
    memcpy(t.dim, v->view->dim, sizeof t.dim);
    return t;
}

Arg value_arg(const ProgValue *v) {
    Arg a = {.tensor = v->tensor, .lead = v->lead, .view = v->view != NULL};
    memcpy(a.at, v->at, sizeof a.at);
    for (int d = 0; d < MAX_DIMS; d++) a.slice[d] = -1;
    return a;
}

static bool same_places(const ProgValue *a, const ProgValue *b, int n) {
    for (int d = 0; d < n; d++)
        if (a->at[d] != b->at[d]) return false;
    return a->kind == PROG_TENSOR && b->kind == PROG_TENSOR && a->tensor == b->tensor;
}

bool value_equal(const ProgValue *a, const ProgValue *b) {
    return a->lead == b->lead && a->view == b->view && same_places(a, b, a->lead);
}

bool value_overlaps(const ProgValue *a, const ProgValue *b) {
    return same_places(a, b, a->lead < b->lead ? a->lead : b->lead);
}

ProgValue value_whole(Prog *c, ProgValue part) { return value_cast(c, part, value_tensor(c, &part).elem); }

ProgValue value_cast(Prog *c, ProgValue part, Elem elem) {
    Tensor t = value_tensor(c, &part);
    TensorInfo info = c->info.p[part.tensor];
    memmove(info.dim, info.dim + part.lead, sizeof *info.dim * (size_t)(MAX_DIMS - part.lead));
    t.name = name_of(c->m->names, arena_format(c->arena, "%s_part", t.name));
    t.role = ROLE_TEMP;
    t.elem = info.whole_elem = elem;
    ProgValue whole = prog_tensor(c, tensor_new(c, t, &info), part.loc);
    return map_copy(c, part, &whole, part.loc) ? whole : prog_error(part.loc);
}

/* ---- x[l] ---- */

static bool report(Prog *c, Loc loc, const char *id, const char *text) {
    diag_error(c->diags, loc, id, "%s", text);
    return false;
}

static bool place_lower(Prog *c, const Expr *e, const ProgValue *v, int64_t *at) {
    ProgValue n;
    Size extent = c->p->tensor.p[v->tensor].dim[v->lead];
    if (!number_of_expr(c, e, &n) || !n.is_integer)
        return report(c, e->loc, "not-constant", "a part of a tensor is taken at a place known at compile time");
    if (extent.axis >= 0)
        return report(c, e->loc, "split-part", "this dimension is split: gather it first, all_gather(..)");
    if (extent.sym >= 0)
        return report(c, e->loc, "unsupported",
                      "not supported yet: a part along a dimension that is known at run time only");
    *at = (int64_t)n.number;
    if (n.number >= 0 && n.number < (double)extent.c) return true;
    diag_error(c->diags, e->loc, "out-of-range", "%lld is outside of the dimension, which has %lld",
               (long long)n.number, (long long)extent.c);
    return false;
}

ProgValue part_lower(Prog *c, const Expr *e) {
    ProgValue v = tensor_lower(c, e->base, &expected_nothing);
    if (v.kind != PROG_TENSOR) return prog_error(e->loc);
    if (v.view) {
        report(c, e->loc, "unsupported", "not supported yet: a part of a view; view the part");
        return prog_error(e->loc);
    }
    if (e->args.n >= value_tensor(c, &v).ndim) {
        report(c, e->loc, "unsupported", "not supported yet: an element of a tensor as a value; leave a dimension");
        return prog_error(e->loc);
    }
    for (int i = 0; i < e->args.n; i++) {
        if (!place_lower(c, e->args.p[i], &v, &v.at[v.lead])) return prog_error(e->loc);
        v.lead++;
    }
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
    if (!shape || shape->args.n > MAX_DIMS) {
        report(c, e->loc, "wrong-arguments", "view takes a tensor and its new extents: view(x, [n, 32])");
        return prog_error(e->loc);
    }
    ProgValue v = tensor_lower(c, e->args.p[0], &expected_nothing);
    if (v.kind != PROG_TENSOR) return prog_error(e->loc);
    v.view = NULL;
    Tensor from = value_tensor(c, &v), to = from;
    to.ndim = shape->args.n;
    for (int d = 0; d < to.ndim; d++)
        if (!extent_of(c, shape->args.p[d], &to.dim[d])) return prog_error(e->loc);
    if (!view_fits(c, e, &from, &to)) return prog_error(e->loc);
    v.view = arena_copy(c->arena, &to, sizeof to);
    v.loc = e->loc;
    return v;
}
