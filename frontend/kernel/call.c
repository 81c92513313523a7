/* call.c: functions of the kernel language: elementwise functions, where, casts, minima and maxima of values. */
#include "frontend/sema/familiar.h"
#include "frontend/kernel/kernel.h"
#include "frontend/sema/function.h"

/* ---- functions made of others ---- */

static Val one_plus(Kern *c, Val v, Loc loc) {
    Val one = val_int(1);
    one.literal = true;
    return arith_binary(c, AST_ADD, one, v, loc);
}

/* 1 + exp(-x) */
static Val logistic_denominator(Kern *c, Val x, Loc loc) {
    return one_plus(c, arith_unary(c, OP_EXP, arith_unary(c, OP_NEG, x, loc), loc), loc);
}

static Val make_relu(Kern *c, Val x, Loc loc) {
    Val zero = val_int(0);
    zero.literal = true;
    return arith_op(c, OP_MAX, x, zero, loc);
}

static Val make_sigmoid(Kern *c, Val x, Loc loc) {
    return arith_binary(c, AST_DIV, val_float(1), logistic_denominator(c, x, loc), loc);
}

static Val make_silu(Kern *c, Val x, Loc loc) {
    return arith_binary(c, AST_DIV, x, logistic_denominator(c, x, loc), loc);
}

/* x / 2 (1 + erf(x / sqrt 2)) */
static Val make_gelu(Kern *c, Val x, Loc loc) {
    Val scaled = arith_binary(c, AST_MUL, x, val_float(0.70710678118654752440), loc);
    Val half = arith_binary(c, AST_MUL, x, val_float(0.5), loc);
    return arith_binary(c, AST_MUL, half, one_plus(c, arith_unary(c, OP_ERF, scaled, loc), loc), loc);
}

/* ---- calls ---- */

static bool argument_count(Kern *c, const Expr *e, int want) {
    if (e->args.n == want) return true;
    diag_error(c->diags, e->loc, "wrong-arguments", "%s takes %d argument%s, not %d", e->name, want,
               want == 1 ? "" : "s", e->args.n);
    return false;
}

static Val cast_lower(Kern *c, const Expr *e, Elem elem) {
    return argument_count(c, e, 1) ? val_convert(c, expr_lower(c, e->args.p[0]), elem) : val_error;
}

static Val where_lower(Kern *c, const Expr *e) {
    if (!argument_count(c, e, 3)) return val_error;
    Val test = expr_lower(c, e->args.p[0]), x = expr_lower(c, e->args.p[1]), y = expr_lower(c, e->args.p[2]);
    if (test.kind == VAL_BOOL) return test.i ? x : y;
    return arith_select(c, test, x, y, e->loc);
}

static Val extreme_of(Kern *c, OpKind op, Val x, Val y, Loc loc) {
    Val less;
    if (val_is_const(x) && val_is_const(y) && fold_binary(c, AST_LT, x, y, loc, &less) && less.kind == VAL_BOOL)
        return (less.i != 0) == (op == OP_MIN) ? x : y;
    return arith_op(c, op, x, y, loc);
}

/* max(x, j) is a reduction exactly when j names a range; max(a, b, ..) takes values. */
static Val extreme_lower(Kern *c, const Expr *e, OpKind op) {
    if (e->args.n < 2) {
        diag_error(c->diags, e->loc, "wrong-arguments", "%s takes a tile and ranges, or two values and more", e->name);
        return val_error;
    }
    Entry *range = range_named(c, e->args.p[1]);
    if (range && !c->in_index && c->b.k->range.p[range->index].kind != RANGE_POSITION)
        return reduce_lower(c, e, op_reduction(op));
    Val r = expr_lower(c, e->args.p[0]);
    for (int i = 1; i < e->args.n; i++) r = extreme_of(c, op, r, expr_lower(c, e->args.p[i]), e->loc);
    return r;
}

static Val unary_lower(Kern *c, const Expr *e, OpKind op) {
    return argument_count(c, e, 1) ? arith_unary(c, op, expr_lower(c, e->args.p[0]), e->loc) : val_error;
}

static Val made_lower(Kern *c, const Expr *e, Val (*make)(Kern *, Val, Loc)) {
    return argument_count(c, e, 1) ? make(c, expr_lower(c, e->args.p[0]), e->loc) : val_error;
}

static Val pair_lower(Kern *c, const Expr *e, OpKind op) {
    if (!argument_count(c, e, 2)) return val_error;
    Val x = expr_lower(c, e->args.p[0]), y = expr_lower(c, e->args.p[1]);
    return arith_op(c, op, x, y, e->loc);
}

static Val unknown_function(Kern *c, const Expr *e) {
    const char *candidate[FUNCTIONS_MOST];
    int n = function_names(candidate, false);
    diag_error(c->diags, e->loc, "undefined", "there is no function '%s' of tiles", e->name);
    const char *near = spelling_nearest(e->name, candidate, n), *fix = familiar_in_kernel(e->name);
    if (fix)
        diag_note(c->diags, e->loc, "%s", fix);
    else if (near)
        diag_suggest(c->diags, e->loc, e->name, near);
    for (int i = 0; i < e->args.n; i++) scope_touch(c->scope, e->args.p[i]);
    return val_error;
}

static Val function_lower(Kern *c, const Expr *e, const Function *f) {
    switch (f->kind) {
    case FN_UNARY: return unary_lower(c, e, f->op);
    case FN_BINARY: return pair_lower(c, e, f->op);
    case FN_EXTREME: return extreme_lower(c, e, f->op);
    case FN_REDUCE:
    case FN_PREFIX: return reduce_lower(c, e, f->op);
    case FN_WHERE: return where_lower(c, e);
    case FN_RANGE: return range_function(c, e);
    case FN_RELU: return made_lower(c, e, make_relu);
    case FN_SIGMOID: return made_lower(c, e, make_sigmoid);
    case FN_SILU: return made_lower(c, e, make_silu);
    case FN_GELU: return made_lower(c, e, make_gelu);
    }
    return val_error;
}

Val call_lower(Kern *c, const Expr *e) {
    Elem elem;
    if (elem_parse(e->name, &elem)) return cast_lower(c, e, elem);
    Entry *held = scope_find(c->scope, e->name);
    if (held && held->kind == NAME_ELEM) return cast_lower(c, e, held->elem);
    Function f;
    return function_find(e->name, &f) ? function_lower(c, e, &f) : unknown_function(c, e);
}
