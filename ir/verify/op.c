/* op.c: operations without regions: operands, result types, limits; by class and row of ops.def. */
#include "ir/verify/verify.h"

static const char *text_of(const Op *op) { return op_info[op->kind].text; }

static bool elem_verify(Verifier *v, const Op *op, Elem e) {
    if (elem_arith(e) == e && op_takes(op->kind, e)) return true;
    violation(v, op->loc, "%s does not work on %s", text_of(op), elem_text(e));
    return false;
}

static bool immediate_fits(const Op *op, Elem e) {
    if (elem_is_float(e) || elem_bits(e) == 64) return true;
    if (e == ELEM_BOOL) return op->imm == 0 || op->imm == 1;
    int64_t span = (int64_t)1 << elem_bits(e);
    return e == ELEM_U8 ? op->imm >= 0 && op->imm < span : op->imm >= -span / 2 && op->imm < span / 2;
}

static void const_verify(Verifier *v, const Op *op) {
    Elem e = op->res.n ? op->res.p[0]->type.elem : ELEM_I64;
    result_expect(v, op, type_scalar(e));
    if (!immediate_fits(op, e)) violation(v, op->loc, "%lld is not a number of %s", (long long)op->imm, elem_text(e));
}

static void index_verify(Verifier *v, const Op *op) {
    Type t = type_scalar(ELEM_I64);
    const int has = op_attributes(op->kind);
    bool good = has & HAS_AXIS   ? axis_verify(v, op->loc, op->axis)
                : has & HAS_SIZE ? size_verify(v, op->loc, op->size)
                                 : range_verify(v, op->loc, op->range);
    if (!good) return;
    if (op->kind == OP_POS && v->k->range.p[op->range].kind != RANGE_POSITION) t = type_with(t, op->range);
    result_expect(v, op, t);
}

/* UNARY, BINARY, COMPARE: operands of one element type; the ranges are united. */
static void elementwise_verify(Verifier *v, const Op *op) {
    Type t = op->arg.p[0]->type;
    if (!elem_verify(v, op, t.elem)) return;
    for (int i = 1; i < op->arg.n; i++) {
        Type other = op->arg.p[i]->type;
        if (other.elem != t.elem)
            violation(v, op->loc, "%s of %s and %s", text_of(op), elem_text(t.elem), elem_text(other.elem));
        if (!type_unite(v, op->loc, &t, other)) return;
    }
    if (op_info[op->kind].class == CLASS_COMPARE) t.elem = ELEM_BOOL;
    result_expect(v, op, t);
}

static void select_verify(Verifier *v, const Op *op) {
    Type t = op->arg.p[1]->type;
    if (op->arg.p[0]->type.elem != ELEM_BOOL || op->arg.p[2]->type.elem != t.elem)
        violation(v, op->loc, "select takes bool and two operands of one type");
    else if (elem_verify(v, op, t.elem) && type_unite(v, op->loc, &t, op->arg.p[2]->type) &&
             type_unite(v, op->loc, &t, op->arg.p[0]->type))
        result_expect(v, op, t);
}

/* CAST keeps the ranges, BROADCAST the element type. */
static void convert_verify(Verifier *v, const Op *op) {
    Type from = op->arg.p[0]->type, to = op->res.n ? op->res.p[0]->type : from;
    if (op->kind == OP_CAST) {
        from.elem = to.elem;
    } else if (type_covers(to, from)) {
        to.elem = from.elem;
        from = to;
    }
    result_expect(v, op, from);
}

/* .over is distinct and part of the operand. */
static bool over_verify(Verifier *v, const Op *op, Type operand) {
    for (int i = 0; i < op->nover; i++) {
        if (!type_has(operand, op->over[i])) {
            violation(v, op->loc, "%s over a range that %s does not have, or twice", text_of(op),
                      type_text(v, operand));
            return false;
        }
        operand = type_without(operand, op->over[i]);
    }
    return true;
}

static bool over_count_verify(Verifier *v, const Op *op, int least, int most) {
    if (op->nover >= least && op->nover <= most) return true;
    violation(v, op->loc, "%s over %d ranges", text_of(op), op->nover);
    return false;
}

static void reduce_verify(Verifier *v, const Op *op) {
    bool arg = op_info[op->kind].position;
    Type t = op->arg.p[0]->type;
    if (!over_count_verify(v, op, 1, arg ? 1 : MAX_RANGES) || !elem_verify(v, op, t.elem)) return;
    if (!over_verify(v, op, t)) return;
    for (int i = 0; i < op->nover; i++) t = type_without(t, op->over[i]);
    if (arg) t.elem = ELEM_I64;
    result_expect(v, op, t);
}

static void prefix_verify(Verifier *v, const Op *op) {
    Type t = op->arg.p[0]->type;
    if (over_count_verify(v, op, 1, 1) && elem_verify(v, op, t.elem) && over_verify(v, op, t)) result_expect(v, op, t);
}

