/* unroll.c: loops whose turns load for themselves and meet nowhere, as that over the parts that a kernel of split
   puts together: which of them are written out, so that the loads of all turns are under way together. */
#include "codegen/gpu/hip.h"

/* Iterations that a loop has at most to be unrolled; chosen: no measurement is recorded. */
enum { MOST_TURNS = 32 };

static bool is_light(const Op *op) {
    OpClass class = op_info[op->kind].class;
    return class == CLASS_CONST || class == CLASS_INDEX || op_is_elementwise(op) || op->kind == OP_LOAD ||
           op->kind == OP_YIELD;
}

bool hip_is_unrolled(Fn *f, const Op *loop) {
    int64_t from, to;
    bool known = value_const(loop->arg.p[0], &from) && value_const(loop->arg.p[1], &to);
    if (!known || f->k->range.p[loop->range].kind != RANGE_POSITION || to - from > MOST_TURNS) return false;
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (!is_light(op)) return false;
    return true;
}
