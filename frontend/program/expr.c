/* expr.c: expressions of programs: names, calls, local, and what is made on the spot. */
#include "frontend/program/program.h"
#include "frontend/sema/const.h"
#include "frontend/sema/familiar.h"
#include "frontend/sema/function.h"

#include <string.h>

const Expected expected_nothing = {.into = -1};

ProgValue prog_error(Loc loc) { return (ProgValue){.kind = PROG_ERROR, .loc = loc}; }

ProgValue prog_tensor(Prog *c, int tensor, Loc loc) {
    ProgValue v = {.kind = PROG_TENSOR, .loc = loc, .tensor = tensor, .born = c->updated.n};
    memcpy(v.place, c->p->tensor.p[tensor].place, sizeof v.place);
    return v;
}

/* ---- names ---- */

ProgValue name_unknown(Prog *c, const Expr *e) {
    diag_error(c->diags, e->loc, "undefined", "'%s' is not defined", e->name);
    const char **list = ARENA_ARRAY(c->arena, const char *, c->var.n + 1);
    int n = 0;
    for (int i = c->base; i < c->var.n; i++) list[n++] = c->var.p[i].name;
    const char *near = spelling_nearest(e->name, list, n);
    if (near) diag_suggest(c->diags, e->loc, e->name, near);
    return prog_error(e->loc);
}

/* A dimension that a run knows is a scalar; one known before is a number, which stands where numbers do. */
static ProgValue dim_lower(Prog *c, const Expr *e, const Expected *want) {
    Size s;
    if (!frame_dim(c, e->name, &s) && global_find(&c->f->lower, e->name, e->loc, &s) != FOUND) return name_unknown(c, e);
    if (!size_is_number(s)) return map_lower(c, e, want);
    diag_error(c->diags, e->loc, "not-a-tensor", "'%s' is a number: a tensor is expected here", e->name);
    return prog_error(e->loc);
}

static ProgValue name_lower(Prog *c, const Expr *e, const Expected *want) {
    Variable *v = variable_find(c, e->name);
    if (!v) return dim_lower(c, e, want);
    if (v->output && !v->made) {
        diag_error(c->diags, e->loc, "undefined", "the output '%s' is not assigned yet", e->name);
        return prog_error(e->loc);
    }
    v->read = true;
    if (v->record) {
        diag_error(c->diags, e->loc, "not-a-tensor", "'%s' is a record: name one of its fields", e->name);
        return prog_error(e->loc);
    }
    if (v->format) {
        diag_error(c->diags, e->loc, "not-a-tensor", "'%s' is stored as %s: only linear(x, %s) takes it", e->name,
                   v->format->name, e->name);
        return prog_error(e->loc);
    }
    if (v->gone.kind == PROG_TENSOR) {
        diag_error(c->diags, e->loc, "consumed", "'%s' was updated in place: this version is gone", e->name);
        diag_note(c->diags, v->gone.loc, "updated here; use what the call gives");
        return prog_error(e->loc);
    }
    ProgValue r = v->value;
    r.loc = e->loc;
    r.born = c->updated.n;
    return r;
}

/* ---- fields of records ---- */

static void field_unknown(Prog *c, const Expr *e, const Decl *record) {
    bool format = record->kind == DECL_FORMAT;
    const char **list = ARENA_ARRAY(c->arena, const char *, record->params.n + 1);
    for (int i = 0; i < record->params.n; i++) list[i] = record->params.p[i].name;
    const char *near = spelling_nearest(e->name, list, record->params.n);
    diag_error(c->diags, e->loc, "undefined", "the %s '%s' has no field '%s'", format ? "format" : "record",
               record->name, e->name);
    if (near)
        diag_suggest(c->diags, e->loc, e->name, near);
    else
        diag_note(c->diags, record->loc, "'%s' is declared here", record->name);
}

Expr *field_named(Prog *c, const Expr *e) {
    Name base = name_path(c, e->base);
    const Variable *v = base ? variable_find(c, base) : NULL;
    if (!v && e->base->kind == EXPR_NAME) return name_unknown(c, e->base), NULL;
    const Decl *of = v && v->record ? v->record : v ? v->format : NULL;
    if (!of) {
        diag_error(c->diags, e->loc, "not-a-record", "only a record has fields");
        return NULL;
    }
    Expr *field = arena_copy(c->arena, e, sizeof *e);
    field->kind = EXPR_NAME;
    field->name = name_inside(c, v->name, e->name);
    if (variable_find(c, field->name)) return field;
    field_unknown(c, e, of);
    return NULL;
}

static ProgValue field_lower(Prog *c, const Expr *e) {
    const Expr *field = field_named(c, e);
    return field ? name_lower(c, field, &expected_nothing) : prog_error(e->loc);
}

/* ---- calls ---- */

static bool is_tile_function(const Prog *c, Name name) {
    Elem elem;
    Function f;
    return (function_find(name, &f) && function_is_of_elements(&f)) || frame_elem(c, name, &elem);
}

