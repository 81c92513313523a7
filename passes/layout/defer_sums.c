/* defer_sums.c: a loop that adds up sums needs them only behind it: each thread adds what it holds, and the shares are
   put together once. Takes: a kernel with layouts. Gives: sums marked `deferred`. */
#include "ir/uses.h"
#include "passes/layout/layout.h"

void lay_defer_sums(Lay *l) {
    const Uses uses = uses_of(l->k, l->scratch);
    for (Op *op = walk(l->k->body); op; op = walk_next(op, l->k->body))
        if (op->kind == OP_SUM && op->res.p[0]->type.nrange) op->deferred = sum_of_loop(&uses, op, false) >= 0;
}