static bool dot_elems_verify(Verifier *v, const Op *op, Elem x, Elem y) {
    bool mixed = op->kind == OP_MMA && elem_bits(x) == 8 && elem_bits(y) == 8 && elem_accum(x) == elem_accum(y);
    if ((x == y || mixed) && (elem_is_float(x) || (elem_is_int(x) && elem_arith(x) == x))) return true;
    violation(v, op->loc, "dot of %s and %s", elem_text(x), elem_text(y));
    return false;
}

static void dot_verify(Verifier *v, const Op *op) {
    if (op->arg.n < 2 || op->arg.n > 3) {
        violation(v, op->loc, "dot takes 2 or 3 operands, not %d", op->arg.n);
        return;
    }
    Type x = op->arg.p[0]->type, y = op->arg.p[1]->type, t = x;
    if (!dot_elems_verify(v, op, x.elem, y.elem) || !over_count_verify(v, op, 1, MAX_RANGES)) return;
    if (!over_verify(v, op, x) || !over_verify(v, op, y)) return;
    for (int i = 0; i < op->nover; i++) {
        t = type_without(t, op->over[i]);
        y = type_without(y, op->over[i]);
    }
    t.elem = elem_accum(x.elem);
    if (!type_unite(v, op->loc, &t, y)) return;
    if (op->arg.n == 3 && op->arg.p[2]->type.elem != t.elem)
        violation(v, op->loc, "dot of %s adds to %s", elem_text(x.elem), elem_text(op->arg.p[2]->type.elem));
    for (int i = 0; i < op->nover && op->arg.n == 3; i++)
        if (type_has(op->arg.p[2]->type, op->over[i])) violation(v, op->loc, "dot adds to a range it contracts");
    if (op->arg.n < 3 || type_unite(v, op->loc, &t, op->arg.p[2]->type)) result_expect(v, op, t);
}

/* x, a condition over the same ranges, places of it. */
static void print_verify(Verifier *v, const Op *op) {
    if (op->arg.n < 2 || op->arg.n > 2 + PRINT_PLACES) {
        violation(v, op->loc, "%s takes 2 to %d operands, not %d", text_of(op), 2 + PRINT_PLACES, op->arg.n);
        return;
    }
    Type x = op->arg.p[0]->type, when = x;
    when.elem = ELEM_BOOL;
    if (x.elem != ELEM_F32 && x.elem != ELEM_F64 && x.elem != ELEM_I64 && x.elem != ELEM_BOOL)
        violation(v, op->loc, "%s of %s", text_of(op), elem_text(x.elem));
    if (!type_equal(op->arg.p[1]->type, when)) violation(v, op->loc, "%s under a condition of other ranges, or of no bool", text_of(op));
    for (int i = 2; i < op->arg.n; i++)
        if (op->arg.p[i]->type.elem != ELEM_I64 || !type_covers(x, op->arg.p[i]->type))
            violation(v, op->loc, "a place of %s is no integer of 64 bits, or has ranges that its tile has not", text_of(op));
    if (!op->by) violation(v, op->loc, "%s without a text", text_of(op));
    if (op->res.n) violation(v, op->loc, "%s has results", text_of(op));
}

static bool operands_verify(Verifier *v, const Op *op) {
    int want = op_info[op->kind].operands;
    if (want >= 0 && op->arg.n != want) {
        violation(v, op->loc, "%s takes %d operands, not %d", text_of(op), want, op->arg.n);
        return false;
    }
    if (!op->region[0] && !op->region[1]) return true;
    violation(v, op->loc, "%s has a region", text_of(op));
    return false;
}

void op_verify(Verifier *v, const Op *op) {
    role_attributes_verify(v, op);
    if (op_info[op->kind].class != CLASS_ROLE && !operands_verify(v, op)) return;
    switch (op_info[op->kind].class) {
    case CLASS_CONST: const_verify(v, op); return;
    case CLASS_INDEX: index_verify(v, op); return;
    case CLASS_UNARY:
    case CLASS_BINARY:
    case CLASS_COMPARE: elementwise_verify(v, op); return;
    case CLASS_CONVERT: result_expect(v, op, op->arg.p[0]->type); return;
    case CLASS_SELECT: select_verify(v, op); return;
    case CLASS_CAST:
    case CLASS_BROADCAST: convert_verify(v, op); return;
    case CLASS_REDUCE: reduce_verify(v, op); return;
    case CLASS_PREFIX: prefix_verify(v, op); return;
    case CLASS_DOT: dot_verify(v, op); return;
    case CLASS_MEMORY: (op->kind == OP_GROUP ? group_verify : access_verify)(v, op); return;
    case CLASS_SYNC: sync_verify(v, op); return;
    case CLASS_PRINT: print_verify(v, op); return;
    case CLASS_ROLE: role_op_verify(v, op); return;
    case CLASS_CONTROL: return;
    }
}