static ProgValue call_unknown(Prog *c, const Expr *e) {
    diag_error(c->diags, e->loc, "undefined", "there is no kernel '%s'", e->name);
    const char *fix = familiar_in_program(e->name);
    if (fix) return diag_note(c->diags, e->loc, "%s", fix), prog_error(e->loc);
    const char *candidate[FUNCTIONS_MOST], *near = spelling_nearest(e->name, candidate, function_names(candidate, true));
    if (!near) near = front_near(c->f, e->name);
    if (!near) near = collective_near(e->name);
    if (near) diag_suggest(c->diags, e->loc, e->name, near);
    return prog_error(e->loc);
}

const Decl *callee_of(Prog *c, const Expr *e) {
    if (e->kind != EXPR_CALL || collective_named(e->name) || format_of_call(c, e)) return NULL;
    const Decl *d = front_find(c->f, e->name);
    return d && (d->kind == DECL_KERNEL || d->kind == DECL_PROGRAM) ? d : NULL;
}

/* The call with the defaults of the arguments that it leaves out. */
static const Expr *call_complete(Prog *c, const Expr *e, const Decl *d) {
    if (e->args.n >= d->params.n || !d->params.p[e->args.n].otherwise) return e;
    Expr *whole = arena_copy(c->arena, e, sizeof *e);
    whole->args = (Exprs){0};
    for (int i = 0; i < d->params.n; i++)
        vec_push(c->arena, &whole->args, i < e->args.n ? e->args.p[i] : d->params.p[i].otherwise);
    return whole;
}

static bool callee_values(Prog *c, const Expr *call, const Decl *d, const Expected *want, int n, ProgValue *out) {
    const Expr *e = call_complete(c, call, d);
    return d->kind == DECL_PROGRAM ? program_call(c, e, d, want, n, out) : call_values(c, e, d, want, n, out);
}

static ProgValue call_lower_one(Prog *c, const Expr *e, const Expected *want) {
    ProgValue v = prog_error(e->loc);
    if (collective_named(e->name)) return collective_lower(c, e, want);
    Variable *w = format_of_call(c, e);
    if (w) return format_apply(c, e, w, want, &v) ? v : prog_error(e->loc);
    const Decl *d = callee_of(c, e);
    if (d) return callee_values(c, e, d, want, 1, &v) ? v : prog_error(e->loc);
    if (strcmp(e->name, "view") == 0) return view_lower(c, e);
    return is_tile_function(c, e->name) ? map_lower(c, e, want) : call_unknown(c, e);
}

static bool is_unknown(Prog *c, const Expr *e) {
    return e->kind == EXPR_CALL && !collective_named(e->name) && !format_of_call(c, e) && !callee_of(c, e) &&
           strcmp(e->name, "view") != 0 && !is_tile_function(c, e->name);
}

static ProgValue choose_lower(Prog *c, const Expr *e, const Expected *want) {
    ProgValue v;
    return choose_values(c, e, want, 1, &v) ? v : prog_error(e->loc);
}

/* ---- expressions ---- */

static ProgValue cond_lower(Prog *c, const Expr *e, const Expected *want) {
    const Expr *branch = branch_known(c, e);
    return branch ? tensor_lower(c, branch, want) : map_lower(c, e, want);
}

ProgValue tensor_lower(Prog *c, const Expr *e, const Expected *want) {
    switch (e->kind) {
    case EXPR_NAME: return name_lower(c, e, want);
    case EXPR_CALL: return call_lower_one(c, e, want);
    case EXPR_UNARY:
    case EXPR_BINARY: return map_lower(c, e, want);
    case EXPR_INDEX: return part_lower(c, e);
    case EXPR_FIELD: return field_lower(c, e);
    case EXPR_CHOOSE: return choose_lower(c, e, want);
    case EXPR_COND: return cond_lower(c, e, want);
    case EXPR_ERROR: return prog_error(e->loc);
    default: diag_error(c->diags, e->loc, "not-a-tensor", "a tensor is expected here"); return prog_error(e->loc);
    }
}

/* A number that is assigned fills what its target's declaration says. */
static ProgValue assigned_lower(Prog *c, const Expr *e, const Expected *want) {
    ProgValue n;
    if (!want->like || !number_of_expr(c, e, &n)) return tensor_lower(c, e, want);
    return number_fill(c, &n, want);
}

static bool results_mismatch(Prog *c, const Expr *e, int n, int have) {
    diag_error(c->diags, e->loc, "wrong-results", "this gives %d result%s, and %d name%s to take %s", have,
               have == 1 ? "" : "s", n, n == 1 ? " is there" : "s are there", n == 1 ? "it" : "them");
    return false;
}

bool values_lower(Prog *c, const Expr *e, const Expected *want, int n, ProgValue *out) {
    if (e->kind == EXPR_CHOOSE) return choose_values(c, e, want, n, out);
    const Decl *d = callee_of(c, e);
    const Decl *flat = d ? decl_flat(c, d) : NULL;
    int have = d ? decl_inouts(flat) + flat->results.n : 1;
    if (have != n && is_unknown(c, e)) return call_unknown(c, e), false;
    if (have != n) return results_mismatch(c, e, n, have);
    if (d) return callee_values(c, e, d, want, n, out);
    out[0] = assigned_lower(c, e, &want[0]);
    return out[0].kind == PROG_TENSOR;
}
