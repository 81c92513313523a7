/* role_events.c: what a group of a role does with rings, for drawn numbers of iterations and drawn conditions. */
#include "ir/verify/role_run.h"

int ring_copies(const Kernel *k, int ring) {
    int per = k->roles->ring.p[ring].per;
    return per < 0 ? 1 : role_groups(&k->roles->role.p[per]);
}

/* ---- choices ---- */

static bool has_events(const Op *op) {
    for (int i = 0; i < 2; i++)
        for (const Op *in = walk(op->region[i]); in; in = walk_next(in, op->region[i]))
            if (in->kind == OP_PUT || in->kind == OP_GET || in->kind == OP_FREE || in->kind == OP_SIGNAL || in->kind == OP_WAIT)
                return true;
    return false;
}

static const Role *role_of(const Roles *r, const Op *op) {
    const Region *root = op->in;
    while (root->parent) root = root->parent->in;
    for (int i = 0; i < r->role.n; i++)
        if (r->role.p[i].body == root) return &r->role.p[i];
    return NULL;
}

static bool choice_same(const Roles *r, const Op *a, const Op *b) {
    int n = a->kind == OP_FOR ? 2 : 1;
    if (a->kind != b->kind || (a->kind == OP_FOR && a->range != b->range)) return false;
    for (int i = 0; i < n; i++)
        if (!scalar_same(role_of(r, a), a->arg.p[i], role_of(r, b), b->arg.p[i])) return false;
    return true;
}

static void choice_add(RoleCourse *c, const Op *op) {
    RoleChoice fresh = {op, c->choice.n};
    for (int i = 0; i < c->choice.n && fresh.same == c->choice.n; i++)
        if (choice_same(c->k->roles, c->choice.p[i].op, op)) fresh.same = c->choice.p[i].same;
    vec_push(c->arena, &c->choice, fresh);
}

static void trips_add(RoleCourse *c, int n) {
    for (int i = 0; i < c->trips.n; i++)
        if (c->trips.p[i] == n) return;
    vec_push(c->arena, &c->trips, n);
}

/* One less, as many, and one more. */
static void trips_about(RoleCourse *c, int n) {
    if (n > ROLE_MOST) n = ROLE_MOST;
    for (int i = n - 1; i <= n + 1; i++) trips_add(c, i);
    if (n > c->most) c->most = n;
}

/* Of parts of a tile, or between constants; -1: not known. */
static int64_t trips_known(const Kernel *k, const Op *loop) {
    const Range *r = &k->range.p[loop->range], *whole = r->part_of ? &k->range.p[r->part_of - 1] : NULL;
    int64_t lo, hi;
    if (whole)
        return whole->kind == RANGE_TILE                  ? ceil_div(whole->size, r->size)
               : whole->grid && size_is_number(whole->of) ? ceil_div(whole->of.c, r->size)
                                                          : -1;
    if (!value_const(loop->arg.p[0], &lo) || !value_const(loop->arg.p[1], &hi)) return -1;
    return hi <= lo ? 0 : r->kind == RANGE_WHOLE ? 1 : ceil_div(hi - lo, r->size);
}

RoleCourse role_course(const Kernel *k, Arena *a) {
    RoleCourse c = {.k = k, .arena = a};
    const Roles *r = k->roles;
    for (int i = 0; i < r->role.n; i++)
        for (const Op *op = walk(r->role.p[i].body); op; op = walk_next(op, r->role.p[i].body))
            if ((op->kind == OP_FOR || op->kind == OP_IF) && has_events(op)) choice_add(&c, op);
    for (int n = 0; n < 3; n++) trips_add(&c, n);
    for (int i = 0; i < r->ring.n; i++) trips_about(&c, r->ring.p[i].slots);
    for (int i = 0; i < c.choice.n; i++) {
        const Op *op = c.choice.p[i].op;
        if (op->ends) trips_about(&c, op->ends);
        if (op->runs) trips_about(&c, op->runs);
        if (op->late && trips_known(k, op) > 0) trips_about(&c, op->late * (int)trips_known(k, op));
    }
    return c;
}

