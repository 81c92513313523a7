/* task.c: one execution of a kernel's body, an operation at a time, so that tasks can take turns.
   The state of a loop is its range's; where to go on follows from the structure of regions. */
#include "ir/interp/state.h"
#include "ir/roles.h"

#include <string.h>

/* ---- ranges ---- */

static int64_t range_size(const Range *r, const RangeState *s) {
    return r->kind == RANGE_WHOLE ? (s->hi > s->lo ? s->hi - s->lo : 1) : r->kind == RANGE_TILE ? r->size : 1;
}

static void range_go(Task *t, int range, int64_t index) {
    RangeState *s = &t->range[range];
    int64_t size = range_size(&t->k->range.p[range], s);
    s->index = index;
    s->begin = s->lo + index * size;
    s->end = s->hi - s->begin > size ? s->begin + size : s->hi;
    if (t->calls) t->calls->share(t, range, size);
}

/* The end of a grid range: of this rank's part, or of the block of the rank that its owner range is at. */
static int64_t grid_end(const Task *t, const Range *r) {
    const World *w = t->w;
    if (r->owner < 0 || r->of.axis < 0) return size_eval(w->m, r->of, w->sym, t->coord);
    int coord[MAX_AXES];
    memcpy(coord, t->coord, sizeof coord);
    coord[axes_last(r->of.axis)] = (int)t->range[r->owner].begin;
    return size_eval(w->m, r->of, w->sym, coord);
}

static void grid_place(Task *t) {
    int64_t left = t->linear;
    for (int i = t->k->ngrid - 1; i >= 0; i--) {
        int64_t n = range_tiles(t->w->m, t->k, i, t->w->sym);
        t->range[i].index = left % n;
        left /= n;
    }
}

void grid_go(Task *t) {
    for (int pass = 0; pass < 2; pass++) /* owners first: what lies in their blocks depends on them */
        for (int i = 0; i < t->k->ngrid; i++) {
            const Range *r = &t->k->range.p[i];
            if ((r->owner >= 0) != (pass == 1)) continue;
            t->range[i].lo = 0;
            t->range[i].hi = grid_end(t, r);
            if (r->starts) continue; /* its GROUP says where the tile is */
            range_go(t, i, t->range[i].index);
            if (r->kind == RANGE_POSITION) t->range[i].end = t->range[i].begin + 1;
        }
}

/* ---- tasks ---- */

Task *task_new(World *w, const Kernel *k) {
    Task *t = ARENA_NEW(w->arena, Task);
    t->w = w;
    t->k = k;
    t->range = ARENA_ARRAY(w->arena, RangeState, k->range.n);
    t->tile = ARENA_ARRAY(w->arena, Tile, k->nvalue);
    t->carry = ARENA_ARRAY(w->arena, Tile, k->nvalue);
    return t;
}

Task *task_begin(World *w, const Node *node, int rank, int64_t generation, int64_t linear) {
    const Kernel *k = node->kernel;
    bool watched = watch_wants(w, node, rank, linear);
    Task *t = watched ? NULL : w->idle[k->id];
    if (t)
        w->idle[k->id] = t->next;
    else
        t = task_new(w, k);
    t->node = node;
    t->rank = rank;
    t->coord = w->coord[rank];
    t->generation = generation;
    t->linear = linear;
    t->view = (View *)world_view(w, rank, node);
    t->pc = k->body->first;
    grid_place(t);
    grid_go(t);
    w->report->tasks++;
    return t;
}

void task_end(Task *t) {
    if (watch_wants(t->w, t->node, t->rank, t->linear)) task_show(t);
    t->next = t->w->idle[t->k->id];
    t->w->idle[t->k->id] = t;
}

/* ---- operations ---- */

static void eval_const(Task *t, const Op *op) {
    Tile *z = tile_make(t, op->res.p[0]);
    Elem e = op->res.p[0]->type.elem;
    if (z->bound) z->bound[0] = 0;
    if (lane_of(e) == LANE_INT)
        *(int64_t *)z->data = int_wrap(e, op->imm);
    else
        tile_convert(ELEM_F64, e, 1, &op->fimm, z->data);
}

