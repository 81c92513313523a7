/* number.c: numbers in programs that are known at compile time: literals, dims and arithmetic on them. */
#include "frontend/program/number.h"

#include <math.h>
#include <string.h>

static ProgValue number_new(double x, bool is_integer, Loc loc) {
    return (ProgValue){.kind = PROG_NUMBER, .loc = loc, .number = x, .is_integer = is_integer};
}

static bool number_named(const Scope *scope, const Expr *e, ProgValue *v) {
    Size s;
    const Variable *held = variable_find(scope, e->name);
    if (held && held->value.kind == PROG_NUMBER) return *v = held->value, v->loc = e->loc, true;
    if (held) return false;
    if (dim_find(scope, e->name, e->loc, &s) != FOUND) return false;
    if (!size_is_number(s)) return false;
    *v = number_new((double)s.c, true, e->loc);
    return true;
}

static bool number_binary(AstOp op, double a, double b, bool whole, double *r) {
    switch (op) {
    case AST_ADD: *r = a + b; return true;
    case AST_SUB: *r = a - b; return true;
    case AST_MUL: *r = a * b; return true;
    case AST_DIV: *r = whole ? floor(a / b) : a / b; return !whole || b != 0;
    case AST_MOD: *r = a - floor(a / b) * b; return !whole || b != 0;
    case AST_AND: *r = a != 0 && b != 0; return true;
    case AST_OR: *r = a != 0 || b != 0; return true;
    case AST_EQ: *r = a == b; return true;
    case AST_NE: *r = a != b; return true;
    case AST_LT: *r = a < b; return true;
    case AST_LE: *r = a <= b; return true;
    case AST_GT: *r = a > b; return true;
    case AST_GE: *r = a >= b; return true;
    default: return false;
    }
}

/* What is on the left of && and || may decide. */
static bool is_decided(AstOp op, const ProgValue *a) {
    return (op == AST_AND && a->number == 0) || (op == AST_OR && a->number != 0);
}

static bool number_pair(const Scope *scope, const Expr *e, ProgValue *v) {
    ProgValue a, b;
    double r;
    if (!number_of_expr(scope, e->lhs, &a)) return false;
    if (is_decided(e->op, &a)) return *v = number_new(a.number != 0, true, e->loc), true;
    if (!number_of_expr(scope, e->rhs, &b)) return false;
    bool whole = a.is_integer && b.is_integer;
    if (!number_binary(e->op, a.number, b.number, whole, &r)) return false;
    *v = number_new(r, whole || e->op >= AST_EQ, e->loc);
    return true;
}

static bool number_least_or_most(const Scope *scope, const Expr *e, ProgValue *v) {
    bool is_min = strcmp(e->name, "min") == 0, whole = true;
    if (e->args.n == 0) return false;
    for (int i = 0; i < e->args.n; i++) {
        ProgValue a;
        if (!number_of_expr(scope, e->args.p[i], &a)) return false;
        whole &= a.is_integer;
        if (i == 0 || (is_min ? a.number < v->number : a.number > v->number)) *v = a;
    }
    *v = number_new(v->number, whole, e->loc);
    return true;
}

static bool number_call(const Scope *scope, const Expr *e, ProgValue *v) {
    ProgValue a;
    if (strcmp(e->name, "min") == 0 || strcmp(e->name, "max") == 0) return number_least_or_most(scope, e, v);
    if (e->args.n != 1 || !number_of_expr(scope, e->args.p[0], &a)) return false;
    if (strcmp(e->name, "sqrt") == 0)
        *v = number_new(sqrt(a.number), false, e->loc);
    else if (strcmp(e->name, "rsqrt") == 0)
        *v = number_new(1 / sqrt(a.number), false, e->loc);
    else if (strcmp(e->name, "f32") == 0)
        *v = number_new((float)a.number, false, e->loc);
    else
        return false;
    return true;
}

bool number_of_expr(const Scope *scope, const Expr *e, ProgValue *v) {
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_BOOL: *v = number_new((double)e->i, true, e->loc); return true;
    case EXPR_FLOAT: *v = number_new(e->f, false, e->loc); return true;
    case EXPR_INF: *v = number_new(INFINITY, false, e->loc); return true;
    case EXPR_NAME: return number_named(scope, e, v);
    case EXPR_CALL: return number_call(scope, e, v);
    case EXPR_BINARY: return number_pair(scope, e, v);
    case EXPR_UNARY:
        if (!number_of_expr(scope, e->base, v)) return false;
        v->number = e->op == AST_NEG ? -v->number : v->number == 0;
        return true;
    case EXPR_COND:
        return number_of_expr(scope, e->cond, v) && number_of_expr(scope, v->number != 0 ? e->lhs : e->rhs, v);
    default: return false;
    }
}
