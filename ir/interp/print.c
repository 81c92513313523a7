/* print.c: records of `print` and of assertions that fail, for who takes them. */
#include "ir/interp/state.h"

#include <string.h>

static uint64_t value_bits(Elem e, const Tile *x, int64_t i) {
    uint64_t bits = 0;
    const size_t each = e == ELEM_F32 ? sizeof(float) : sizeof bits;
    memcpy(&bits, (const char *)x->data + (size_t)i * each, each);
    return bits;
}

static void element_print(Task *t, const Op *op, const Tile *x, int64_t i) {
    InterpPrint p = {.op = op, .rank = t->rank, .node = t->node->id, .value = value_bits(op->arg.p[0]->type.elem, x, i)};
    for (int k = 2; k < op->arg.n; k++) {
        const Tile *at = tile_as(t, op->arg.p[k], op->arg.p[0]->type, 2);
        p.place[k - 2] = ((const int64_t *)at->data)[i];
    }
    t->w->prints->take(t->w->prints->context, &p);
}

void eval_print(Task *t, const Op *op) {
    if (!t->w->prints) return;
    const Type over = op->arg.p[0]->type;
    const Tile *x = tile_as(t, op->arg.p[0], over, 0), *when = tile_as(t, op->arg.p[1], over, 1);
    for (int64_t i = 0; i < x->n; i++)
        if ((((const int64_t *)when->data)[i] != 0) == (op->kind == OP_PRINT)) element_print(t, op, x, i);
}
