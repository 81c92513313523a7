/* role_when.c: when the operations of a loop's body run: in which turn, and where in it. */
#include "ir/verify/roles.h"

const Op *op_within(const Op *op, const Region *body) {
    while (op && op->in != body) op = op->in->parent;
    return op;
}

static int place_of(const Op *loop, int piece) {
    for (int i = 0; loop && i < loop->turn.n; i++)
        if (loop->turn.p[i].piece == piece) return i;
    return 0;
}

When op_when(const Op *op, const Region *body) {
    const Op *top = op_within(op, body), *loop = body->parent;
    When w = {.place = place_of(loop, top->piece)};
    if (loop && loop->turn.n) w.turn = loop->turn.p[w.place].shift;
    for (const Op *before = top->prev; before; before = before->prev) w.order++;
    return w;
}

When when_later(When w, int turns) {
    w.turn += turns;
    return w;
}

int when_compare(When a, When b) {
    if (a.turn != b.turn) return a.turn < b.turn ? -1 : 1;
    if (a.place != b.place) return a.place < b.place ? -1 : 1;
    return (a.order > b.order) - (a.order < b.order);
}

const Op *value_maker(const Value *x, const Region *body, int *later) {
    bool carried = x->arg_of == body && body->last && body->last->kind == OP_YIELD;
    *later = carried;
    if (carried) x = body->last->arg.p[x->index];
    return x->def ? op_within(x->def, body) : NULL;
}
