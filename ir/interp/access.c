/* access.c: loads and stores.
   A load of a position outside its tensor reads 0, a store there is dropped. */
#include "base/half.h"
#include "ir/interp/state.h"

#include <math.h>
#include <string.h>

Copy *view_copy(const Task *t, const View *v) { return &v->part->copy[t->generation % v->part->t->slots]; }

static void load_zeros(Task *t, const Op *op) {
    Tile *z = tile_make(t, op->res.p[0]);
    memset(z->data, 0, (size_t)z->n * lane_bytes(lane_of(op->res.p[0]->type.elem)));
    tile_exact(z);
}

static void load_bounds(const Copy *c, const int64_t *offset, Tile *z) {
    for (int64_t i = 0; i < z->n; i++) z->bound[i] = c->bound && offset[i] >= 0 ? c->bound[offset[i]] : 0;
}

Step eval_load(Task *t, const Op *op) {
    Type over;
    const View *view;
    int64_t n;
    const int64_t *offset = access_offsets(t, op, &over, &view, &n);
    if (!offset) {
        load_zeros(t, op);
        return STEP_DONE;
    }
    const Copy *c = view_copy(t, view);
    if (t->w->agents && c->packet && !agents_packet_ready(t, c, view, offset, n)) return STEP_BLOCKED;
    if (t->w->agents) agents_read(t, view->part, c, offset, n);
    Tile *z = tile_make(t, op->res.p[0]);
    elems_load(view->part->t->elem, c->data, offset, n, z->data);
    if (z->bound) load_bounds(c, offset, z);
    return STEP_DONE;
}

/* A sum may have been made in another order, by as much as its term and what it has come to are rounded. */
static double sum_bound(const World *w, const Copy *c, Elem e, int64_t at, double term, double b) {
    Array a = {.elem = e, .data = c->data};
    double z = array_get(&a, at), own = bound_own(w, 1, lane_eps(lane_of(e)) * (fabs(z) + fabs(term)));
    return bound_round(w, e, z, bound_join(w, bound_join(w, c->bound[at], b), own));
}

/* Of partial sums each rank rounds its own, also where they cannot differ: one rank rounds none. */
static double part_unit(const Task *t, const Tensor *to) {
    bool partial = places_have_partial(t->w->m, to->place);
    bool rounds = elem_is_float(to->elem) && elem_bits(to->elem) < 32;
    return partial && rounds && t->w->ranks > 1 ? ldexp(1, -float_digits(to->elem)) : 0;
}

static void store_bounds(const World *w, const Copy *c, Elem e, Lane l, double unit, const int64_t *offset,
                         const Tile *x, bool add) {
    for (int64_t i = 0; i < x->n; i++) {
        if (offset[i] < 0) continue;
        double term = lane_get(l, x->data, i), own = bound_own(w, 1, unit * fabs(term));
        double b = bound_convert(w, l, e, term, bound_join(w, own, x->bound[i]));
        c->bound[offset[i]] = add ? sum_bound(w, c, e, offset[i], term, b) : b;
    }
}

Step eval_store(Task *t, const Op *op) {
    Type over;
    const View *view;
    int64_t n;
    const int64_t *offset = access_offsets(t, op, &over, &view, &n);
    if (!offset) return STEP_DONE;
    const Value *v = op->arg.p[0];
    const Tile *x = tile_as(t, v, over, 3);
    Copy *c = view_copy(t, view);
    Elem e = view->part->t->elem;
    Lane l = lane_of(v->type.elem);
    bool add = op->mode == STORE_ADD || op->mode == STORE_SUM;
    if (t->w->agents) agents_write(t, view->part, c, offset, n, op->mode == STORE_ADD);
    elems_store(e, c->data, offset, n, l, x->data, add);
    if (c->bound) store_bounds(t->w, c, e, l, part_unit(t, view->part->t), offset, x, add);
    if (t->w->once) once_store(t, op, offset, n);
    if (op->mode == STORE_UNIQUE) unique_check(t, op, view, c, over, offset, n);
    return STEP_DONE;
}
