/* rows.c: which tiles threads copy row by row, 16 bytes a lane (cp.async): rows that lie anywhere, as a tensor of
   integers or a computation says, and rows that boxes do not take. Takes: loads that are no boxes. Gives: how a tile
   lies in its slot; or why it is copied in no way. */
#include "ir/size.h"
#include "passes/roles/slice.h"

/* Bytes that a lane copies at once, and at multiples of which rows begin (PTX ISA, cp.async). */
enum { LEAST_BYTES = 4, MOST_BYTES = 16 };

/* Positions of the range one after the other from a place on that is the same for the whole tile, a multiple. */
static bool runs_along(const Slice *s, const Affine *a, int range, int multiple) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_POS && t->id == range) continue;
        if (term_type(s->k, t).nrange || (t->kind != TERM_POS && t->kind != TERM_INDEX)) return false;
    }
    return affine_runs_along(a, range, multiple);
}

/* Other subscripts have the same place along a row. */
static bool is_row(const Slice *s, const Op *load, int column) {
    for (int d = 0; d + 1 < load->sub.n; d++)
        if (type_has(affine_type(s->k, &load->sub.p[d].lo), column)) return false;
    return true;
}

/* Which rows they are is computed, or read from a tensor. */
static bool is_gathered(const Slice *s, const Op *load) {
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++) {
            const Term *t = &load->sub.p[d].lo.term[i];
            if (term_type(s->k, t).nrange && (t->kind != TERM_POS || t->mul != 1 || t->div != 1)) return true;
        }
    return false;
}

static bool is_whole(const Slice *s, int range) {
    return s->k->range.p[range].kind == RANGE_WHOLE && size_is_number(s->k->range.p[range].of);
}

/* Tiles of a chain have whole rows, or parts that begin at a number. */
static bool ends_inside(const Slice *s, const Affine *a, Size last) {
    return a->nterm == 1 && a->term[0].kind == TERM_POS && a->c >= 0 &&
           a->c + slice_extent(s, a->term[0].id) <= last.c;
}

/* Lanes count pieces of 16 bytes in 32 bits. */
static bool is_counted(const Slice *s, const Param *p) {
    double bytes = elem_bits(p->elem) / 8.0;
    for (int d = 0; d < p->ndim; d++) bytes *= (double)size_most(s->m, p->dim[d]);
    return bytes / MOST_BYTES <= INT32_MAX;
}

/* Other rows of odd lengths are padded before the kernel (pad.c). */
const char *rows_why(Slice *s, const Op *load, int kept, int over, Panel *panel) {
    const Param *p = &s->k->param.p[load->param];
    const Size last = p->dim[p->ndim - 1];
    const Affine *along = &load->sub.p[load->sub.n - 1].lo;
    const int least = 8 * (is_gathered(s, load) && !s->chained ? LEAST_BYTES : MOST_BYTES) / elem_bits(p->elem);
    if (!size_is_number(last) || last.c % least)
        return slice_text(s, "rows of '%s' are no known multiples of %d bytes", p->name,
                          least * elem_bits(p->elem) / 8);
    const int column = runs_along(s, along, over, least) ? over : kept;
    if (!range_begins_at(s->k, load, column, least) || !runs_along(s, along, column, least) || !is_row(s, load, column))
        return slice_text(s, "a place in '%s' is computed for each element", p->name);
    if (s->chained && !is_counted(s, p)) return slice_text(s, "'%s' has too many elements", p->name);
    if (s->chained && (!is_whole(s, column) || !ends_inside(s, along, last)))
        return slice_text(s, "rows of '%s' are no whole width", p->name);
    *panel = column == over ? PANEL_K128 : PANEL_MN128;
    return NULL;
}
