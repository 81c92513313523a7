/* box.c: which tiles of a tensor are boxes, which one lane copies (TMA), and how a box lies in its slot.
   Takes: a load or a store. Gives: its panel; or why it is none. */
#include "passes/roles/slice.h"

enum {
    MOST_BOX_DIMS = 5, /* of a tensor that a map describes (cuTensorMapEncodeTiled) */
    ROW_ALIGN = 16     /* bytes; rows begin at multiples of so many (cuTensorMapEncodeTiled, globalStrides) */
};

/* The range of tiles whose positions the subscript follows, one by one; -1: none, -2: it follows otherwise. */
static int subscript_range(const Slice *s, const Affine *a) {
    int found = -1;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (term_type(s->k, t).nrange == 0) continue;
        if (found != -1 || t->kind != TERM_POS || t->mul != 1 || t->div != 1) return -2;
        found = t->id;
    }
    return found;
}

/* Strides are products of the extents behind their dimension. */
static bool rows_align(Slice *s, const Op *access) {
    const Param *p = &s->k->param.p[access->param];
    Size last = size_even(s->m, p->dim[p->ndim - 1]);
    if (p->ndim > MOST_BOX_DIMS)
        return slice_refuse(s, access->loc, "'%s' has more than %d dimensions", p->name, MOST_BOX_DIMS);
    if (p->ndim == 1) return true;
    if (!size_is_number(last)) return slice_refuse(s, access->loc, "rows of '%s' have a run-time length", p->name);
    if (last.c * elem_bits(p->elem) / 8 % ROW_ALIGN)
        return slice_refuse(s, access->loc, "rows of '%s' are no multiples of %d bytes", p->name, ROW_ALIGN);
    return true;
}

/* Each of the two ranges follows a dimension of its own. */
static bool ranges_apart(Slice *s, const Op *access, int a, int b, int *last) {
    int seen[2] = {0, 0};
    *last = -1;
    for (int d = 0; d < access->sub.n; d++) {
        int r = *last = subscript_range(s, &access->sub.p[d].lo);
        if (r == -2)
            return slice_refuse(s, access->loc, "a place in '%s' is computed for each element",
                                s->k->param.p[access->param].name);
        if (r == a || r == b) seen[r == b]++;
    }
    if (seen[0] == 1 && seen[1] == 1 && *last >= 0) return true;
    return slice_refuse(s, access->loc, "elements of a tile of '%s' do not lie beside each other",
                        s->k->param.p[access->param].name);
}

/* Tiles of so many positions certainly end where the range does. */
static bool is_full(const Slice *s, int range, int64_t size) {
    int64_t *now = &s->k->range.p[range].size, old = *now;
    *now = size;
    bool full = range_is_full(s->k, range);
    *now = old;
    return full;
}

/* Positions behind the end of the loop add nothing: there are none in a whole number of steps, or the tensor ends, too.
 */
static bool tail_is_zero(Slice *s, const Op *load, int over) {
    const Param *p = &s->k->param.p[load->param];
    const Value *end = kernel_loop(s->k, over)->arg.p[1];
    if (is_full(s, over, slice_depth(s))) return true;
    for (int d = 0; d < load->sub.n; d++) {
        int64_t n;
        if (affine_position(&load->sub.p[d].lo) != over) continue;
        if (value_const(end, &n) && size_is_number(p->dim[d]) && p->dim[d].c == n) return true;
        if (end->def && end->def->kind == OP_SIZE && size_equal(end->def->size, p->dim[d])) return true;
    }
    return slice_refuse(s, load->loc, "'%s' goes on behind the end of the loop", p->name);
}

bool box_fits(Slice *s, const Op *load, int kept, int over, Panel *panel) {
    int last;
    if (!ranges_apart(s, load, kept, over, &last) || !rows_align(s, load) || !tail_is_zero(s, load, over)) return false;
    *panel = last == over ? PANEL_K128 : PANEL_MN128;
    return true;
}

/* Elements of the box that lie outside are not stored: so it ends with the tensor. */
static bool ends_with_tensor(Slice *s, const Op *store) {
    const Param *p = &s->k->param.p[store->param];
    for (int d = 0; d < store->sub.n; d++) {
        int r = subscript_range(s, &store->sub.p[d].lo);
        if (r < 0 || is_full(s, r, r == s->row ? s->plan.rows : s->plan.columns)) continue;
        if (affine_position(&store->sub.p[d].lo) != r || !size_equal(p->dim[d], s->k->range.p[r].of))
            return slice_refuse(s, store->loc, "'%s' goes on behind the last tile", p->name);
    }
    return true;
}

static bool store_fits(Slice *s, const Op *store) {
    int last;
    return ranges_apart(s, store, s->row, s->column, &last) && rows_align(s, store) && ends_with_tensor(s, store);
}

bool slice_stores(Slice *s) {
    for (int i = 0; i < s->store.n; i++)
        if (!store_fits(s, s->store.p[i])) return false;
    return true;
}
