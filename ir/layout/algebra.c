/* algebra.c: composition, inverses, products and quotients of layouts.
   Takes: layouts. Gives: layouts, or false where none exists. */
#include "ir/layout/layout.h"
#include "ir/layout/gf2.h"
#include <string.h>

static uint64_t low_bits(int n) { return (UINT64_C(1) << n) - 1; }

/* The place of `outer` whose parts are the ranges of `inner`'s index. */
static uint64_t place_of_index(const Layout *outer, const Layout *inner, uint64_t index) {
    uint64_t place = 0;
    int bit = 0, first;
    for (int i = 0; i < inner->nindex; bit += inner->index[i++].bits) {
        layout_place(outer, inner->index[i].name, &first);
        place |= (index >> bit & low_bits(inner->index[i].bits)) << first;
    }
    return place;
}

bool layout_compose(Layout *to, const Layout *outer, const Layout *inner) {
    if (outer->nplace != inner->nindex || layout_repeats(outer) * layout_repeats(inner) != 1) return false;
    for (int i = 0; i < outer->nplace; i++) {
        int d = layout_index(inner, outer->place[i].name, NULL);
        if (d < 0 || inner->index[d].bits != outer->place[i].bits) return false;
    }
    Layout r = *inner;
    r.width = outer->width;
    r.nindex = outer->nindex;
    memcpy(r.index, outer->index, sizeof r.index);
    for (int b = 0; b < layout_place_bits(inner); b++)
        r.column[b] = layout_apply(outer, place_of_index(outer, inner, inner->column[b]));
    *to = r;
    return true;
}

/* Places and indices change sides, columns are zero. */
static Layout layout_turned(const Layout *l) {
    Layout r = {.nplace = l->nindex, .nindex = l->nplace, .width = l->width};
    memcpy(r.place, l->index, sizeof r.place);
    memcpy(r.index, l->place, sizeof r.index);
    return r;
}

bool layout_right_inverse(Layout *to, const Layout *l) {
    if (!layout_surjective(l) || layout_repeats(l) != 1) return false;
    Layout r = layout_turned(l);
    Span s = {0};
    for (int b = 0; b < layout_place_bits(l); b++) span_add(&s, l->column[b]);
    for (int b = 0; b < layout_index_bits(l); b++) span_solve(&s, UINT64_C(1) << b, &r.column[b]);
    *to = r;
    return true;
}

/* Index bits that no element needs go to 0: the columns are completed to a basis with unit vectors. */
bool layout_left_inverse(Layout *to, const Layout *l) {
    if (!layout_injective(l) || layout_repeats(l) != 1) return false;
    Layout r = layout_turned(l);
    Span s = {0};
    for (int b = 0; b < layout_place_bits(l); b++) span_add(&s, l->column[b]);
    for (int b = 0; b < layout_index_bits(l); b++)
        if (!span_has(&s, UINT64_C(1) << b)) span_add(&s, UINT64_C(1) << b);
    for (int b = 0; b < layout_index_bits(l); b++) {
        span_solve(&s, UINT64_C(1) << b, &r.column[b]);
        r.column[b] &= low_bits(layout_place_bits(l));
    }
    *to = r;
    return true;
}

bool layout_inverse(Layout *to, const Layout *l) { return layout_bijective(l) && layout_right_inverse(to, l); }

/* Extents multiply: the high layout counts in units of the low one, and its odd part repeats the whole. */
static bool product_indices(Layout *r, const Layout *low, const Layout *high) {
    for (int side = 0; side < 2; side++) {
        const Layout *l = side ? high : low;
        for (int i = 0; i < l->nindex; i++) {
            const char *name = l->index[i].name;
            if (side && layout_index(low, name, NULL) >= 0) continue;
            int d = side ? -1 : layout_index(high, name, NULL);
            int64_t extent = l->index[i].repeat << l->index[i].bits;
            if (d >= 0 && l->index[i].repeat != 1) return false;
            if (d >= 0) extent *= high->index[d].repeat << high->index[d].bits;
            if (!layout_add_index(r, name, extent)) return false;
        }
    }
    return true;
}

/* An index of `from` within r; `low`: the layout whose bits lie below, or NULL. */
static uint64_t product_index(const Layout *r, const Layout *from, const Layout *low, uint64_t index) {
    uint64_t moved = 0;
    int bit = 0, first;
    for (int i = 0; i < from->nindex; bit += from->index[i++].bits) {
        layout_index(r, from->index[i].name, &first);
        int d = low ? layout_index(low, from->index[i].name, NULL) : -1;
        int shift = first + (d >= 0 ? low->index[d].bits : 0);
        moved |= (index >> bit & low_bits(from->index[i].bits)) << shift;
    }
    return moved;
}

static bool product_places(Layout *r, const Layout *from, const Layout *low) {
    int bit = 0;
    for (int i = 0; i < from->nplace; i++) {
        int at = layout_add_place(r, from->place[i].name, from->place[i].bits);
        if (at < 0) return false;
        for (int b = 0; b < from->place[i].bits; b++)
            r->column[at + b] = product_index(r, from, low, from->column[bit++]);
    }
    return true;
}

bool layout_product(Layout *to, const Layout *low, const Layout *high) {
    Layout r = {.width = low->width ? low->width : high->width};
    if (low->width && high->width && low->width != high->width) return false;
    if (!product_indices(&r, low, high)) return false;
    if (!product_places(&r, low, NULL) || !product_places(&r, high, low)) return false;
    *to = r;
    return true;
}

/* The extents and place bits that are left above those of `low`. */
static bool quotient_dims(Layout *r, const Layout *l, const Layout *low) {
    for (int i = 0; i < l->nindex; i++) {
        int d = layout_index(low, l->index[i].name, NULL);
        int bits = l->index[i].bits - (d >= 0 ? low->index[d].bits : 0);
        if (bits < 0 || (d >= 0 && low->index[d].repeat != 1)) return false;
        layout_add_index(r, l->index[i].name, l->index[i].repeat << bits);
    }
    for (int i = 0; i < l->nplace; i++) {
        int d = layout_place(low, l->place[i].name, NULL);
        int bits = l->place[i].bits - (d >= 0 ? low->place[d].bits : 0);
        if (bits < 0) return false;
        layout_add_place(r, l->place[i].name, bits);
    }
    return true;
}

/* The part of an index above low's bits, as an index of r. */
static uint64_t quotient_index(const Layout *r, const Layout *l, const Layout *low, uint64_t index) {
    uint64_t moved = 0;
    int bit = 0, first;
    for (int i = 0; i < l->nindex; bit += l->index[i++].bits) {
        int d = layout_index(low, l->index[i].name, NULL), skip = d >= 0 ? low->index[d].bits : 0;
        layout_index(r, l->index[i].name, &first);
        moved |= (index >> (bit + skip) & low_bits(l->index[i].bits - skip)) << first;
    }
    return moved;
}

bool layout_quotient(Layout *to, const Layout *l, const Layout *low) {
    Layout r = {.width = l->width}, again;
    if (!quotient_dims(&r, l, low)) return false;
    int bit = 0, at = 0;
    for (int i = 0; i < l->nplace; i++) {
        int d = layout_place(low, l->place[i].name, NULL), skip = d >= 0 ? low->place[d].bits : 0;
        for (int b = 0; b < l->place[i].bits; b++, bit++)
            if (b >= skip) r.column[at++] = quotient_index(&r, l, low, l->column[bit]);
    }
    if (!layout_product(&again, low, &r)) return false;
    again.width = l->width;
    if (!layout_equal(l, &again)) return false;
    *to = r;
    return true;
}
