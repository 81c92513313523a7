/* flat.c: heads of one tensor a parameter: records are their fields, weights in a format its tensors.
   Takes declarations as written; gives the same without records and formats in their heads. */
#include "frontend/program/flat.h"

#include <string.h>

enum { RECORDS_DEEP = 64, FIELDS = 1024 };

/* ---- names ---- */

Name name_inside(const Front *f, Name of, Name field) {
    return name_of(f->names, arena_format(f->arena, "%s.%s", of, field));
}

Name name_path(const Front *f, const Expr *e) {
    if (e->kind == EXPR_NAME) return e->name;
    Name base = e->kind == EXPR_FIELD ? name_path(f, e->base) : NULL;
    return base ? name_inside(f, base, e->name) : NULL;
}

/* ---- records ---- */

const Decl *record_of(Front *f, const TypeExpr *t) {
    const Decl *d = ptrmap_get(&f->visible, t->elem);
    return d && d->kind == DECL_RECORD && !t->has_shape && !t->format ? d : NULL;
}

static bool holds_itself(Front *f, const Decl *d, int depth, int *fields) {
    for (int i = 0; i < d->params.n; i++) {
        const Decl *inner = record_of(f, &d->params.p[i].type);
        if (++*fields > FIELDS || depth == RECORDS_DEEP) return true;
        if (inner && holds_itself(f, inner, depth + 1, fields)) return true;
    }
    return false;
}

static bool record_check(Front *f, const Decl *d) {
    int fields = 0;
    if (!holds_itself(f, d, 0, &fields)) return true;
    diag_error(f->diags, d->loc, "recursion", "the record '%s' contains itself, or more than %d fields", d->name,
               FIELDS);
    return false;
}

/* Fields of the same names: their types and extents are judged as those of any argument or target. */
bool records_match(Front *f, const Decl *a, const Decl *b) {
    bool match = a && b && (a == b || (a->kind == DECL_RECORD && b->kind == DECL_RECORD && a->params.n == b->params.n));
    for (int i = 0; match && a != b && i < a->params.n; i++) {
        const ParamDecl *p = &a->params.p[i], *q = &b->params.p[i];
        const Decl *r = record_of(f, &p->type), *s = record_of(f, &q->type);
        match = p->name == q->name && p->type.format == q->type.format && !r == !s && (!r || records_match(f, r, s));
    }
    return match;
}

/* ---- formats ---- */

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

const Decl *format_named(Front *f, const TypeExpr *t) {
    const Decl *d = front_find(f, t->format);
    if (d && d->kind == DECL_FORMAT) return d;
    if (d) {
        diag_error(f->diags, t->loc, "undefined", "'%s' is a %s here, not a format", t->format, decl_kind_text(d));
        diag_note(f->diags, d->loc, "declared here; give it another name where the format of the library is meant");
        return NULL;
    }
    diag_error(f->diags, t->loc, "undefined", "there is no format '%s'", t->format);
    const char *near = front_near(f, t->format);
    if (near) diag_suggest(f->diags, t->loc, t->format, near);
    return NULL;
}

bool shapes_count(Front *f, const ParamDecl *p, const Decl *d) {
    bool good = p->type.format_args.n == d->params.n;
    for (int i = 0; good && i < d->params.n; i++)
        good = p->type.format_args.p[i]->kind == EXPR_LIST &&
               p->type.format_args.p[i]->args.n == d->params.p[i].type.shape.n;
    if (good) return true;
    diag_error(f->diags, p->type.loc, "wrong-arguments", "%s takes the shapes of its %d tensor%s", d->name, d->params.n,
               d->params.n == 1 ? "" : "s");
    diag_note(f->diags, d->loc, "'%s' is declared here", d->name);
    return false;
}

