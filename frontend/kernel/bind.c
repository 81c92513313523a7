/* bind.c: the parameters of a kernel against the arguments of one call.
   Takes a declaration and actual arguments; gives dimensions, element types, constants and the extents of results. */
#include "frontend/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Lower *lw;
    const Decl *decl;
    const ActualArg *arg;
    int narg;
    const ExpectedResult *expected;
    int nresult;
    Loc call;
    Binding *b;
    bool good;
} Bind;

static Diags *diags_of(const Bind *c) { return c->lw->m->diags; }

static BoundDim *dim_find(const Bind *c, Name name) {
    for (int i = 0; i < c->b->dim.n; i++)
        if (c->b->dim.p[i].name == name) return &c->b->dim.p[i];
    return NULL;
}

static const BoundParam *const_find(const Bind *c, Name name) {
    for (int i = 0; i < c->b->param.n; i++)
        if (c->b->param.p[i].decl->name == name && c->b->param.p[i].constant != BOUND_NOTHING) return &c->b->param.p[i];
    return NULL;
}

/* ---- extents ---- */

static const char *size_text(const Bind *c, Size s) {
    Arena *a = c->lw->m->arena;
    const char *split = size_split_text(c->lw->m, s);
    if (s.sym < 0) return arena_format(a, "%" PRId64 "%s", s.c, split);
    const char *name = c->lw->m->symbol.p[s.sym].name;
    return s.c ? arena_format(a, "(%s %c %" PRId64 ")%s", name, s.c < 0 ? '-' : '+', s.c < 0 ? -s.c : s.c, split)
               : arena_format(a, "%s%s", name, split);
}

static Found extent_find(const Resolver *r, Name name, Loc loc, Size *s) {
    const Bind *c = r->context;
    const BoundDim *d = dim_find(c, name);
    const BoundParam *p = d ? NULL : const_find(c, name);
    if (!d && !p) return global_find(r->lw, name, loc, s);
    *s = d ? d->size : p->constant == BOUND_SIZE ? p->size : size_number(p->i);
    return d || p->constant == BOUND_INT || p->constant == BOUND_SIZE ? FOUND : FOUND_NOT;
}

static void extent_unknown(const Resolver *r, const Expr *e) {
    diag_error(r->lw->m->diags, e->loc, "unbound-dim", "no parameter binds the extent '%s'", e->name);
    diag_note(r->lw->m->diags, e->loc,
              "a parameter binds it whose shape names it alone or plus a number: [%s] or [%s + 1]", e->name, e->name);
}

static bool extent_eval(Bind *c, const Expr *e, Size *s) {
    Resolver r = {.lw = c->lw, .context = c, .find = extent_find, .unknown = extent_unknown};
    return size_of_expr(&r, e, s);
}

static void dim_bind(Bind *c, const Expr *e, Size s, const ParamDecl *p) {
    if (dim_find(c, e->name)) return;
    vec_push(c->lw->m->arena, &c->b->dim, ((BoundDim){.name = e->name, .size = s, .loc = e->loc, .from = p->name}));
}

/* `name + 1` or `name - 1` where nothing has bound the name yet. */
static void dim_bind_shifted(Bind *c, const Expr *e, Size s, const ParamDecl *p) {
    if (e->kind != EXPR_BINARY || (e->op != AST_ADD && e->op != AST_SUB) || e->lhs->kind != EXPR_NAME) return;
    if (e->rhs->kind != EXPR_INT || dim_find(c, e->lhs->name) || s.axis >= 0) return;
    int64_t shift = e->op == AST_ADD ? -e->rhs->i : e->rhs->i;
    if (!__builtin_add_overflow(s.c, shift, &s.c)) dim_bind(c, e->lhs, s, p);
}

static void mismatch_report(Bind *c, const BoundParam *p, int d, Size want, Loc at) {
    const Expr *e = p->decl->type.shape.p[d];
    const BoundDim *by = e->kind == EXPR_NAME ? dim_find(c, e->name) : NULL;
    const char *is = size_text(c, p->dim[d]), *should = size_text(c, want);
    if (by)
        diag_error(diags_of(c), at, "shape-mismatch", "'%s' has extent %s where '%s' gave %s = %s", p->decl->name, is,
                   by->from, e->name, should);
    else
        diag_error(diags_of(c), at, "shape-mismatch", "'%s' has extent %s where its shape says %s", p->decl->name, is,
                   should);
    if (by) diag_note(diags_of(c), by->loc, "'%s' is bound here", e->name);
    diag_note(diags_of(c), e->loc, "dimension %d of '%s', counted from 0", d, p->decl->name);
    bool runtime = want.sym >= 0 && p->dim[d].sym >= 0 && want.sym != p->dim[d].sym;
    if (runtime) diag_note(diags_of(c), at, "two run-time dims are never known to be equal; declare both extents with one");
}

static void extents_check(Bind *c, const BoundParam *p, Loc at) {
    for (int d = 0; d < p->ndim; d++) {
        Size want;
        if (!extent_eval(c, p->decl->type.shape.p[d], &want))
            c->good = false;
        else if (!size_equal(want, p->dim[d]))
            mismatch_report(c, p, d, want, at), c->good = false;
    }
}

