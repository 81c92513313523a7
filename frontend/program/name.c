/* name.c: names as expressions and declarations use them.
   Takes names as written; gives variables, or errors, each with the name that was likely meant. */
#include "frontend/program/flat.h"
#include "frontend/program/scope.h"

/* ---- names that are taken ---- */

bool name_taken(const Scope *s, Name name, Loc loc) {
    Front *f = scope_front(s);
    const Variable *v = variable_find(s, name);
    const Decl *d = ptrmap_get(&f->visible, name);
    if (!v && !d) return false;
    if (v)
        diag_error(f->diags, loc, "redefined", "'%s' is already declared", name);
    else
        diag_error(f->diags, loc, "redefined", "'%s' is already a %s of the file", name, decl_kind_text(d));
    diag_note(f->diags, v ? v->loc : d->loc, "declared here; choose another name");
    return true;
}

typedef struct {
    Name name;
    bool found;
} Mention;

static void mention_look(void *ctx, const Expr *e) {
    Mention *m = ctx;
    m->found |= e->kind == EXPR_NAME && e->name == m->name;
}

static void mention_each(const Exprs *list, Mention *m) {
    for (int i = 0; i < list->n; i++) expr_each(list->p[i], mention_look, m);
}

static bool types_mention(const ParamDecls *list, Name name) {
    Mention m = {.name = name};
    for (int i = 0; i < list->n; i++) {
        const ParamDecl *p = &list->p[i];
        mention_each(&p->type.shape, &m);
        mention_each(&p->type.format_args, &m);
        expr_each(p->lo, mention_look, &m);
        expr_each(p->hi, mention_look, &m);
    }
    return m.found;
}

bool head_name_taken(const Scope *s, Name name, Loc loc) {
    const Decl *d = ptrmap_get(&scope_front(s)->visible, name), *head = body_decl(s);
    bool hides =
        d && d->kind == DECL_DIM && !types_mention(&head->params, name) && !types_mention(&head->results, name);
    return (!hides || variable_find(s, name)) && name_taken(s, name, loc);
}

/* ---- names that are read ---- */

void name_unknown(const Scope *s, const Expr *e) {
    Front *f = scope_front(s);
    diag_error(f->diags, e->loc, "undefined", "'%s' is not defined", e->name);
    const char **list = ARENA_ARRAY(f->arena, const char *, variable_count(s) + 1);
    int n = 0;
    for (int i = variable_base(s); i < variable_count(s); i++) list[n++] = variable_at(s, i)->name;
    const char *near = spelling_nearest(e->name, list, n);
    if (near) diag_suggest(f->diags, e->loc, e->name, near);
}

static bool group_refuse(Diags *diags, const Variable *v, const Expr *e) {
    if (v->record)
        diag_error(diags, e->loc, "not-a-tensor", "'%s' is a record: name one of its fields", e->name);
    else if (v->format)
        diag_error(diags, e->loc, "not-a-tensor", "'%s' is stored as %s: only linear(x, %s) takes it", e->name,
                   v->format->name, e->name);
    return v->record || v->format;
}

const Variable *name_use(Scope *s, const Expr *e) {
    Diags *diags = scope_front(s)->diags;
    Variable *v = variable_change(s, e->name);
    if (v->output && !v->made) {
        diag_error(diags, e->loc, "undefined", "the output '%s' is not assigned yet", e->name);
        return NULL;
    }
    v->read = true;
    if (group_refuse(diags, v, e)) return NULL;
    if (v->gone.kind != PROG_TENSOR) return v;
    diag_error(diags, e->loc, "consumed", "'%s' was updated in place: this version is gone", e->name);
    diag_note(diags, v->gone.loc, "updated here; use what the call gives");
    return NULL;
}

static void name_touch(void *ctx, const Expr *e) {
    Variable *v = e->kind == EXPR_NAME ? variable_change(ctx, e->name) : NULL;
    if (v) v->read = true;
}

void names_touch(Scope *s, const Expr *e) { expr_each(e, name_touch, s); }

void names_touch_all(Scope *s, const Stmts *list) { stmts_each_value(list, name_touch, s); }

/* ---- fields of records ---- */

static void field_unknown(const Front *f, const Expr *e, const Decl *record) {
    bool format = record->kind == DECL_FORMAT;
    const char **list = ARENA_ARRAY(f->arena, const char *, record->params.n + 1);
    for (int i = 0; i < record->params.n; i++) list[i] = record->params.p[i].name;
    const char *near = spelling_nearest(e->name, list, record->params.n);
    diag_error(f->diags, e->loc, "undefined", "the %s '%s' has no field '%s'", format ? "format" : "record",
               record->name, e->name);
    if (near)
        diag_suggest(f->diags, e->loc, e->name, near);
    else
        diag_note(f->diags, record->loc, "'%s' is declared here", record->name);
}

Expr *field_named(const Scope *s, const Expr *e) {
    const Front *f = scope_front(s);
    Name base = name_path(f, e->base);
    const Variable *v = base ? variable_find(s, base) : NULL;
    if (!v && e->base->kind == EXPR_NAME) return name_unknown(s, e->base), NULL;
    const Decl *of = v && v->record ? v->record : v ? v->format : NULL;
    if (!of) {
        diag_error(f->diags, e->loc, "not-a-record", "only a record has fields");
        return NULL;
    }
    Expr *field = arena_copy(f->arena, e, sizeof *e);
    field->kind = EXPR_NAME;
    field->name = name_inside(f, v->name, e->name);
    if (variable_find(s, field->name)) return field;
    field_unknown(f, e, of);
    return NULL;
}
