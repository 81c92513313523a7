/* affine.c: affine sums of positions, kept without operations as long as they last; then made into operations. */
#include "frontend/kernel/kernel.h"

Affine affine_of(const Val *v) {
    if (v->kind == VAL_INT) return affine_const(v->i);
    return v->kind == VAL_TILE ? affine_value(v->v) : *v->index;
}

bool is_affine(Val v) {
    return v.kind == VAL_INT || v.kind == VAL_INDEX || (v.kind == VAL_TILE && elem_is_int(v.v->type.elem));
}

static Value *const_of(Kern *c, int64_t n) { return build_const_i(&c->b, ELEM_I64, n); }

static Value *divided(Kern *c, Value *v, int64_t by) {
    return by == 1 ? v : build_binary(&c->b, OP_DIV, v, const_of(c, by));
}

static Value *multiplied(Kern *c, Value *v, int64_t by) {
    return by == 1 ? v : build_binary(&c->b, OP_MUL, v, const_of(c, by));
}

static Value *global_value(Kern *c, Value *v, int range) {
    Size of = c->range_of.p[range];
    return of.axis < 0 ? v : build_binary(&c->b, OP_ADD, v, build_size(&c->b, OP_ORIGIN, of));
}

static Value *term_variable(Kern *c, const Term *t) {
    switch (t->kind) {
    case TERM_POS: return global_value(c, build_index(&c->b, OP_POS, t->id), t->id);
    case TERM_INDEX: return divided(c, build_index(&c->b, OP_BEGIN, t->id), c->b.k->range.p[t->id].size);
    case TERM_VALUE: return build_cast(&c->b, ELEM_I64, t->value);
    default: return build_size(&c->b, OP_SIZE, t->size);
    }
}

/* The first tile of a grid range begins at 0: its number times its size is where a tile begins. */
static Value *term_value(Kern *c, const Term *t) {
    if (t->kind == TERM_INDEX && t->div == 1 && t->mul % c->b.k->range.p[t->id].size == 0)
        return multiplied(c, build_index(&c->b, OP_BEGIN, t->id), t->mul / c->b.k->range.p[t->id].size);
    return multiplied(c, divided(c, term_variable(c, t), t->div), t->mul);
}

Value *index_value(Kern *c, const Affine *a) {
    Value *sum = NULL;
    for (int i = 0; i < a->nterm; i++) {
        Term t = a->term[i];
        bool minus = sum && t.mul < 0 && t.mul != INT64_MIN;
        if (minus) t.mul = -t.mul;
        Value *v = term_value(c, &t);
        sum = sum ? build_binary(&c->b, minus ? OP_SUB : OP_ADD, sum, v) : v;
    }
    if (!sum) return const_of(c, a->c);
    return a->c ? build_binary(&c->b, OP_ADD, sum, const_of(c, a->c)) : sum;
}
