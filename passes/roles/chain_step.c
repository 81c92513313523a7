/* chain_step.c: steps of products in a chain that end before their tile does: positions past the end of the loop change
   no reduction and no product.
   Takes: the groups' role, as far as it is built. Gives: masks, in steps that are cut short alone; full steps have
   none. */
#include "passes/layout/layout.h"
#include "passes/roles/slice.h"

#include <math.h>

bool chain_has_tail(const Slice *s, const Kernel *k, int range) {
    return is_key(s, range) && !range_has_whole_steps(k, range) && !range_is_full(k, range);
}

static bool has_tail(const Slice *s, int range) { return chain_has_tail(s, s->k, range); }

static Value *is_short(Builder *b, int range) {
    Value *n = build_binary(b, OP_SUB, build_index(b, OP_END, range), build_index(b, OP_BEGIN, range));
    return build_binary(b, OP_LT, n, build_const_i(b, ELEM_I64, b->k->range.p[range].size));
}

/* The same, but for positions past the end. */
static Value *masked(Builder *b, OpKind kind, Value *v, int range) {
    Op *tail = build_if(b, is_short(b, range), &v->type, 1);
    Region *at = b->at;
    b->at = tail->region[0];
    Value *inside = lay_masked(b, kind, v, range);
    build_yield(b, &inside, 1);
    b->at = tail->region[1];
    build_yield(b, &v, 1);
    b->at = at;
    tail->res.p[0]->name = v->name;
    return tail->res.p[0];
}

/* ---- positive factors: a largest value is found without them, and what comes behind is multiplied and subtracted at
   once ---- */

static const Value *bare_of(const Value *v) {
    while (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return v;
}

static bool is_factor(const Value *v) {
    const Op *d = bare_of(v)->def;
    return d && d->kind == OP_CONST && elem_is_float(v->type.elem) && d->fimm > 0 && isfinite(d->fimm);
}

static Value *unscaled(const Value *v, Value **factor) {
    const Op *d = v->def;
    if (!d || d->kind != OP_MUL || v->type.nrange != 2) return NULL;
    for (int i = 0; i < 2; i++) {
        *factor = d->arg.p[!i];
        if (is_factor(*factor) && type_equal(d->arg.p[i]->type, v->type)) return d->arg.p[i];
    }
    return NULL;
}

/* x / factor, of an x that is a product with a number of the task, as a slope. */
static Value *divided(Cut *c, const Value *x, const Value *factor) {
    static const double most = 0x1p20; /* factors, and what they are divided by: nothing is lost */
    const Op *d = x->def;
    const double by = bare_of(factor)->def->fimm;
    if (!d || d->kind != OP_MUL || by > most || by * most < 1 || x->type.elem != ELEM_F32) return NULL;
    for (int i = 0; i < 2; i++) {
        if (bare_of(d->arg.p[i])->type.nrange || d->arg.p[!i]->type.nrange != 2) continue;
        Value *number =
            build_binary(&c->b, OP_MUL, (Value *)bare_of(d->arg.p[i]), build_const_f(&c->b, ELEM_F32, 1 / by));
        return build_binary(&c->b, OP_MUL, d->arg.p[!i], number);
    }
    return NULL;
}

/* x factor - y number: (x - y (number / factor)) factor. */
Value *chain_unscaled(Cut *c, const Value *v, Value **factor) {
    const Op *d = v->def;
    Value *x = unscaled(v, factor);
    if (x || !d || (d->kind != OP_ADD && d->kind != OP_SUB) || v->type.nrange != 2) return x;
    x = unscaled(d->arg.p[0], factor);
    Value *y = x ? divided(c, d->arg.p[1], *factor) : NULL;
    return y ? build_binary(&c->b, d->kind, x, y) : NULL;
}

/* The same bits of a product: rounding keeps the order. */
static bool reduce_unscaled(Cut *c, const Op *op) {
    Value *factor, *x = op->kind == OP_RMAX ? chain_unscaled(c, cut_value(c, op->arg.p[0]), &factor) : NULL;
    if (!x) return false;
    if (has_tail(c->s, op->over[0])) {
        x = masked(&c->b, op->kind, x, op->over[0]);
        c->least[op->arg.p[0]->id] = true;
    }
    cut_name(c, op->arg.p[0], build_binary(&c->b, OP_MUL, x, factor));
    Value *most = build_reduce(&c->b, op->kind, x, op->over, op->nover);
    cut_name(c, op->res.p[0], build_binary(&c->b, OP_MUL, most, factor));
    return true;
}

/* What stands behind takes the masked tile, too: so one of both is held. */
void chain_reduce(Cut *c, const Op *op) {
    const Value *v = op->arg.p[0];
    Value *whole = cut_value(c, v);
    c->b.loc = op->loc;
    if (v->def && v->def->in == op->in && reduce_unscaled(c, op)) return;
    if (has_tail(c->s, op->over[0])) {
        if (op->kind != OP_SUM || !chain_vanishes(c, v)) cut_name(c, v, masked(&c->b, op->kind, whole, op->over[0]));
        c->zeroed[v->id] = op->kind == OP_SUM;
        c->least[v->id] = op->kind == OP_RMAX && elem_is_float(v->type.elem);
    }
    cut_op(c, op);
    if (v->def && v->def->in == op->in) return;
    c->value[v->id] = whole;
    c->zeroed[v->id] = c->least[v->id] = false;
}

/* Sums of rows that the loop adds up alone: each lane adds what it has; lanes put their shares together behind it. */
void chain_defer(const Slice *s, const Op *loop) {
    const Uses uses = uses_of(s->to, s->scratch);
    for (Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_SUM && op->res.p[0]->type.nrange) op->deferred = sum_of_loop(&uses, op, true) >= 0;
}

/* By a sum in front of it. */
static bool is_zeroed(const Cut *c, const Value *v, const Value *copy) {
    if ((c->zeroed[v->id] && c->value[v->id] == copy) || chain_vanishes(c, v)) return true;
    bool casts = v->def && v->def->kind == OP_CAST && copy->def && copy->def->kind == OP_CAST;
    return casts && is_zeroed(c, v->def->arg.p[0], copy->def->arg.p[0]);
}

Value *chain_operand(Cut *c, const Op *dot, const Value *v) {
    Value *copy = cut_value(c, v);
    if (!has_tail(c->s, dot->over[0]) || is_zeroed(c, v, copy)) return copy;
    return masked(&c->b, OP_DOT, copy, dot->over[0]);
}