static void extents_bind(Bind *c) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < c->b->param.n; i++) {
            const BoundParam *p = &c->b->param.p[i];
            for (int d = 0; d < p->ndim; d++) {
                const Expr *e = p->decl->type.shape.p[d];
                if (pass == 1)
                    dim_bind_shifted(c, e, p->dim[d], p->decl);
                else if (e->kind == EXPR_NAME)
                    dim_bind(c, e, p->dim[d], p->decl);
            }
        }
    for (int i = 0; i < c->b->param.n; i++) extents_check(c, &c->b->param.p[i], c->arg[i].loc);
}

/* ---- element types ---- */

static BoundElem *elem_find(const Bind *c, Name name) {
    for (int i = 0; i < c->b->elem.n; i++)
        if (c->b->elem.p[i].name == name) return &c->b->elem.p[i];
    return NULL;
}

static void elem_bind(Bind *c, Name name, Elem e) {
    vec_push(c->lw->m->arena, &c->b->elem, ((BoundElem){.name = name, .elem = e}));
}

static void elem_report(Bind *c, const ParamDecl *p, Elem is, Elem want, Loc at) {
    diag_error(diags_of(c), at, "type-mismatch", "'%s' has element type %s where %s takes %s", p->name, elem_text(is),
               c->decl->name, elem_text(want));
    diag_note(diags_of(c), p->type.loc, "declared as %s here", p->type.elem);
    if (at.file) diag_note(diags_of(c), at, "convert it: %s(..)", elem_text(want));
    c->good = false;
}

static void elem_match(Bind *c, const ParamDecl *p, Elem is, Loc at) {
    Elem want;
    if (!elem_parse(p->type.elem, &want)) {
        BoundElem *generic = elem_find(c, p->type.elem);
        if (!generic) return elem_bind(c, p->type.elem, is);
        want = generic->elem;
    }
    if (want != is) elem_report(c, p, is, want, at);
}

static Elem first_elem(const Bind *c) {
    for (int i = 0; i < c->b->param.n; i++)
        if (c->b->param.p[i].constant == BOUND_NOTHING && c->b->param.p[i].ndim > 0) return c->b->param.p[i].elem;
    return ELEM_F32;
}

static Elem result_elem(Bind *c, const ParamDecl *p, int i) {
    Elem e;
    if (elem_parse(p->type.elem, &e)) return e;
    if (!elem_find(c, p->type.elem))
        elem_bind(c, p->type.elem, i < c->nresult && c->expected[i].has_elem ? c->expected[i].elem : first_elem(c));
    return elem_find(c, p->type.elem)->elem;
}

/* ---- parameters ---- */

static bool mode_fits(Bind *c, const ParamDecl *p) {
    const Decl *d = c->decl;
    Elem e;
    bool result = d->results.n > 0 && p >= d->results.p && p < d->results.p + d->results.n;
    const char *what = p->mode == PARAM_STATE ? "state belongs to programs"
                       : p->lo ? "values are checked where they come in: a range belongs to a program's input"
                       : result && (p->mode != PARAM_IN || p->is_unique || p->is_ascending)
                           ? "a result is neither inout nor unique, nor ascending"
                       : p->mode == PARAM_INOUT && !p->type.has_shape ? "a scalar is not updated in place"
                       : p->is_unique && (!p->type.has_shape || !elem_parse(p->type.elem, &e) || !elem_is_int(e))
                           ? "unique places are a tensor of integers"
                       : p->is_ascending && (p->type.shape.n != 1 || !elem_parse(p->type.elem, &e) || (e != ELEM_I32 && e != ELEM_I64))
                           ? "ascending starts are a vector of i32 or i64"
                       : p->is_ascending && p->mode != PARAM_IN ? "starts that ascend are not updated" : NULL;
    if (!what) return true;
    diag_error(diags_of(c), p->loc, "parameter-mode", "'%s' of %s: %s", p->name, d->name, what);
    if (p->mode == PARAM_STATE) diag_note(diags_of(c), p->loc, "a kernel that updates a tensor takes it as inout");
    return c->good = false;
}

static bool param_refuse(Bind *c, const ParamDecl *p) {
    const char *what = p->type.format           ? "a weight format on a kernel's parameter"
                                                : NULL;
    if (what)
        diag_error(diags_of(c), p->loc, "unsupported", "not supported yet: %s", what);
    else if (!mode_fits(c, p))
        return true;
    else if (p->type.shape.n > SOURCE_DIMS)
        diag_error(diags_of(c), p->loc, "too-many-dims", "'%s' has %d dimensions, at most %d are possible", p->name,
                   p->type.shape.n, SOURCE_DIMS);
    else
        return false;
    c->good = false;
    return true;
}

