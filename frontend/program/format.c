/* format.c: weights stored in a format: W: f16[1024, 512] as kron([32, 16], [32, 32]).
   Takes such a parameter; gives one input for each parameter of the format, and linear(x, W) as a call of its apply. */
#include "frontend/program/program.h"

#include <string.h>

/* ---- declarations ---- */

static bool report(Prog *c, Loc loc, const char *id, const char *text) {
    diag_error(c->diags, loc, id, "%s", text);
    return false;
}

bool format_check(Front *f, const Decl *d) {
    const Decl *apply = d->inner.n ? d->inner.p[0] : NULL;
    bool good = d->params.n > 0 && d->inner.n == 1 && strcmp(apply->name, "apply") == 0 && apply->params.n == 1 &&
                apply->results.n == 1 && d->stands_for.has_shape;
    for (int i = 0; i < d->params.n; i++) {
        const ParamDecl *p = &d->params.p[i];
        good = good && p->type.has_shape && !p->type.format && p->mode == PARAM_IN && !p->is_const && !p->is_unique;
    }
    if (good) return true;
    diag_error(f->diags, d->loc, "format-head",
               "a format is made of tensors, stands for a tensor and has one function, apply");
    diag_note(f->diags, d->loc,
              "write: format %s(A: T[m, r], B: T[r, n]) for T[m, n] { apply(x: T[b, n]) -> (y: T[b, m]) { .. } }",
              d->name);
    return false;
}

const Decl *format_named(Prog *c, const TypeExpr *t) {
    const Decl *d = front_find(c->f, t->format);
    if (d && d->kind == DECL_FORMAT) return d;
    diag_error(c->diags, t->loc, "undefined", "there is no format '%s'", t->format);
    const char *near = front_near(c->f, t->format);
    if (near) diag_suggest(c->diags, t->loc, t->format, near);
    return NULL;
}

/* ---- parameters ---- */

bool shapes_count(Prog *c, const ParamDecl *p, const Decl *d) {
    bool good = p->type.format_args.n == d->params.n;
    for (int i = 0; good && i < d->params.n; i++)
        good = p->type.format_args.p[i]->kind == EXPR_LIST &&
               p->type.format_args.p[i]->args.n == d->params.p[i].type.shape.n;
    if (good) return true;
    diag_error(c->diags, p->type.loc, "wrong-arguments", "%s takes the shapes of its %d tensor%s", d->name, d->params.n,
               d->params.n == 1 ? "" : "s");
    diag_note(c->diags, d->loc, "'%s' is declared here", d->name);
    return false;
}

/* One tensor of the weight: W.A, with the shape that `as` lists for it. */
ParamDecl format_part(Prog *c, const ParamDecl *w, const Decl *d, int i) {
    const ParamDecl *p = &d->params.p[i];
    ParamDecl r = {.name = name_inside(c->f, w->name, p->name), .loc = w->loc};
    r.type = (TypeExpr){.loc = w->type.format_args.p[i]->loc, .elem = p->type.elem, .has_shape = true};
    r.type.shape = w->type.format_args.p[i]->args;
    if (p->type.elem == d->stands_for.elem) r.type.elem = w->type.elem;
    return r;
}

static ActualArg part_actual(Prog *c, Name name, Loc loc) {
    const Tensor *t = &c->graph->p->tensor.p[variable_find(c->scope, name)->value.tensor];
    ActualArg a = {.elem = t->elem, .ndim = t->ndim, .loc = loc};
    for (int d = 0; d < t->ndim; d++) a.dim[d] = size_whole(t->dim[d]);
    return a;
}

/* The format's head as that of a call: its tensors give the extents of what it stands for. */
static bool extents_fit(Prog *c, const ParamDecl *w, const Decl *d, const ActualArg *actual, const Tensor *whole) {
    Decl *head = arena_copy(c->arena, d, sizeof *d);
    ParamDecl stands = {.name = w->name, .loc = d->loc, .type = d->stands_for};
    ExpectedResult expected = {whole->elem, true};
    Binding b;
    head->results = (ParamDecls){0};
    vec_push(c->arena, &head->results, stands);
    if (!binding_of_call(&c->f->lower, head, actual, d->params.n, &expected, 1, w->type.loc, &b)) return false;
    const BoundParam *r = &b.param.p[d->params.n];
    Tensor is = {.name = w->name, .elem = r->elem, .ndim = r->ndim};
    memcpy(is.dim, r->dim, sizeof is.dim);
    bool same = is.ndim == whole->ndim && is.elem == whole->elem;
    for (int i = 0; same && i < is.ndim; i++) same = size_equal(is.dim[i], whole->dim[i]);
    if (same) return true;
    diag_error(c->diags, w->type.loc, "shape-mismatch", "these tensors of %s stand for %s%s, not for %s%s", d->name,
               elem_text(is.elem), shape_text(c->f, &is), elem_text(whole->elem), shape_text(c->f, whole));
    return false;
}

