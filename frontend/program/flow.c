/* flow.c: the statements of a body in order; repeat is unrolled: what an iteration declares ends with it, names
   from outside go on into the next.
   Takes statements; gives nodes, and names checked at the end of each body. */
#include "frontend/sema/assertion.h"
#include "frontend/program/program.h"

enum { NODES_UNROLLED = 4096 };

/* ---- repeat ---- */

static bool repeat_count(Prog *c, const Stmt *s, int64_t *n) {
    const RangeDecl *r = &s->ranges.p[0];
    ProgValue v;
    if (r->size || !r->of) {
        diag_error(c->diags, r->loc, "repeat-range", "repeat counts from 0, one at a time");
        diag_note(c->diags, r->loc, "write: repeat %s of N { .. }", r->name);
        return false;
    }
    if (!number_of_expr(c->scope, r->of, &v) || !v.number.is_integer || v.number.i < 0) {
        diag_error(c->diags, r->of->loc, "not-constant", "how often repeat runs must be known at compile time");
        return false;
    }
    *n = v.number.i;
    return true;
}

/* Unrolled: each iteration has nodes and temporaries of its own. */
static void repeat_lower(Prog *c, const Stmt *s) {
    const RangeDecl *r = &s->ranges.p[0];
    int64_t n;
    int before = c->diags->errors;
    if (!repeat_count(c, s, &n) || name_taken(c->scope, r->name, r->loc)) return;
    for (int64_t i = 0; i < n && c->diags->errors == before; i++) {
        int mark = block_begin(c->scope);
        ProgValue number = {.kind = PROG_NUMBER, .loc = r->loc, .number = number_integer(i)};
        variable_new(c->scope,
                     (Variable){.name = r->name, .loc = r->loc, .value = number, .read = true, .fixed = true});
        flow_lower(c, &s->body);
        block_end(c->scope, mark);
        if (c->graph->p->node.n <= NODES_UNROLLED) continue;
        diag_error(c->diags, s->loc, "too-many-nodes", "this makes more than %d calls", NODES_UNROLLED);
        return;
    }
}

static const char *value_text(void *ctx, const Expr *name) {
    Prog *c = ctx;
    ProgValue v;
    return number_of_expr(c->scope, name, &v) ? number_text(c->arena, v.number) : NULL;
}

static void name_check(void *ctx, const Expr *e) {
    Size s;
    if (e->kind != EXPR_NAME || variable_find(ctx, e->name)) return;
    if (dim_find(ctx, e->name, e->loc, &s) == FOUND_NOT) name_unknown(ctx, e);
}

static void field_check(void *ctx, const Expr *e) {
    const Expr *field = e->kind == EXPR_FIELD ? field_named(ctx, e) : NULL;
    if (field) names_touch(ctx, field);
}

/* Certainly a number, and no condition. */
static bool is_numeric(Prog *c, const Expr *e) {
    Size s;
    ProgValue v;
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_INF: return true;
    case EXPR_UNARY: return e->op == AST_NEG;
    case EXPR_BINARY: return e->op >= AST_ADD && e->op <= AST_MOD;
    case EXPR_CALL: return number_of_expr(c->scope, e, &v);
    case EXPR_NAME: return !variable_find(c->scope, e->name) && dim_find(c->scope, e->name, e->loc, &s) == FOUND;
    default: return false;
    }
}

static void conditions_check(Prog *c, const Expr *e) {
    if (e->kind == EXPR_BINARY && (e->op == AST_AND || e->op == AST_OR)) {
        conditions_check(c, e->lhs);
        conditions_check(c, e->rhs);
    } else if (e->kind == EXPR_UNARY && e->op == AST_NOT) {
        conditions_check(c, e->base);
    } else if (is_numeric(c, e)) {
        diag_error(c->diags, e->loc, "condition-type", "a condition is bool, this is a number");
        diag_note(c->diags, e->loc, "compare it: .. != 0");
    }
}

