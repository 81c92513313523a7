/* layout.c: building layouts and reading them: dims, bits, rank, equality.
   Takes: dims and columns. Gives: a Layout. */
#include "ir/layout/layout.h"
#include "ir/layout/gf2.h"
#include <string.h>

static int dims_find(const LayoutDim *dim, int n, const char *name, int *first) {
    int bit = 0;
    for (int i = 0; i < n; bit += dim[i++].bits)
        if (!strcmp(dim[i].name, name)) {
            if (first) *first = bit;
            return i;
        }
    return -1;
}

static int dims_bits(const LayoutDim *dim, int n) {
    int bits = 0;
    for (int i = 0; i < n; i++) bits += dim[i].bits;
    return bits;
}

int layout_place(const Layout *l, const char *name, int *first) { return dims_find(l->place, l->nplace, name, first); }
int layout_index(const Layout *l, const char *name, int *first) { return dims_find(l->index, l->nindex, name, first); }
int layout_place_bits(const Layout *l) { return dims_bits(l->place, l->nplace); }
int layout_index_bits(const Layout *l) { return dims_bits(l->index, l->nindex); }

int64_t layout_repeats(const Layout *l) {
    int64_t n = 1;
    for (int i = 0; i < l->nindex; i++) n *= l->index[i].repeat;
    return n;
}

bool layout_add_index(Layout *l, const char *name, int64_t extent) {
    if (extent < 1 || l->nindex == LAYOUT_DIMS || layout_index(l, name, NULL) >= 0) return false;
    int bits = __builtin_ctzll((uint64_t)extent);
    if (layout_index_bits(l) + bits > LAYOUT_BITS) return false;
    l->index[l->nindex++] = (LayoutDim){name, bits, extent >> bits};
    return true;
}

int layout_add_place(Layout *l, const char *name, int bits) {
    int first, total = layout_place_bits(l), d = layout_place(l, name, &first);
    if (total + bits > LAYOUT_BITS) return -1;
    if (d < 0) {
        if (l->nplace == LAYOUT_DIMS) return -1;
        d = l->nplace++;
        first = total;
        l->place[d] = (LayoutDim){name, 0, 1};
    }
    int at = first + l->place[d].bits;
    memmove(l->column + at + bits, l->column + at, sizeof *l->column * (size_t)(total - at));
    memset(l->column + at, 0, sizeof *l->column * (size_t)bits);
    l->place[d].bits += bits;
    return at;
}

uint64_t layout_apply(const Layout *l, uint64_t place) {
    uint64_t index = 0;
    for (; place; place &= place - 1) index ^= l->column[__builtin_ctzll(place)];
    return index;
}

uint64_t layout_part(const Layout *l, const char *place, uint64_t value) {
    int first, d = layout_place(l, place, &first);
    return d < 0 ? 0 : value >> first & ((UINT64_C(1) << l->place[d].bits) - 1);
}

int layout_rank(const Layout *l) {
    Span s = {0};
    for (int b = 0; b < layout_place_bits(l); b++) span_add(&s, l->column[b]);
    return s.dim;
}

bool layout_injective(const Layout *l) { return layout_rank(l) == layout_place_bits(l); }
bool layout_surjective(const Layout *l) { return layout_rank(l) == layout_index_bits(l); }
bool layout_bijective(const Layout *l) { return layout_injective(l) && layout_surjective(l); }

bool layout_same_tile(const Layout *a, const Layout *b) {
    if (a->nindex != b->nindex) return false;
    for (int i = 0; i < a->nindex; i++) {
        int j = layout_index(b, a->index[i].name, NULL);
        if (j < 0 || a->index[i].bits != b->index[j].bits || a->index[i].repeat != b->index[j].repeat) return false;
    }
    return true;
}

/* Moves the bits of an index of `from` to where `to` has the same ranges; bits of ranges that `to` lacks are dropped.
 */
static uint64_t index_move(const Layout *from, const Layout *to, uint64_t index) {
    uint64_t moved = 0;
    int bit = 0, first;
    for (int i = 0; i < from->nindex; bit += from->index[i++].bits)
        if (layout_index(to, from->index[i].name, &first) >= 0)
            moved |= (index >> bit & ((UINT64_C(1) << from->index[i].bits) - 1)) << first;
    return moved;
}

static void place_fill(Layout *to, const Layout *from, const LayoutDim *dim) {
    int first;
    layout_place(from, dim->name, &first);
    int at = layout_add_place(to, dim->name, dim->bits);
    for (int b = 0; b < dim->bits; b++) to->column[at + b] = index_move(from, to, from->column[first + b]);
}

static bool layout_reorder(Layout *to, const Layout *l, const Layout *like) {
    if (!layout_same_tile(l, like) || l->nplace != like->nplace) return false;
    Layout r = {.width = l->width, .nindex = like->nindex};
    memcpy(r.index, like->index, sizeof r.index);
    for (int i = 0; i < like->nplace; i++) {
        int d = layout_place(l, like->place[i].name, NULL);
        if (d < 0 || l->place[d].bits != like->place[i].bits) return false;
        place_fill(&r, l, &l->place[d]);
    }
    *to = r;
    return true;
}

bool layout_equal(const Layout *a, const Layout *b) {
    Layout c;
    if (a->width != b->width || !layout_reorder(&c, b, a)) return false;
    return !memcmp(a->column, c.column, sizeof *a->column * (size_t)layout_place_bits(a));
}

bool layout_sub(Layout *to, const Layout *l, const char *const places[], int n, const char *const ranges[], int m) {
    Layout r = {.width = l->width};
    for (int i = 0; i < m; i++) {
        int d = layout_index(l, ranges[i], NULL);
        if (d < 0 || layout_index(&r, ranges[i], NULL) >= 0) return false;
        r.index[r.nindex++] = l->index[d];
    }
    for (int i = 0; i < n; i++) {
        int d = layout_place(l, places[i], NULL);
        if (d < 0 || layout_place(&r, places[i], NULL) >= 0) return false;
        place_fill(&r, l, &l->place[d]);
    }
    *to = r;
    return true;
}
