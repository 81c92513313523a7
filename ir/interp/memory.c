/* memory.c: every rank's part of every tensor, and the way between parts and global arrays.
   Temporaries and outputs start as NaN or as a pattern, so that what nothing wrote shows. */
#include "base/half.h"
#include "ir/interp/state.h"

#include <math.h>
#include <string.h>

static void part_shape(const World *w, Part *p) {
    p->count = 1;
    for (int d = p->t->ndim - 1; d >= 0; d--) {
        int64_t n = size_eval(w->m, p->t->dim[d], w->sym, w->coord[p->rank]);
        p->dim[d] = n < 0 ? 0 : n;
        p->stride[d] = p->count;
        p->count *= p->dim[d];
    }
}

static void fill_poison(const Part *p, Copy *c) {
    Array a = {.elem = p->t->elem, .data = c->data};
    for (int64_t i = 0; i < p->count; i++) {
        if (elem_is_float(p->t->elem))
            array_set(&a, i, NAN);
        else
            array_set_int(&a, i, int_wrap(p->t->elem, (int64_t)0x9999999999999999));
    }
}

/* An input that is whole on every rank stays where the caller has it: nothing writes it. */
static bool part_share(Part *p, const Array *given) {
    if (p->t->role != ROLE_INPUT) return false;
    for (int d = 0; d < p->t->ndim; d++)
        if (p->t->dim[d].axis >= 0) return false;
    p->copy[0] = (Copy){.data = given->data, .bound = given->bound};
    return true;
}

/* Integers of the caller's are what they are; bools are decided. */
static bool has_bounds(const World *w, const Tensor *t) {
    return w->bounds && (elem_is_float(t->elem) || (t->role != ROLE_INPUT && t->elem != ELEM_BOOL));
}

static void part_make(World *w, Part *p, const Tensor *t, int rank, const Array *given) {
    *p = (Part){.t = t, .rank = rank, .copy = ARENA_ARRAY(w->arena, Copy, t->slots)};
    part_shape(w, p);
    if (part_share(p, given)) return;
    for (int s = 0; s < t->slots; s++) {
        Copy *c = &p->copy[s];
        c->data = arena_alloc(w->arena, (size_t)p->count * elem_bytes(t->elem));
        if (has_bounds(w, t)) c->bound = ARENA_ARRAY(w->arena, double, p->count);
        if (t->role == ROLE_TEMP || t->role == ROLE_OUTPUT) fill_poison(p, c);
        if (w->agents) agents_make_shadow(w, p, c);
    }
}

void world_make_parts(World *w, const Array *io) {
    int n = w->p->tensor.n;
    const Array **given = ARENA_ARRAY(w->arena, const Array *, n);
    for (int i = 0; i < w->p->io.n; i++) given[w->p->io.p[i]] = &io[i];
    w->part = ARENA_ARRAY(w->arena, Part, w->ranks * n);
    for (int r = 0; r < w->ranks; r++)
        for (int i = 0; i < n; i++) part_make(w, &w->part[r * n + i], &w->p->tensor.p[i], r, given[i]);
}

/* ---- between a part and the global array: rows along the last dimension ---- */

typedef struct {
    int ndim;
    int64_t dim[MAX_DIMS], row;    /* of the part; elements of a row, 1 for scalars */
    int64_t step[MAX_DIMS], start; /* in the global array */
} Block;

static Block block_of(const World *w, const Part *p, const Array *a) {
    Block b = {.ndim = p->t->ndim, .row = 1};
    int64_t stride = 1;
    for (int d = b.ndim - 1; d >= 0; d--) {
        b.dim[d] = p->dim[d];
        b.step[d] = stride;
        b.start += size_origin(w->m, p->t->dim[d], w->sym, w->coord[p->rank]) * stride;
        stride *= a->dim[d];
    }
    if (b.ndim) b.row = b.dim[b.ndim - 1];
    return b;
}

static bool block_next(const Block *b, int64_t *at, int64_t *global) {
    for (int d = b->ndim - 2; d >= 0; d--) {
        *global += b->step[d];
        if (++at[d] < b->dim[d]) return true;
        *global -= b->step[d] * at[d];
        at[d] = 0;
    }
    return false;
}

static void part_fill(const World *w, const Part *p, const Array *a) {
    Block b = block_of(w, p, a);
    Copy *c = &p->copy[0];
    size_t each = elem_bytes(a->elem);
    int64_t at[MAX_DIMS] = {0}, global = b.start, local = 0;
    if (p->count == 0 || c->data == a->data) return;
    do {
        memcpy(c->data + (size_t)local * each, (const char *)a->data + (size_t)global * each, (size_t)b.row * each);
        if (c->bound && a->bound) memcpy(c->bound + local, a->bound + global, (size_t)b.row * sizeof(double));
        local += b.row;
    } while (block_next(&b, at, &global));
}

