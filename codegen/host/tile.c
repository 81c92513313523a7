/* tile.c: tiles in scratch memory: their layout, their place, and what expressions over them read fastest. */
#include "codegen/text/step.h"

#include <inttypes.h>

enum { LINE = 64 };
static const int64_t scratch_limit = INT64_C(1) << 31;

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

static int16_t load_fastest(const Kernel *k, const Op *load) {
    if (load->sub.n == 0) return -1;
    const Affine *last = &load->sub.p[load->sub.n - 1].lo;
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
        own = load_fastest(f->k, v->def);
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

/* Rows are whole cache lines, an odd number of them when long, so that columns do not fall into one set of the cache.
 */
static int64_t row_elements(int64_t n, int64_t bytes) {
    if (n * bytes < LINE) return n;
    int64_t lines = (n * bytes + LINE - 1) / LINE;
    if (lines >= 4) lines |= 1;
    return lines * LINE / bytes;
}

Tile tile_for(Fn *f, Type type, Elem elem, int16_t fastest) {
    Tile t = {.elem = elem, .n = type.nrange};
    int n = 0;
    for (int i = 0; i < type.nrange; i++)
        if (type.range[i] != fastest) t.range[n++] = type.range[i];
    if (n < type.nrange) t.range[n] = fastest;
    t.count = 1;
    for (int i = t.n - 1; i >= 0; i--) {
        int64_t most = f->range[t.range[i]].most;
        if (most < 0) fn_unsupported(f, f->k->range.p[t.range[i]].loc, "a tile whose size has no bound");
        if (most < 1) most = 1;
        t.stride[i] = t.count;
        if (i == t.n - 1 && t.n > 1) most = row_elements(most, elem_value_bits(elem) / 8);
        if (__builtin_mul_overflow(t.count, most, &t.count)) t.count = scratch_limit;
    }
    return t;
}

void tile_place(Fn *f, Tile *t, const char *wanted) { f->back->place(f, t, wanted); }

Tile tile_of_value(Fn *f, const Value *v, Elem e, int16_t fastest) { return f->back->tile(f, v, e, fastest); }

Tile c_tile(Fn *f, const Value *v, Elem e, int16_t fastest) { return tile_for(f, v->type, e, fastest); }

/* A line more than needed: vectors may read past the last row. */
void c_place(Fn *f, Tile *t, const char *wanted) {
    t->name = c_name(&f->names, wanted);
    const char *type = elem_c(t->elem);
    fn_line(f, "%s *const %s = tile_at(t->scratch, %" PRId64 ");", type, t->name, f->scratch);
    int64_t bytes = t->count >= scratch_limit ? scratch_limit : t->count * elem_value_bits(t->elem) / 8;
    f->scratch += (bytes + 2 * LINE - 1) / LINE * LINE;
    if (f->scratch > f->scratch_most) f->scratch_most = f->scratch;
    if (f->scratch > scratch_limit && !f->failed) {
        f->failed = true;
        diag_error(f->m->diags, f->k->loc, "tile-too-large", "the tiles of a task of '%s' need more than 2 GiB",
                   f->k->name);
    }
}

const Tile *held_tile(Fn *f, const Value *v) {
    Held *h = fn_held(f, v);
    if (h->into) {
        h->tile = *h->into;
        return &h->tile;
    }
    int16_t fastest = h->fastest;
    if (fastest < 0 && v->def && (op_info[v->def->kind].class <= CLASS_BROADCAST || v->def->kind == OP_LOAD)) {
        h->hold = HOLD_INLINE;
        fastest = value_fastest(f, v);
        h->hold = HOLD_TILE;
    }
    h->tile = tile_of_value(f, v, v->type.elem, fastest);
    tile_place(f, &h->tile, fn_value_name(f, v));
    return &h->tile;
}
