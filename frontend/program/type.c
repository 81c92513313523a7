/* type.c: the types of a program's parameters, results and annotations: element, extents, placement.
   Takes a type as written; gives a tensor's fields and what its dimensions are called. */
#include "frontend/program/number.h"
#include "frontend/sema/familiar.h"

#include <string.h>

/* ---- extents as text ---- */

const char *extent_text(const Front *f, Size s) {
    const char *split = size_split_text(f->lower.m, s);
    if (s.sym < 0) return arena_format(f->arena, "%lld%s", (long long)s.c, split);
    const char *name = f->lower.m->symbol.p[s.sym].name;
    return s.c ? arena_format(f->arena, "%s%+lld%s", name, (long long)s.c, split)
               : arena_format(f->arena, "%s%s", name, split);
}

const char *shape_text(const Front *f, const Tensor *t) {
    const char *s = "[";
    for (int d = 0; d < t->ndim; d++) s = arena_format(f->arena, "%s%s%s", s, d ? ", " : "", extent_text(f, t->dim[d]));
    return arena_format(f->arena, "%s]", s);
}

/* ---- extents ---- */

/* A name of the head hides a dim of the file. */
static Found hidden_report(const Front *f, const Variable *v, Loc loc) {
    diag_error(f->diags, loc, "undefined", "'%s' is a name of the program's head here, not the dim", v->name);
    diag_note(f->diags, v->loc, "declared here; choose another name");
    return FOUND_ERROR;
}

static Found extent_find(const Resolver *r, Name name, Loc loc, Size *s) {
    const Scope *scope = r->context;
    const Variable *v = variable_find(scope, name);
    bool number = v && v->value.kind == PROG_NUMBER && v->value.number.is_integer;
    bool runtime = v && v->value.kind == PROG_SIZE;
    if (number) *s = size_number(v->value.number.i);
    if (runtime) *s = v->value.size;
    if (number || runtime || dim_of_head(scope, name, s)) return FOUND;
    Found found = global_find(r->lw, name, loc, s);
    return v && found == FOUND ? hidden_report(scope_front(scope), v, loc) : found;
}

static void extent_unknown(const Resolver *r, const Expr *e) {
    diag_error(r->lw->m->diags, e->loc, "undefined", "'%s' is not a dim", e->name);
    const char *near = front_near_kind(scope_front(r->context), e->name, DECL_DIM);
    if (near) diag_suggest(r->lw->m->diags, e->loc, e->name, near);
    else diag_note(r->lw->m->diags, e->loc, "declare it: dim %s = ..;", e->name);
}

static bool axis_lower(Front *f, const Expr *e, Size *s) {
    int axis = -1;
    for (int a = 0; a < f->lower.m->axis.n; a++)
        if (e->kind == EXPR_NAME && f->lower.m->axis.p[a].name == e->name) axis = a;
    if (axis >= 0 && !size_is_split_over(*s, axis)) return *s = size_split(*s, axis), true;
    if (axis >= 0) {
        diag_error(f->diags, e->loc, "split-twice", "this dimension is split over '%s' twice", e->name);
    } else if (e->kind == EXPR_NAME) {
        diag_error(f->diags, e->loc, "undefined", "'%s' is not a mesh axis", e->name);
        const char *near = front_near_kind(f, e->name, DECL_MESH);
        if (near)
            diag_suggest(f->diags, e->loc, e->name, near);
        else
            diag_note(f->diags, e->loc, "declare it: mesh %s = 4;", e->name);
    } else
        diag_error(f->diags, e->loc, "undefined", "a mesh axis is expected here");
    return false;
}

/* `K @ tp`, `K @ (tp, dp)`: the extent, and the axes that split it, major first. */
static bool split_lower(Front *f, const Expr *e, Size *s) {
    if (e->kind != EXPR_TUPLE) return axis_lower(f, e, s);
    for (int i = 0; i < e->args.n; i++)
        if (!axis_lower(f, e->args.p[i], s)) return false;
    return true;
}

bool extent_of(const Scope *scope, const Expr *e, Size *s) {
    Resolver r = {
        .lw = &scope_front(scope)->lower, .context = (Scope *)scope, .find = extent_find, .unknown = extent_unknown};
    return size_of_expr(&r, e, s);
}

