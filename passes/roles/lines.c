/* lines.c: numbers of a step's keys, as the logarithms of sums that attention's backward pass reads, or of a chunk's
   places: they come by a ring of their own, as tiles of keys do, and threads read them there. A load by all threads would be waited for in
   each step. Takes: a kernel of products in a chain, with the streams of operands. Gives: which loads these are. */
#include "passes/roles/slice.h"

/* Of the loop's tile, or of a width of which each step has its own. */
static bool is_of_step(const Slice *s, const Op *load, const Op *loop) {
    const int range = load->res.p[0]->type.range[0];
    if (range == loop->range) return is_key(s, range) && chain_has_several(s);
    if (!loop_multiplies(loop) || chain_is_step(s, loop) || !is_column(s, range)) return false;
    for (int d = 0; d < load->sub.n; d++)
        if (affine_follows(&load->sub.p[d].lo, loop->range)) return true;
    return false;
}

/* A step's own, of 32 bits. */
bool slice_takes_line(Slice *s, const Op *op) {
    const Op *loop = op->in->parent;
    if (!s->chained || op->kind != OP_LOAD || s->stream_of[op->res.p[0]->id] || !loop || loop->kind != OP_FOR)
        return false;
    const Type t = op->res.p[0]->type;
    const Param *p = &s->k->param.p[op->param];
    return t.nrange == 1 && is_of_step(s, op, loop) && elem_bits(t.elem) == 32 && !p->out && !p->inout &&
           box_is_line(s, op);
}

bool slice_is_line(const Slice *s, const Op *load) {
    const int n = load->res.n ? s->stream_of[load->res.p[0]->id] - 1 : -1;
    return n >= 0 && s->stream.p[n].panel.p[s->slot_of[load->res.p[0]->id]] == PANEL_LINE;
}
