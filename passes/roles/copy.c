/* copy.c: the roles that copy, in the loops and conditions of the body: one lane fills the slots of boxes; two warps
   those of rows, of which each lane makes its own places.
   Takes: streams with their rings. Gives: the roles `copy`, `gather`. */
#include "passes/roles/slice.h"

static void copy_region(Cut *c, const Region *r);

static void copy_put(Cut *c, const Stream *t) {
    Region *at = c->b.at;
    c->b.at = build_put(&c->b, t->ring)->region[0];
    for (int n = 0; n < t->load.n; n++) {
        const Op *load = t->load.p[n];
        c->b.loc = load->loc;
        build_copy(&c->b, load->param, cut_place(c, load), load->sub.n, n);
    }
    c->b.at = at;
}

static void copy_load(Cut *c, const Op *load) {
    int n = c->s->stream_of[load->res.p[0]->id] - 1;
    c->b.loc = load->loc;
    if (n >= 0 && c->s->stream.p[n].put == load) copy_put(c, &c->s->stream.p[n]);
}

/* Tiles that no step of the loop changes. */
static void copy_before(Cut *c, const Op *loop) {
    for (int i = 0; i < c->s->stream.n; i++)
        if (c->s->stream.p[i].put == loop && c->s->stream.p[i].fill == c->fill) copy_put(c, &c->s->stream.p[i]);
}

static void copy_condition(Cut *c, const Op *op) {
    Op *fresh = cut_condition(c, op, 0);
    for (int i = 0; i < 2; i++)
        if (op->region[i]) cut_within(c, copy_region, op->region[i], fresh->region[i]);
}

static void copy_loop(Cut *c, const Op *op) {
    int64_t end;
    const Op *inner = loop_flat(c->s, op, &end);
    Op *loop = inner ? flat_begin(c, op, inner, end, 0) : cut_loop(c, op, 0);
    cut_within(c, copy_region, (inner ? inner : op)->region[0], loop->region[0]);
}

static void copy_op(Cut *c, const Op *op) {
    const int id = op->res.n == 1 ? op->res.p[0]->id : 0;
    bool address = op->res.n == 1 && (c->s->addresses[id] || (c->fill == FILL_ROWS && c->s->gathers[id]));
    if (op->kind == OP_WAIT) cut_op(c, op);
    if (address && !c->value[id]) cut_op(c, op);
    if (!slice_fills(c->s, op, c->fill)) return;
    if (op->kind == OP_LOAD) copy_load(c, op);
    if (op->kind == OP_FOR) copy_before(c, op), copy_loop(c, op);
    if (op->kind == OP_IF) copy_condition(c, op);
}

static void copy_region(Cut *c, const Region *r) {
    for (const Op *op = r->first; op; op = op->next) copy_op(c, op);
}

/* Tiles that do not depend on a loop: before all loops. */
static void copy_front(Cut *c) {
    const Slice *s = c->s;
    for (int i = 0; i < s->op.n; i++) {
        const int id = s->op.p[i]->res.n == 1 ? s->op.p[i]->res.p[0]->id : -1;
        if (id >= 0 && s->gathers[id] && s->front[id]) cut_op(c, s->op.p[i]);
    }
}

static void gather_role(Slice *s) {
    enum { WARP = 2, LANES = 64 /* two warps of the group: a row of 128 bytes in 8 lanes [guess] */ };
    int role = roles_warp(s->m, s->to, name_of(s->m->names, "gather"), WARP, LANES, s->k->loc);
    Cut c = cut_begin(s, s->k->roles->role.p[role].body);
    c.fill = FILL_ROWS;
    copy_front(&c);
    copy_region(&c, s->k->body);
    slices_wait(s, &c);
}

static void copy_role(Slice *s) {
    /* who signals is of the first warp */
    int role = roles_warp(s->m, s->to, name_of(s->m->names, "copy"), slice_signals(s), 1, s->k->loc);
    Cut c = cut_begin(s, s->k->roles->role.p[role].body);
    c.fill = FILL_BOX;
    copy_region(&c, s->k->body);
    if (!near_is_apart(s)) near_put(&c.b, s);
    slice_waited(s, &c);
    slices_wait(s, &c);
}

void slice_copy(Slice *s) {
    if (slice_has_fill(s, FILL_BOX) || (s->near.n && !near_is_apart(s)) || slice_has_peers(s)) copy_role(s);
    if (slice_has_fill(s, FILL_ROWS)) gather_role(s);
}
