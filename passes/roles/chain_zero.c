/* chain_zero.c: what is 0 behind the end of a loop's range without a mask of its own: exponentials of scores that a
   reduction masked by -inf, less a number of their row above that. Takes: values of the kernel's body. Gives: whether
   they are. */
#include "passes/roles/slice.h"

#include <float.h>
#include <math.h>

enum { DEEP = 16 /* operations; those further back are not looked at */ };

static const Value *bare(const Value *v) {
    while (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return v;
}

static bool is_number(const Value *v, double least) {
    const Op *op = bare(v)->def;
    return op && op->kind == OP_CONST && elem_is_float(v->type.elem) && op->fimm >= least;
}

static bool is_least(const Value *v) {
    const Op *op = bare(v)->def;
    return op && op->kind == OP_CONST && elem_is_float(v->type.elem) && op->fimm == -INFINITY;
}

/* A value that a loop carries is above -inf if it begins so, and steps keep it so. */
typedef struct {
    const Value *carried[DEEP];
    int n;
} Assumed;

static bool is_above(Assumed *a, const Value *v, int depth);

static bool is_carried_above(Assumed *a, const Op *loop, int i, int depth) {
    const Region *body = loop->region[0];
    const Value *in = body->arg.p[i];
    for (int n = 0; n < a->n; n++)
        if (a->carried[n] == in) return true;
    if (a->n == DEEP || !is_above(a, loop->arg.p[2 + i], depth)) return false;
    a->carried[a->n++] = in;
    const bool above = is_above(a, body->last->arg.p[i], depth);
    a->n--;
    return above;
}

/* where(x > -inf, x, y) with such a y. */
static bool is_guarded(Assumed *a, const Op *op, int depth) {
    const Op *test = bare(op->arg.p[0])->def;
    const bool tests =
        test && test->kind == OP_GT && bare(test->arg.p[0]) == bare(op->arg.p[1]) && is_least(test->arg.p[1]);
    return (tests || is_above(a, op->arg.p[1], depth)) && is_above(a, op->arg.p[2], depth);
}

/* Above -inf, or none. */
static bool is_above(Assumed *a, const Value *v, int depth) {
    v = bare(v);
    const Op *op = v->def;
    if (depth++ > DEEP) return false;
    const Op *around = v->arg_of ? v->arg_of->parent : NULL;
    if (around && around->kind == OP_FOR && v->arg_of == around->region[0])
        return is_carried_above(a, around, v->index, depth);
    if (!op) return false;
    if (op->kind == OP_FOR) return is_carried_above(a, op, v->index, depth);
    if (op->kind == OP_MAX) return is_above(a, op->arg.p[0], depth) || is_above(a, op->arg.p[1], depth);
    if (op->kind == OP_SELECT) return is_guarded(a, op, depth);
    return is_number(v, -FLT_MAX);
}

bool chain_vanishes(const Cut *c, const Value *v) {
    const Op *power = v->def;
    const bool is_power = power && (power->kind == OP_EXP || power->kind == OP_EXP2);
    const Op *less = is_power ? power->arg.p[0]->def : NULL;
    Assumed a = {0};
    return less && less->kind == OP_SUB && c->least[less->arg.p[0]->id] && less->arg.p[1]->type.elem == ELEM_F32 &&
           is_above(&a, less->arg.p[1], 0);
}
