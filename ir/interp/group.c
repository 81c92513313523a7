/* group.c: the tile of a ragged range that a task has: found in the starts of the groups, which are looked at whole. */
#include "ir/interp/state.h"

typedef struct {
    Array a;
    const View *view;
} Starts;

static int64_t start_at(void *of, int64_t i) {
    Starts *s = of;
    return array_get_int(&s->a, s->view->offset + i * s->view->stride[0]);
}

/* Within 0 .. n, never falling; of a result's positions from 0 to n. */
static void starts_check(Task *t, Starts *s, int64_t groups, int64_t n, bool whole) {
    int64_t least = 0;
    for (int64_t g = 0; g <= groups; g++) {
        int64_t x = start_at(s, g), most = whole && g == 0 ? 0 : n;
        if (whole && g == groups) least = n;
        if (x < least || x > most) {
            world_fault(t->w, (InterpFault){.kind = FAULT_STARTS,
                                            .at = task_id(t),
                                            .other.rank = -1,
                                            .tensor = s->view->part->t->id,
                                            .home = t->rank,
                                            .element = g,
                                            .flag = -1,
                                            .want = least,
                                            .seen = x,
                                            .past = most + 1});
            return;
        }
        least = x;
    }
}

static void starts_read(Task *t, const Starts *s, const Copy *c, int64_t n) {
    tile_reserve(t->w, &t->temp[0], n);
    int64_t *offset = t->temp[0].data;
    for (int64_t i = 0; i < n; i++) offset[i] = s->view->offset + i * s->view->stride[0];
    if (t->w->agents) agents_read(t, s->view->part, c, offset, n);
}

Step eval_group(Task *t, const Op *op) {
    const Range *r = &t->k->range.p[op->range];
    const View *view = &t->view[op->param * t->w->peers];
    const Copy *c = view_copy(t, view);
    Starts s = {.a = {.elem = view->part->t->elem, .data = c->data}, .view = view};
    int64_t groups = view->dim[0] - 1, n = t->range[op->range].hi;
    starts_read(t, &s, c, view->dim[0]);
    starts_check(t, &s, groups, n, ragged_is_whole(t->k, op->range));
    RaggedTile found = ragged_tile(start_at, &s, groups, n, r->size, t->range[op->range].index);
    t->range[op->range].begin = found.begin;
    t->range[op->range].end = found.end;
    if (t->calls) t->calls->share(t, op->range, r->size);
    Tile *z = tile_make(t, op->res.p[0]);
    *(int64_t *)z->data = found.group;
    tile_exact(z);
    return STEP_DONE;
}
