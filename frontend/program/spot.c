/* spot.c: places known at run time: x[l], x[at[0] + 1], where l is a scalar and at a tensor of integers.
   Takes a subscript; gives a sum over the graph's sources, scalars and elements of integer tensors. */
#include "frontend/program/program.h"

/* ---- subscripts as sums of sources: terms TERM_INDEX, whose ids number them ---- */

static bool source_add(Prog *c, ProgValue v, Affine *out) {
    if (v.kind != PROG_TENSOR) return false;
    Tensor t = value_tensor(c->graph, &v);
    if (t.ndim != 0 || !elem_is_int(t.elem))
        return diag_refuse(c->diags, v.loc, "subscript-type",
                      "a place is made of numbers, integer scalars and elements of integer tensors");
    if (!value_is_whole(c->graph, &v, "a place")) return false;
    int i = source_number(c->graph, &v);
    if (i < 0) return diag_refuse(c->diags, v.loc, "unsupported", "not supported yet: more places known at run time only");
    *out = affine_term(TERM_INDEX, i, 1, 1);
    return true;
}

static bool number_of(const Affine *a, int64_t *n) { return affine_is_const(a) ? *n = a->c, true : false; }

static bool combine(AstOp op, Affine *a, Affine *b) {
    int64_t n;
    switch (op) {
    case AST_ADD: return affine_add(a, b, 1);
    case AST_SUB: return affine_add(a, b, -1);
    case AST_MUL: return number_of(b, &n) ? affine_scale(a, n) : number_of(a, &n) && (*a = *b, affine_scale(a, n));
    case AST_DIV: return number_of(b, &n) && affine_divide(a, n);
    case AST_MOD: return number_of(b, &n) && affine_modulo(a, n);
    default: return false;
    }
}

static bool spot_binary(Prog *c, const Expr *e, Affine *out) {
    Affine b;
    if (!spot_lower(c, e->lhs, out) || !spot_lower(c, e->rhs, &b)) return false;
    if (combine(e->op, out, &b)) return true;
    return diag_refuse(c->diags, e->loc, "unsupported",
                  "not supported yet: a place other than sums of scalars, with factors and floor divisions by numbers");
}

bool spot_lower(Prog *c, const Expr *e, Affine *out) {
    ProgValue n;
    if (number_of_expr(c->scope, e, &n)) {
        *out = affine_const(n.number.i);
        return n.number.is_integer || diag_refuse(c->diags, e->loc, "subscript-type", "a place is an integer");
    }
    if (e->kind == EXPR_BINARY) return spot_binary(c, e, out);
    return source_add(c, tensor_lower(c, e, &expected_nothing), out);
}
