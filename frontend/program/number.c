/* number.c: numbers in programs that are known at compile time: literals, dims and arithmetic on them. */
#include "frontend/program/number.h"

#include <math.h>
#include <string.h>

static ProgValue number_value(Number n, Loc loc) { return (ProgValue){.kind = PROG_NUMBER, .loc = loc, .number = n}; }

static ProgValue truth_value(bool b, Loc loc) { return number_value(number_integer(b), loc); }

static bool number_named(const Scope *scope, const Expr *e, ProgValue *v) {
    Size s;
    const Variable *held = variable_find(scope, e->name);
    if (held && held->value.kind == PROG_NUMBER) return *v = held->value, v->loc = e->loc, true;
    if (held) return false;
    if (dim_find(scope, e->name, e->loc, &s) != FOUND) return false;
    if (!size_is_number(s)) return false;
    *v = number_value(number_integer(s.c), e->loc);
    return true;
}

/* -1, 0 or 1; 2: one of both is no number. */
static int number_order(Number a, Number b) {
    if (a.is_integer && b.is_integer) return (a.i > b.i) - (a.i < b.i);
    double x = number_real(a), y = number_real(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

static bool number_compare(AstOp op, Number a, Number b, bool *r) {
    const int order = number_order(a, b);
    switch (op) {
    case AST_AND: *r = number_holds(a) && number_holds(b); return true;
    case AST_OR: *r = number_holds(a) || number_holds(b); return true;
    case AST_EQ: *r = order == 0; return true;
    case AST_NE: *r = order != 0; return true;
    case AST_LT: *r = order == -1; return true;
    case AST_LE: *r = order == -1 || order == 0; return true;
    case AST_GT: *r = order == 1; return true;
    case AST_GE: *r = order == 1 || order == 0; return true;
    default: return false;
    }
}

static bool float_binary(AstOp op, double a, double b, double *r) {
    switch (op) {
    case AST_ADD: *r = a + b; return true;
    case AST_SUB: *r = a - b; return true;
    case AST_MUL: *r = a * b; return true;
    case AST_DIV: *r = a / b; return true;
    case AST_MOD: *r = a - floor(a / b) * b; return true;
    default: return false;
    }
}

static bool number_arith(AstOp op, Number a, Number b, Number *r) {
    r->is_integer = a.is_integer && b.is_integer;
    return r->is_integer ? integer_binary(op, a.i, b.i, &r->i)
                         : float_binary(op, number_real(a), number_real(b), &r->f);
}

/* What is on the left of && and || may decide. */
static bool is_decided(AstOp op, Number a) {
    return (op == AST_AND && !number_holds(a)) || (op == AST_OR && number_holds(a));
}

static bool number_pair(const Scope *scope, const Expr *e, ProgValue *v) {
    ProgValue a, b;
    Number r = {0};
    bool truth;
    if (!number_of_expr(scope, e->lhs, &a)) return false;
    if (is_decided(e->op, a.number)) return *v = truth_value(number_holds(a.number), e->loc), true;
    if (!number_of_expr(scope, e->rhs, &b)) return false;
    if (number_compare(e->op, a.number, b.number, &truth)) return *v = truth_value(truth, e->loc), true;
    if (!number_arith(e->op, a.number, b.number, &r)) return false;
    *v = number_value(r, e->loc);
    return true;
}

static bool number_least_or_most(const Scope *scope, const Expr *e, ProgValue *v) {
    const int better = strcmp(e->name, "min") == 0 ? -1 : 1;
    bool whole = true;
    if (e->args.n == 0) return false;
    for (int i = 0; i < e->args.n; i++) {
        ProgValue a;
        if (!number_of_expr(scope, e->args.p[i], &a)) return false;
        whole &= a.number.is_integer;
        if (i == 0 || number_order(a.number, v->number) == better) *v = a;
    }
    *v = number_value(whole ? v->number : number_float(number_real(v->number)), e->loc);
    return true;
}

static bool number_call(const Scope *scope, const Expr *e, ProgValue *v) {
    ProgValue a;
    if (strcmp(e->name, "min") == 0 || strcmp(e->name, "max") == 0) return number_least_or_most(scope, e, v);
    if (e->args.n != 1 || !number_of_expr(scope, e->args.p[0], &a)) return false;
    if (strcmp(e->name, "sqrt") == 0)
        *v = number_value(number_float(sqrt(number_real(a.number))), e->loc);
    else if (strcmp(e->name, "rsqrt") == 0)
        *v = number_value(number_float(1 / sqrt(number_real(a.number))), e->loc);
    else if (strcmp(e->name, "f32") == 0)
        *v = number_value(number_float((float)number_real(a.number)), e->loc);
    else
        return false;
    return true;
}

static Number number_negated(Number n) {
    return n.is_integer ? number_integer((int64_t)(0 - (uint64_t)n.i)) : number_float(-n.f);
}

bool number_of_expr(const Scope *scope, const Expr *e, ProgValue *v) {
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_BOOL: *v = number_value(number_integer(e->i), e->loc); return true;
    case EXPR_FLOAT: *v = number_value(number_float(e->f), e->loc); return true;
    case EXPR_INF: *v = number_value(number_float(INFINITY), e->loc); return true;
    case EXPR_NAME: return number_named(scope, e, v);
    case EXPR_CALL: return number_call(scope, e, v);
    case EXPR_BINARY: return number_pair(scope, e, v);
    case EXPR_UNARY:
        if (!number_of_expr(scope, e->base, v)) return false;
        v->number = e->op == AST_NEG ? number_negated(v->number) : number_integer(!number_holds(v->number));
        return true;
    case EXPR_COND:
        return number_of_expr(scope, e->cond, v) && number_of_expr(scope, number_holds(v->number) ? e->lhs : e->rhs, v);
    default: return false;
    }
}
