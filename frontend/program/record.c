/* record.c: records, and weights stored in a format, are names for several tensors: w.attention.wq, W.codes.
   Takes expressions that name them; gives arguments and targets of one tensor each. */
#include "frontend/program/callee.h"
#include "frontend/program/program.h"

static void record_declare(Prog *c, Name name, Loc loc, const Decl *record) {
    group_declare(c, &(ParamDecl){.name = name, .loc = loc, .type = {.elem = record->name}});
}

/* ---- arguments ---- */

static bool group_refuse(Prog *c, const Expr *e, const Decl *d) {
    diag_error(c->diags, e->loc, "type-mismatch", "a %s '%s' is expected here",
               d->kind == DECL_RECORD ? "record" : "weight stored as", d->name);
    diag_note(c->diags, d->loc, "declared here");
    return false;
}

/* The fields of what is named, in the order of the flat head. */
static bool group_arguments(Prog *c, const Expr *e, const Decl *d, ProgValues *out) {
    Name name = name_path(c->f, e);
    const Variable *v = name ? variable_find(c->scope, name) : NULL;
    if (!v || !records_match(c->f, v->record ? v->record : v->format, d)) return group_refuse(c, e, d);
    for (int i = 0; i < d->params.n; i++) {
        const ParamDecl *p = &d->params.p[i];
        Expr field = {.kind = EXPR_FIELD, .loc = e->loc, .name = p->name, .base = (Expr *)e};
        if (!argument_flatten(c, &field, p, out)) return false;
    }
    return true;
}

bool argument_flatten(Prog *c, const Expr *e, const ParamDecl *p, ProgValues *out) {
    const Decl *record = record_of(c->f, &p->type), *format = p->type.format ? format_named(c->f, &p->type) : NULL;
    if (record || format) return group_arguments(c, e, record ? record : format, out);
    vec_push(c->arena, out, argument_lower(c, e, p));
    return vec_last(out).kind != PROG_ERROR;
}

/* ---- targets ---- */

static void target_add(Prog *c, const Expr *t, Name name, const Decl *group, Exprs *out) {
    for (int i = 0; group && i < group->params.n; i++) {
        const ParamDecl *p = &group->params.p[i];
        const Decl *inner = p->type.format ? format_named(c->f, &p->type) : record_of(c->f, &p->type);
        target_add(c, t, name_inside(c->f, name, p->name), inner, out);
    }
    if (group) return;
    Expr *e = arena_copy(c->arena, t, sizeof *t);
    e->kind = EXPR_NAME;
    e->name = name;
    vec_push(c->arena, out, e);
}

/* r = f(..): r becomes a record where f gives one. */
static void target_flatten(Prog *c, Expr *t, const TypeExpr *type, Exprs *out) {
    const Decl *record = record_of(c->f, type);
    Name name = record ? name_path(c->f, t) : NULL;
    const Variable *v = name ? variable_find(c->scope, name) : NULL;
    if (!name || (v && !records_match(c->f, v->record, record))) {
        vec_push(c->arena, out, t);
        return;
    }
    if (!v) record_declare(c, name, t->loc, record);
    target_add(c, t, name, record, out);
}

static bool is_updated(const ParamDecl *p) { return p->mode != PARAM_IN; }

void targets_flatten(Prog *c, Stmt *s) {
    const Decl *d = callee_decl(c->scope, s->value);
    Exprs out = {0};
    int n = 0;
    if (!d) return;
    for (int i = 0; i < d->params.n && n < s->targets.n; i++)
        if (is_updated(&d->params.p[i])) target_flatten(c, s->targets.p[n++], &d->params.p[i].type, &out);
    for (int i = 0; i < d->results.n && n < s->targets.n; i++)
        target_flatten(c, s->targets.p[n++], &d->results.p[i].type, &out);
    for (; n < s->targets.n; n++) vec_push(c->arena, &out, s->targets.p[n]);
    s->targets = out;
}

/* Weights in formats go by both names, as their tensors do. */
static void formats_name(Prog *c, Name to, Name from, const Decl *record) {
    for (int i = 0; i < record->params.n; i++) {
        const ParamDecl *p = &record->params.p[i];
        Name name = name_inside(c->f, to, p->name), held = name_inside(c->f, from, p->name);
        const Decl *inner = record_of(c->f, &p->type);
        if (inner) formats_name(c, name, held, inner);
        if (!p->type.format) continue;
        Variable v = *variable_find(c->scope, held);
        v.name = name;
        variable_new(c->scope, v);
    }
}

bool record_assign(Prog *c, const Stmt *s) {
    Name from = s->targets.n == 1 && s->op == ASSIGN_SET && !s->has_type ? name_path(c->f, s->value) : NULL;
    const Variable *v = from ? variable_find(c->scope, from) : NULL;
    Name to = v && v->record ? name_path(c->f, s->targets.p[0]) : NULL;
    const Variable *held = to ? variable_find(c->scope, to) : NULL;
    if (!to || (held && !records_match(c->f, held->record, v->record))) return false;
    const Decl *record = v->record;
    Exprs target = {0}, value = {0};
    if (!held) record_declare(c, to, s->targets.p[0]->loc, record);
    target_add(c, s->targets.p[0], to, record, &target);
    target_add(c, s->value, from, record, &value);
    for (int i = 0; i < target.n; i++) {
        Stmt one = *s;
        one.targets.p = &target.p[i];
        one.value = value.p[i];
        assignment_lower(c, &one);
    }
    if (!held) formats_name(c, to, from, record);
    return true;
}
