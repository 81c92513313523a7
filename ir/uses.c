/* uses.c: which operations take each value of a kernel.
   Takes: a kernel that is valid. Gives: by value, how often it is taken, and who takes it last. */
#include "ir/uses.h"

static void use_add(Uses *u, const Value *v, const Op *op) {
    u->count[v->id]++;
    u->user[v->id] = op;
}

static void op_count(Uses *u, const Op *op) {
    for (int i = 0; i < op->arg.n; i++) use_add(u, op->arg.p[i], op);
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE) use_add(u, op->sub.p[d].lo.term[i].value, op);
}

Uses uses_of(const Kernel *k, Arena *a) {
    Uses u = {ARENA_ARRAY(a, int, k->nvalue + 1), ARENA_ARRAY(a, const Op *, k->nvalue + 1)};
    for (int i = 0; i < kernel_regions(k); i++)
        for (const Op *op = walk(kernel_region(k, i)); op; op = walk_next(op, kernel_region(k, i))) op_count(&u, op);
    return u;
}

const Op *uses_only(const Uses *u, const Value *v) { return u->count[v->id] == 1 ? u->user[v->id] : NULL; }
