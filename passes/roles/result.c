/* result.c: what groups make of their sums, and store: a panel of columns at a time.
   Takes: the role `multiply`, its sums ready. Gives: rings of results, and the role that stores them, on a thread of
   each group. Tiles with columns that are made element by element are made of a panel alone. */
#include "passes/roles/slice.h"

enum { PANEL_BYTES = 128 /* of a row of a slot, at most: those of a swizzled box */ };

typedef struct {
    Cut *c;        /* of the groups that multiply */
    Builder store; /* of the role that stores */
    int multiply;  /* number of the role */
    int q;         /* range of the panels */
    Value **part;  /* by value of the body: its copy for a panel; NULL: there is none yet */
} Parts;

/* ---- values of a panel ---- */

static Type part_type(const Parts *p, Type t) {
    return type_has(t, p->c->s->column) ? type_with(type_without(t, p->c->s->column), p->q) : t;
}

static bool is_made_in_parts(const Slice *s, const Value *v) {
    const Op *op = v->def;
    if (!op || op->in != s->k->body) return false;
    return op_is_elementwise(op) || op->kind == OP_POS || (op->kind == OP_LOAD && !s->stream_of[v->id]);
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

static Value *part_value(Parts *p, const Value *v) {
    if (!type_has(v->type, p->c->s->column)) return cut_value(p->c, v);
    Value **part = &p->part[v->id];
    if (!*part)
        *part = is_made_in_parts(p->c->s, v) ? part_make(p, v->def) : build_part(&p->c->b, cut_value(p->c, v), p->q);
    return *part;
}

/* ---- a result ---- */

static int panel_columns(const Slice *s, const Op *store) {
    int columns = PANEL_BYTES * 8 / elem_bits(s->k->param.p[store->param].elem);
    return columns < s->plan.columns ? columns : s->plan.columns;
}

static Panel panel_of(int bytes) {
    Panel p = PANEL_K128;
    while (panel_info[p].across || panel_info[p].bytes > bytes) p++;
    return p;
}

static int result_ring(const Parts *p, const Op *store, Type t) {
    const Slice *s = p->c->s;
    const Param *to = &s->k->param.p[store->param];
    int ring = roles_ring(s->m, s->k, to->name, s->plan.outs, store->loc);
    s->k->roles->ring.p[ring].per = (int16_t)p->multiply;
    ring_tile(s->m, s->k, ring,
              (SlotTile){.name = to->name,
                         .type = t,
                         .panel = panel_of(panel_columns(s, store) * elem_bits(t.elem) / 8),
                         .fill = FILL_THREADS,
                         .param = -1,
                         .share = -1,
                         .loc = store->loc});
    return ring;
}

static void result_put(Parts *p, const Op *store, int ring) {
    Builder *b = &p->c->b;
    Region *at = b->at;
    Value *v = part_value(p, store->arg.p[0]);
    v = build_cast(b, b->k->param.p[store->param].elem, v);
    b->at = build_put(b, ring)->region[0];
    build_write(b, v, 0);
    b->at = at;
}

/* Its place is of scalars that each role has. */
static void result_store(Parts *p, const Op *store, int ring) {
    Builder *b = &p->store;
    Op *get = build_get(b, ring);
    Span *sub = ARENA_ARRAY(b->m->arena, Span, store->sub.n + 1);
    for (int d = 0; d < store->sub.n; d++) sub[d] = span_of(part_affine(p, &store->sub.p[d].lo));
    build_store(b, store->param, sub, store->sub.n, get->res.p[0], STORE_SET)->by = slice_name(p->c->s, "box");
    build_free(b, ring);
}

static void result_take(Parts *p, const Op *store) {
    Type t = store->arg.p[0]->type;
    t.elem = p->c->s->k->param.p[store->param].elem;
    int ring = result_ring(p, store, part_type(p, t));
    p->c->b.loc = p->store.loc = store->loc;
    result_put(p, store, ring);
    result_store(p, store, ring);
}

/* ---- panels ---- */

static Op *panel_loop(Builder *b, int column, int q) {
    Value *lo = build_index(b, OP_BEGIN, column), *hi = build_index(b, OP_END, column);
    Op *loop = build_for(b, q, lo, hi, NULL, 0);
    loop->unrolled = true;
    b->at = loop->region[0];
    return loop;
}

static int panel_range(const Slice *s, const Op *store) {
    Range r = {.name = slice_name(s, "q"),
               .kind = RANGE_TILE,
               .size = panel_columns(s, store),
               .owner = -1,
               .part_of = (int16_t)(1 + s->column),
               .loc = store->loc};
    return kernel_range(s->m, s->k, r);
}

/* Results whose panels have so many columns as this one, from this one on. */
static void panels_take(Parts *p, int first) {
    const Slice *s = p->c->s;
    Region *multiply = p->c->b.at, *storing = p->store.at;
    p->q = panel_range(s, s->store.p[first]);
    p->part = ARENA_ARRAY(s->scratch, Value *, s->values + 1);
    p->c->b.loc = p->store.loc = s->store.p[first]->loc;
    panel_loop(&p->c->b, s->column, p->q);
    panel_loop(&p->store, s->column, p->q);
    for (int i = first; i < s->store.n; i++)
        if (panel_columns(s, s->store.p[i]) == panel_columns(s, s->store.p[first])) result_take(p, s->store.p[i]);
    p->c->b.at = multiply, p->store.at = storing;
}

static bool is_first(const Slice *s, int i) {
    for (int n = 0; n < i; n++)
        if (panel_columns(s, s->store.p[n]) == panel_columns(s, s->store.p[i])) return false;
    return true;
}

void slice_results(Cut *c, int multiply) {
    Slice *s = c->s;
    int role = roles_within(s->m, s->k, slice_name(s, "store"), multiply, s->store.p[0]->loc);
    Parts p = {.c = c, .multiply = multiply};
    p.store = (Builder){.m = s->m, .k = s->k, .at = s->k->roles->role.p[role].body, .loc = s->k->loc};
    for (int i = 0; i < s->store.n; i++)
        if (is_first(s, i)) panels_take(&p, i);
}