static RangeState range_whole(const Task *t, int range) {
    return t->calls ? t->calls->whole(t, range) : t->range[range];
}

static int64_t index_value(const Task *t, const Op *op) {
    const World *w = t->w;
    switch (op->kind) {
    case OP_BEGIN: return range_whole(t, op->range).begin;
    case OP_END: return range_whole(t, op->range).end;
    case OP_SIZE: return size_eval(w->m, op->size, w->sym, t->coord);
    case OP_ORIGIN: return size_origin(w->m, op->size, w->sym, t->coord);
    case OP_RANK: return t->coord[op->axis];
    default: return 0;
    }
}

static void eval_index(Task *t, const Op *op) {
    Tile *z = tile_make(t, op->res.p[0]);
    int64_t *x = z->data, base = op->kind == OP_POS ? t->range[op->range].begin : index_value(t, op);
    for (int64_t i = 0; i < z->n; i++) x[i] = base + i;
    tile_exact(z);
}

static void eval_unary(Task *t, const Op *op) {
    const Value *r = op->res.p[0];
    const Tile *x = tile_of(t, op->arg.p[0]);
    Tile *z = tile_make(t, r);
    Lane l = lane_of(r->type.elem);
    math_unary(op->kind, l, z->n, x->data, z->data);
    if (z->bound) bound_unary(t->w, op->kind, l, x, z);
    if (l == LANE_INT) tile_wrap(r->type.elem, z);
}

/* Tiles of another size would be as right: an addition to a carried value may be one for each position of the tile. */
static int64_t roundings(const Task *t, const Op *op) {
    if (op->kind != OP_ADD && op->kind != OP_SUB) return 1;
    for (int i = 0; i < op->arg.n; i++) {
        const Region *carrier = op->arg.p[i]->arg_of;
        const Op *loop = carrier ? carrier->parent : NULL;
        if (!loop || loop->kind != OP_FOR || !t->k->range.p[loop->range].tunable) continue;
        const RangeState *r = &t->range[loop->range];
        return r->end - r->begin;
    }
    return 1;
}

static void eval_binary(Task *t, const Op *op) {
    const Value *r = op->res.p[0];
    Lane l = lane_of(r->type.elem);
    const Tile *x = tile_as(t, op->arg.p[0], r->type, 0), *y = tile_as(t, op->arg.p[1], r->type, 1);
    Tile *z = tile_make(t, r);
    math_binary(op->kind, l, z->n, x->data, y->data, z->data);
    if (z->bound) bound_binary(t->w, op->kind, roundings(t, op), l, x, y, z);
    if (l == LANE_INT) tile_wrap(r->type.elem, z);
}

static void eval_compare(Task *t, const Op *op) {
    const Value *r = op->res.p[0];
    const Tile *x = tile_as(t, op->arg.p[0], r->type, 0), *y = tile_as(t, op->arg.p[1], r->type, 1);
    Tile *z = tile_make(t, r);
    math_compare(op->kind, lane_of(op->arg.p[0]->type.elem), z->n, x->data, y->data, z->data);
    tile_exact(z);
}

static void eval_select(Task *t, const Op *op) {
    const Value *r = op->res.p[0];
    const Tile *c = tile_as(t, op->arg.p[0], r->type, 0), *x = tile_as(t, op->arg.p[1], r->type, 1);
    const Tile *y = tile_as(t, op->arg.p[2], r->type, 2);
    Tile *z = tile_make(t, r);
    const int64_t *take = c->data;
    size_t each = lane_bytes(lane_of(r->type.elem));
    for (int64_t i = 0; i < z->n; i++) {
        const Tile *from = take[i] ? x : y;
        memcpy((char *)z->data + (size_t)i * each, (const char *)from->data + (size_t)i * each, each);
        if (z->bound) z->bound[i] = from->bound[i];
    }
}

