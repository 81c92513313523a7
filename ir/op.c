/* op.c: builders of operations, which compute result types.
   Builders refuse what has no type; what is well-typed but not allowed is the verifier's to report. */
#include "ir/ir.h"
#include "base/require.h"

enum { /* sets of classes, a bit each */
    ELEMENTWISE = 1 << CLASS_UNARY | 1 << CLASS_BINARY | 1 << CLASS_COMPARE | 1 << CLASS_SELECT | 1 << CLASS_CAST | 1 << CLASS_BROADCAST,
    EXPRESSIONS = ELEMENTWISE | 1 << CLASS_CONST | 1 << CLASS_INDEX,
    OF_TILES = ELEMENTWISE | 1 << CLASS_REDUCE | 1 << CLASS_PREFIX | 1 << CLASS_CONVERT | 1 << CLASS_DOT,
};

static bool is_among(const Op *op, unsigned classes) { return classes >> op_info[op->kind].class & 1; }

bool op_is_elementwise(const Op *op) { return is_among(op, ELEMENTWISE); }
bool op_is_expression(const Op *op) { return is_among(op, EXPRESSIONS); }
bool op_is_of_tiles(const Op *op) { return is_among(op, OF_TILES); }

Op *op_append(Builder *b, OpKind kind) {
    Op *op = op_new(b->m, kind, b->loc);
    op_append_to(b->at, op);
    return op;
}

static Value *append(Builder *b, OpKind kind, Value *const *arg, int narg, Type t) {
    Op *op = op_append(b, kind);
    for (int i = 0; i < narg; i++) vec_push(b->m->arena, &op->arg, arg[i]);
    return op_result(b->m, b->k, op, t);
}

Value *build_const_f(Builder *b, Elem e, double x) {
    REQUIRE(elem_is_float(e));
    Value *v = append(b, OP_CONST, NULL, 0, type_scalar(e));
    v->def->fimm = x;
    return v;
}

bool value_const(const Value *v, int64_t *n) {
    if (!v->def || v->def->kind != OP_CONST || elem_is_float(v->type.elem)) return false;
    *n = v->def->imm;
    return true;
}

bool value_is(const Value *v, int64_t n) {
    int64_t known;
    return value_const(v, &known) && known == n;
}

Value *build_const_i(Builder *b, Elem e, int64_t x) {
    REQUIRE(!elem_is_float(e));
    Value *v = append(b, OP_CONST, NULL, 0, type_scalar(e));
    v->def->imm = x;
    return v;
}

Value *build_index(Builder *b, OpKind kind, int range) {
    REQUIRE(kind == OP_POS || kind == OP_BEGIN || kind == OP_END);
    REQUIRE(range >= 0 && range < b->k->range.n);
    Type t = type_scalar(ELEM_I64);
    if (kind == OP_POS && b->k->range.p[range].kind != RANGE_POSITION) t = type_with(t, range);
    Value *v = append(b, kind, NULL, 0, t);
    v->def->range = (int16_t)range;
    return v;
}

Value *build_size(Builder *b, OpKind kind, Size s) {
    REQUIRE(kind == OP_SIZE || kind == OP_ORIGIN);
    Value *v = append(b, kind, NULL, 0, type_scalar(ELEM_I64));
    v->def->size = s;
    return v;
}

Value *build_rank(Builder *b, int axis) {
    Value *v = append(b, OP_RANK, NULL, 0, type_scalar(ELEM_I64));
    v->def->axis = (int16_t)axis;
    return v;
}

Value *build_unary(Builder *b, OpKind kind, Value *x) {
    REQUIRE(op_info[kind].class == CLASS_UNARY);
    return append(b, kind, &x, 1, x->type);
}

Value *build_binary(Builder *b, OpKind kind, Value *x, Value *y) {
    REQUIRE(op_info[kind].class == CLASS_BINARY || op_info[kind].class == CLASS_COMPARE);
    REQUIRE(x->type.elem == y->type.elem);
    Type t = type_union(x->type, y->type);
    if (op_info[kind].class == CLASS_COMPARE) t.elem = ELEM_BOOL;
    return append(b, kind, (Value *[]){x, y}, 2, t);
}

Value *build_select(Builder *b, Value *cond, Value *x, Value *y) {
    REQUIRE(cond->type.elem == ELEM_BOOL && x->type.elem == y->type.elem);
    Type t = type_union(type_union(x->type, y->type), cond->type);
    return append(b, OP_SELECT, (Value *[]){cond, x, y}, 3, t);
}

Value *build_cast(Builder *b, Elem e, Value *x) {
    if (x->type.elem == e) return x;
    Type t = x->type;
    t.elem = e;
    return append(b, OP_CAST, &x, 1, t);
}

Value *build_broadcast(Builder *b, Type t, Value *x) {
    REQUIRE(type_covers(t, x->type));
    if (t.nrange == x->type.nrange) return x;
    t.elem = x->type.elem;
    return append(b, OP_BROADCAST, &x, 1, t);
}

static void set_over(Op *op, const int16_t *over, int nover) {
    REQUIRE(nover <= MAX_RANGES);
    op->nover = (int8_t)nover;
    for (int i = 0; i < nover; i++) op->over[i] = over[i];
    if (nover == 1) op->range = over[0];
}