/* The type without `as`: extents of dims, whole. */
static bool whole_lower(Prog *c, const ParamDecl *w, Tensor *whole) {
    DimName name[MAX_DIMS] = {0};
    TypeExpr plain = w->type;
    plain.format = NULL;
    if (!type_lower(c->scope, &plain, whole, name)) return false;
    for (int d = 0; d < whole->ndim; d++)
        if (whole->dim[d].axis >= 0)
            return report(c, w->type.loc, "format-place",
                          "what is stored in a format is split through its tensors: as kron([32 @ tp, 16], ..)");
    return true;
}

static void stored_declare(Prog *c, const ParamDecl *w, const Decl *format, const Tensor *whole) {
    variable_new(c->scope, (Variable){.name = w->name,
                                      .loc = w->loc,
                                      .value = prog_error(w->loc),
                                      .read = true,
                                      .fixed = true,
                                      .format = format,
                                      .stands = whole});
}

/* In a called program's body, where its tensors have names already. */
void format_declare(Prog *c, const ParamDecl *w) {
    Tensor *whole = ARENA_NEW(c->arena, Tensor);
    const Decl *d = format_named(c, &w->type);
    whole->name = w->name;
    if (!d || !whole_lower(c, w, whole)) return;
    ActualArg *actual = ARENA_ARRAY(c->arena, ActualArg, d->params.n + 1);
    for (int i = 0; i < d->params.n; i++)
        actual[i] = part_actual(c, name_inside(c->f, w->name, d->params.p[i].name), w->type.loc);
    if (extents_fit(c, w, d, actual, whole)) stored_declare(c, w, d, whole);
}

void format_lower(Prog *c, const ParamDecl *w, Role role) {
    Tensor *whole = ARENA_NEW(c->arena, Tensor);
    int before = c->diags->errors;
    const Decl *d = format_named(c, &w->type);
    if (role != ROLE_INPUT) report(c, w->loc, "format-place", "only an input of a program is stored in a format");
    if (!d || role != ROLE_INPUT || head_name_taken(c->scope, w->name, w->loc)) return;
    whole->name = w->name;
    bool good = whole_lower(c, w, whole) && shapes_count(c, w, d);
    ActualArg *actual = ARENA_ARRAY(c->arena, ActualArg, d->params.n + 1);
    for (int i = 0; good && i < d->params.n; i++) {
        ParamDecl part = format_part(c, w, d, i);
        param_lower(c, &part, ROLE_INPUT);
        good = c->diags->errors == before;
        if (good) actual[i] = part_actual(c, part.name, part.type.loc);
    }
    if (good) extents_fit(c, w, d, actual, whole);
    stored_declare(c, w, d, whole);
}

/* ---- linear(x, W) ---- */

const Variable *format_of_call(Prog *c, const Expr *e) {
    if (strcmp(e->name, "linear") != 0 || e->args.n != 2) return NULL;
    Name name = name_path(c->f, e->args.p[1]);
    const Variable *v = name ? variable_find(c->scope, name) : NULL;
    return v && v->format ? v : NULL;
}

/* The format's tensors stand before apply's own parameter. */
static Decl *apply_head(Prog *c, const Decl *format) {
    Decl *d = arena_copy(c->arena, format->inner.p[0], sizeof(Decl));
    const ParamDecls own = d->params;
    d->params = (ParamDecls){0};
    d->name = name_of(c->m->names, arena_format(c->arena, "%s.apply", format->name));
    for (int i = 0; i < format->params.n; i++) vec_push(c->arena, &d->params, format->params.p[i]);
    for (int i = 0; i < own.n; i++) vec_push(c->arena, &d->params, own.p[i]);
    return d;
}

static bool elem_fits(Prog *c, const ProgValue *x, const Variable *w) {
    Elem e = tensor_info(c->graph, x->tensor)->whole_elem;
    if (e == w->stands->elem) return true;
    diag_error(c->diags, x->loc, "type-mismatch", "'%s' is %s, and '%s' stands for %s", tensor_text(c->graph, x),
               elem_text(e), w->name, elem_text(w->stands->elem));
    diag_note(c->diags, x->loc, "convert it: %s(..)", elem_text(w->stands->elem));
    return false;
}

bool format_apply(Prog *c, const Expr *e, const Variable *w, const Expected *want, ProgValue *out) {
    const Decl *format = w->format;
    Name name = w->name;
    ProgValue *arg = ARENA_ARRAY(c->arena, ProgValue, format->params.n + 1);
    for (int i = 0; i < format->params.n; i++) {
        Name part = name_inside(c->f, name, format->params.p[i].name);
        arg[i] = variable_find(c->scope, part)->value;
        arg[i].loc = e->args.p[1]->loc;
    }
    ProgValue x = tensor_lower(c, e->args.p[0], &expected_nothing);
    if (x.kind != PROG_TENSOR || !elem_fits(c, &x, variable_find(c->scope, name))) return false;
    arg[format->params.n] = x;
    return program_apply(c, apply_head(c, format), arg, e->loc, want, out);
}
