/* watch.c: the tiles that a task made, and the arguments of a call, for who asked to see them. */
#include "ir/interp/state.h"

#include <string.h>

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
    return w->watch && rank == 0 && node->kernel->name == w->watch->kernel && task == w->watch->task;
}

void task_show(const Task *t) {
    for (const Op *op = walk(t->k->body); op; op = walk_next(op, t->k->body)) {
        for (int i = 0; i < op->res.n; i++) show(t, op->res.p[i]->name, op->res.p[i]);
        if (op->kind == OP_STORE) show(t, t->k->param.p[op->param].name, op->arg.p[0]);
    }
    t->w->stopped = true;
}

static InterpArg arg_of_view(const View *v, int64_t generation) {
    const Tensor *t = v->part->t;
    InterpArg a = {.tensor = {.elem = t->elem, .ndim = t->ndim, .data = v->part->copy[generation % t->slots].data},
                   .offset = v->offset};
    memcpy(a.tensor.dim, v->part->dim, sizeof a.tensor.dim);
    memcpy(a.dim, v->dim, sizeof a.dim);
    memcpy(a.stride, v->stride, sizeof a.stride);
    return a;
}

void node_show(World *w, const Node *node, int rank, int64_t generation) {
    if (!w->watch || !w->watch->ended || rank != 0) return;
    const View *view = world_view(w, rank, node);
    InterpArg *arg = ARENA_ARRAY(w->arena, InterpArg, node->arg.n);
    for (int i = 0; i < node->arg.n; i++) arg[i] = arg_of_view(&view[i * w->peers], generation);
    if (!w->watch->ended(w->watch->context, node, arg)) w->stopped = true;
}
