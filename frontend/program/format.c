/* format.c: weights stored in a format: W: f16[1024, 512] as kron([32, 16], [32, 32]).
   Takes such a parameter; gives the name that it has beside its tensors, whose extents are judged. */
#include "frontend/program/program.h"

#include <string.h>

ActualArg format_actual(Prog *c, Name name, Loc loc) {
    const Tensor *t = &c->graph->p->tensor.p[variable_find(c->scope, name)->value.tensor];
    ActualArg a = {.elem = t->elem, .ndim = t->ndim, .loc = loc};
    for (int d = 0; d < t->ndim; d++) a.dim[d] = size_whole(t->dim[d]);
    return a;
}

/* The format's head as that of a call: its tensors give the extents of what it stands for. */
bool format_fits(Prog *c, const ParamDecl *w, const Decl *d, const ActualArg *actual, const Tensor *whole) {
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
bool format_whole(Prog *c, const ParamDecl *w, Tensor *whole) {
    DimName name[MAX_DIMS] = {0};
    TypeExpr plain = w->type;
    plain.format = NULL;
    if (!type_lower(c->scope, &plain, whole, name)) return false;
    for (int d = 0; d < whole->ndim; d++)
        if (whole->dim[d].axis >= 0) {
            diag_error(c->diags, w->type.loc, "format-place",
                       "what is stored in a format is split through its tensors: as kron([32 @ tp, 16], ..)");
            return false;
        }
    return true;
}

void format_name(Prog *c, const ParamDecl *w, const Decl *format, const Tensor *whole) {
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
    const Decl *d = format_named(c->f, &w->type);
    whole->name = w->name;
    if (!d || !format_whole(c, w, whole)) return;
    ActualArg *actual = ARENA_ARRAY(c->arena, ActualArg, d->params.n + 1);
    for (int i = 0; i < d->params.n; i++)
        actual[i] = format_actual(c, name_inside(c->f, w->name, d->params.p[i].name), w->type.loc);
    if (format_fits(c, w, d, actual, whole)) format_name(c, w, d, whole);
}
