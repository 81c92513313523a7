/* record.c: records, and weights stored in a format, are names for several tensors: w.attention.wq, W.codes.
   Takes heads and expressions that name them; gives heads, arguments and targets of one tensor each. */
#include "frontend/program/program.h"

enum { RECORDS_DEEP = 64, FIELDS = 1024 };

static bool holds_itself(Prog *c, const Decl *d, int depth, int *fields) {
    for (int i = 0; i < d->params.n; i++) {
        const Decl *inner = record_of(c, &d->params.p[i].type);
        if (++*fields > FIELDS || depth == RECORDS_DEEP) return true;
        if (inner && holds_itself(c, inner, depth + 1, fields)) return true;
    }
    return false;
}

static bool record_check(Prog *c, const Decl *d) {
    int fields = 0;
    if (!holds_itself(c, d, 0, &fields)) return true;
    diag_error(c->diags, d->loc, "recursion", "the record '%s' contains itself, or more than %d fields", d->name,
               FIELDS);
    return false;
}

/* Fields of the same names: their types and extents are judged as those of any argument or target. */
static bool records_match(Prog *c, const Decl *a, const Decl *b) {
    bool match = a && b && (a == b || (a->kind == DECL_RECORD && b->kind == DECL_RECORD && a->params.n == b->params.n));
    for (int i = 0; match && a != b && i < a->params.n; i++) {
        const ParamDecl *p = &a->params.p[i], *q = &b->params.p[i];
        const Decl *r = record_of(c, &p->type), *s = record_of(c, &q->type);
        match = p->name == q->name && p->type.format == q->type.format && !r == !s && (!r || records_match(c, r, s));
    }
    return match;
}

/* ---- heads ---- */

/* Extents without placements: those follow from the arguments. */
static ParamDecl param_whole(Prog *c, const ParamDecl *p) {
    ParamDecl r = *p;
    r.type.shape = (Exprs){0};
    for (int d = 0; d < p->type.shape.n; d++) {
        Expr *e = p->type.shape.p[d];
        vec_push(c->arena, &r.type.shape, e->kind == EXPR_BINARY && e->op == AST_AT ? e->lhs : e);
    }
    return r;
}

/* A field is read, kept or updated as the record is. */
static ParamDecl field_of(Prog *c, const ParamDecl *p, const ParamDecl *field) {
    ParamDecl r = *field;
    r.name = name_inside(c->f, p->name, field->name);
    r.mode = p->mode;
    return r;
}

static void param_flatten(Prog *c, const ParamDecl *p, ParamDecls *out) {
    const Decl *record = record_of(c, &p->type), *format = p->type.format ? format_named(c, &p->type) : NULL;
    if (!record && !format) vec_push(c->arena, out, param_whole(c, p));
    for (int i = 0; record && i < record->params.n; i++) {
        ParamDecl field = field_of(c, p, &record->params.p[i]);
        param_flatten(c, &field, out);
    }
    for (int i = 0; format && shapes_count(c, p, format) && i < format->params.n; i++) {
        ParamDecl part = format_part(c, p, format, i), whole = param_whole(c, &part);
        vec_push(c->arena, out, whole);
    }
}

static bool head_check(Prog *c, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++) {
        const Decl *record = record_of(c, &list->p[i].type);
        if (record && !record_check(c, record)) return false;
    }
    return true;
}

/* What is stored in a format comes in, and is not made. */
static bool results_check(Prog *c, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++) {
        const ParamDecl *p = &list->p[i];
        const Decl *record = record_of(c, &p->type);
        if (p->type.format)
            diag_error(c->diags, p->loc, "format-place", "only an input of a program is stored in a format");
        if (p->type.format || (record && !results_check(c, &record->params))) return false;
    }
    return true;
}

bool head_is_sound(Prog *c, const Decl *d) {
    return head_check(c, &d->params) && head_check(c, &d->results) && results_check(c, &d->results);
}