static void eval_cast(Task *t, const Op *op) {
    const Value *v = op->arg.p[0], *r = op->res.p[0];
    const Tile *x = tile_of(t, v);
    Tile *z = tile_make(t, r);
    tile_convert(v->type.elem, r->type.elem, z->n, x->data, z->data);
    Lane from = lane_of(v->type.elem), to = lane_of(r->type.elem);
    for (int64_t i = 0; z->bound && i < z->n; i++) {
        double at = to == LANE_INT ? lane_get(from, x->data, i) : lane_get(to, z->data, i);
        z->bound[i] = bound_convert(t->w, from, r->type.elem, at, x->bound[i]);
    }
}

static void eval_broadcast(Task *t, const Op *op) {
    const Value *v = op->arg.p[0], *r = op->res.p[0];
    tile_reorder(t, lane_of(r->type.elem), tile_of(t, v), v->type.range, v->type.nrange, tile_make(t, r), r->type.range,
                 r->type.nrange);
}

/* ---- control ---- */

void value_pass(Task *t, const Value *from, const Value *to) {
    tile_copy(t->w, lane_of(to->type.elem), tile_of(t, from), tile_of(t, to));
}


int64_t loop_steps(const Task *t, const Op *op) {
    const RangeState *s = &t->range[op->range];
    return op->region[0]->first ? ceil_div(s->hi - s->lo, range_size(&t->k->range.p[op->range], s)) : 0;
}

void loop_step(Task *t, const Op *op, int64_t step) {
    t->range[op->range].step = step;
    range_go(t, op->range, op->down ? loop_steps(t, op) - 1 - step : step);
}

static void loop_iterate(Task *t, const Op *op, int64_t step) {
    if (step < loop_steps(t, op)) {
        loop_step(t, op, step);
        t->pc = op->region[0]->first;
        return;
    }
    for (int i = 0; i < op->res.n; i++) value_pass(t, op->region[0]->arg.p[i], op->res.p[i]);
    task_advance(t, op);
}

/* To what follows an operation that is complete: at the end of a region, what its parent says. */
void task_advance(Task *t, const Op *op) {
    const Op *parent = op->in->parent;
    if (parent && parent->turn.n)
        t->calls->turns_next(t, parent, op);
    else if (op->next)
        t->pc = op->next;
    else if (!parent)
        t->pc = t->calls ? t->calls->after(t, op->in) : NULL;
    else if (parent->kind == OP_FOR)
        loop_iterate(t, parent, t->range[parent->range].step + 1);
    else if (parent->kind == OP_PUT)
        t->calls->filled(t, parent);
    else
        task_advance(t, parent);
}

static void loop_enter(Task *t, const Op *op) {
    RangeState *s = &t->range[op->range];
    int part_of = t->k->range.p[op->range].part_of;
    bool own = t->calls && part_of && t->calls->is_shared(t, part_of - 1);
    s->lo = own ? t->range[part_of - 1].begin : tile_int(t, op->arg.p[0]);
    s->hi = own ? t->range[part_of - 1].end : tile_int(t, op->arg.p[1]);
    if (s->hi < s->lo) s->hi = s->lo;
    if ((uint64_t)s->hi - (uint64_t)s->lo > INT64_MAX) {
        world_invalid(t, "a loop over more than 2^63 positions");
        s->hi = s->lo;
    }
    for (int i = 2; i < op->arg.n; i++) value_pass(t, op->arg.p[i], op->region[0]->arg.p[i - 2]);
    if (op->turn.n)
        t->calls->turns_begin(t, op);
    else
        loop_iterate(t, op, 0);
}

static void branch_enter(Task *t, const Op *op) {
    const Region *r = op->region[tile_int(t, op->arg.p[0]) ? 0 : 1];
    if (r && r->first)
        t->pc = r->first;
    else
        task_advance(t, op);
}

