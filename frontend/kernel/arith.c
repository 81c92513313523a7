/* arith.c: arithmetic on values: types brought together, ranges united, contractions.
   Floats of 16 bits and less are widened to f32 before anything but a contraction. */
#include "frontend/kernel/kernel.h"
#include "frontend/sema/function.h"

/* ---- elementwise ---- */

static bool operand_report(Kern *c, OpKind op, Elem e, Loc loc) {
    diag_error(c->diags, loc, "operand-type", "%s does not apply to %s", op_phrase(op), elem_text(e));
    return false;
}

bool arith_sums(Kern *c, AssignOp op, Elem e, Loc loc) {
    OpKind kind = op == ASSIGN_SUB ? OP_SUB : OP_ADD;
    return op_takes(kind, e) || operand_report(c, kind, e, loc);
}

static bool operands_ready(Kern *c, OpKind op, const Val *v, int n, Elem *e, Loc loc) {
    if (!vals_unify(c, v, n, e, loc)) return false;
    Type t = val_type(c, v[0]);
    for (int i = 1; i < n; i++) {
        if (!types_fit(c, t, val_type(c, v[i]), loc)) return false;
        t = type_union(t, val_type(c, v[i]));
    }
    return op_takes(op, *e) || operand_report(c, op, *e, loc);
}

/* A comparison of an integer with itself, which C compilers warn about. */
static Value *compare_itself(Kern *c, OpKind op, Value *v) {
    Type t = v->type;
    t.elem = ELEM_BOOL;
    return build_broadcast(&c->b, t, build_const_i(&c->b, ELEM_BOOL, op == OP_EQ || op == OP_LE || op == OP_GE));
}

Val arith_op(Kern *c, OpKind op, Val x, Val y, Loc loc) {
    Elem e;
    if (!operands_ready(c, op, (Val[]){x, y}, 2, &e, loc)) return val_error;
    c->b.loc = loc;
    Value *a = val_as(c, x, e), *b = val_as(c, y, e);
    if (a == b && op_info[op].class == CLASS_COMPARE && !elem_is_float(e)) return val_tile(compare_itself(c, op, a));
    return val_tile(build_binary(&c->b, op, a, b));
}

/* e + x @ y is one contraction with e as its start, where the types agree. */
static bool dot_accumulate(Kern *c, Val e, Val dot, Val *r) {
    if (!dot.fresh_dot || dot.v->def->arg.n != 2 || e.kind == VAL_ERROR || val_is_const(e)) return false;
    Type want = dot.v->type;
    if (!type_equal(val_type(c, e), want)) return false;
    Value *acc = val_value(c, e);
    Op *op = dot.v->def;
    op_remove(op);
    *r = val_tile(build_contract(&c->b, op->arg.p[0], op->arg.p[1], acc, op->over, op->nover));
    return true;
}

/* i - i and i % 1 are numbers, and still tiles over i. */
static bool keeps_ranges(Kern *c, const Affine *sum, Val x, Val y) {
    return type_covers(affine_type(c->b.k, sum), type_union(val_type(c, x), val_type(c, y)));
}

/* Outside of subscripts one of the two is a sum already, or nothing is gained by making one. */
static bool index_binary(Kern *c, AstOp op, Val x, Val y, Val *r) {
    if (!is_affine(x) || !is_affine(y)) return false;
    if (!c->in_index && x.kind != VAL_INDEX && y.kind != VAL_INDEX) return false;
    if (!types_fit(c, val_type(c, x), val_type(c, y), c->b.loc)) return *r = val_error, true;
    Affine a = affine_of(&x), b = affine_of(&y);
    bool good = false;
    if (op == AST_ADD) good = affine_add(&a, &b, 1);
    if (op == AST_SUB) good = affine_add(&a, &b, -1);
    if (op == AST_MUL && y.kind == VAL_INT) good = affine_scale(&a, y.i);
    if (op == AST_MUL && x.kind == VAL_INT) good = affine_scale(&b, x.i), a = b;
    if (op == AST_DIV && y.kind == VAL_INT) good = affine_divide(&a, y.i);
    if (op == AST_MOD && y.kind == VAL_INT) good = affine_modulo(&a, y.i);
    good = good && keeps_ranges(c, &a, x, y);
    if (good) *r = val_index(c, a);
    return good;
}

