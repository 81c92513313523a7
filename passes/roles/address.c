/* address.c: what the role that copies computes: bounds of loops and conditions around copies, and their places;
   and the places of results.
   Takes: a kernel with its streams. Gives: these scalars; or why one of them cannot be had without the products. */
#include "passes/roles/slice.h"

bool slice_copies(const Slice *s, const Op *op) {
    if (op->kind == OP_LOAD) return s->stream_of[op->res.p[0]->id] != 0;
    for (int r = 0; r < 2; r++)
        for (const Op *in = walk(op->region[r]); in; in = walk_next(in, op->region[r]))
            if (in->kind == OP_LOAD && s->stream_of[in->res.p[0]->id]) return true;
    return false;
}

bool slice_fills(const Slice *s, const Op *op, SlotFill fill) {
    if (op->kind == OP_LOAD) {
        int n = s->stream_of[op->res.p[0]->id] - 1;
        return n >= 0 && s->stream.p[n].fill == fill;
    }
    for (int r = 0; r < 2; r++)
        for (const Op *in = walk(op->region[r]); in; in = walk_next(in, op->region[r]))
            if (in->kind == OP_LOAD && slice_fills(s, in, fill)) return true;
    return false;
}

bool slice_has_fill(const Slice *s, SlotFill fill) {
    for (int i = 0; i < s->stream.n; i++)
        if (s->stream.p[i].fill == fill) return true;
    return false;
}

/* Each of its elements is made of others at the same place. */
static bool is_made_alone(const Op *op) {
    return op_is_elementwise(op) || op->kind == OP_LOAD || op->kind == OP_POS || op->kind == OP_BROADCAST;
}

/* tiles: of such, too, each element for itself. */
static bool need(Slice *s, const Op *user, const Value *v, bool tiles) {
    const Op *from = v->def;
    if (!from || from->kind == OP_FOR || from->kind == OP_IF)
        return slice_refuse(s, user, "take it from a tensor or a position, not from what the loop carries",
                            "a place or a bound depends on what a loop carries");
    if (v->type.nrange && !(tiles && is_made_alone(from) && !s->stream_of[v->id]))
        return slice_refuse(s, user, "gather by a kernel of its own, and multiply what that has stored",
                            "a place or a bound depends on a tile");
    *(v->type.nrange ? &s->gathers[v->id] : &s->addresses[v->id]) = true;
    return true;
}

static bool need_place(Slice *s, const Op *user, const Affine *a, bool tiles) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE && !need(s, user, a->term[i].value, tiles)) return false;
    return true;
}

static bool need_places(Slice *s, const Op *op, bool tiles) {
    for (int d = 0; d < op->sub.n; d++)
        if (!need_place(s, op, &op->sub.p[d].lo, tiles) || !need_place(s, op, &op->sub.p[d].hi, tiles)) return false;
    return need_place(s, op, &op->dest.lo, false) && need_place(s, op, &op->dest.hi, false);
}

static bool need_operands(Slice *s, const Op *op, bool tiles) {
    int n = op->kind == OP_FOR ? 2 : op->arg.n; /* not what it carries */
    for (int i = 0; i < n; i++)
        if (!need(s, op, op->arg.p[i], tiles)) return false;
    return need_places(s, op, tiles);
}

/* ---- what does not depend on a loop ---- */

static bool term_is_front(const Slice *s, const Term *t) {
    if (t->kind == TERM_VALUE) return s->front[t->value->id];
    bool range = t->kind == TERM_POS || t->kind == TERM_INDEX || (t->kind == TERM_BLOCK && t->id >= 0);
    return !range || s->k->range.p[t->id].grid;
}

static bool is_front(const Slice *s, const Op *op) {
    if ((op_attributes(op->kind) & HAS_RANGE) && !s->k->range.p[op->range].grid) return false;
    for (int i = 0; i < op->arg.n; i++)
        if (!s->front[op->arg.p[i]->id]) return false;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (!term_is_front(s, &op->sub.p[d].lo.term[i])) return false;
    return true;
}

/* Reads of what no task writes are the same before the loop, and give 0 outside of the tensor. */
static void find_front(Slice *s) {
    s->front = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    for (int i = 0; i < s->op.n; i++) {
        const Value *v = s->op.p[i]->res.n == 1 ? s->op.p[i]->res.p[0] : NULL;
        if (v && (s->addresses[v->id] || s->gathers[v->id])) s->front[v->id] = is_front(s, s->op.p[i]);
    }
}

/* Uses stand behind definitions, but for what loops carry, which is refused. */
bool slice_addresses(Slice *s) {
    s->addresses = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    s->gathers = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    for (int i = s->op.n - 1; i >= 0; i--) {
        const Op *op = s->op.p[i];
        bool wanted = op->res.n == 1 && s->addresses[op->res.p[0]->id];
        if (op->kind == OP_GROUP) s->addresses[op->res.p[0]->id] = true; /* every role has to know its tile */
        bool gathers = op->res.n == 1 && s->gathers[op->res.p[0]->id];
        bool rows = op->kind == OP_LOAD && slice_fills(s, op, FILL_ROWS);
        if ((wanted || gathers || slice_copies(s, op)) && !need_operands(s, op, gathers || rows)) return false;
        bool places = op->kind == OP_STORE || op_info[op->kind].class == CLASS_SYNC;
        if (places && !need_places(s, op, false)) return false;
    }
    find_front(s);
    return true;
}
