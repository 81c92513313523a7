/* chain_narrow.c: whole numbers of positions in 32 bits, as distances from keys to queries: machines convert and
   compare these several times as fast as those of 64. Takes: conversions and comparisons of a step's tiles of i64.
   Gives: the same of i32, where every number on the way certainly fits. */
#include "ir/size.h"
#include "passes/roles/slice.h"

typedef struct {
    int64_t least, most;
} Extent;

enum { DEEP = 16 /* operations; those further back are not looked at */ };
/* Sums of two such bounds do not overflow. */
static const int64_t unknown = INT64_MAX / 4;
static const Extent anything = {-(INT64_MAX / 4), INT64_MAX / 4};

static Extent extent_of(const Slice *s, const Value *v, int depth);

static int64_t limit(int64_t x) { return x < -unknown ? -unknown : x > unknown ? unknown : x; }

static Extent extent_of_positions(const Slice *s, int range, int depth) {
    const Range *r = &s->k->range.p[range];
    const Op *loop = r->grid ? NULL : kernel_loop(s->k, range);
    if (r->owner >= 0 || r->starts || (!r->grid && !loop)) return anything;
    if (r->grid) return (Extent){0, limit(size_most(s->m, r->of))};
    return (Extent){extent_of(s, loop->arg.p[0], depth).least, extent_of(s, loop->arg.p[1], depth).most};
}

static bool is_number(Extent x) { return x.least == x.most; }

static Extent extent_of_product(Extent x, Extent y) {
    const Extent by = is_number(x) ? x : y, of = is_number(x) ? y : x;
    enum { LARGE = 1 << 30 };
    if (!is_number(by) || by.least < 0 || by.least > LARGE || of.least < -LARGE || of.most > LARGE) return anything;
    return (Extent){by.least * of.least, by.least * of.most};
}

/* By a number, toward 0. */
static Extent extent_of_quotient(Extent x, Extent y) {
    return is_number(y) && y.least > 0 ? (Extent){x.least / y.least, x.most / y.least} : anything;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

static Extent extent_of_two(const Slice *s, const Op *op, int depth) {
    const Extent x = extent_of(s, op->arg.p[0], depth), y = extent_of(s, op->arg.p[1], depth);
    switch (op->kind) {
    case OP_ADD: return (Extent){limit(x.least + y.least), limit(x.most + y.most)};
    case OP_SUB: return (Extent){limit(x.least - y.most), limit(x.most - y.least)};
    case OP_MUL: return extent_of_product(x, y);
    case OP_DIV: return extent_of_quotient(x, y);
    case OP_MIN: return (Extent){least_of(x.least, y.least), least_of(x.most, y.most)};
    default: return (Extent){most_of(x.least, y.least), most_of(x.most, y.most)};
    }
}

static Extent extent_unwrapped(const Slice *s, const Value *v, int depth) {
    const Op *op = v->def;
    if (!op || depth > DEEP) return anything;
    switch (op->kind) {
    case OP_CONST: return (Extent){limit(op->imm), limit(op->imm)};
    case OP_SIZE: return (Extent){0, limit(size_most(s->m, op->size))};
    case OP_POS:
    case OP_BEGIN:
    case OP_END: return extent_of_positions(s, op->range, depth + 1);
    case OP_BROADCAST: return extent_of(s, op->arg.p[0], depth + 1);
    case OP_CAST: return op->arg.p[0]->type.elem == ELEM_I32 ? extent_of(s, op->arg.p[0], depth + 1) : anything;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MIN:
    case OP_MAX: return extent_of_two(s, op, depth + 1);
    default: return anything;
    }
}

/* Numbers of 32 bits wrap. */
static Extent extent_of(const Slice *s, const Value *v, int depth) {
    static const Extent word = {INT32_MIN, INT32_MAX};
    const Extent x = extent_unwrapped(s, v, depth);
    return v->type.elem == ELEM_I32 && (x.least < word.least || x.most > word.most) ? word : x;
}

static bool is_step(const Op *op) {
    return op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL || op->kind == OP_MIN || op->kind == OP_MAX;
}

static bool is_widened_i32(const Value *v) {
    return v->def && v->def->kind == OP_CAST && v->def->arg.p[0]->type.elem == ELEM_I32;
}

/* So are all tiles that it is made of. */
static bool fits(const Slice *s, const Value *v, int depth) {
    enum { BEHIND = 1 << 16 /* positions of a tile that lie behind the end */ };
    const Op *op = v->def;
    const Extent x = extent_of(s, v, 0);
    const int64_t spare = v->type.nrange ? BEHIND : 0;
    if (is_widened_i32(v) && v->type.elem == ELEM_I64) return true;
    if (op && op->kind == OP_BROADCAST) return depth < DEEP && fits(s, op->arg.p[0], depth + 1);
    if (v->type.elem != ELEM_I64 || depth > DEEP || x.least < INT32_MIN + spare || x.most > INT32_MAX - spare)
        return false;
    for (int i = 0; op && i < op->arg.n && v->type.nrange && is_step(op); i++)
        if (!fits(s, op->arg.p[i], depth + 1)) return false;
    return true;
}

static Value *narrow_two(Cut *c, const Op *op);

/* Anew, where it is taken: the tiles of 64 bits have no other reader, and go. */
static Value *narrow(Cut *c, const Value *v) {
    Builder *b = &c->b;
    const Op *op = v->def;
    if (v->type.nrange && is_widened_i32(v)) return cut_value(c, op->arg.p[0]);
    if (v->type.nrange && op->kind == OP_POS) return build_cast(b, ELEM_I32, build_index(b, OP_POS, op->range));
    if (v->type.nrange && op->kind == OP_BROADCAST) {
        Type t = v->type;
        t.elem = ELEM_I32;
        return build_broadcast(b, t, narrow(c, op->arg.p[0]));
    }
    if (v->type.nrange && is_step(op)) return narrow_two(c, op);
    return build_cast(b, ELEM_I32, cut_value(c, v));
}

static Value *narrow_two(Cut *c, const Op *op) {
    Value *x = narrow(c, op->arg.p[0]), *y = narrow(c, op->arg.p[1]);
    return build_binary(&c->b, op->kind, x, y);
}

Value *chain_narrow(Cut *c, const Op *op) {
    const Value *made = op->res.n == 1 ? op->res.p[0] : NULL, *x = op->arg.n ? op->arg.p[0] : NULL;
    if (!made || made->type.nrange == 0 || !x || x->type.elem != ELEM_I64) return NULL;
    c->b.loc = op->loc;
    if (op->kind == OP_CAST && elem_is_float(made->type.elem) && fits(c->s, x, 0))
        return build_cast(&c->b, made->type.elem, narrow(c, x));
    if (op_info[op->kind].class == CLASS_COMPARE && fits(c->s, x, 0) && fits(c->s, op->arg.p[1], 0))
        return narrow_two(c, op);
    return NULL;
}