Val arith_binary(Kern *c, AstOp op, Val x, Val y, Loc loc) {
    Val r;
    if (x.kind == VAL_ERROR || y.kind == VAL_ERROR) return val_error;
    c->b.loc = loc;
    if (fold_binary(c, op, x, y, loc, &r) || index_binary(c, op, x, y, &r)) return r;
    if (op == AST_ADD && (dot_accumulate(c, x, y, &r) || dot_accumulate(c, y, x, &r))) return r;
    if ((op == AST_AND || op == AST_OR) && (val_type(c, x).elem != ELEM_BOOL || val_type(c, y).elem != ELEM_BOOL)) {
        diag_error(c->diags, loc, "operand-type", "%s takes conditions", op == AST_AND ? "&&" : "||");
        return val_error;
    }
    return arith_op(c, operator_op(op), x, y, loc);
}

Val arith_unary(Kern *c, OpKind op, Val x, Loc loc) {
    Val r;
    Elem e;
    if (x.kind == VAL_ERROR) return x;
    c->b.loc = loc;
    if (fold_unary(op, x, &r)) return r;
    if (op == OP_NEG && index_binary(c, AST_SUB, val_int(0), x, &r)) return r;
    if (!vals_unify(c, &x, 1, &e, loc)) return val_error;
    if (op == OP_NOT ? e != ELEM_BOOL : !op_takes(op, e)) { /* '!' of the language is for conditions alone */
        operand_report(c, op, e, loc);
        if (elem_is_int(e) && op != OP_NOT) diag_note(c->diags, loc, "convert: f32(x)");
        return val_error;
    }
    return val_tile(build_unary(&c->b, op, val_as(c, x, e)));
}

Val arith_select(Kern *c, Val cond, Val x, Val y, Loc loc) {
    Elem e;
    if (cond.kind == VAL_ERROR || !operands_ready(c, OP_EQ, (Val[]){x, y}, 2, &e, loc)) return val_error;
    if (val_type(c, cond).elem != ELEM_BOOL) {
        diag_error(c->diags, loc, "condition-type", "a condition is bool, this is %s",
                   elem_text(val_type(c, cond).elem));
        return val_error;
    }
    if (!types_fit(c, val_type(c, cond), type_union(val_type(c, x), val_type(c, y)), loc)) return val_error;
    c->b.loc = loc;
    Value *test = val_value(c, cond), *a = val_as(c, x, e), *b = val_as(c, y, e);
    return val_tile(build_select(&c->b, test, a, b));
}

/* ---- contractions ---- */

/* Operands of one type are taken as they are (bf16 @ bf16 sums in f32); others are brought to one that holds both: i8 of packed integers
   and i8. */
static Elem contract_elem(Elem x, Elem y, Elem arithmetic) {
    bool in_i8 = elem_is_int(x) && elem_is_int(y) && elem_bits(x) <= 8 && elem_bits(y) <= 8 && x != ELEM_U8 && y != ELEM_U8;
    return in_i8 ? ELEM_I8 : x == y ? x : arithmetic;
}

Val arith_contract(Kern *c, Val x, Val y, const int16_t *over, int nover, Loc loc) {
    Elem e;
    if (!vals_unify(c, (Val[]){x, y}, 2, &e, loc) || !types_fit(c, val_type(c, x), val_type(c, y), loc))
        return val_error;
    if (e == ELEM_BOOL) return operand_report(c, OP_DOT, e, loc), val_error;
    e = contract_elem(val_type(c, x).elem, val_type(c, y).elem, e);
    c->b.loc = loc;
    Value *a = val_as(c, x, e), *b = val_as(c, y, e);
    Val r = val_tile(build_contract(&c->b, a, b, NULL, over, nover));
    r.fresh_dot = true;
    return r;
}

/* x @ y contracts what both have. */
Val arith_matmul(Kern *c, Val x, Val y, Loc loc) {
    int16_t over[MAX_RANGES];
    int n = 0;
    if (x.kind == VAL_ERROR || y.kind == VAL_ERROR) return val_error;
    Type tx = val_type(c, x), ty = val_type(c, y);
    for (int i = 0; i < tx.nrange; i++)
        if (type_has(ty, tx.range[i])) over[n++] = tx.range[i];
    if (n > 0) return arith_contract(c, x, y, over, n, loc);
    diag_error(c->diags, loc, "no-common-range", "%s and %s have no range in common to contract", tile_text(c, tx),
               tile_text(c, ty));
    diag_note(c->diags, loc, "use '*' for a product of elements");
    return val_error;
}

Val arith_assign(Kern *c, AssignOp op, Val held, Val v, Loc loc) {
    static const AstOp table[] = {
        [ASSIGN_ADD] = AST_ADD, [ASSIGN_SUB] = AST_SUB, [ASSIGN_MUL] = AST_MUL, [ASSIGN_DIV] = AST_DIV};
    return arith_binary(c, table[op], held, v, loc);
}
