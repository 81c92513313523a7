/* ring.c: the rings that the copy role fills, and the scalars of all roles.
   Takes: streams and a plan. Gives: rings of their tiles; tiles that workgroups of a cluster have in common are shared.
 */
#include "passes/roles/slice.h"

#include <string.h>

void roles_begin(Slice *s) {
    const Plan *p = &s->k->plan;
    Roles *r = roles_new(s->m, s->to);
    r->order = p->order;
    r->tasks = p->tasks;
    for (int i = 0; i < p->regs.n; i++) vec_push(s->m->arena, &r->regs, p->regs.p[i]);
    if (p->resident) r->resident = p->resident;
    if (p->cluster) r->cluster = p->cluster, r->cluster_range = p->cluster_range;
    slices_begin(s);
}

/* With all that it is made of. */
static void scalar_cut(Slice *s, Cut *c, const Value *v) {
    if (c->value[v->id]) return;
    for (int i = 0; i < v->def->arg.n; i++) scalar_cut(s, c, v->def->arg.p[i]);
    cut_op(c, v->def);
    s->scalar[v->id] = cut_value(c, v);
}

void slice_scalars(Slice *s) {
    Cut c = cut_begin(s, s->k->roles->scalars);
    for (int i = 0; i < s->op.n; i++) {
        const Value *v = s->op.p[i]->res.n == 1 ? s->op.p[i]->res.p[0] : NULL;
        if (!v || !s->front[v->id] || !s->addresses[v->id]) continue;
        cut_op(&c, s->op.p[i]);
        s->scalar[v->id] = cut_value(&c, v);
    }
    slices_scalars(s, &c);
    for (int i = 0; i < s->op.n; i++)
        if (op_has_arms(s, s->op.p[i])) scalar_cut(s, &c, s->op.p[i]->arg.p[0]);
}

static int16_t range_shared(const Slice *s, Type t) {
    int16_t along = s->k->roles->cluster_range;
    return along < 0 || s->slices > 1 || type_has(t, along) ? -1 : along;
}

static void tile_declare(Slice *s, const Stream *t, int n) {
    const Op *load = t->load.p[n];
    const Param *p = &s->k->param.p[load->param];
    Type type = load->res.p[0]->type;
    if (t->why.p[n])
        remark(s->c, "roles", load->loc, "'%s': threads copy '%s' row by row: %s", s->k->name, p->name, t->why.p[n]);
    ring_tile(s->m, s->to, t->ring,
              (SlotTile){.name = p->name,
                         .type = type,
                         .panel = t->panel.p[n],
                         .fill = stream_fill(t, n),
                         .param = load->param,
                         .share = t->fill == FILL_BOX ? range_shared(s, type) : -1,
                         .loc = load->loc});
}

/* What the slots hold, one after the other. */
static Name ring_name(const Slice *s, const Stream *t) {
    char text[128] = "";
    for (int n = 0; n < t->load.n; n++) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "%s%s", n ? "_" : "", s->k->param.p[t->load.p[n]->param].name);
    }
    return name_of(s->m->names, text);
}

int panel_range(const Slice *s) {
    int64_t columns = slice_extent(s, s->share);
    Range r = {.name = name_of(s->m->names, "q"),
               .kind = RANGE_TILE,
               .size = columns < PANEL_COLUMNS ? columns : PANEL_COLUMNS,
               .owner = -1,
               .part_of = (int16_t)(1 + s->share),
               .loc = s->k->loc};
    return kernel_range(s->m, s->to, r);
}

void slice_rings(Slice *s) {
    if (!s->chained || chain_has_parts(s)) s->panel = panel_range(s);
    for (int i = 0; i < s->stream.n; i++) {
        Stream *t = &s->stream.p[i];
        t->ring = ring_new(s, ring_name(s, t), chain_slots(s, t), t->get->loc);
        for (int n = 0; n < t->load.n; n++) tile_declare(s, t, n);
    }
    near_ring(s);
    wide_rings(s);
}