/* Looks for quotients by 0 where nothing before them decides. */
static void division_check(Prog *c, const Expr *e) {
    ProgValue a, b;
    if (!e) return;
    bool quotient = e->kind == EXPR_BINARY && (e->op == AST_DIV || e->op == AST_MOD);
    bool known = quotient && number_of_expr(c->scope, e->lhs, &a) && number_of_expr(c->scope, e->rhs, &b);
    if (known && a.number.is_integer && b.number.is_integer && b.number.i == 0)
        diag_error(c->diags, e->loc, "division-by-zero", "division by zero");
    if (number_of_expr(c->scope, e, &a)) return;
    division_check(c, e->base);
    division_check(c, e->lhs);
    division_check(c, e->rhs);
    for (int i = 0; i < e->args.n; i++) division_check(c, e->args.p[i]);
}

typedef struct {
    Prog *c;
    bool found;
} RunValues;

static void run_value_find(void *ctx, const Expr *e) {
    RunValues *r = ctx;
    ProgValue v;
    r->found |= e->kind == EXPR_FIELD || (e->kind == EXPR_NAME && !number_of_expr(r->c->scope, e, &v));
}

/* The condition does not fold: a value of a run is in it, or the error is said. */
static bool only_run_knows(Prog *c, const Expr *e) {
    RunValues r = {.c = c};
    int errors = c->diags->errors;
    division_check(c, e);
    expr_each(e, run_value_find, &r);
    if (!r.found && c->diags->errors == errors)
        diag_error(c->diags, e->loc, "unsupported", "not supported yet: computing this at compile time");
    return c->diags->errors == errors;
}

static void assert_lower(Prog *c, const Stmt *s) {
    ProgValue v;
    int errors = c->diags->errors;
    names_touch(c->scope, s->value);
    expr_each(s->value, name_check, c->scope);
    expr_each(s->value, field_check, c->scope);
    conditions_check(c, s->value);
    if (c->diags->errors > errors) return;
    const Decl *of = body_decl(c->scope);
    if (!number_of_expr(c->scope, s->value, &v) && !only_run_knows(c, s->value)) return;
    if (!number_of_expr(c->scope, s->value, &v))
        assertion_unknown(c->diags, s, of, body_call(c->scope, s->loc));
    else if (!number_holds(v.number))
        assertion_failed(c->diags, s, of, s->loc, value_text, c);
}

static void stmt_refuse(Prog *c, const Stmt *s) {
    diag_error(c->diags, s->loc, "tasks-in-program", "%s belongs to kernels", s->kind == STMT_EACH ? "each" : "for");
    diag_note(c->diags, s->loc, "a program is a dataflow of kernel calls; write a kernel and call it%s",
              s->kind == STMT_FOR ? ", or repeat calls: repeat l of N { .. }" : "");
}

/* ---- statements ---- */

static void stmt_lower(Prog *c, const Stmt *s) {
    if (s->kind == STMT_ASSIGN || s->kind == STMT_LET)
        assignment_lower(c, s);
    else if (s->kind == STMT_ASSERT)
        assert_lower(c, s);
    else if (s->kind == STMT_REPEAT)
        repeat_lower(c, s);
    else if (s->kind == STMT_IF)
        branches_lower(c, s);
    else if (s->kind == STMT_PRINT)
        diag_error(c->diags, s->loc, "print-place", "print stands in a kernel's tasks, not in a program");
    else if (s->kind != STMT_ERROR)
        stmt_refuse(c, s);
}

/* Nothing behind an assertion that does not hold is judged: what it makes would be errors of the same cause. */
void flow_lower(Prog *c, const Stmts *list) {
    for (int i = 0; i < list->n; i++) {
        int errors = c->diags->errors;
        stmt_lower(c, list->p[i]);
        if (list->p[i]->kind == STMT_ASSERT && c->diags->errors > errors) return;
    }
}

void statements_lower(Prog *c, const Stmts *body) {
    int before = c->diags->errors;
    flow_lower(c, body);
    if (c->diags->errors == before) body_check(c->scope);
}
