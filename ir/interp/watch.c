/* watch.c: the tiles that a task made, for who asked to see them. */
#include "ir/interp/state.h"

/* A value's last tile, as an array over its ranges in their order; false where the task did not make it. */
static bool array_of_value(const Task *t, const Value *v, Array *out) {
    const Tile *tile = tile_of(t, v);
    int64_t dim[MAX_RANGES];
    for (int i = 0; i < v->type.nrange; i++) dim[i] = range_extent(t, v->type.range[i]);
    if (!tile->data || !array_new(t->w->report_arena, v->type.elem, v->type.nrange, dim, out) || array_count(out) != tile->n) return false;
    for (int64_t i = 0; i < tile->n; i++)
        if (lane_of(v->type.elem) == LANE_INT)
            array_set_int(out, i, ((const int64_t *)tile->data)[i]);
        else
            array_set(out, i, lane_get(lane_of(v->type.elem), tile->data, i));
    return true;
}

static void show(const Task *t, Name name, const Value *v) {
    Array a;
    if (name && array_of_value(t, v, &a)) t->w->watch->value(t->w->watch->context, t->k, name, v, &a);
}

bool watch_wants(const World *w, const Node *node, int rank, int64_t task) {
    return w->watch && rank == 0 && node->id == w->watch->node && task == w->watch->task;
}

void task_show(const Task *t) {
    for (const Op *op = walk(t->k->body); op; op = walk_next(op, t->k->body)) {
        for (int i = 0; i < op->res.n; i++) show(t, op->res.p[i]->name, op->res.p[i]);
        if (op->kind == OP_STORE) show(t, t->k->param.p[op->param].name, op->arg.p[0]);
    }
    t->w->stopped = true;
}
