/* pipeline_loads.c: which loads of a loop are software-pipelined: fetched a step before they are read, so that memory
   answers while the step before multiplies. Takes: a kernel with layouts.
   Gives: loads marked `pipelined` in loops whose body has a matrix instruction. */
#include "passes/layout/layout.h"

static bool multiplies(const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        if (op->kind == OP_DOT && op->by) return true;
    return false;
}

/* Registers of a thread that hold a tile. */
static int64_t registers_of(const Lay *l, const Value *v) {
    int first, d, bits = elem_value_bits(v->type.elem);
    if (!v->layout) return 0;
    const Layout *at = &l->k->layout.p[v->layout - 1];
    d = layout_place(at, "reg", &first);
    return ((INT64_C(1) << at->place[d].bits) * bits + 31) / 32;
}

/* What the loop carries and what it loads leave a quarter of a thread's registers. */
static bool has_room(const Lay *l, const Op *loop) {
    int most = l->target->registers / (l->target->wave * l->k->plan.waves);
    if (most > l->target->most_registers) most = l->target->most_registers;
    int64_t sum = 0;
    for (int i = 0; i < loop->res.n; i++) sum += registers_of(l, loop->res.p[i]);
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_LOAD) sum += registers_of(l, op->res.p[0]);
    return sum <= most * 3 / 4;
}

/* A file of sizes may say so in the place of this rule. */
static bool pays(const Lay *l, const Op *loop) {
    if (l->k->plan.pipelined) return l->k->plan.pipelined > 0;
    return multiplies(loop->region[0]) && has_room(l, loop);
}

static void pipeline_loop(Lay *l, Op *loop) {
    if (loop->kind != OP_FOR || !pays(l, loop)) return;
    for (Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_LOAD) op->pipelined = load_can_be_pipelined(l->k, op);
}

void lay_pipeline_loads(Lay *l) { lay_each(l, l->k->body, pipeline_loop); }
