/* tile.c: the tile that holds a value: which range runs fastest in it, and its place. */
#include "codegen/text/step.h"

bool reads(Fn *f, const Value *e, const Value *leaf) {
    if (e == leaf) return true;
    if (!e->def || fn_held(f, e)->hold != HOLD_INLINE) return false;
    for (int i = 0; i < e->def->arg.n; i++)
        if (reads(f, e->def->arg.p[i], leaf)) return true;
    for (int d = 0; d < e->def->sub.n; d++)
        for (int i = 0; i < e->def->sub.p[d].lo.nterm; i++) {
            const Term *t = &e->def->sub.p[d].lo.term[i];
            if (t->kind == TERM_VALUE && reads(f, t->value, leaf)) return true;
        }
    return false;
}

int16_t access_fastest(const Kernel *k, const Op *access) {
    if (access->sub.n == 0) return -1;
    const Affine *last = &access->sub.p[access->sub.n - 1].lo;
    for (int i = 0; i < last->nterm; i++) {
        const Term *t = &last->term[i];
        if (t->kind == TERM_POS && t->mul == 1 && t->div == 1 && k->range.p[t->id].kind != RANGE_POSITION) return t->id;
    }
    return -1;
}

/* Of the leaf with the most ranges. */
static void fastest_walk(Fn *f, const Value *v, int *most, int16_t *fastest) {
    const Held *h = fn_held(f, v);
    int16_t own = -1;
    if (v->type.nrange == 0) return;
    if (h->hold == HOLD_TILE)
        own = h->tile.n ? h->tile.range[h->tile.n - 1] : -1;
    else if (v->def->kind == OP_LOAD)
        own = access_fastest(f->k, v->def);
    else
        for (int i = 0; i < v->def->arg.n; i++) fastest_walk(f, v->def->arg.p[i], most, fastest);
    if (own < 0 || v->type.nrange <= *most) return;
    *most = v->type.nrange;
    *fastest = own;
}

int16_t value_fastest(Fn *f, const Value *v) {
    int most = 0;
    int16_t fastest = -1;
    fastest_walk(f, v, &most, &fastest);
    return fastest;
}

void tile_place(Fn *f, Tile *t, const char *wanted) { f->back->place(f, t, wanted); }

Tile tile_of_value(Fn *f, const Value *v, Elem e, int16_t fastest) { return f->back->tile(f, v, e, fastest); }

const Tile *held_tile(Fn *f, const Value *v) {
    Held *h = fn_held(f, v);
    if (h->into) {
        h->tile = *h->into;
        return &h->tile;
    }
    int16_t fastest = h->fastest;
    if (fastest < 0 && v->def && (op_is_expression(v->def) || v->def->kind == OP_LOAD)) {
        h->hold = HOLD_INLINE;
        fastest = value_fastest(f, v);
        h->hold = HOLD_TILE;
    }
    h->tile = tile_of_value(f, v, v->type.elem, fastest);
    tile_place(f, &h->tile, fn_value_name(f, v));
    return &h->tile;
}
