/* mask.c: tiles are padded to powers of two, and positions past the end of a range do not exist. Loads give 0
   there and stores drop; where other values would count, a select puts in what the operation ignores. Takes: value
   form. Gives: the same results. */
#include "passes/fuse/inline.h"
#include "passes/layout/layout.h"

#include <math.h>

static bool is_padded(const Lay *l, int range) {
    return !range_is_full(l->k, range) || range_most(l->m, l->k, range) != l->extent[range];
}

static Value *least_or_most(Builder *b, Elem e, bool least) {
    if (elem_is_float(e)) return build_const_f(b, e, least ? -INFINITY : INFINITY);
    if (e == ELEM_U8) return build_const_i(b, e, least ? 0 : UINT8_MAX);
    int64_t most = (int64_t)(UINT64_MAX >> (65 - elem_bits(e)));
    return build_const_i(b, e, least ? -most - 1 : most);
}

Value *lay_ignored_by(Builder *b, OpKind kind, Elem e) {
    Neutral neutral = op_info[op_info[kind].joins].neutral;
    if (neutral == NEUTRAL_LEAST || neutral == NEUTRAL_MOST) return least_or_most(b, e, neutral == NEUTRAL_LEAST);
    return elem_is_float(e) ? build_const_f(b, e, neutral) : build_const_i(b, e, neutral);
}

/* Certainly 0 past the ends of its ranges. */
static bool ends_in_zero(const Value *v) {
    const Op *d = v->def;
    if (!d) return false;
    if (d->kind == OP_CAST || d->kind == OP_NEG || d->kind == OP_ABS) return ends_in_zero(d->arg.p[0]);
    if (d->kind == OP_MUL) return ends_in_zero(d->arg.p[0]) && ends_in_zero(d->arg.p[1]);
    return d->kind == OP_LOAD;
}

static Value *masked(Builder *b, OpKind kind, Value *v, int range) {
    Value *at = build_index(b, OP_POS, range), *end = build_index(b, OP_END, range);
    Value *inside = build_binary(b, OP_LT, at, end);
    return build_select(b, inside, v, lay_ignored_by(b, kind, v->type.elem));
}

/* Narrow floats are masked before they are rounded. */
Value *lay_masked(Builder *b, OpKind kind, Value *v, int range) {
    Elem e = v->type.elem, wide = elem_arith(e);
    if (e == wide) return masked(b, kind, v, range);
    bool rounded =
        v->def && v->def->kind == OP_CAST && elem_arith(v->def->arg.p[0]->type.elem) == v->def->arg.p[0]->type.elem;
    Value *from = rounded ? v->def->arg.p[0] : build_cast(b, wide, v);
    return build_cast(b, e, masked(b, kind, from, range));
}

static void mask_operand(Lay *l, Op *op, int operand) {
    Region *aside = region_new(l->m, NULL);
    Builder b = {.m = l->m, .k = l->k, .at = aside, .loc = op->loc};
    Value *v = op->arg.p[operand];
    bool sum = op->kind == OP_DOT || op->kind == OP_SUM;
    for (int i = 0; i < op->nover; i++)
        if (is_padded(l, op->over[i]) && !(sum && ends_in_zero(v))) v = lay_masked(&b, op->kind, v, op->over[i]);
    region_splice_before(op, aside);
    op->arg.p[operand] = v;
}

/* What was loaded of a packed tensor goes on as bytes. */
static void unpack_load(Lay *l, Op *op) {
    Value *v = op->res.p[0];
    if (!elem_is_packed(v->type.elem) || !op->next) return;
    Region *aside = region_new(l->m, NULL);
    Builder b = {.m = l->m, .k = l->k, .at = aside, .loc = op->loc};
    Value *bytes = build_cast(&b, ELEM_I8, v);
    bytes->name = v->name;
    region_replace(l->k->body, v, bytes);
    region_splice_before(op->next, aside);
}

/* What is stored has all ranges of the subscripts. */
static void widen_store(Lay *l, Op *op) {
    Type t = op->arg.p[0]->type;
    for (int i = 0; i < op->sub.n; i++) t = type_union(t, affine_type(l->k, &op->sub.p[i].lo));
    Region *aside = region_new(l->m, NULL);
    Builder b = {.m = l->m, .k = l->k, .at = aside, .loc = op->loc};
    op->arg.p[0] = build_broadcast(&b, t, op->arg.p[0]);
    region_splice_before(op, aside);
}

static void prepare_op(Lay *l, Op *op) {
    OpClass class = op_info[op->kind].class;
    if (class == CLASS_REDUCE) mask_operand(l, op, 0);
    if (class == CLASS_DOT)
        for (int i = 0; i < 2; i++) mask_operand(l, op, i);
    if (op->kind == OP_STORE) widen_store(l, op);
}

static void unpack_op(Lay *l, Op *op) {
    if (op->kind == OP_LOAD) unpack_load(l, op);
}

void lay_unpack(Lay *l) { lay_each(l, l->k->body, unpack_op); }

void lay_prepare(Lay *l) { lay_each(l, l->k->body, prepare_op); }
