/* layout_ahead.c: which loads of a loop are made a step ahead, so that memory answers while the step before multiplies.
   Takes: a kernel with layouts. Gives: loads marked `ahead` in loops whose body has a matrix instruction. */
#include "passes/layout.h"

static bool multiplies(const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        if (op->kind == OP_DOT && op->by) return true;
    return false;
}

static void fetch_ahead(Lay *l, Op *loop) {
    if (loop->kind != OP_FOR || !multiplies(loop->region[0])) return;
    for (Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_LOAD) op->ahead = load_may_be_ahead(l->k, op);
}

void lay_ahead(Lay *l) { lay_each(l, l->k->body, fetch_ahead); }
