/* unroll.c: loops whose turns load for themselves and meet nowhere, as that over the parts that a kernel of split
   puts together: which of them are written out, so that the loads of all turns are under way together. A loop around
   such a one is, too, as over the rows of a convolution's weights: rows that two turns read are loaded once. A loop
   around products that have one step each turn stays a loop: to compilers it is an innermost one of few turns, and
   written out it keeps places of all turns in registers, up to spills. */
#include "codegen/gpu/hip.h"

/* Iterations that a loop has at most to be unrolled; chosen: no measurement is recorded. */
enum { MOST_TURNS = 32 };

static bool is_light(const Op *op) {
    OpClass class = op_info[op->kind].class;
    return class == CLASS_CONST || class == CLASS_INDEX || op_is_elementwise(op) || op->kind == OP_LOAD ||
           op->kind == OP_YIELD;
}

/* Turns of the loop, times those of a loop in it; 0: not known, too many, or it does something else. */
static int64_t light_turns(Fn *f, const Op *loop, bool *nested) {
    int64_t from, to, within = 1;
    bool known = value_const(loop->arg.p[0], &from) && value_const(loop->arg.p[1], &to);
    if (!known || f->k->range.p[loop->range].kind != RANGE_POSITION || to - from > MOST_TURNS) return 0;
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        const bool inner = op->kind == OP_FOR && !*nested;
        if (inner) *nested = true, within = light_turns(f, op, &(bool){true});
        const bool wave = f->k->level == LEVEL_WAVE && op_info[op->kind].class == CLASS_REDUCE; /* it meets nowhere */
        if (!inner && !wave && !is_light(op)) return 0;
        *nested |= wave;
    }
    return (to - from) * within;
}

/* The loop is around one of a single turn, which has products. */
static bool has_single_steps(Fn *f, const Op *loop) {
    int64_t from, to;
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_FOR && region_has_dot(op->region[0]))
            return value_const(op->arg.p[0], &from) && value_const(op->arg.p[1], &to) &&
                   to - from <= f->k->range.p[op->range].size;
    return false;
}

const char *hip_unrolled(Fn *f, const Op *loop) {
    if (f->k->range.p[loop->range].kind != RANGE_WHOLE && has_single_steps(f, loop)) return "#pragma unroll 1";
    bool nested = false;
    const int64_t turns = light_turns(f, loop, &nested);
    if (turns <= 0 || turns > MOST_TURNS) return NULL;
    return nested ? "#pragma unroll" : "TILE_UNROLLED";
}