static bool extent_lower(const Scope *scope, const Expr *e, Size *s, DimName *name) {
    Front *f = scope_front(scope);
    bool split = e->kind == EXPR_BINARY && e->op == AST_AT;
    const Expr *of = split ? e->lhs : e;
    if (of->kind == EXPR_NAME) name->whole = of->name;
    if (!extent_of(scope, of, s)) return false;
    if (size_is_number(*s) && s->c < 0) {
        diag_error(f->diags, of->loc, "bad-extent", "this extent is %lld", (long long)s->c);
        return false;
    }
    if (size_bound(f->lower.m, *s) > MAX_EXTENT) {
        diag_error(f->diags, of->loc, "too-large", "this extent is beyond 2^40");
        return false;
    }
    return !split || split_lower(f, e->rhs, s);
}

/* ---- types ---- */

static bool type_refuse(Front *f, const TypeExpr *t) {
    const Decl *d = ptrmap_get(&f->visible, t->elem);
    if (t->of)
        diag_error(f->diags, t->loc, "unknown-type", "'%s(%s)' is a type of variables of kernels", t->of, t->elem);
    else if (t->format)
        diag_error(f->diags, t->loc, "format-place", "only an input of a program is stored in a format");
    else if (d && d->kind == DECL_RECORD)
        diag_error(f->diags, t->loc, "unsupported", "not supported yet: a record as part of a type");
    else if (t->shape.n > SOURCE_DIMS)
        diag_error(f->diags, t->loc, "too-many-dims", "%d dimensions, at most %d are possible", t->shape.n,
                   SOURCE_DIMS);
    else
        return false;
    return true;
}

static void elem_unknown(Front *f, const TypeExpr *t) {
    diag_error(f->diags, t->loc, "unknown-type", "'%s' is not an element type", t->elem);
    const char *near = familiar_elem(t->elem);
    if (near) diag_suggest(f->diags, t->loc, t->elem, near);
}

static void places_of_dims(Front *f, Tensor *t) {
    for (int d = 0; d < t->ndim; d++) {
        for (int a = 0; a < f->lower.m->axis.n; a++) {
            if (!size_is_split_over(t->dim[d], a)) continue;
            if (t->place[a].kind == PLACE_S)
                diag_error(f->diags, t->loc, "split-twice", "'%s' is split over '%s' along two dimensions", t->name,
                           f->lower.m->axis.p[a].name);
            t->place[a].kind = PLACE_S;
        }
    }
}

void dims_place(Tensor *t) {
    memset(t->place, 0, sizeof t->place);
    for (int d = 0; d < t->ndim; d++)
        for (int a = t->dim[d].axis; a >= 0; a = axes_rest(a)) t->place[axes_first(a)].kind = PLACE_S;
}

static bool bytes_fit(Front *f, Loc loc, const Tensor *t) {
    int64_t bytes = (elem_bits(t->elem) + 7) / 8;
    bool over = false;
    for (int d = 0; d < t->ndim; d++) {
        int64_t n = size_bound(f->lower.m, size_whole(t->dim[d]));
        over |= n > 0 && __builtin_mul_overflow(bytes, n, &bytes);
    }
    if (!over && bytes <= MAX_BYTES) return true;
    diag_error(f->diags, loc, "too-large", "'%s' is %s of %s: 2^51 bytes or more", t->name, shape_text(f, t),
               elem_text(t->elem));
    return false;
}

bool type_lower(const Scope *scope, const TypeExpr *e, Tensor *t, DimName name[MAX_DIMS]) {
    Front *f = scope_front(scope);
    bool good = true;
    if (type_refuse(f, e)) return false;
    if (!elem_find(scope, e->elem, &t->elem)) return elem_unknown(f, e), false;
    t->ndim = e->shape.n;
    for (int d = 0; d < t->ndim; d++) good = extent_lower(scope, e->shape.p[d], &t->dim[d], &name[d]) && good;
    if (good) places_of_dims(f, t), good = bytes_fit(f, e->loc, t);
    return good;
}