/* ---- draws ---- */

typedef struct {
    const RoleCourse *course;
    const Role *role;
    int group, task, depth;
    int part, last;      /* the parts of a late loop that the iteration is, from the first to the last; AT_ONCE */
    unsigned draw, path; /* path: of the iterations around */
    Events *out;
} Expand;

static unsigned mix(unsigned a, unsigned b) {
    unsigned h = (a ^ (b + 0x9e3779b9u + (a << 6) + (a >> 2))) * 0x85ebca6bu; /* a finalizer of MurmurHash3 */
    return h ^ h >> 13;
}

static bool is_of_task(const Expand *e, const Value *x) { return x->def && x->def->in == e->course->k->roles->scalars; }

/* The same in all roles; in all iterations around it too, where the task decides. */
static unsigned drawn(const Expand *e, const Op *op) {
    const RoleCourse *c = e->course;
    bool task = is_of_task(e, op->arg.p[0]) && (op->kind == OP_IF || is_of_task(e, op->arg.p[1]));
    int same = 0;
    for (int i = 0; i < c->choice.n; i++)
        if (c->choice.p[i].op == op) same = c->choice.p[i].same;
    return mix(mix(mix(e->draw, (unsigned)same), (unsigned)e->task), task ? 0 : e->path);
}

static bool has_loop(const Op *loop) {
    for (const Op *in = walk(loop->region[0]); in; in = walk_next(in, loop->region[0]))
        if (in->kind == OP_FOR && has_events(in)) return true;
    return false;
}

/* In some role; the same for all roles that have the loop. */
static bool is_around(const RoleCourse *c, const Op *loop) {
    int same = -1;
    for (int i = 0; i < c->choice.n; i++)
        if (c->choice.p[i].op == loop) same = c->choice.p[i].same;
    for (int i = 0; i < c->choice.n; i++)
        if (c->choice.p[i].same == same && has_loop(c->choice.p[i].op)) return true;
    return false;
}

/* Of a loop and that within it one has few iterations, in turn by draws: a run stays short. */
static int64_t trips_most(const Expand *e, const Op *loop) {
    enum { DEEP = 4, FEW = 2 }; /* loops around; iterations */
    const bool inner = e->draw % 2;
    if (e->depth >= DEEP) return 1;
    if (e->depth == 0) return inner && is_around(e->course, loop) ? FEW : ROLE_MOST + 1;
    return inner && e->depth == 1 ? ROLE_MOST + 1 : FEW;
}

static int64_t trips_of(const Expand *e, const Op *loop) {
    const RoleCourse *c = e->course;
    int64_t known = trips_known(c->k, loop), most = trips_most(e, loop);
    bool whole = c->k->range.p[loop->range].kind == RANGE_WHOLE;
    if (known > c->most + 2) known = c->most + 1 + (int64_t)(drawn(e, loop) % 2);
    if (known < 0) known = c->trips.p[drawn(e, loop) % (unsigned)(whole ? 2 : c->trips.n)];
    return known < most ? known : most;
}

/* ---- events ---- */

/* A slot is got in the first part of an iteration, and full or given back in the last one. */
static void emit(const Expand *e, EventKind kind, int ring, int copy, const Op *op) {
    const bool begins = kind == EVENT_GET || kind == EVENT_ROOM;
    Event fresh = {kind, ring, copy, e->task, begins ? e->part : e->last, op};
    vec_push(e->course->arena, e->out, fresh);
}

/* What the task before has left: all in front of a loop that has fewer turns, else a part in each turn. */
static void emit_late(const Expand *e, const Op *loop, int part) {
    if (role_late(e->role) && loop == role_beside(e->role))
        vec_push(e->course->arena, e->out, ((Event){EVENT_LATE, -1, 0, e->task, part, loop}));
}