/* The caller's arrays must have the global extents; results that it has no memory for get it here. */
static bool array_fits(World *w, const Tensor *t, Array *a) {
    int64_t dim[MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) dim[d] = size_eval(w->m, size_whole(t->dim[d]), w->sym, NULL);
    if (t->role == ROLE_OUTPUT && !a->data) {
        double *bound = a->bound;
        if (!array_new(w->report_arena, t->elem, t->ndim, dim, a)) return false;
        a->bound = bound;
    }
    return a->elem == t->elem && a->ndim == t->ndim && a->data &&
           memcmp(a->dim, dim, sizeof *dim * (size_t)t->ndim) == 0;
}

bool world_check_arrays(World *w, Array *io) {
    for (int i = 0; i < w->p->io.n; i++) {
        const Tensor *t = &w->p->tensor.p[w->p->io.p[i]];
        if (array_fits(w, t, &io[i])) continue;
        world_fault(w, (InterpFault){.kind = FAULT_INVALID,
                                     .at = {.rank = -1, .node = -1},
                                     .other.rank = -1,
                                     .tensor = t->id,
                                     .element = -1,
                                     .flag = -1,
                                     .text = "an array is not of its tensor's type and extents"});
    }
    return w->report->faults == 0;
}

static void values_check(World *w, const Tensor *t, const Array *a) {
    int64_t least = size_eval(w->m, t->least, w->sym, NULL), past = size_eval(w->m, t->past, w->sym, NULL);
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        int64_t value = array_get_int(a, i);
        if (value >= least && value < past) continue;
        world_fault(w, (InterpFault){.kind = FAULT_VALUE,
                                     .at = {.rank = -1, .node = -1},
                                     .other.rank = -1,
                                     .tensor = t->id,
                                     .element = i,
                                     .flag = -1,
                                     .want = least,
                                     .past = past,
                                     .seen = value});
        return;
    }
}

bool world_check_values(World *w, const Array *io) {
    for (int i = 0; i < w->p->io.n; i++) {
        const Tensor *t = &w->p->tensor.p[w->p->io.p[i]];
        if (t->checked && io[i].data) values_check(w, t, &io[i]);
    }
    return w->report->faults == 0;
}

void world_scatter(World *w, const Array *io) {
    for (int i = 0; i < w->p->io.n; i++) {
        const Tensor *t = &w->p->tensor.p[w->p->io.p[i]];
        if (t->role == ROLE_OUTPUT) continue;
        for (int r = 0; r < w->ranks; r++) part_fill(w, world_part(w, r, t->id), &io[i]);
    }
}

/* ---- results ---- */

static bool same_element(const Array *a, int64_t i, const char *bytes) {
    size_t each = elem_bytes(a->elem);
    if (memcmp((const char *)a->data + (size_t)i * each, bytes, each) == 0) return true;
    Array b = {.elem = a->elem, .data = (void *)bytes};
    return elem_is_float(a->elem) && isnan(array_get(a, i)) && isnan(array_get(&b, 0));
}

static void differ(World *w, const Part *p, int64_t element) {
    world_fault(w, (InterpFault){.kind = FAULT_RANKS,
                                 .at.rank = p->rank,
                                 .at.node = -1,
                                 .other.rank = -1,
                                 .tensor = p->t->id,
                                 .home = p->rank,
                                 .element = element,
                                 .flag = -1});
}

/* The first rank that has an element gives it; the others must agree, unless the run went wrong anyway. */
static void take_row(World *w, const Part *p, Array *a, uint8_t *taken, int64_t global, int64_t local, int64_t n) {
    const Copy *c = &p->copy[0];
    size_t each = elem_bytes(a->elem);
    for (int64_t i = 0; i < n; i++, global++, local++) {
        const char *from = c->data + (size_t)local * each;
        if (taken[global]) {
            if (!w->report->faults && !same_element(a, global, from)) differ(w, p, local);
            continue;
        }
        taken[global] = 1;
        memcpy((char *)a->data + (size_t)global * each, from, each);
        if (a->bound) a->bound[global] = c->bound[local];
    }
}

static void part_take(World *w, const Part *p, Array *a, uint8_t *taken) {
    Block b = block_of(w, p, a);
    int64_t at[MAX_DIMS] = {0}, global = b.start, local = 0;
    if (p->count == 0) return;
    do {
        take_row(w, p, a, taken, global, local, b.row);
        local += b.row;
    } while (block_next(&b, at, &global));
}

static void tensor_gather(World *w, const Tensor *t, Array *a) {
    if (!has_bounds(w, t))
        a->bound = NULL;
    else if (!a->bound)
        a->bound = ARENA_ARRAY(w->report_arena, double, array_count(a));
    uint8_t *taken = ARENA_ARRAY(w->arena, uint8_t, array_count(a));
    for (int r = 0; r < w->ranks; r++) part_take(w, world_part(w, r, t->id), a, taken);
}

void world_gather(World *w, Array *io) {
    for (int i = 0; i < w->p->io.n; i++) {
        const Tensor *t = &w->p->tensor.p[w->p->io.p[i]];
        if (t->role != ROLE_INPUT) tensor_gather(w, t, &io[i]);
    }
}

bool array_for_tensor(Arena *arena, const Module *m, const Tensor *t, const int64_t *sym, Array *out) {
    int64_t dim[MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) dim[d] = size_eval(m, size_whole(t->dim[d]), sym, NULL);
    return array_new(arena, t->elem, t->ndim, dim, out);
}
