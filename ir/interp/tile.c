/* tile.c: tiles in dense row-major buffers, in ascending order of range; broadcasting by range.
   A ragged tile has only the elements that exist, so nothing is masked. */
#include "ir/interp/state.h"

#include <string.h>

Lane lane_of(Elem e) { return !elem_is_float(e) ? LANE_INT : e == ELEM_F64 ? LANE_DOUBLE : LANE_FLOAT; }

size_t lane_bytes(Lane l) { return l == LANE_FLOAT ? 4 : 8; }

double lane_eps(Lane l) { return l == LANE_DOUBLE ? 0x1p-52 : l == LANE_FLOAT ? 0x1p-23 : 0; }

double lane_get(Lane l, const void *p, int64_t i) {
    if (l == LANE_FLOAT) return ((const float *)p)[i];
    if (l == LANE_DOUBLE) return ((const double *)p)[i];
    return (double)((const int64_t *)p)[i];
}

int64_t range_extent(const Task *t, int range) {
    int64_t n = t->range[range].end - t->range[range].begin;
    return n < 0 ? 0 : n;
}

int64_t ranges_count(const Task *t, const int16_t *range, int n) {
    int64_t count = 1;
    for (int i = 0; i < n; i++) count *= range_extent(t, range[i]);
    return count;
}

void tile_reserve(const World *w, Tile *tile, int64_t n) {
    tile->n = n;
    if (n <= tile->cap && tile->data) return;
    tile->cap = n < 16 ? 16 : n;
    tile->data = ARENA_ARRAY(w->arena, int64_t, tile->cap);
    if (w->bounds) tile->bound = ARENA_ARRAY(w->arena, double, tile->cap);
}

Tile *tile_make(Task *t, const Value *v) {
    Tile *tile = &t->tile[v->id];
    if (t->calls) t->calls->made(t, v);
    tile->held = (Held){.holds = HOLDS_DATA};
    tile_reserve(t->w, tile, ranges_count(t, v->type.range, v->type.nrange));
    return tile;
}

void tile_exact(Tile *z) {
    if (z->bound) memset(z->bound, 0, (size_t)z->n * sizeof(double));
}

Tile *tile_of(const Task *t, const Value *v) { return &t->tile[v->id]; }

int64_t tile_int(const Task *t, const Value *v) { return *(const int64_t *)tile_of(t, v)->data; }

void tile_copy(const World *w, Lane l, const Tile *from, Tile *to) {
    tile_reserve(w, to, from->n);
    to->held = from->held;
    memcpy(to->data, from->data, (size_t)from->n * lane_bytes(l));
    if (to->bound) memcpy(to->bound, from->bound, (size_t)from->n * sizeof(double));
}

/* Where to walk: extents of the target's ranges, and by how much the source moves along each. */
typedef struct {
    int n;
    int64_t extent[MAX_RANGES], step[MAX_RANGES];
} Walk;

static int64_t step_of(const Task *t, int range, const int16_t *fr, int nf) {
    int64_t step = 1;
    for (int i = nf - 1; i >= 0; i--) {
        if (fr[i] == range) return step;
        step *= range_extent(t, fr[i]);
    }
    return 0;
}

static Walk walk_of(const Task *t, const int16_t *fr, int nf, const int16_t *tr, int nt) {
    Walk w = {.n = nt};
    for (int i = 0; i < nt; i++) {
        w.extent[i] = range_extent(t, tr[i]);
        w.step[i] = step_of(t, tr[i], fr, nf);
    }
    return w;
}

static void copy_row4(uint32_t *to, const uint32_t *from, int64_t n, int64_t step) {
    if (step == 1)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++) to[i] = from[i * step];
}

static void copy_row8(uint64_t *to, const uint64_t *from, int64_t n, int64_t step) {
    if (step == 1)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++) to[i] = from[i * step];
}

static void walk_copy(const Walk *w, size_t bytes, const void *from, void *to) {
    int64_t at[MAX_RANGES] = {0}, source = 0, rows = 1, row = w->n ? w->extent[w->n - 1] : 1;
    int64_t step = w->n ? w->step[w->n - 1] : 0;
    for (int d = 0; d < w->n - 1; d++) rows *= w->extent[d];
    if (row == 0) return;
    for (int64_t r = 0; r < rows; r++) {
        if (bytes == 4)
            copy_row4((uint32_t *)to + r * row, (const uint32_t *)from + source, row, step);
        else
            copy_row8((uint64_t *)to + r * row, (const uint64_t *)from + source, row, step);
        for (int d = w->n - 2; d >= 0; d--) {
            source += w->step[d];
            if (++at[d] < w->extent[d]) break;
            source -= w->step[d] * at[d];
            at[d] = 0;
        }
    }
}

void tile_reorder(const Task *t, Lane l, const Tile *from, const int16_t *fr, int nf, Tile *to, const int16_t *tr,
                  int nt) {
    Walk w = walk_of(t, fr, nf, tr, nt);
    tile_reserve(t->w, to, ranges_count(t, tr, nt));
    walk_copy(&w, lane_bytes(l), from->data, to->data);
    if (to->bound && from->bound) walk_copy(&w, sizeof(double), from->bound, to->bound);
}

const Tile *tile_over(Task *t, const Value *v, const int16_t *range, int n, int temp) {
    if (v->type.nrange == n && memcmp(v->type.range, range, (size_t)n * sizeof *range) == 0) return tile_of(t, v);
    tile_reorder(t, lane_of(v->type.elem), tile_of(t, v), v->type.range, v->type.nrange, &t->temp[temp], range, n);
    return &t->temp[temp];
}

const Tile *tile_as(Task *t, const Value *v, Type want, int temp) {
    return tile_over(t, v, want.range, want.nrange, temp);
}
