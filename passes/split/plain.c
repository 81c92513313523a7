/* plain.c: loops that only sum, or take the largest or smallest, need no rule of the source to be put together.
   Takes: a loop without a merge. Gives: the loop with one: x + x2, max(x, x2) or min(x, x2) of each value that it
   carries. */
#include "passes/split/split.h"
#include "ir/match.h"
#include "ir/uses.h"

#include <string.h>

/* ---- the way of a carried value through the body: each operation takes it in, and nothing else looks at it ---- */

typedef enum { WAY_NONE, WAY_SUM, WAY_MAX, WAY_MIN } Way;

static const OpKind joins[] = {[WAY_SUM] = OP_ADD, [WAY_MAX] = OP_MAX, [WAY_MIN] = OP_MIN};

static Way way_of_op(const Op *op, const Value *v) {
    switch (op->kind) {
    case OP_ADD: return WAY_SUM;
    case OP_SUB: return op->arg.p[0] == v ? WAY_SUM : WAY_NONE;
    case OP_DOT: return op->arg.n == 3 && op->arg.p[2] == v ? WAY_SUM : WAY_NONE;
    case OP_MAX: return WAY_MAX;
    case OP_MIN: return WAY_MIN;
    default: return WAY_NONE;
    }
}

static bool same_way(Way *way, Way next) {
    if (*way == WAY_NONE) *way = next;
    return next != WAY_NONE && *way == next;
}

static bool follows(const Uses *, const Op *loop, int carried, Way *way);

/* The value behind an operation; NULL: it does not go on. */
static const Value *value_behind(const Uses *u, const Op *op, const Value *v, Way *way) {
    if (op->kind != OP_FOR) return same_way(way, way_of_op(op, v)) ? op->res.p[0] : NULL;
    for (int i = 0; i + 2 < op->arg.n; i++)
        if (op->arg.p[2 + i] == v) return follows(u, op, i, way) ? op->res.p[i] : NULL;
    return NULL;
}

static bool follows(const Uses *u, const Op *loop, int carried, Way *way) {
    const Region *body = loop->region[0];
    const Value *v = body->arg.p[carried];
    for (const Op *user; (user = uses_only(u, v)) && user->in == body;) {
        if (user->kind == OP_YIELD) return user->arg.p[carried] == v;
        v = value_behind(u, user, v, way);
        if (!v) return false;
    }
    return false;
}

/* Each part begins with it. */
static bool begins_neutral(const Value *init, Way way) {
    double n;
    return way != WAY_SUM || (match_number(init, &n) && n == 0);
}

/* Of each carried value; NULL: one has none. */
static Way *ways_of(const Module *m, const Kernel *k, const Op *loop) {
    const Uses uses = uses_of(k, m->arena);
    int n = loop->res.n;
    Way *way = ARENA_ARRAY(m->arena, Way, n + 1);
    for (int i = 0; i < n; i++)
        if (!follows(&uses, loop, i, &way[i]) || way[i] == WAY_NONE || !begins_neutral(loop->arg.p[2 + i], way[i]))
            return NULL;
    return way;
}

bool split_is_plain(const Module *m, const Kernel *k, const Op *loop) { return ways_of(m, k, loop) != NULL; }

void split_plain(Module *m, Kernel *k, Op *loop) {
    int n = loop->res.n;
    const Way *way = ways_of(m, k, loop);
    Region *r = region_new(m, loop);
    Builder b = {.m = m, .k = k, .at = r, .loc = loop->loc};
    Value **part = ARENA_ARRAY(m->arena, Value *, 2 * n + 1), **joined = ARENA_ARRAY(m->arena, Value *, n + 1);
    for (int i = 0; i < 2 * n; i++) {
        const Value *v = loop->region[0]->arg.p[i % n];
        part[i] = region_arg(m, k, r, v->type, v->name);
    }
    for (int i = 0; i < n; i++) joined[i] = build_binary(&b, joins[way[i]], part[i], part[n + i]);
    build_yield(&b, joined, n);
    loop->region[1] = r;
}