/* A role whose groups have rings of their own uses its group's; another role uses all of them in turn. */
static void emit_ring(const Expand *e, EventKind kind, const Op *op) {
    const Roles *r = e->course->k->roles;
    int per = r->ring.p[op->ring].per;
    bool own = per >= 0 && role_is_of(r, e->role, per);
    for (int copy = 0; copy < ring_copies(e->course->k, op->ring); copy++)
        if (!own || copy == e->group) emit(e, kind, op->ring, copy, op);
}

static void expand(Expand *, const Region *, int piece);

static void expand_iteration(Expand *e, const Op *loop, int piece, int64_t iteration) {
    unsigned path = e->path;
    e->path = mix(path, (unsigned)iteration + 1);
    e->depth++;
    expand(e, loop->region[0], piece);
    e->depth--;
    e->path = path;
}

/* The pieces of a turn for iterations first .. end, those in one pair of brackets between ENTER and LEAVE. */
static void expand_turn(Expand *e, const Op *loop, int64_t turn, int64_t first, int64_t end) {
    bool inside = false;
    for (int i = 0; i < loop->turn.n; i++) {
        const Turn *t = &loop->turn.p[i];
        int64_t iteration = turn - t->shift;
        if (inside && !t->alone) emit(e, EVENT_LEAVE, -1, 0, loop);
        inside = inside && t->alone;
        if (iteration < first || iteration >= end) continue;
        if (t->alone && !inside) emit(e, EVENT_ENTER, -1, 0, loop);
        inside = t->alone;
        expand_iteration(e, loop, t->piece, iteration);
    }
    if (inside) emit(e, EVENT_LEAVE, -1, 0, loop);
}

static int last_shift(const Op *loop) {
    int shift = 0;
    for (int i = 0; i < loop->turn.n; i++)
        if (loop->turn.p[i].shift > shift) shift = loop->turn.p[i].shift;
    return shift;
}

/* Turns begin anew with each run; iterations that fill none are runs of one. */
static void expand_runs(Expand *e, const Op *loop, int64_t trips) {
    for (int64_t first = 0, end; first < trips; first = end) {
        end = first + (trips - first < loop->runs ? 1 : loop->runs);
        for (int64_t t = first; t < end + last_shift(loop); t++) expand_turn(e, loop, t, first, end);
    }
}

/* Of an iteration of a late loop. */
static void expand_parts(Expand *e, const Op *loop, int64_t iteration) {
    e->part = (int)iteration * loop->late;
    e->last = e->part + loop->late - 1;
    expand_iteration(e, loop, -1, iteration);
    e->part = e->last = AT_ONCE;
}

static int late_parts(const Expand *e) {
    const Op *late = role_late(e->role);
    return late ? late->late * (int)trips_of(e, late) : 0;
}

static void expand_loop(Expand *e, const Op *loop) {
    int64_t trips = trips_of(e, loop), shift = last_shift(loop);
    if (loop->runs) {
        expand_runs(e, loop, trips);
        return;
    }
    if (trips < late_parts(e)) emit_late(e, loop, ALL_PARTS);
    for (int64_t t = 0; t < (trips ? trips + shift : 0); t++) {
        bool in_order = loop->ends && trips >= loop->ends;
        if (in_order && t == trips - loop->ends) emit(e, EVENT_FOLLOW, -1, 0, loop);
        if (loop->turn.n)
            expand_turn(e, loop, t, 0, trips);
        else if (loop->late)
            expand_parts(e, loop, t);
        else
            expand_iteration(e, loop, -1, t);
        emit_late(e, loop, (int)t);
        if (in_order && t == trips - 1) emit(e, EVENT_PASS, -1, 0, loop);
    }
}

static void expand_put(const Expand *e, const Op *put) {
    for (const Op *op = put->region[0]->first; op; op = op->next)
        if (op->kind == OP_WAIT) emit(e, EVENT_WAIT, -1, 0, op);
    if (ring_sums(&e->course->k->roles->ring.p[put->ring])) emit_ring(e, EVENT_MEET, put);
    if (e->part != e->last) emit_ring(e, EVENT_ROOM, put);
    emit_ring(e, EVENT_PUT, put);
}

