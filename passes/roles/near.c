/* near.c: what results are made with at the tile's own place, as a residual: matrices that come by boxes, a panel of
   columns at a time. A lane of its own copies them: panels of the next task come while this one is multiplied.
   Takes: a kernel with its streams. Gives: these loads, their ring, and both ends of it. */
#include "ir/size.h"
#include "passes/roles/slice.h"

#include <string.h>

static bool is_written(const Slice *s, int param) { return s->k->param.p[param].out || s->k->param.p[param].inout; }

/* Scalars of the body are no part of its place: then it is known without asking for them. */
bool load_is_placed(const Op *load) {
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++)
            if (load->sub.p[d].lo.term[i].kind == TERM_VALUE) return false;
    return true;
}

/* What takes it is made of a panel alone (result.c). */
static bool is_used_in_parts(const Slice *s, const Value *v) {
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        if (op->in != v->def->in || !(op_is_elementwise(op) || op->kind == OP_STORE)) continue;
        for (int n = 0; n < op->arg.n; n++)
            if (op->arg.p[n] == v) return true;
    }
    return false;
}

static bool is_near(Slice *s, const Op *op) {
    if (s->swapped || op->kind != OP_LOAD || s->stream_of[op->res.p[0]->id]) return false;
    if (op->in != s->k->body && !op_arms(s, op)) return false;
    Type t = op->res.p[0]->type;
    bool tile = t.nrange == 2 && type_has(t, s->row) && type_has(t, s->column) && elem_bits(t.elem) == 16;
    return tile && (!is_written(s, op->param) || slice_takes_sent(s, op)) && load_is_placed(op) && is_used_in_parts(s, op->res.p[0]) &&
           box_is_near(s, op);
}

/* All of one region: the role that copies them goes through it alone. */
void slice_near(Slice *s) {
    for (int i = 0; i < s->op.n && s->near.n < MOST_NEAR && !s->chained; i++)
        if ((!s->near.n || s->near.p[0]->in == s->op.p[i]->in) && is_near(s, s->op.p[i]))
            vec_push(s->scratch, &s->near, s->op.p[i]);
}

bool slice_is_near(const Slice *s, const Op *load) {
    for (int i = 0; i < s->near.n; i++)
        if (s->near.p[i] == load) return true;
    return false;
}

/* ---- building ---- */

Type panel_type(const Slice *s, Type t) { return type_with(type_without(t, s->column), s->panel); }

void near_ring(Slice *s) {
    char text[128] = "";
    if (!s->near.n) return;
    for (int n = 0; n < s->near.n; n++) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "%s%s", n ? "_" : "", s->k->param.p[s->near.p[n]->param].name);
    }
    s->near_ring = ring_new(s, name_of(s->m->names, text), s->nears, s->near.p[0]->loc);
    for (int n = 0; n < s->near.n; n++) {
        const Op *load = s->near.p[n];
        ring_tile(s->m, s->to, s->near_ring,
                  (SlotTile){.name = s->k->param.p[load->param].name,
                             .type = panel_type(s, load->res.p[0]->type),
                             .panel = PANEL_K128,
                             .fill = FILL_BOX,
                             .param = load->param,
                             .share = -1,
                             .loc = load->loc});
    }
}

Span *panel_place(const Slice *s, const Op *load) {
    Span *sub = ARENA_ARRAY(s->m->arena, Span, load->sub.n + 1);
    for (int d = 0; d < load->sub.n; d++) {
        Affine a = load->sub.p[d].lo;
        for (int i = 0; i < a.nterm; i++)
            if (a.term[i].kind == TERM_POS && a.term[i].id == s->column) a.term[i].id = (int16_t)s->panel;
        sub[d] = span_of(a);
    }
    return sub;
}

void near_put(Builder *b, const Slice *s) {
    Region *at = b->at;
    if (!s->near.n) return;
    panel_loop(b, s);
    b->at = build_put(b, s->near_ring)->region[0];
    for (int n = 0; n < s->near.n; n++)
        build_copy(b, s->near.p[n]->param, panel_place(s, s->near.p[n]), s->near.p[n]->sub.n, n);
    b->at = at;
}

/* What is waited for, the role that copies waits for, but where other ranks send it while it copies operands of later
   tasks. Beside threads that copy rows no warp is left. */
bool near_is_apart(const Slice *s) {
    if (s->near.n && slice_takes_sent(s, s->near.p[0])) return true;
    return !region_synchronises(s->k->body) && !slice_has_fill(s, FILL_ROWS);
}

/* In the arm that has them, behind what it waits for. */
static void near_arm(Slice *s, Cut *c) {
    const Op *branch = op_arms(s, s->near.p[0]);
    if (!branch) return;
    const int arm = branch->region[1] == s->near.p[0]->in;
    c->b.at = cut_condition(c, branch, 0)->region[arm];
    for (const Op *op = branch->region[arm]->first; op; op = op->next)
        if (op->kind == OP_WAIT) cut_op(c, op);
}

void slice_near_copy(Slice *s) {
    enum { WARP = 2 /* behind those of the roles `copy` and `store` */ };
    if (!s->near.n || !near_is_apart(s)) return;
    int role = roles_warp(s->m, s->to, name_of(s->m->names, "near"), WARP, 1, s->near.p[0]->loc);
    Cut c = cut_begin(s, s->k->roles->role.p[role].body);
    c.b.loc = s->near.p[0]->loc;
    near_arm(s, &c);
    near_put(&c.b, s);
}

void near_get(Cut *c, Value **part) {
    const Slice *s = c->s;
    if (!s->near.n) return;
    const Op *get = build_get(&c->b, s->near_ring);
    for (int n = 0; n < s->near.n; n++) {
        Value *v = build_convert(&c->b, get->res.p[n]);
        v->name = s->near.p[n]->res.p[0]->name;
        part[s->near.p[n]->res.p[0]->id] = v;
    }
}

void near_free(Cut *c) {
    if (c->s->near.n) build_free(&c->b, c->s->near_ring);
}
