/* even.c: loads of one element for a whole tile: of `s[j / 128]`, tiles of 128 columns, 64, .. have one each, as scales
   of blocks are stored.
   Takes: loads by the groups that multiply. Gives: the same tile, of which one element is loaded. */
#include "passes/roles/slice.h"

static bool follows(const Term *t, int range) { return t->kind == TERM_POS && t->id == range; }

int64_t load_even(const Op *load, int range) {
    int64_t size = 0;
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++) {
            const Term *t = &load->sub.p[d].lo.term[i];
            if (!follows(t, range)) continue;
            if (t->div == 1 || (size && size != t->div)) return 0;
            size = t->div;
        }
    return size;
}

/* Each tile lies in one block. */
static bool is_even(const Slice *s, const Op *load, int range) {
    const Range *r = &s->k->range.p[range];
    int64_t size = load_even(load, range);
    return r->kind == RANGE_TILE && size && size % r->size == 0 && range_begins_at(s->k, load, range, r->size);
}

/* Its place, which is that of the tile's first position. */
static void place_even(Cut *c, Op *load, int range) {
    Value *begin = build_index(&c->b, OP_BEGIN, range);
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++) {
            Term *t = &load->sub.p[d].lo.term[i];
            if (follows(t, range)) t->kind = TERM_VALUE, t->id = -1, t->value = begin;
        }
}

Value *cut_load(Cut *c, const Op *load) {
    Type whole = load->res.p[0]->type, t = whole;
    Op *fresh = op_like(c->b.m, load);
    fresh->sub.p = cut_place(c, load);
    for (int i = 0; i < whole.nrange; i++)
        if (is_even(c->s, load, whole.range[i])) {
            place_even(c, fresh, whole.range[i]);
            t = type_without(t, whole.range[i]);
        }
    op_append_to(c->b.at, fresh);
    Value *v = op_result(c->b.m, c->b.k, fresh, t);
    v->name = load->res.p[0]->name;
    return type_equal(t, whole) ? v : build_broadcast(&c->b, whole, v);
}
