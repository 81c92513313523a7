/* fold.c: operations on numbers that are known when the kernel is instantiated.
   Integers are exact in 64 bits (division is floor); floats are doubles until they meet a type. */
#include "frontend/kernel/kernel.h"
#include "frontend/sema/function.h"
#include "frontend/sema/number.h"

static bool fold_compare(AstOp op, int order, Val *r) {
    const OpInfo *o = &op_info[operator_op(op)];
    if (o->class != CLASS_COMPARE) return false;
    *r = val_bool((o->holds & (order < 0 ? IF_LESS : order == 0 ? IF_EQUAL : IF_GREATER)) != 0);
    return true;
}

static bool fold_int(Kern *c, AstOp op, int64_t a, int64_t b, Loc loc, Val *r) {
    *r = val_int(0);
    if (integer_binary(op, a, b, &r->i)) return true;
    switch (op) {
    case AST_DIV:
    case AST_MOD:
        if (!c->checking) diag_error(c->diags, loc, "division-by-zero", "division by zero");
        return *r = val_error, true;
    case AST_BAND: r->i = a & b; return true;
    case AST_BOR: r->i = a | b; return true;
    case AST_BXOR: r->i = a ^ b; return true;
    case AST_SHL: r->i = b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b); return true;
    case AST_SHR: r->i = b < 0 || b > 63 ? -(a < 0) : a >> b; return true;
    default: return fold_compare(op, (a > b) - (a < b), r);
    }
}

static bool fold_float(AstOp op, double a, double b, Val *r) {
    const BinaryValue *value = &op_info[operator_op(op)].binary;
    if (value->f64) return *r = val_float(value->f64(a, b)), true;
    return a == a && b == b && fold_compare(op, (a > b) - (a < b), r);
}

static bool fold_bool(AstOp op, bool a, bool b, Val *r) {
    switch (op) {
    case AST_AND:
    case AST_BAND: *r = val_bool(a && b); return true;
    case AST_OR:
    case AST_BOR: *r = val_bool(a || b); return true;
    case AST_BXOR: *r = val_bool(a != b); return true;
    default: return fold_compare(op, a - b, r);
    }
}

static bool is_number(Val v) { return v.kind == VAL_FLOAT || (v.kind == VAL_INT && v.literal); }

static double number_of(Val v) { return v.kind == VAL_FLOAT ? v.f : (double)v.i; }

/* A number that a conversion gave a type wraps in it, as any integer does. */
static Val wrapped(Val v, Elem e) {
    v.converted = true;
    v.elem = e;
    int over = 64 - elem_bits(e);
    if (v.kind != VAL_INT || over <= 0) return v;
    uint64_t high = (uint64_t)v.i << over;
    v.i = e == ELEM_U8 ? (int64_t)(high >> over) : (int64_t)high >> over;
    return v;
}

static bool fold_numbers(Kern *c, AstOp op, Val a, Val b, Loc loc, Val *r) {
    if (a.kind == VAL_BOOL && b.kind == VAL_BOOL) return fold_bool(op, a.i, b.i, r);
    if (a.kind == VAL_INT && b.kind == VAL_INT) {
        if (!fold_int(c, op, a.i, b.i, loc, r)) return false;
        r->literal = r->kind == VAL_INT && a.literal && b.literal;
        return true;
    }
    return is_number(a) && is_number(b) && fold_float(op, number_of(a), number_of(b), r);
}

/* false: not to be folded. An error was reported where *r is one. */
bool fold_binary(Kern *c, AstOp op, Val a, Val b, Loc loc, Val *r) {
    if (!fold_numbers(c, op, a, b, loc, r)) return false;
    Elem e;
    bool typed = (a.converted || b.converted) && (r->kind == VAL_INT || r->kind == VAL_FLOAT);
    if (typed && vals_unify(c, (Val[]){a, b}, 2, &e, loc)) *r = wrapped(*r, e);
    return true;
}

bool fold_unary(OpKind op, Val v, Val *r) {
    *r = v;
    if (v.kind == VAL_BOOL && op == OP_NOT) return *r = val_bool(!v.i), true;
    if (v.kind == VAL_INT && (op == OP_NEG || (op == OP_ABS && v.i < 0)))
        return r->i = (int64_t)(0 - (uint64_t)v.i), *r = v.converted ? wrapped(*r, v.elem) : *r, true;
    if (v.kind == VAL_INT && op == OP_ABS) return true;
    if (!is_number(v) || (v.kind == VAL_INT && op == OP_NOT)) return false;
    *r = val_float(op_info[op].unary.f64(number_of(v)));
    r->converted = v.converted, r->elem = v.elem;
    return true;
}
