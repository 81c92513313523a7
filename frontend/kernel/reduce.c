/* reduce.c: reductions and prefixes over named ranges, sum(x * y, c) as a contraction. */
#include "frontend/kernel/kernel.h"

/* `sum(x[i, p], k)`: p runs over k. */
static void range_of_dimension(Kern *c, const Expr *e) {
    const Entry *dim = e->kind == EXPR_NAME ? scope_find(c->scope, e->name) : NULL;
    if (!dim || dim->kind != NAME_DIM) return;
    for (int i = scope_mark(c->scope) - 1; i >= 0; i--) {
        const Entry *r = scope_entry(c->scope, i);
        if (r->kind != NAME_RANGE || !size_equal(c->range_of.p[r->index], dim->size)) continue;
        diag_note(c->diags, e->loc, "'%s' is a dimension; the range over it is '%s'", e->name, r->name);
        return;
    }
    diag_note(c->diags, e->loc, "'%s' is a dimension; make a range over it: for %s0: 64 of %s { .. }", e->name, e->name, e->name);
}

static bool range_argument(Kern *c, const Expr *e, int16_t *range) {
    Entry *held = range_named(c, e);
    if (held) return *range = (int16_t)held->index, held->read = true;
    if (e->kind == EXPR_NAME && scope_use(c->scope, e->name, e->loc)->kind == NAME_BROKEN) return false;
    diag_error(c->diags, e->loc, "not-a-range", "a range is expected here");
    range_of_dimension(c, e);
    return false;
}

/* The arguments after the first. */
static bool ranges_named(Kern *c, const Expr *e, int16_t *over, int *n) {
    *n = 0;
    if (e->args.n < 2 || e->args.n > SOURCE_RANGES + 1) {
        diag_error(c->diags, e->loc, "wrong-arguments", "%s takes a tile and the ranges it reduces", e->name);
        return false;
    }
    for (int i = 1; i < e->args.n; i++) {
        if (!range_argument(c, e->args.p[i], &over[*n])) return false;
        for (int k = 0; k < *n; k++)
            if (over[k] == over[*n])
                return diag_error(c->diags, e->args.p[i]->loc, "not-a-range", "'%s' is named twice",
                                  e->args.p[i]->name),
                       false;
        ++*n;
    }
    return true;
}

static bool carries(Kern *c, Type t, const Expr *e, const int16_t *over, int n) {
    for (int i = 0; i < n; i++) {
        if (type_has(t, over[i])) continue;
        diag_error(c->diags, e->args.p[i + 1]->loc, "not-carried", "%s does not carry the range '%s'", tile_text(c, t),
                   e->args.p[i + 1]->name);
        return false;
    }
    return true;
}

static bool is_float_over(Kern *c, Val v, const int16_t *over, int n) {
    if (v.kind != VAL_TILE || !elem_is_float(v.v->type.elem)) return false;
    for (int i = 0; i < n; i++)
        if (!type_has(val_type(c, v), over[i])) return false;
    return true;
}

/* The operand; *contracted when it already is the sum. */
static Val operand_lower(Kern *c, const Expr *call, OpKind op, const int16_t *over, int n, bool *contracted) {
    const Expr *e = call->args.p[0];
    *contracted = false;
    if (op != OP_SUM || e->kind != EXPR_BINARY || e->op != AST_MUL) return expr_lower(c, e);
    Val x = expr_lower(c, e->lhs), y = expr_lower(c, e->rhs);
    *contracted = is_float_over(c, x, over, n) && is_float_over(c, y, over, n);
    return *contracted ? arith_contract(c, x, y, over, n, call->loc) : arith_binary(c, AST_MUL, x, y, e->loc);
}

static Elem operand_elem(OpKind op, Elem e) { return op_info[op].joins == OP_ADD ? elem_accum(e) : elem_arith(e); }

static bool operand_fits(Kern *c, const Expr *e, OpKind op, Elem elem) {
    if (op_takes(op, elem)) return true;
    diag_error(c->diags, e->loc, "operand-type", "'%s' does not apply to %s", e->name, elem_text(elem));
    if (elem == ELEM_BOOL) diag_note(c->diags, e->loc, "make it a number: %s(where(condition, 1, 0), ..)", e->name);
    return false;
}

static Val prefix_build(Kern *c, const Expr *e, OpKind op, Value *x, const int16_t *over, int n) {
    if (n == 1) return val_tile(build_prefix(&c->b, op, x, over[0]));
    diag_error(c->diags, e->loc, "wrong-arguments", "%s runs along one range", e->name);
    return val_error;
}

Val reduce_lower(Kern *c, const Expr *e, OpKind op) {
    int16_t over[MAX_RANGES + 1];
    int n;
    bool contracted, outer = c->in_index;
    if (!ranges_named(c, e, over, &n)) return val_error;
    c->in_index = false;
    Val v = operand_lower(c, e, op, over, n, &contracted);
    c->in_index = outer;
    if (v.kind == VAL_ERROR || contracted) return v;
    Type t = val_type(c, v);
    if (!carries(c, t, e, over, n) || !operand_fits(c, e, op, t.elem)) return val_error;
    c->b.loc = e->loc;
    Value *x = val_as(c, v, operand_elem(op, t.elem));
    if (op_info[op].class == CLASS_PREFIX) return prefix_build(c, e, op, x, over, n);
    if (op_info[op].position && n > 1) {
        diag_error(c->diags, e->loc, "wrong-arguments", "%s runs along one range", e->name);
        return val_error;
    }
    return val_tile(build_reduce(&c->b, op, x, over, n));
}
