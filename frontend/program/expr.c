/* expr.c: expressions of programs: names, calls, local, and what is made on the spot. */
#include "frontend/program/callee.h"
#include "frontend/program/program.h"

/* ---- names ---- */

/* A dimension that a run knows is a scalar; one known before is a number, which stands where numbers do. */
static ProgValue dim_lower(Prog *c, const Expr *e, const Expected *want) {
    Size s;
    if (dim_find(c->scope, e->name, e->loc, &s) != FOUND) return name_unknown(c->scope, e), prog_error(e->loc);
    if (!size_is_number(s)) return map_lower(c, e, want);
    diag_error(c->diags, e->loc, "not-a-tensor", "'%s' is a number: a tensor is expected here", e->name);
    return prog_error(e->loc);
}

static ProgValue name_lower(Prog *c, const Expr *e, const Expected *want) {
    if (!variable_find(c->scope, e->name)) return dim_lower(c, e, want);
    const Variable *v = name_use(c->scope, e);
    if (!v) return prog_error(e->loc);
    ProgValue r = v->value;
    r.loc = e->loc;
    r.born = update_count(c->graph);
    return r;
}

static ProgValue field_lower(Prog *c, const Expr *e) {
    const Expr *field = field_named(c->scope, e);
    return field ? name_lower(c, field, &expected_nothing) : prog_error(e->loc);
}

/* ---- calls ---- */

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

static ProgValue call_lower(Prog *c, const Expr *e, const Expected *want) {
    ProgValue v = prog_error(e->loc);
    Callee k = callee_find(c->scope, e);
    switch (k.kind) {
    case CALLEE_COLLECTIVE: return collective_lower(c, e, k.coll, want);
    case CALLEE_FORMAT: return format_apply(c, e, k.weight, want, &v) ? v : prog_error(e->loc);
    case CALLEE_KERNEL:
    case CALLEE_PROGRAM: return callee_values(c, e, k.decl, want, 1, &v) ? v : prog_error(e->loc);
    case CALLEE_VIEW: return view_lower(c, e);
    case CALLEE_FUNCTION: return map_lower(c, e, want);
    default: callee_unknown(c->scope, e); return v;
    }
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
    case EXPR_CALL: return call_lower(c, e, want);
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
    if (!want->like || !number_of_expr(c->scope, e, &n)) return tensor_lower(c, e, want);
    return number_fill(c->graph, &n, want);
}

static bool results_mismatch(Prog *c, const Expr *e, int n, int have) {
    diag_error(c->diags, e->loc, "wrong-results", "this gives %d result%s, and %d name%s to take %s", have,
               have == 1 ? "" : "s", n, n == 1 ? " is there" : "s are there", n == 1 ? "it" : "them");
    return false;
}

bool values_lower(Prog *c, const Expr *e, const Expected *want, int n, ProgValue *out) {
    if (e->kind == EXPR_CHOOSE) return choose_values(c, e, want, n, out);
    const Decl *d = callee_decl(c->scope, e);
    const Decl *flat = d ? decl_flat(c->f, d) : NULL;
    int have = d ? decl_inouts(flat) + flat->results.n : 1;
    if (have != n && callee_find(c->scope, e).kind == CALLEE_UNKNOWN) return callee_unknown(c->scope, e), false;
    if (have != n) return results_mismatch(c, e, n, have);
    if (d) return callee_values(c, e, d, want, n, out);
    out[0] = assigned_lower(c, e, &want[0]);
    return out[0].kind == PROG_TENSOR;
}
