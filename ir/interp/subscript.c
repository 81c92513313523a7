/* subscript.c: affine sums evaluated in a task, and the elements that an access touches.
   Each dimension adds index * stride over its own ranges; one that is outside makes the whole sum negative. */
#include "ir/interp/state.h"

#include <string.h>

static const int64_t OUTSIDE = INT64_MIN / 32; /* of up to MAX_DIMS dimensions the sum stays negative */

static int64_t floor_div(int64_t x, int64_t d) { return x / d - (x % d < 0); }

/* Subscripts wrap like all integers: what wraps is far outside of any tensor, or the program meant it. */
static int64_t sum_wrapping(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }

static int64_t term_scaled(const Term *term, int64_t variable) {
    return (int64_t)((uint64_t)term->mul * (uint64_t)floor_div(variable, term->div));
}

/* A term that is the same for the whole tile; of POS: the first position. */
static int64_t term_scalar(const Task *t, const Term *term) {
    const World *w = t->w;
    switch (term->kind) {
    case TERM_POS: return t->range[term->id].begin;
    case TERM_INDEX: return t->range[term->id].index;
    case TERM_RANK: return t->coord[term->id];
    case TERM_BLOCK: return t->range[term->id].begin * size_block(w->m, term->size, w->sym);
    case TERM_VALUE: return tile_int(t, term->value);
    case TERM_SIZE: return size_eval(w->m, term->size, w->sym, t->coord);
    }
    return 0;
}

int64_t affine_scalar(const Task *t, const Affine *a) {
    int64_t sum = a->c;
    for (int i = 0; i < a->nterm; i++) sum = sum_wrapping(sum, term_scaled(&a->term[i], term_scalar(t, &a->term[i])));
    return sum;
}

static bool term_is_scalar(const Task *t, const Term *term) {
    if (term->kind == TERM_VALUE) return term->value->type.nrange == 0;
    return term->kind != TERM_POS || t->k->range.p[term->id].kind == RANGE_POSITION;
}

/* Adds a position term along its range of a tile over `own`. */
static void add_positions(Task *t, const Term *term, Type own, int64_t *sum) {
    int64_t inner = 1, n = range_extent(t, term->id), begin = t->range[term->id].begin;
    int64_t all = ranges_count(t, own.range, own.nrange);
    for (int i = own.nrange - 1; own.range[i] != term->id; i--) inner *= range_extent(t, own.range[i]);
    for (int64_t at = 0, p = 0; at < all; p = p + 1 == n ? 0 : p + 1) {
        int64_t x = term_scaled(term, begin + p);
        for (int64_t end = at + inner; at < end; at++) sum[at] = sum_wrapping(sum[at], x);
    }
}

static void add_values(Task *t, const Term *term, Type own, int64_t *sum) {
    const Tile *v = tile_as(t, term->value, own, 0);
    const int64_t *x = v->data;
    for (int64_t i = 0; i < v->n; i++) sum[i] = sum_wrapping(sum[i], term_scaled(term, x[i]));
}

/* The affine sum over the ranges it depends on, in the temporary. */
static const Tile *affine_tile(Task *t, const Affine *a, Type own, int temp) {
    Tile *out = &t->temp[temp];
    tile_reserve(t->w, out, ranges_count(t, own.range, own.nrange));
    int64_t *sum = out->data, base = a->c;
    for (int i = 0; i < a->nterm; i++)
        if (term_is_scalar(t, &a->term[i]))
            base = sum_wrapping(base, term_scaled(&a->term[i], term_scalar(t, &a->term[i])));
    for (int64_t i = 0; i < out->n; i++) sum[i] = base;
    for (int i = 0; i < a->nterm; i++) {
        if (term_is_scalar(t, &a->term[i])) continue;
        if (a->term[i].kind == TERM_POS)
            add_positions(t, &a->term[i], own, sum);
        else
            add_values(t, &a->term[i], own, sum);
    }
    return out;
}

static void offsets_reserve(Task *t, int64_t n) {
    if (n <= t->noffset) return;
    t->noffset = n * 2;
    t->offset = ARENA_ARRAY(t->w->arena, int64_t, t->noffset);
}

/* Adds one dimension's offsets, computed over its own ranges, to those of the whole access. */
static void add_dimension(Task *t, const Affine *a, Type over, int64_t dim, int64_t stride, int64_t n) {
    Type own = affine_type(t->k, a);
    const Tile *index = affine_tile(t, a, own, 1);
    int64_t *x = index->data;
    for (int64_t i = 0; i < index->n; i++) x[i] = x[i] < 0 || x[i] >= dim ? OUTSIDE : x[i] * stride;
    if (own.nrange == 0) {
        for (int64_t i = 0; i < n; i++) t->offset[i] += x[0];
        return;
    }
    if (own.nrange != over.nrange) {
        tile_reorder(t, LANE_INT, index, own.range, own.nrange, &t->temp[2], over.range, over.nrange);
        x = t->temp[2].data;
    }
    for (int64_t i = 0; i < n; i++) t->offset[i] += x[i];
}

/* The first subscript of a symmetric parameter is a rank. */
static const View *access_view(Task *t, const Op *op, int *first) {
    const View *view = &t->view[op->param * t->w->peers];
    *first = t->k->param.p[op->param].ranks >= 0;
    if (!*first) return view;
    if (affine_type(t->k, &op->sub.p[0].lo).nrange) {
        world_invalid(t, "a rank subscript must be a scalar");
        return NULL;
    }
    int64_t rank = affine_scalar(t, &op->sub.p[0].lo);
    return rank < 0 || rank >= t->w->m->axis.p[t->k->param.p[op->param].ranks].ranks ? NULL : view + rank;
}

const int64_t *access_offsets(Task *t, const Op *op, Type *over, const View **view, int64_t *n) {
    int first;
    *over = type_scalar(ELEM_I64);
    for (int i = 0; i < op->sub.n; i++) *over = type_union(*over, affine_type(t->k, &op->sub.p[i].lo));
    *n = ranges_count(t, over->range, over->nrange);
    *view = access_view(t, op, &first);
    if (!*view) return NULL;
    offsets_reserve(t, *n);
    for (int64_t i = 0; i < *n; i++) t->offset[i] = (*view)->offset;
    for (int d = 0; d + first < op->sub.n; d++)
        add_dimension(t, &op->sub.p[d + first].lo, *over, (*view)->dim[d], (*view)->stride[d], *n);
    return t->offset;
}
