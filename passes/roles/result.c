/* result.c: what groups make of their sums, and store: a panel of columns at a time.
   Takes: the role `multiply`, its sums ready. Gives: rings of results, and the role that stores them, on
   the threads of each group. Tiles with columns that are made element by element are made of a panel alone. */
#include "passes/roles/slice.h"

#include <string.h>

typedef struct {
    Cut *c;        /* of the groups that multiply */
    Builder store; /* of the role that stores */
    int multiply;  /* number of the role */
    int q;         /* range of the panel */
    Value **part;  /* by value of the body: its copy for a panel; NULL: there is none yet */
    Value **rounded; /* by store: the whole tile, rounded, which is kept; NULL: it is none */
    VEC(int) ring; /* by number of a result with a slot in its region: arms have the same slots */
    int slots;     /* of the region so far */
} Parts;

/* ---- values of a panel ---- */

static Type part_type(const Parts *p, Type t) {
    return type_has(t, p->c->s->column) ? type_with(type_without(t, p->c->s->column), p->q) : t;
}

static bool is_made_in_parts(const Slice *s, const Value *v) {
    const Op *op = v->def;
    if (!op || (op->in != s->k->body && !op_arms(s, op))) return false;
    for (int i = 0; i < s->vector.n; i++)
        if (s->vector.p[i] == op) return false;
    const bool again = s->late || s->slices > 1;
    return op_is_elementwise(op) || op->kind == OP_POS || (again && op->kind == OP_CONST) ||
           (op->kind == OP_LOAD && !s->stream_of[v->id]);
}

static Value *part_value(Parts *p, const Value *v);

static Affine part_affine(Parts *p, const Affine *a) {
    Affine fresh = *a;
    for (int i = 0; i < a->nterm; i++) {
        Term *t = &fresh.term[i];
        if (t->kind == TERM_POS && t->id == p->c->s->column) t->id = (int16_t)p->q;
        if (t->kind == TERM_VALUE) t->value = part_value(p, t->value);
    }
    return fresh;
}

static Value *part_make(Parts *p, const Op *op) {
    Builder *b = &p->c->b;
    Op *fresh = op_like(b->m, op);
    for (int i = 0; i < op->arg.n; i++) vec_push(b->m->arena, &fresh->arg, part_value(p, op->arg.p[i]));
    for (int d = 0; d < op->sub.n; d++) fresh->sub.p[d] = span_of(part_affine(p, &op->sub.p[d].lo));
    if (op->kind == OP_POS) fresh->range = (int16_t)p->q;
    op_append_to(b->at, fresh);
    Value *v = op_result(b->m, b->k, fresh, part_type(p, op->res.p[0]->type));
    v->name = op->res.p[0]->name;
    return v;
}

/* In turns of the next task no value of this one is left but what is kept. */
static bool is_kept(const Slice *s, const Value *v) {
    for (int i = 0; i < s->kept.n && s->late; i++)
        if (v->def == s->kept.p[i]) return true;
    return false;
}

static Value *part_value(Parts *p, const Value *v) {
    Value **part = &p->part[v->id];
    if (!p->c->s->late && !type_has(v->type, p->c->s->column)) return cut_value(p->c, v);
    if (!*part)
        *part = is_made_in_parts(p->c->s, v) && !is_kept(p->c->s, v) ? part_make(p, v->def)
                                                                     : build_part(&p->c->b, cut_value(p->c, v), p->q);
    return *part;
}

/* ---- a result ---- */

static bool has_slot_of(const Roles *r, int ring, Type t) {
    const Type have = r->ring.p[ring].tile.p[0].type;
    return have.elem == t.elem;
}

static int result_ring(Parts *p, const Op *store, Type t) {
    const Slice *s = p->c->s;
    const Param *to = &s->k->param.p[store->param];
    const int number = p->slots++;
    if (number < p->ring.n && has_slot_of(s->k->roles, p->ring.p[number], t)) return p->ring.p[number];
    int ring = ring_new(p->c->s, to->name, s->outs, store->loc);
    s->k->roles->ring.p[ring].per = (int16_t)p->multiply;
    ring_tile(s->m, s->to, ring,
              (SlotTile){.name = to->name,
                         .type = t,
                         .panel = PANEL_K128,
                         .fill = FILL_THREADS,
                         .param = -1,
                         .share = -1,
                         .loc = store->loc});
    vec_push(s->scratch, &p->ring, ring);
    return ring;
}

/* Of scalars that each role has. */
static Span *result_place(Parts *p, const Op *store) {
    Span *sub = ARENA_ARRAY(p->c->b.m->arena, Span, store->sub.n + 1);
    for (int d = 0; d < store->sub.n; d++) sub[d] = span_of(part_affine(p, &store->sub.p[d].lo));
    return sub;
}

static void store_by(Parts *p, Builder *b, const Op *store, Value *v, const char *way) {
    Op *fresh = build_store(b, store->param, result_place(p, store), store->sub.n, v, STORE_SET);
    if (way) fresh->by = name_of(b->m->names, way);
}

/* What goes to several places, as to each rank, lies in one slot. */
static bool shares_slot(const Parts *p, int i, int first) {
    const Slice *s = p->c->s;
    const Op *a = s->store.p[i], *b = s->store.p[first];
    const Param *param = s->k->param.p;
    return a->in == b->in && a->arg.p[0] == b->arg.p[0] && param[a->param].elem == param[b->param].elem &&
           s->way.p[i] && s->way.p[first] && !strcmp(s->way.p[i], s->way.p[first]);
}

