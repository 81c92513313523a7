/* size.c: extents, their blocks on the ranks of a mesh, and numbers of tiles.
   Block of n over p ranks: B = ceil(n / p); rank r owns [r B, min(n, (r + 1) B)). Over q more: ceil(B / q) of that. */
#include "ir/ir.h"
#include "base/require.h"

int64_t ceil_div(int64_t n, int64_t d) { return n <= 0 ? 0 : (n - 1) / d + 1; }

static int64_t clamp(int64_t n, int64_t lo, int64_t hi) { return n < lo ? lo : n > hi ? hi : n; }

static int64_t whole_value(Size s, const int64_t *sym) { return s.c + (s.sym < 0 ? 0 : sym[s.sym]); }

Size size_number(int64_t n) { return (Size){.c = n, .sym = -1, .axis = -1}; }

bool size_is_number(Size s) { return s.sym < 0 && s.axis < 0; }

bool size_equal(Size a, Size b) { return a.c == b.c && a.sym == b.sym && a.axis == b.axis; }

Size size_whole(Size s) {
    s.axis = -1;
    return s;
}

Size size_split(Size s, int axes) {
    s.axis = (int16_t)axes_join(s.axis, axes);
    return s;
}

Size size_gathered(Size s) {
    s.axis = (int16_t)axes_without_last(s.axis);
    return s;
}

bool size_is_split_over(Size s, int axis) { return axes_have(s.axis, axis); }

Size size_even(const Module *m, Size s) {
    int64_t ranks = axes_ranks(m, s.axis);
    return s.sym < 0 && s.c % ranks == 0 ? size_number(s.c / ranks) : s;
}

int64_t size_bound(const Module *m, Size s) {
    int64_t n = s.c + (s.sym < 0 ? 0 : m->symbol.p[s.sym].bound);
    return s.axis < 0 ? n : ceil_div(n, axes_ranks(m, s.axis));
}

int64_t size_most(const Module *m, Size s) {
    int64_t n = size_bound(m, s);
    return n < 0 ? 0 : n;
}

bool arg_is_whole(const Arg *a) {
    bool whole = !a->lead && !a->view;
    for (int d = 0; d < MAX_DIMS; d++) whole &= a->slice[d] < 0;
    return whole;
}

int arg_same_dims(const Tensor *t, const Arg *a, const Param *p) {
    if (!a->view) return p->ndim;
    int same = 0;
    while (same < p->ndim && a->lead + same < t->ndim && size_equal(t->dim[a->lead + same], p->dim[same])) same++;
    return same;
}

int64_t size_block(const Module *m, Size s, const int64_t *sym) {
    int64_t n = whole_value(s, sym);
    return s.axis < 0 ? n : ceil_div(n, axes_ranks(m, s.axis)); /* ceil(ceil(n / p) / q) = ceil(n / p q) */
}

/* In the block of the axes before the last one. */
static int64_t last_origin(const Module *m, Size s, const int64_t *sym, const int *coord) {
    return coord[axes_last(s.axis)] * size_block(m, s, sym);
}

int64_t size_origin(const Module *m, Size s, const int64_t *sym, const int *coord) {
    return s.axis < 0 ? 0 : size_origin(m, size_gathered(s), sym, coord) + last_origin(m, s, sym, coord);
}

int64_t size_eval(const Module *m, Size s, const int64_t *sym, const int *coord) {
    if (s.axis < 0) return whole_value(s, sym);
    int64_t left = size_eval(m, size_gathered(s), sym, coord) - last_origin(m, s, sym, coord);
    return clamp(left, 0, size_block(m, s, sym));
}

int64_t grid_tasks(const Module *m, Size of, int64_t size, const int64_t *sym) {
    int64_t n = size == 0 ? 1 : ceil_div(size_block(m, of, sym), size);
    return n > 0 ? n : 1;
}

bool range_is_ragged(const Kernel *k, int range) { return k->range.p[range].starts > 0; }

bool kernel_is_ragged(const Kernel *k) {
    for (int i = 0; i < k->ngrid; i++)
        if (range_is_ragged(k, i)) return true;
    return false;
}

Size range_groups(const Kernel *k, int range) {
    REQUIRE(range_is_ragged(k, range));
    Size groups = k->param.p[k->range.p[range].starts - 1].dim[0];
    groups.c--;
    return groups;
}

int64_t range_tiles(const Module *m, const Kernel *k, int grid_range, const int64_t *sym) {
    const Range *r = &k->range.p[grid_range];
    REQUIRE(r->grid);
    int64_t groups = r->starts ? size_eval(m, range_groups(k, grid_range), sym, NULL) : 0;
    return grid_tasks(m, r->of, r->size, sym) + (groups > 0 ? groups : 0);
}

int64_t mesh_ranks(const Module *m) {
    int64_t n = 1;
    for (int i = 0; i < m->axis.n; i++) n *= m->axis.p[i].ranks;
    return n;
}

void mesh_coord(const Module *m, int rank, int *coord) {
    for (int i = m->axis.n - 1; i >= 0; i--) {
        coord[i] = (int)(rank % m->axis.p[i].ranks);
        rank /= (int)m->axis.p[i].ranks;
    }
}

int mesh_rank_along(const Module *m, int rank, int axis, int64_t coord) {
    int64_t stride = 1;
    for (int i = axis + 1; i < m->axis.n; i++) stride *= m->axis.p[i].ranks;
    return (int)(rank + (coord - rank / stride % m->axis.p[axis].ranks) * stride);
}
