/* chain_result.c: results of products in a chain: groups have whole rows of them.
   Takes: the role `multiply`, with the values that are stored. Gives: rings of results, and the role that stores them
   on the threads of each group; other results are stored from registers. */
#include "passes/roles/slice.h"

static Value *through_slot(Cut *c, const Op *store, int multiply, Builder *by) {
    Slice *s = c->s;
    Builder *b = &c->b;
    const Param *to = &s->k->param.p[store->param];
    Region *at = b->at;
    Value *v = build_cast(b, to->elem, cut_value(c, store->arg.p[0]));
    const int ring = ring_new(s, to->name, 1, store->loc);
    s->k->roles->ring.p[ring].per = (int16_t)multiply;
    ring_tile(s->m, s->to, ring,
              (SlotTile){.name = to->name,
                         .type = v->type,
                         .panel = PANEL_K128,
                         .fill = FILL_THREADS,
                         .param = -1,
                         .share = -1,
                         .loc = store->loc});
    b->at = build_put(b, ring)->region[0];
    build_write(b, v, 0);
    b->at = at;
    return build_get(by, ring)->res.p[0];
}

static void store_slot(Cut *c, Cut *by, int i, int multiply) {
    const Op *store = c->s->store.p[i];
    Value *v = through_slot(c, store, multiply, &by->b);
    Op *fresh = build_store(&by->b, store->param, cut_place(by, store), store->sub.n, v, STORE_SET);
    fresh->by = name_of(c->b.m->names, c->s->way.p[i]);
    build_free(&by->b, v->def->ring);
}

void chain_store(Cut *c, const Op *store) {
    build_store(&c->b, store->param, cut_place(c, store), store->sub.n, cut_value(c, store->arg.p[0]), STORE_SET);
}

static bool has_slots(const Slice *s) {
    for (int i = 0; i < s->way.n; i++)
        if (s->way.p[i]) return true;
    return false;
}

static void store_whole(Cut *c, int multiply) {
    Slice *s = c->s;
    Cut by = {0};
    if (has_slots(s)) {
        const int role = roles_within(s->m, s->to, name_of(s->m->names, "store"), multiply, s->store.p[0]->loc);
        by = cut_begin(s, s->k->roles->role.p[role].body);
    }
    for (int i = 0; i < s->store.n; i++) {
        if (s->store.p[i]->in != s->k->body) continue;
        c->b.loc = by.b.loc = s->store.p[i]->loc;
        if (s->way.p[i])
            store_slot(c, &by, i, multiply);
        else
            chain_store(c, s->store.p[i]);
    }
}

/* A panel of columns at a time; the rest behind them. */
static void store_parts(Cut *c, int multiply) {
    Slice *s = c->s;
    Region *at = c->b.at;
    s->outs = CHAIN_PARTS;
    slice_results(c, multiply);
    c->b.at = at;
    for (int i = 0; i < s->store.n; i++) {
        c->b.loc = s->store.p[i]->loc;
        if (!s->way.p[i] && s->store.p[i]->in == s->k->body) chain_store(c, s->store.p[i]);
    }
}

void chain_results(Cut *c, int multiply) {
    (has_slots(c->s) && chain_has_parts(c->s) ? store_parts : store_whole)(c, multiply);
}