static bool rank_match(Bind *c, const ParamDecl *p, const ActualArg *a) {
    int want = p->type.shape.n;
    if (a->ndim == want && !(want > 0 && a->is_const)) return true;
    if (p->is_const || want == 0)
        diag_error(diags_of(c), a->loc, "shape-mismatch", "'%s' is a %s, this is a tensor of %d dimension%s", p->name,
                   p->is_const ? "constant" : "scalar", a->ndim, a->ndim == 1 ? "" : "s");
    else
        diag_error(diags_of(c), a->loc, "shape-mismatch", "'%s' takes %d dimension%s, this has %d", p->name, want,
                   want == 1 ? "" : "s", a->ndim);
    diag_note(diags_of(c), p->type.loc, "'%s' is declared here", p->name);
    return c->good = false;
}

static void const_type_report(Bind *c, const ParamDecl *p, const ActualArg *a) {
    const char *is = a->is_size
                         ? arena_format(c->lw->m->arena, "%s is an integer that a run gives", size_text(c, a->size))
                         : arena_format(c->lw->m->arena, "%s is none", number_text(c->lw->m->arena, a->number));
    diag_error(diags_of(c), a->loc, "type-mismatch", "'%s' takes %s, and %s", p->name, p->type.elem, is);
    diag_note(diags_of(c), p->loc, "declared here");
    c->good = false;
}

static void const_set(Bind *c, BoundParam *p, const ActualArg *a) {
    Elem e = ELEM_F32;
    bool known = elem_parse(p->decl->type.elem, &e);
    if (!known) {
        BoundElem *generic = elem_find(c, p->decl->type.elem);
        e = generic ? generic->elem : a->number.is_integer ? ELEM_I64 : ELEM_F32;
    }
    p->elem = e;
    p->f = number_real(a->number);
    p->i = a->number.i;
    p->size = a->size;
    p->constant = a->is_size ? BOUND_SIZE : elem_is_float(e) ? BOUND_FLOAT : e == ELEM_BOOL ? BOUND_BOOL : BOUND_INT;
    const bool fits = a->is_size ? elem_is_int(e) : number_is_of(a->number, e);
    if (!fits) const_type_report(c, p->decl, a);
}

static BoundParam param_bind(Bind *c, const ParamDecl *p, const ActualArg *a) {
    BoundParam r = {.decl = p, .elem = a->elem};
    if (param_refuse(c, p) || !rank_match(c, p, a)) return r;
    if (a->is_const) return const_set(c, &r, a), r;
    if (p->is_const) {
        diag_error(diags_of(c), a->loc, "not-constant", "'%s' must be known at compile time", p->name);
        diag_note(diags_of(c), p->loc, "declared const here");
        c->good = false;
    }
    elem_match(c, p, a->elem, a->loc);
    r.ndim = a->ndim;
    memcpy(r.dim, a->dim, sizeof r.dim);
    r.global = a->global;
    return r;
}

static BoundParam result_bind(Bind *c, const ParamDecl *p, int i) {
    BoundParam r = {.decl = p};
    if (param_refuse(c, p)) return r;
    r.elem = result_elem(c, p, i);
    r.ndim = p->type.has_shape ? p->type.shape.n : 1;
    if (!p->type.has_shape) r.dim[0] = size_number(1);
    for (int d = 0; d < p->type.shape.n; d++)
        if (!extent_eval(c, p->type.shape.p[d], &r.dim[d])) c->good = false, r.dim[d] = size_number(0);
    return r;
}

enum { PARAM_LIMIT = 1024 };

static bool counts_match(Bind *c) {
    const Decl *d = c->decl;
    if (d->params.n + d->results.n > PARAM_LIMIT)
        diag_error(diags_of(c), c->call, "too-many-params", "%s has more than %d parameters and results", d->name,
                   PARAM_LIMIT);
    else if (c->narg != d->params.n)
        diag_error(diags_of(c), c->call, "wrong-arguments", "%s takes %d argument%s, not %d", d->name, d->params.n,
                   d->params.n == 1 ? "" : "s", c->narg);
    else if (c->nresult > d->results.n)
        diag_error(diags_of(c), c->call, "wrong-results", "%s gives %d result%s, not %d", d->name, d->results.n,
                   d->results.n == 1 ? "" : "s", c->nresult);
    else
        return true;
    diag_note(diags_of(c), d->loc, "'%s' is declared here", d->name);
    return false;
}

bool binding_of_call(Lower *lw, const Decl *d, const ActualArg *arg, int narg, const ExpectedResult *expected,
                     int nresult, Loc call, Binding *b) {
    Bind c = {lw, d, arg, narg, expected, nresult, call, b, true};
    *b = (Binding){.decl = d, .call = call};
    if (!counts_match(&c)) return false;
    for (int i = 0; i < narg; i++) {
        BoundParam p = param_bind(&c, &d->params.p[i], &arg[i]);
        vec_push(lw->m->arena, &b->param, p);
    }
    if (c.good) extents_bind(&c);
    for (int i = 0; i < d->results.n && c.good; i++) {
        BoundParam p = result_bind(&c, &d->results.p[i], i);
        vec_push(lw->m->arena, &b->param, p);
    }
    return c.good;
}