Value *build_reduce(Builder *b, OpKind kind, Value *x, const int16_t *over, int nover) {
    REQUIRE(op_info[kind].class == CLASS_REDUCE && nover > 0);
    Type t = x->type;
    for (int i = 0; i < nover; i++) {
        REQUIRE(type_has(t, over[i]));
        t = type_without(t, over[i]);
    }
    if (op_info[kind].position) t.elem = ELEM_I64;
    Value *v = append(b, kind, &x, 1, t);
    set_over(v->def, over, nover);
    return v;
}

Value *build_prefix(Builder *b, OpKind kind, Value *x, int over) {
    REQUIRE(op_info[kind].class == CLASS_PREFIX && type_has(x->type, over));
    Value *v = append(b, kind, &x, 1, x->type);
    set_over(v->def, (int16_t[]){(int16_t)over}, 1);
    return v;
}

static Value *contract(Builder *b, OpKind kind, Value *x, Value *y, Value *acc, const int16_t *over, int nover) {
    REQUIRE(elem_accum(x->type.elem) == elem_accum(y->type.elem) && nover > 0);
    Type t = type_union(x->type, y->type);
    t.elem = elem_accum(x->type.elem);
    for (int i = 0; i < nover; i++) {
        REQUIRE(type_has(x->type, over[i]) && type_has(y->type, over[i]));
        REQUIRE(!acc || !type_has(acc->type, over[i]));
        t = type_without(t, over[i]);
    }
    REQUIRE(!acc || acc->type.elem == t.elem);
    if (acc) t = type_union(t, acc->type);
    Value *v = append(b, kind, (Value *[]){x, y, acc}, acc ? 3 : 2, t);
    set_over(v->def, over, nover);
    return v;
}

Value *build_contract(Builder *b, Value *x, Value *y, Value *acc, const int16_t *over, int nover) {
    return contract(b, OP_DOT, x, y, acc, over, nover);
}

Value *build_mma(Builder *b, Value *x, Value *y, Value *acc, const int16_t *over, int nover, Name by) {
    Value *v = contract(b, OP_MMA, x, y, acc, over, nover);
    v->def->by = by;
    return v;
}

Value *build_dot(Builder *b, Value *x, Value *y, Value *acc) {
    int16_t over[MAX_RANGES];
    int n = 0;
    for (int i = 0; i < x->type.nrange; i++)
        if (type_has(y->type, x->type.range[i])) over[n++] = x->type.range[i];
    return build_contract(b, x, y, acc, over, n);
}

static void set_access(Builder *b, Op *op, int param, const Span *sub, int nsub) {
    REQUIRE(param >= 0 && param < b->k->param.n);
    op->param = (int16_t)param;
    op->sub.p = arena_copy(b->m->arena, sub, sizeof *sub * (size_t)nsub);
    op->sub.n = op->sub.cap = nsub;
}

Value *build_load(Builder *b, int param, const Span *sub, int nsub) {
    REQUIRE(param >= 0 && param < b->k->param.n);
    Type t = type_scalar(b->k->param.p[param].elem);
    for (int i = 0; i < nsub; i++) t = type_union(t, affine_type(b->k, &sub[i].lo));
    Value *v = append(b, OP_LOAD, NULL, 0, t);
    set_access(b, v->def, param, sub, nsub);
    return v;
}

Value *build_group(Builder *b, int range) {
    REQUIRE(range_is_ragged(b->k, range));
    Value *v = append(b, OP_GROUP, NULL, 0, type_scalar(ELEM_I64));
    v->def->range = (int16_t)range;
    v->def->param = (int16_t)(b->k->range.p[range].starts - 1);
    return v;
}

Op *build_store(Builder *b, int param, const Span *sub, int nsub, Value *x, StoreMode mode) {
    Op *op = op_append(b, OP_STORE);
    vec_push(b->m->arena, &op->arg, x);
    set_access(b, op, param, sub, nsub);
    op->mode = mode;
    return op;
}

Op *build_print(Builder *b, OpKind kind, Value *x, Value *when, Value *const *place, int n, Name text) {
    Op *op = op_append(b, kind);
    vec_push(b->m->arena, &op->arg, x);
    vec_push(b->m->arena, &op->arg, when);
    for (int i = 0; i < n; i++) vec_push(b->m->arena, &op->arg, place[i]);
    op->by = text;
    return op;
}

Op *build_for(Builder *b, int range, Value *lo, Value *hi, Value *const *init, int ninit) {
    REQUIRE(range >= b->k->ngrid && range < b->k->range.n);
    Op *op = op_append(b, OP_FOR);
    op->range = (int16_t)range;
    op->region[0] = region_new(b->m, op);
    vec_push(b->m->arena, &op->arg, lo);
    vec_push(b->m->arena, &op->arg, hi);
    for (int i = 0; i < ninit; i++) {
        vec_push(b->m->arena, &op->arg, init[i]);
        region_arg(b->m, b->k, op->region[0], init[i]->type, init[i]->name);
        op_result(b->m, b->k, op, init[i]->type)->name = init[i]->name;
    }
    return op;
}

Op *build_if(Builder *b, Value *cond, const Type *result, int nresult) {
    Op *op = op_append(b, OP_IF);
    vec_push(b->m->arena, &op->arg, cond);
    op->region[0] = region_new(b->m, op);
    op->region[1] = region_new(b->m, op);
    for (int i = 0; i < nresult; i++) op_result(b->m, b->k, op, result[i]);
    return op;
}

Op *build_yield(Builder *b, Value *const *value, int n) {
    Op *op = op_append(b, OP_YIELD);
    for (int i = 0; i < n; i++) vec_push(b->m->arena, &op->arg, value[i]);
    return op;
}
