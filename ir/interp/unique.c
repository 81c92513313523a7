/* unique.c: places declared unique: no two elements of the tensor that holds them name one place.
   Each element that such a store writes is marked with the execution of the node and with the element of the places. */
#include "ir/interp/state.h"

#include <string.h>

struct Mark {
    int64_t run, task, source;
};

/* Through casts and copies. */
static const Op *value_load(const Value *v) {
    const Op *op = v->def;
    while (op && (op->kind == OP_CAST || op->kind == OP_BROADCAST || op->kind == OP_CONVERT)) op = op->arg.p[0]->def;
    return op && op->kind == OP_LOAD ? op : NULL;
}

/* The load that the places of a store come from; NULL: not known. */
static const Op *store_places(const Op *store) {
    for (int d = 0; store->mode == STORE_UNIQUE && d < store->sub.n; d++) {
        const Affine *a = &store->sub.p[d].lo;
        const Op *load =
            a->nterm == 1 && a->c == 0 && a->term[0].kind == TERM_VALUE ? value_load(a->term[0].value) : NULL;
        if (load) return load;
    }
    return NULL;
}

static void unique_fault(const Task *t, const Op *load, const Mark *m, int64_t source) {
    const View *view = &t->view[load->param * t->w->peers];
    const Part *p = view->part;
    Array a = {.elem = p->t->elem, .data = p->copy[t->generation % p->t->slots].data};
    InterpTask other = task_id(t);
    other.task = m->task;
    world_fault(t->w, (InterpFault){.kind = FAULT_UNIQUE,
                                    .at = task_id(t),
                                    .other = other,
                                    .tensor = p->t->id,
                                    .home = p->rank,
                                    .element = source,
                                    .flag = -1,
                                    .want = m->source,
                                    .seen = array_get_int(&a, source)});
}

/* For each element of the store's tile the element of the places that it comes from. */
static const int64_t *sources(Task *t, const Op *load, Type over) {
    const View *view;
    Type own;
    int64_t n;
    const int64_t *offset = access_offsets(t, load, &own, &view, &n);
    if (!offset || !type_covers(over, own)) return NULL;
    Tile from = {.n = n, .data = (void *)offset};
    tile_reorder(t, LANE_INT, &from, own.range, own.nrange, &t->temp[4], over.range, over.nrange);
    return t->temp[4].data;
}

static const int64_t *offsets_keep(Task *t, const int64_t *offset, int64_t n) {
    tile_reserve(t->w, &t->temp[5], n);
    return memcpy(t->temp[5].data, offset, sizeof *offset * (size_t)n);
}

void unique_check(Task *t, const Op *store, const View *view, Copy *c, Type over, const int64_t *offset, int64_t n) {
    const Op *load = store_places(store);
    if (!load) return;
    const int64_t *at = offsets_keep(t, offset, n), *source = sources(t, load, over);
    int64_t run = t->generation * t->w->p->node.n + t->node->id;
    if (!c->mark) c->mark = ARENA_ARRAY(t->w->arena, Mark, view->part->count);
    for (int64_t i = 0; source && i < n; i++) {
        if (at[i] < 0) continue;
        Mark *m = &c->mark[at[i]];
        if (m->run == run && m->source != source[i]) unique_fault(t, load, m, source[i]);
        *m = (Mark){run, t->linear, source[i]};
    }
}

/* ---- before a run ---- */

static bool places_from(const Region *r, int param) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        const Op *load = op->kind == OP_STORE ? store_places(op) : NULL;
        if (load && load->param == param)
            return true;
    }
    return false;
}

bool tensor_has_unique_places(const Program *p, int tensor) {
    for (int i = 0; i < p->node.n; i++)
        for (int a = 0; a < p->node.p[i]->arg.n; a++)
            if (p->node.p[i]->arg.p[a].tensor == tensor && p->node.p[i]->kernel &&
                places_from(p->node.p[i]->kernel->body, a))
                return true;
    return false;
}