/* piece: of the loop that the region is of; -1: all */
static void expand(Expand *e, const Region *r, int piece) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (piece >= 0 && op->piece != piece) continue;
        switch (op->kind) {
        case OP_PUT: expand_put(e, op); break;
        case OP_GET: emit_ring(e, EVENT_GET, op); break;
        case OP_FREE: emit_ring(e, EVENT_FREE, op); break;
        case OP_SIGNAL: emit(e, EVENT_SIGNAL, -1, 0, op); break;
        case OP_WAIT: emit(e, EVENT_WAIT, -1, 0, op); break;
        case OP_FOR:
            if (has_events(op)) expand_loop(e, op);
            break;
        case OP_IF:
            if (has_events(op)) expand(e, op->region[drawn(e, op) % 2], -1);
            break;
        default: break;
        }
    }
}

static Events events_of_task(const RoleCourse *c, const Role *r, int group, unsigned draw, int task) {
    Events out = {0};
    Expand e = {.course = c, .role = r, .group = group, .task = task, .draw = draw, .out = &out};
    e.part = e.last = AT_ONCE;
    expand(&e, r->body, -1);
    return out;
}

/* ---- roles on the threads of another ---- */

/* From `at` to the next get; all, where none follows. They are of that part. */
static int copy_until_get(const RoleCourse *c, Events *to, const Events *from, int at, int part) {
    do {
        vec_push(c->arena, to, from->p[at]);
        vec_last(to).part = part;
    } while (++at < from->n && from->p[at].kind != EVENT_GET);
    return at;
}

static int next_get(const Events *e, int at) {
    while (at < e->n && e->p[at].kind != EVENT_GET) at++;
    return at;
}

/* What the role inside does with a slot comes as soon as the role around it has filled the slot. */
static Events merged(const RoleCourse *c, const Events *around, const Events *inside) {
    Events out = {0};
    int at = 0;
    for (int i = 0; i < around->n; i++) {
        const Event *e = &around->p[i];
        vec_push(c->arena, &out, *e);
        int get = next_get(inside, at);
        bool fits =
            e->kind == EVENT_PUT && get < inside->n && inside->p[get].ring == e->ring && inside->p[get].copy == e->copy;
        while (fits && at < get) vec_push(c->arena, &out, inside->p[at++]);
        if (fits) at = copy_until_get(c, &out, inside, at, e->part);
    }
    while (at < inside->n) vec_push(c->arena, &out, inside->p[at++]);
    return out;
}

/* ---- parts that run a task later ---- */

typedef struct {
    Events all, left; /* left: parts of the task before, from the place `at` on, that have not run yet */
    int at;
} Course;

static void run_left(const RoleCourse *c, Course *to, int part) {
    for (; to->at < to->left.n && to->left.p[to->at].part <= part; to->at++)
        vec_push(c->arena, &to->all, to->left.p[to->at]);
}

/* What the next task would find in the same registers runs first. */
static void task_join(const RoleCourse *c, Course *to, const Events *own) {
    Events left = {0};
    for (int i = 0; i < own->n; i++) {
        const Event *e = &own->p[i];
        if (e->kind == EVENT_LATE)
            run_left(c, to, e->part);
        else
            vec_push(c->arena, e->part == AT_ONCE ? &to->all : &left, *e);
    }
    run_left(c, to, ALL_PARTS);
    to->left = left, to->at = 0;
}

Events role_events(const RoleCourse *c, const Role *r, int group, unsigned draw) {
    const Roles *roles = c->k->roles;
    Course to = {0};
    for (int task = 0; task < ROLE_TASKS; task++) {
        Events own = events_of_task(c, r, group, draw, task);
        for (int i = 0; i < roles->role.n; i++) {
            if (roles->role.p[i].in < 0 || &roles->role.p[roles->role.p[i].in] != r) continue;
            const Events inside = events_of_task(c, &roles->role.p[i], group, draw, task);
            own = merged(c, &own, &inside);
        }
        task_join(c, &to, &own);
    }
    run_left(c, &to, ALL_PARTS);
    return to.all;
}
