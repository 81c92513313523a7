/* relation_fit.c: integers that never leave their type, so that isl's unbounded numbers are what a machine computes.
   Takes: an integer scalar of a kernel in value form. Gives: whether it fits for all sizes, ranks and tasks, and all it is made of. */
#include "ir/poly/relation_text.h"

enum { FIT_BUDGET = 256 };

typedef struct {
    const Module *m;
    const Kernel *k;
    int budget; /* of operations to look at */
} Fit;

typedef struct {
    int64_t lo, hi;
} Bounds;

static bool value_bounds(Fit *f, const Value *v, Bounds *b);

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Positions, and where a tile begins or ends: that of an empty tile is behind the range's end. */
static bool index_bounds(Fit *f, const Op *op, Bounds *b) {
    const Range *r = &f->k->range.p[op->range];
    const Op *loop = r->grid ? NULL : range_loop(op, op->range);
    int64_t tile = most(r->size, 1);
    Bounds first = {0, 0}, end = {0, size_most(f->m, r->of)};
    if (!r->grid && (!loop || !value_bounds(f, loop->arg.p[0], &first) || !value_bounds(f, loop->arg.p[1], &end))) return false;
    b->lo = first.lo;
    return !__builtin_add_overflow(most(first.hi, end.hi), tile, &b->hi);
}

static bool product_bounds(Bounds x, Bounds y, Bounds *b) {
    int64_t p[4];
    bool over = __builtin_mul_overflow(x.lo, y.lo, &p[0]) || __builtin_mul_overflow(x.lo, y.hi, &p[1]) ||
                __builtin_mul_overflow(x.hi, y.lo, &p[2]) || __builtin_mul_overflow(x.hi, y.hi, &p[3]);
    if (over) return false;
    *b = (Bounds){least(least(p[0], p[1]), least(p[2], p[3])), most(most(p[0], p[1]), most(p[2], p[3]))};
    return true;
}

static bool quotient_bounds(OpKind kind, Bounds x, Bounds q, Bounds *b) {
    if (q.lo != q.hi || q.lo < 1) return false;
    *b = kind == OP_MOD ? (Bounds){0, q.lo - 1} : (Bounds){int_floor_div(x.lo, q.lo), int_floor_div(x.hi, q.lo)};
    return true;
}

static bool binary_bounds(Fit *f, const Op *op, Bounds *b) {
    Bounds x, y;
    if (!value_bounds(f, op->arg.p[0], &x) || !value_bounds(f, op->arg.p[1], &y)) return false;
    switch (op->kind) {
    case OP_ADD: return !__builtin_add_overflow(x.lo, y.lo, &b->lo) && !__builtin_add_overflow(x.hi, y.hi, &b->hi);
    case OP_SUB: return !__builtin_sub_overflow(x.lo, y.hi, &b->lo) && !__builtin_sub_overflow(x.hi, y.lo, &b->hi);
    case OP_MUL: return product_bounds(x, y, b);
    case OP_DIV:
    case OP_MOD: return quotient_bounds(op->kind, x, y, b);
    case OP_MIN: *b = (Bounds){least(x.lo, y.lo), least(x.hi, y.hi)}; return true;
    case OP_MAX: *b = (Bounds){most(x.lo, y.lo), most(x.hi, y.hi)}; return true;
    default: return false;
    }
}

static bool op_bounds(Fit *f, const Op *op, Bounds *b) {
    *b = (Bounds){0, 0};
    switch (op->kind) {
    case OP_CONST: *b = (Bounds){op->imm, op->imm}; return true;
    case OP_SIZE:
    case OP_ORIGIN: b->hi = size_most(f->m, size_whole(op->size)); return true;
    case OP_RANK: b->hi = f->m->axis.p[op->axis].ranks - 1; return true;
    case OP_POS:
    case OP_BEGIN:
    case OP_END: return index_bounds(f, op, b);
    case OP_CAST: return value_bounds(f, op->arg.p[0], b);
    default: return op_info[op->kind].class == CLASS_BINARY && binary_bounds(f, op, b);
    }
}

static bool type_holds(Elem elem, Bounds b) {
    int bits = elem_bits(elem);
    bool sign = elem != ELEM_U8;
    if (bits >= 64) return true;
    return b.lo >= (sign ? -((int64_t)1 << (bits - 1)) : 0) && b.hi < (int64_t)1 << (bits - sign);
}

static bool value_bounds(Fit *f, const Value *v, Bounds *b) {
    if (!v->def || v->type.nrange || !elem_is_int(v->type.elem) || f->budget-- <= 0) return false;
    return op_bounds(f, v->def, b) && type_holds(v->type.elem, *b);
}

bool relation_fits(const Module *m, const Kernel *k, const Value *v) {
    Fit f = {.m = m, .k = k, .budget = FIT_BUDGET};
    Bounds b;
    return value_bounds(&f, v, &b);
}
