/* type.c: the types of a program's parameters, results and annotations: element, extents, placement.
   Takes a type as written; gives a tensor's fields and what its dimensions are called. */
#include "frontend/sema/familiar.h"
#include "frontend/program/program.h"

#include "frontend/sema/const.h"

#include <string.h>

/* A name of the head hides a dim of the file. */
static Found hidden_report(const Prog *c, const Variable *v, Loc loc) {
    diag_error(c->diags, loc, "undefined", "'%s' is a name of the program's head here, not the dim", v->name);
    diag_note(c->diags, v->loc, "declared here; choose another name");
    return FOUND_ERROR;
}

static Found extent_find(const Resolver *r, Name name, Loc loc, Size *s) {
    Prog *c = r->context;
    const Variable *v = variable_find(c, name);
    bool number = v && v->value.kind == PROG_NUMBER && v->value.is_integer;
    bool runtime = v && v->value.kind == PROG_SIZE;
    if (number) *s = size_number((int64_t)v->value.number);
    if (runtime) *s = v->value.size;
    if (number || runtime || frame_dim(c, name, s)) return FOUND;
    Found found = global_find(r->lw, name, loc, s);
    return v && found == FOUND ? hidden_report(c, v, loc) : found;
}

static void extent_unknown(const Resolver *r, const Expr *e) {
    diag_error(r->lw->m->diags, e->loc, "undefined", "'%s' is not a dim", e->name);
    const char *near = front_near_kind(((Prog *)r->context)->f, e->name, DECL_DIM);
    if (near) diag_suggest(r->lw->m->diags, e->loc, e->name, near);
    else diag_note(r->lw->m->diags, e->loc, "declare it: dim %s = ..;", e->name);
}

static bool axis_lower(Prog *c, const Expr *e, Size *s) {
    int axis = -1;
    for (int a = 0; a < c->m->axis.n; a++)
        if (e->kind == EXPR_NAME && c->m->axis.p[a].name == e->name) axis = a;
    if (axis >= 0 && !size_is_split_over(*s, axis)) return *s = size_split(*s, axis), true;
    if (axis >= 0) {
        diag_error(c->diags, e->loc, "split-twice", "this dimension is split over '%s' twice", e->name);
    } else if (e->kind == EXPR_NAME) {
        diag_error(c->diags, e->loc, "undefined", "'%s' is not a mesh axis", e->name);
        const char *near = front_near_kind(c->f, e->name, DECL_MESH);
        if (near) diag_suggest(c->diags, e->loc, e->name, near);
        else diag_note(c->diags, e->loc, "declare it: mesh %s = 4;", e->name);
    } else
        diag_error(c->diags, e->loc, "undefined", "a mesh axis is expected here");
    return false;
}

/* `K @ tp`, `K @ (tp, dp)`: the extent, and the axes that split it, major first. */
static bool split_lower(Prog *c, const Expr *e, Size *s) {
    if (e->kind != EXPR_TUPLE) return axis_lower(c, e, s);
    for (int i = 0; i < e->args.n; i++)
        if (!axis_lower(c, e->args.p[i], s)) return false;
    return true;
}

bool extent_of(Prog *c, const Expr *e, Size *s) {
    Resolver r = {.lw = &c->f->lower, .context = c, .find = extent_find, .unknown = extent_unknown};
    return size_of_expr(&r, e, s);
}

static bool extent_lower(Prog *c, const Expr *e, Size *s, DimName *name) {
    bool split = e->kind == EXPR_BINARY && e->op == AST_AT;
    const Expr *of = split ? e->lhs : e;
    if (of->kind == EXPR_NAME) name->whole = of->name;
    if (!extent_of(c, of, s)) return false;
    if (size_is_number(*s) && s->c < 0) {
        diag_error(c->diags, of->loc, "bad-extent", "this extent is %lld", (long long)s->c);
        return false;
    }
    if (size_bound(c->m, *s) > MAX_EXTENT) {
        diag_error(c->diags, of->loc, "too-large", "this extent is beyond 2^40");
        return false;
    }
    return !split || split_lower(c, e->rhs, s);
}

static bool type_refuse(Prog *c, const TypeExpr *t) {
    const Decl *d = ptrmap_get(&c->f->visible, t->elem);
    if (t->of)
        diag_error(c->diags, t->loc, "unknown-type", "'%s(%s)' is a type of variables of kernels", t->of, t->elem);
    else if (t->format)
        diag_error(c->diags, t->loc, "format-place", "only an input of a program is stored in a format");
    else if (d && d->kind == DECL_RECORD)
        diag_error(c->diags, t->loc, "unsupported", "not supported yet: a record as part of a type");
    else if (t->shape.n > SOURCE_DIMS)
        diag_error(c->diags, t->loc, "too-many-dims", "%d dimensions, at most %d are possible", t->shape.n, SOURCE_DIMS);
    else
        return false;
    return true;
}

static void elem_unknown(Prog *c, const TypeExpr *t) {
    diag_error(c->diags, t->loc, "unknown-type", "'%s' is not an element type", t->elem);
    const char *near = familiar_elem(t->elem);
    if (near) diag_suggest(c->diags, t->loc, t->elem, near);
}

static void places_of_dims(Prog *c, Tensor *t) {
    for (int d = 0; d < t->ndim; d++) {
        for (int a = 0; a < c->m->axis.n; a++) {
            if (!size_is_split_over(t->dim[d], a)) continue;
            if (t->place[a].kind == PLACE_S)
                diag_error(c->diags, t->loc, "split-twice", "'%s' is split over '%s' along two dimensions", t->name,
                           c->m->axis.p[a].name);
            t->place[a].kind = PLACE_S;
        }
    }
}

void dims_place(Tensor *t) {
    memset(t->place, 0, sizeof t->place);
    for (int d = 0; d < t->ndim; d++)
        for (int a = t->dim[d].axis; a >= 0; a = axes_rest(a)) t->place[axes_first(a)].kind = PLACE_S;
}

static bool bytes_fit(Prog *c, Loc loc, const Tensor *t) {
    int64_t bytes = (elem_bits(t->elem) + 7) / 8;
    bool over = false;
    for (int d = 0; d < t->ndim; d++) {
        int64_t n = size_bound(c->m, size_whole(t->dim[d]));
        over |= n > 0 && __builtin_mul_overflow(bytes, n, &bytes);
    }
    if (!over && bytes <= MAX_BYTES) return true;
    diag_error(c->diags, loc, "too-large", "'%s' is %s of %s: 2^51 bytes or more", t->name, shape_text(c, t),
               elem_text(t->elem));
    return false;
}

bool type_lower(Prog *c, const TypeExpr *e, Tensor *t, TensorInfo *info) {
    bool good = true;
    if (type_refuse(c, e)) return false;
    if (!frame_elem(c, e->elem, &t->elem)) return elem_unknown(c, e), false;
    info->whole_elem = t->elem;
    t->ndim = e->shape.n;
    for (int d = 0; d < t->ndim; d++) good = extent_lower(c, e->shape.p[d], &t->dim[d], &info->dim[d]) && good;
    if (good) places_of_dims(c, t), good = bytes_fit(c, e->loc, t);
    return good;
}