/* One tensor of the weight: W.A, with the shape that `as` lists for it. */
ParamDecl format_part(Front *f, const ParamDecl *w, const Decl *d, int i) {
    const ParamDecl *p = &d->params.p[i];
    ParamDecl r = {.name = name_inside(f, w->name, p->name), .loc = w->loc};
    r.type = (TypeExpr){.loc = w->type.format_args.p[i]->loc, .elem = p->type.elem, .has_shape = true};
    r.type.shape = w->type.format_args.p[i]->args;
    if (p->type.elem == d->stands_for.elem) r.type.elem = w->type.elem;
    return r;
}

/* ---- heads ---- */

/* Extents without placements: those follow from the arguments. */
static ParamDecl param_whole(Front *f, const ParamDecl *p) {
    ParamDecl r = *p;
    r.type.shape = (Exprs){0};
    for (int d = 0; d < p->type.shape.n; d++) {
        Expr *e = p->type.shape.p[d];
        vec_push(f->arena, &r.type.shape, e->kind == EXPR_BINARY && e->op == AST_AT ? e->lhs : e);
    }
    return r;
}

/* A field is read, kept or updated as the record is. */
ParamDecl field_of(Front *f, const ParamDecl *p, const ParamDecl *field) {
    ParamDecl r = *field;
    r.name = name_inside(f, p->name, field->name);
    r.mode = p->mode;
    return r;
}

static void param_flatten(Front *f, const ParamDecl *p, ParamDecls *out) {
    const Decl *record = record_of(f, &p->type), *format = p->type.format ? format_named(f, &p->type) : NULL;
    if (!record && !format) vec_push(f->arena, out, param_whole(f, p));
    for (int i = 0; record && i < record->params.n; i++) {
        ParamDecl field = field_of(f, p, &record->params.p[i]);
        param_flatten(f, &field, out);
    }
    for (int i = 0; format && shapes_count(f, p, format) && i < format->params.n; i++) {
        ParamDecl part = format_part(f, p, format, i), whole = param_whole(f, &part);
        vec_push(f->arena, out, whole);
    }
}

static bool head_check(Front *f, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++) {
        const Decl *record = record_of(f, &list->p[i].type);
        if (record && !record_check(f, record)) return false;
    }
    return true;
}

/* What is stored in a format comes in, and is not made. */
static bool results_check(Front *f, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++) {
        const ParamDecl *p = &list->p[i];
        const Decl *record = record_of(f, &p->type);
        if (p->type.format)
            diag_error(f->diags, p->loc, "format-place", "only an input of a program is stored in a format");
        if (p->type.format || (record && !results_check(f, &record->params))) return false;
    }
    return true;
}

bool head_is_sound(Front *f, const Decl *d) {
    return head_check(f, &d->params) && head_check(f, &d->results) && results_check(f, &d->results);
}

static bool is_flat(Front *f, const Decl *d) {
    bool flat = d->kind == DECL_KERNEL;
    for (int i = 0; i < d->params.n; i++) flat = flat && !record_of(f, &d->params.p[i].type);
    for (int i = 0; i < d->results.n; i++) flat = flat && !record_of(f, &d->results.p[i].type);
    return flat;
}

const Decl *decl_flat(Front *f, const Decl *d) {
    if (is_flat(f, d)) return d;
    const Decl *held = ptrmap_get(&f->flat, d);
    if (held) return held;
    Decl *flat = arena_copy(f->arena, d, sizeof *d);
    flat->params = flat->results = (ParamDecls){0};
    if (head_is_sound(f, d)) {
        for (int i = 0; i < d->params.n; i++) param_flatten(f, &d->params.p[i], &flat->params);
        for (int i = 0; i < d->results.n; i++) param_flatten(f, &d->results.p[i], &flat->results);
    }
    for (int i = 0; i < flat->params.n && d->kind == DECL_PROGRAM; i++)
        if (flat->params.p[i].mode == PARAM_STATE) flat->params.p[i].mode = PARAM_INOUT;
    ptrmap_put(f->arena, &f->flat, d, flat);
    return flat;
}

int decl_inouts(const Decl *d) {
    int n = 0;
    for (int i = 0; i < d->params.n; i++) n += d->params.p[i].mode == PARAM_INOUT;
    return n;
}
