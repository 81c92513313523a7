/* schedule_loads.c: loads move up before what does not need them, so that they are under way together.
   Takes: a kernel with layouts. Gives: the same results; a load passes no store to its tensor, no wait, loop or
   condition. Bodies with matrix instructions stay as they are: their registers are counted. */
#include "passes/layout/layout.h"

/* Bits of a workgroup's registers that may wait for loads that were moved. */
static int64_t spare_bits(const Lay *l) { return (int64_t)l->target->registers * 32 / 8; }

static int64_t tile_bits(const Lay *l, const Value *v) { return lay_elements(l, v->type) * elem_bits(v->type.elem); }

static bool defines(const Op *op, const Value *v) {
    for (int i = 0; i < op->res.n; i++)
        if (op->res.p[i] == v) return true;
    return false;
}

static bool is_needed(const Op *op, const Op *load) {
    for (int i = 0; i < load->arg.n; i++)
        if (defines(op, load->arg.p[i])) return true;
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++)
            if (load->sub.p[d].lo.term[i].value && defines(op, load->sub.p[d].lo.term[i].value)) return true;
    return false;
}

static bool stops(const Op *op, const Op *load) {
    if (op->kind == OP_LOAD || op->kind == OP_GROUP || op->region[0] || op_info[op->kind].class == CLASS_SYNC) return true;
    return (op->kind == OP_STORE && op->param == load->param) || is_needed(op, load);
}

static void move_up(Lay *l, Op *load, int64_t *spare) {
    Op *at = load;
    while (at->prev && !stops(at->prev, load)) at = at->prev;
    int64_t bits = tile_bits(l, load->res.p[0]);
    if (at == load || bits > *spare) return;
    *spare -= bits;
    op_remove(load);
    op_insert_before(at, load);
}

static void schedule_region(Lay *l, Region *r) {
    int64_t spare = spare_bits(l);
    bool fixed = !r || region_has_dot(r);
    for (Op *op = r ? r->first : NULL, *next; op; op = next) {
        next = op->next;
        if (!fixed && op->kind == OP_LOAD && op->res.p[0]->type.nrange) move_up(l, op, &spare);
        for (int i = 0; i < 2; i++) schedule_region(l, op->region[i]);
    }
}

void lay_schedule_loads(Lay *l) { schedule_region(l, l->k->body); }
