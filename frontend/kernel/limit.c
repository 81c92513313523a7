/* limit.c: tiles that no processor could hold are refused before anything is allocated for them.
   Takes a lowered kernel; gives at most one error. */
#include "frontend/kernel/kernel.h"

#include <inttypes.h>

enum { TILE_ELEMENTS = 1 << 26 };

static int64_t range_positions(const Kern *c, int range) {
    const Range *r = &c->b.k->range.p[range];
    return r->kind == RANGE_WHOLE ? size_bound(c->m, c->range_of.p[range]) : r->size;
}

static bool type_fits(const Kern *c, Type t) {
    int64_t n = 1;
    for (int i = 0; i < t.nrange; i++)
        if (__builtin_mul_overflow(n, range_positions(c, t.range[i]), &n)) return false;
    return n <= TILE_ELEMENTS;
}

static const Op *region_find_large(const Kern *c, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->res.n; i++)
            if (!type_fits(c, op->res.p[i]->type)) return op;
    return NULL;
}

void tiles_check(Kern *c) {
    const Op *op = region_find_large(c, c->b.k->body);
    if (!op) return;
    diag_error(c->diags, op->loc, "tile-too-large", "a tile %s has more than %d elements",
               tile_text(c, op->res.p[0]->type), TILE_ELEMENTS);
    diag_note(c->diags, op->loc, "give its ranges smaller sizes");
}