static bool is_flat(Prog *c, const Decl *d) {
    bool flat = d->kind == DECL_KERNEL;
    for (int i = 0; i < d->params.n; i++) flat = flat && !record_of(c, &d->params.p[i].type);
    for (int i = 0; i < d->results.n; i++) flat = flat && !record_of(c, &d->results.p[i].type);
    return flat;
}

const Decl *decl_flat(Prog *c, const Decl *d) {
    if (is_flat(c, d)) return d;
    const Decl *held = ptrmap_get(&c->f->flat, d);
    if (held) return held;
    Decl *flat = arena_copy(c->arena, d, sizeof *d);
    flat->params = flat->results = (ParamDecls){0};
    if (head_is_sound(c, d)) {
        for (int i = 0; i < d->params.n; i++) param_flatten(c, &d->params.p[i], &flat->params);
        for (int i = 0; i < d->results.n; i++) param_flatten(c, &d->results.p[i], &flat->results);
    }
    for (int i = 0; i < flat->params.n && d->kind == DECL_PROGRAM; i++)
        if (flat->params.p[i].mode == PARAM_STATE) flat->params.p[i].mode = PARAM_INOUT;
    ptrmap_put(c->arena, &c->f->flat, d, flat);
    return flat;
}

const Decl *kernel_flat(Front *f, const Decl *d) {
    Prog c = {.f = f, .m = f->lower.m, .arena = f->arena, .diags = f->diags};
    return decl_flat(&c, d);
}

/* ---- what a head's records are called in its body ---- */

void group_declare(Prog *c, const ParamDecl *p) {
    const Decl *record = record_of(c, &p->type);
    if (p->type.format &&
        variable_find(c->scope, name_inside(c->f, p->name, format_named(c, &p->type)->params.p[0].name)))
        format_declare(c, p);
    if (!record) return;
    variable_new(c->scope, (Variable){.name = p->name,
                                      .loc = p->loc,
                                      .value = prog_error(p->loc),
                                      .read = true,
                                      .fixed = true,
                                      .record = record});
    for (int i = 0; i < record->params.n; i++) {
        ParamDecl field = field_of(c, p, &record->params.p[i]);
        group_declare(c, &field);
    }
}

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
    if (!v || !records_match(c, v->record ? v->record : v->format, d)) return group_refuse(c, e, d);
    for (int i = 0; i < d->params.n; i++) {
        const ParamDecl *p = &d->params.p[i];
        Expr field = {.kind = EXPR_FIELD, .loc = e->loc, .name = p->name, .base = (Expr *)e};
        if (!argument_flatten(c, &field, p, out)) return false;
    }
    return true;
}

bool argument_flatten(Prog *c, const Expr *e, const ParamDecl *p, ProgValues *out) {
    const Decl *record = record_of(c, &p->type), *format = p->type.format ? format_named(c, &p->type) : NULL;
    if (record || format) return group_arguments(c, e, record ? record : format, out);
    vec_push(c->arena, out, argument_lower(c, e, p));
    return vec_last(out).kind != PROG_ERROR;
}

/* ---- targets ---- */

static void target_add(Prog *c, const Expr *t, Name name, const Decl *group, Exprs *out) {
    for (int i = 0; group && i < group->params.n; i++) {
        const ParamDecl *p = &group->params.p[i];
        const Decl *inner = p->type.format ? format_named(c, &p->type) : record_of(c, &p->type);
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
    const Decl *record = record_of(c, type);
    Name name = record ? name_path(c->f, t) : NULL;
    const Variable *v = name ? variable_find(c->scope, name) : NULL;
    if (!name || (v && !records_match(c, v->record, record))) {
        vec_push(c->arena, out, t);
        return;
    }
    if (!v) record_declare(c, name, t->loc, record);
    target_add(c, t, name, record, out);
}

static bool is_updated(const ParamDecl *p) { return p->mode != PARAM_IN; }

void targets_flatten(Prog *c, Stmt *s) {
    const Decl *d = callee_of(c, s->value);
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
        const Decl *inner = record_of(c, &p->type);
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
    if (!to || (held && !records_match(c, held->record, v->record))) return false;
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
