/* tile.c: tiles in scratch memory: their layout, their place, and what expressions over them read fastest. */
#include "codegen/host/host.h"

#include <inttypes.h>

enum { LINE = 64 }; /* bytes of a cache line of x86-64 and of most of AArch64 */
static const int64_t scratch_limit = INT64_C(1) << 31; /* bytes of the tiles of a task; more is the error tile-too-large */

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