static bool is_stored(const Parts *p, int i) {
    for (int n = 0; n < i; n++)
        if (shares_slot(p, i, n)) return true;
    return false;
}

/* Through a slot of the group's own: written as sums are, which f32 has. */
static void result_slot(Parts *p, int number, Value *v) {
    const Slice *s = p->c->s;
    const Op *store = s->store.p[number];
    Builder *b = &p->c->b;
    Region *at = b->at;
    if (v->def->kind == OP_PART) v = build_cast(b, ELEM_F32, v);
    v = build_cast(b, b->k->param.p[store->param].elem, v);
    int ring = result_ring(p, store, v->type);
    b->at = build_put(b, ring)->region[0];
    build_write(b, v, 0);
    b->at = at;
    Value *slot = build_get(&p->store, ring)->res.p[0];
    for (int i = number; i < s->store.n; i++)
        if (shares_slot(p, i, number)) store_by(p, &p->store, s->store.p[i], slot, s->way.p[i]);
    build_free(&p->store, ring);
}

/* A tile of sums that is rounded as it is stored, and kept. */
static bool is_kept_plain(const Slice *s, const Op *store) {
    for (int i = 0; i < s->kept.n && s->late; i++)
        if (s->kept.p[i] == store) return true;
    return false;
}

/* In front of the loop over panels. */
static void round_plain(Parts *p) {
    const Slice *s = p->c->s;
    for (int i = 0; i < s->store.n; i++)
        if (is_kept_plain(s, s->store.p[i]))
            p->rounded[i] = build_cast(&p->c->b, s->k->param.p[s->store.p[i]->param].elem,
                                       cut_value(p->c, s->store.p[i]->arg.p[0]));
}

static void result_take(Parts *p, int i) {
    const Op *store = p->c->s->store.p[i];
    if (is_stored(p, i)) return;
    p->c->b.loc = p->store.loc = store->loc;
    Value *v = p->rounded[i] ? build_part(&p->c->b, p->rounded[i], p->q) : part_value(p, store->arg.p[0]);
    if (p->c->s->way.p[i])
        result_slot(p, i, v);
    else
        store_by(p, &p->c->b, store, v, NULL);
}

/* ---- panels ---- */

static bool has_slots(const Slice *s) {
    for (int i = 0; i < s->way.n; i++)
        if (s->way.p[i]) return true;
    return false;
}

/* On the threads of each group; or a lane of its own, where it has to wait until what it has stored has come, and
   signals that. */
static int store_role(const Slice *s, int multiply) {
    Name name = name_of(s->m->names, "store");
    Loc loc = s->store.p[0]->loc;
    return slice_signals(s) ? roles_warp(s->m, s->to, name, 0, 1, loc) : roles_within(s->m, s->to, name, multiply, loc);
}

/* The results of a region, a panel at a time in both roles. */
static void region_results(Parts *p, const Region *from) {
    Cut *c = p->c;
    const Slice *s = c->s;
    Region *at = c->b.at, *stores = p->store.at;
    bool any = false;
    for (int i = 0; i < s->store.n; i++) any = any || s->store.p[i]->in == from;
    if (!any) return;
    const bool near = s->near.n && s->near.p[0]->in == from;
    p->part = ARENA_ARRAY(s->scratch, Value *, s->values + 1);
    p->slots = 0;
    if (has_slots(s)) panel_loop(&p->store, s);
    panel_loop(&c->b, s);
    c->b.at->parent->late = (int16_t)s->late;
    if (near) near_get(c, p->part);
    for (int i = 0; i < s->store.n; i++)
        if (s->store.p[i]->in == from && (s->way.p[i] || !s->chained)) result_take(p, i);
    if (near) near_free(c);
    c->b.at = at, p->store.at = stores;
}

static void arms_results(Parts *p, Cut *store, const Op *branch) {
    Region *at = p->c->b.at, *stores = p->store.at;
    const bool slots = has_slots(p->c->s);
    store->b.at = stores;
    Op *make = cut_condition(p->c, branch, 0), *take = slots ? cut_condition(store, branch, 0) : NULL;
    for (int r = 0; r < 2; r++) {
        if (!branch->region[r]) continue;
        p->c->b.at = make->region[r];
        if (slots) p->store.at = take->region[r];
        region_results(p, branch->region[r]);
    }
    p->c->b.at = at, p->store.at = store->b.at = stores;
}

void slice_results(Cut *c, int multiply) {
    Slice *s = c->s;
    Parts p = {.c = c, .multiply = multiply, .q = s->panel};
    p.rounded = ARENA_ARRAY(s->scratch, Value *, s->store.n + 1);
    Cut store = {0};
    if (has_slots(s)) {
        store = cut_begin(s, s->k->roles->role.p[store_role(s, multiply)].body);
        slice_store_waits(s, &store);
        p.store = store.b;
    }
    round_plain(&p);
    region_results(&p, s->k->body);
    for (const Op *op = s->k->body->first; op; op = op->next)
        if (op_has_arms(s, op)) arms_results(&p, &store, op);
    if (has_slots(s)) slice_store_signals(s, &store);
}