/* All yielded values are taken before any carried one changes: they may be the carried ones, exchanged. */
static void loop_yield(Task *t, const Op *yield, const Op *loop) {
    for (int i = 0; i < yield->arg.n; i++)
        tile_copy(t->w, lane_of(yield->arg.p[i]->type.elem), tile_of(t, yield->arg.p[i]),
                  &t->carry[loop->region[0]->arg.p[i]->id]);
    for (int i = 0; i < yield->arg.n; i++) {
        const Value *to = loop->region[0]->arg.p[i];
        tile_copy(t->w, lane_of(to->type.elem), &t->carry[to->id], tile_of(t, to));
    }
    loop_iterate(t, loop, t->range[loop->range].step + 1);
}

static void eval_yield(Task *t, const Op *op) {
    const Op *parent = op->in->parent;
    if (parent->kind == OP_FOR) {
        loop_yield(t, op, parent);
        return;
    }
    for (int i = 0; i < op->arg.n; i++) value_pass(t, op->arg.p[i], parent->res.p[i]);
    task_advance(t, parent);
}

static void eval_control(Task *t, const Op *op) {
    switch (op->kind) {
    case OP_FOR: loop_enter(t, op); break;
    case OP_IF: branch_enter(t, op); break;
    default: eval_yield(t, op); break;
    }
}

/* Of a task beyond the grid, in a cluster: it waits for what it copies for the others. */
static bool is_of_others(const Task *t, const Op *op) {
    return op->kind == OP_WAIT && t->k->roles && !words_follow(op, t->k->roles->cluster_range);
}

/* Without agents the program's order does what the flags do. */
static Step eval_sync(Task *t, const Op *op) {
    if (!t->w->agents || (t->linear < 0 && !is_of_others(t, op))) return STEP_DONE;
    if (op->kind == OP_WAIT) return agents_wait(t, op);
    agents_signal(t, op);
    return STEP_DONE;
}

static void eval_product(Task *t, const Op *op) {
    eval_dot(t, op);
    if (op->kind == OP_MMA) t->calls->issued(t, op);
}

static Step eval(Task *t, const Op *op) {
    switch (op_info[op->kind].class) {
    case CLASS_CONST: eval_const(t, op); break;
    case CLASS_INDEX: eval_index(t, op); break;
    case CLASS_UNARY: eval_unary(t, op); break;
    case CLASS_BINARY: eval_binary(t, op); break;
    case CLASS_COMPARE: eval_compare(t, op); break;
    case CLASS_SELECT: eval_select(t, op); break;
    case CLASS_CAST: eval_cast(t, op); break;
    case CLASS_BROADCAST: eval_broadcast(t, op); break;
    case CLASS_REDUCE: eval_reduce(t, op); break;
    case CLASS_PREFIX: eval_prefix(t, op); break;
    case CLASS_CONVERT: eval_broadcast(t, op); break;
    case CLASS_DOT: eval_product(t, op); break;
    case CLASS_MEMORY:
        return op->kind == OP_LOAD ? eval_load(t, op) : op->kind == OP_STORE ? eval_store(t, op) : eval_group(t, op);
    case CLASS_SYNC: return eval_sync(t, op);
    case CLASS_PRINT: eval_print(t, op); break;
    case CLASS_ROLE: return t->calls->eval(t, op);
    case CLASS_CONTROL: break;
    }
    return STEP_DONE;
}

Step task_step(Task *t) {
    const Op *op = t->pc;
    if (!op) return STEP_FINISHED;
    if (t->calls && t->calls->enter(t, op) == STEP_BLOCKED) return STEP_BLOCKED;
    if (op_info[op->kind].class == CLASS_CONTROL) {
        eval_control(t, op);
    } else {
        if (eval(t, op) == STEP_BLOCKED) return STEP_BLOCKED;
        if (op->kind == OP_PUT && op->region[0]->first)
            t->pc = op->region[0]->first;
        else if (op->kind == OP_PUT)
            t->calls->filled(t, op);
        else
            task_advance(t, op);
    }
    return t->pc ? STEP_DONE : STEP_FINISHED;
}
