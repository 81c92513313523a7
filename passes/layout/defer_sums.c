/* defer_sums.c: a loop that adds up sums needs them only behind it: each thread adds what it holds, and the shares are
   put together once. Takes: a kernel with layouts. Gives: sums marked `deferred`. */
#include "passes/layout/layout.h"

static void mark_deferred(Lay *l, Op *op) {
    (void)l;
    if (op->kind == OP_SUM && op->res.p[0]->type.nrange) op->deferred = sum_of_loop(op) >= 0;
}

void lay_defer_sums(Lay *l) { lay_each(l, l->k->body, mark_deferred); }
