/* cursor.c: goes through the body of a task: loops and conditions as the task's tiles decide them.
   Conditions that follow from data are taken as true, loops over data have no iteration. */
#include "passes/remap/cursor.h"

Cursor cursor_new(const Module *m, const Kernel *k, const int64_t *sym, const int *coord, Arena *arena) {
    Cursor c = {.k = k};
    c.env = (Env){.m = m, .k = k, .sym = sym, .coord = coord, .at = ARENA_ARRAY(arena, RangeAt, k->range.n + 1)};
    c.index = ARENA_ARRAY(arena, int64_t, k->range.n + 1);
    c.lo = ARENA_ARRAY(arena, int64_t, k->range.n + 1);
    c.hi = ARENA_ARRAY(arena, int64_t, k->range.n + 1);
    return c;
}

void cursor_begin(Cursor *c, const int64_t *tile) {
    for (int r = 0; r < c->k->ngrid; r++) env_grid(&c->env, r, tile[r]);
    c->in = c->k->body;
    c->op = c->in->first;
}

static Interval scalar(Cursor *c, const Value *v) {
    c->env.budget = 512;
    return env_value(&c->env, v);
}

static void enter(Cursor *c, const Region *r) { c->in = r, c->op = r->first; }

/* Tile number .index of the loop's range. */
static void iterate(Cursor *c, const Op *loop) {
    env_tile(&c->env, loop->range, c->lo[loop->range], c->hi[loop->range], c->index[loop->range]);
    enter(c, loop->region[0]);
}

static void loop_enter(Cursor *c, const Op *loop) {
    const Interval lo = scalar(c, loop->arg.p[0]), hi = scalar(c, loop->arg.p[1]);
    const int r = loop->range;
    c->op = loop->next;
    c->unknown |= !interval_exact(lo) || !interval_exact(hi);
    if (!interval_exact(lo) || !interval_exact(hi) || hi.lo <= lo.lo) return;
    c->lo[r] = lo.lo, c->hi[r] = hi.lo, c->index[r] = 0;
    iterate(c, loop);
}

/* The end of a region: the loop's next iteration, or what stands behind. */
static void leave(Cursor *c) {
    const Op *up = c->in->parent;
    c->in = up ? up->in : NULL;
    c->op = up ? up->next : NULL;
    if (!up || up->kind != OP_FOR) return;
    if (++c->index[up->range] < env_trips(&c->env, up->range, c->lo[up->range], c->hi[up->range])) iterate(c, up);
}

const Op *cursor_next(Cursor *c) {
    while (c->in) {
        const Op *op = c->op;
        if (!op) {
            leave(c);
        } else if (op->kind == OP_FOR) {
            loop_enter(c, op);
        } else if (op->kind == OP_IF) {
            const Interval when = scalar(c, op->arg.p[0]);
            c->op = op->next;
            c->unknown |= !interval_exact(when);
            if (op->region[when.hi ? 0 : 1]) enter(c, op->region[when.hi ? 0 : 1]);
        } else {
            c->op = op->next;
            if (op->kind == OP_LOAD || op->kind == OP_STORE) return op;
        }
    }
    return NULL;
}
