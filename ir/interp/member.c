/* member.c: a role, or a group of it, in one workgroup: the tasks that it does one after the other, and when it may go
 * on.
 */
#include "ir/interp/team.h"

/* The workgroup's part of the tile that its cluster shares: it begins where it would if the tile were whole. */
static void part_go(Task *t, int range, int number) {
    const RangeState *of = &t->range[t->k->range.p[range].part_of - 1];
    const int64_t size = t->k->range.p[range].size, begin = of->begin + number * size, past = begin + size;
    RangeState *r = &t->range[range];
    r->index = number;
    r->begin = begin;
    r->end = past < of->end ? past : of->end < begin ? begin : of->end;
}

/* A unit is a tile of each range of the grid, and beside each other of the cluster's. A task beyond the grid has no
 * elements. */
static void member_place(Member *m, int64_t unit) {
    const Team *team = m->team;
    Task *t = m->worker.task;
    int64_t step = 1;
    t->linear = 0;
    for (int i = t->k->ngrid - 1; i >= 0; i--) {
        int64_t tiles = range_tiles(t->w->m, t->k, i, t->w->sym);
        int each = i == team->roles->cluster_range ? team->roles->cluster : 1;
        int64_t n = ceil_div(tiles, each);
        t->range[i].index = unit % n * each + m->workgroup % each;
        t->linear = t->linear < 0 || t->range[i].index >= tiles ? -1 : t->linear + t->range[i].index * step;
        step *= tiles;
        unit /= n;
    }
    grid_go(t);
    if (roles_slice(t->k)) part_go(t, team->roles->cluster_range, m->workgroup % team->roles->cluster);
}

/* ---- tasks ---- */

void member_begin(Member *m) {
    const Team *team = m->team;
    Task *t = m->worker.task;
    m->running = m->finished = m->in_bracket = false;
    m->nth = m->issued = m->done = 0;
    m->brackets = 0;
    m->passed = 0;
    m->gate.seen = m->handing.seen = m->follow.seen = NULL;
    for (int i = 0; i < team->roles->ring.n; i++) m->end[i].puts = m->end[i].gets = m->end[i].frees = m->end[i].met = 0;
    t->node = team->node;
    t->rank = team->rank;
    t->coord = t->w->coord[team->rank];
    t->generation = team->generation;
    t->view = (View *)world_view(t->w, team->rank, team->node);
}

static void begin_note(Member *m) {
    Worker *x = &m->worker;
    Agents *a = m->team->w->agents;
    if (!a) return;
    clock_drop(a, clock_release(a, x)); /* a stamp for the task */
    Begun begun = {.stamp = x->clock->at[x->entry], .task = x->task->linear};
    vec_push(a->w->arena, &x->begun, begun);
}

static void member_next(Member *m) {
    const Team *team = m->team;
    Task *t = m->worker.task;
    int64_t unit = team_unit(m->team, m->workgroup, m->nth++);
    m->finished = unit < 0;
    if (m->finished) return;
    m->running = true;
    member_place(m, unit);
    begin_note(m);
    for (int i = 0; i < t->k->nvalue; i++) t->tile[i].held = (Held){0};
    t->pc = team->roles->scalars->first ? team->roles->scalars->first : m->role->body->first;
    if (m->number == 0 && m->group == 0) team->w->report->tasks++;
}

static const Op *after(Task *t, const Region *r) {
    return r == t->member->team->roles->scalars ? t->member->role->body->first : NULL;
}

static void member_end(Member *m) {
    const Team *team = m->team;
    m->running = false;
    for (int i = 0; i < team->roles->ring.n; i++)
        if (m->end[i].gets != m->end[i].frees)
            member_fault(m,
                         arena_format(team->w->report_arena, "a task ends with a slot of ring '%s' that is not freed",
                                      team->roles->ring.p[i].name));
}

static bool at_turn(const Task *t) {
    OpClass class = op_info[t->pc->kind].class;
    return class == CLASS_MEMORY || class == CLASS_SYNC || class == CLASS_ROLE;
}

void member_turn(Member *m) {
    Worker *x = &m->worker;
    if (!m->running) member_next(m);
    if (m->finished) return;
    x->blocked = false;
    Step step = STEP_FINISHED;
    do step = task_step(x->task);
    while (step == STEP_DONE && !at_turn(x->task));
    x->blocked = step == STEP_BLOCKED;
    if (step == STEP_FINISHED) member_end(m);
}

/* ---- before each operation ---- */

/* True when it has passed. */
static bool gate_pass(Member *m, Blocked *gate) {
    if (!gate->seen) return true;
    m->worker.on = *gate;
    m->worker.blocked = true;
    if (worker_is_blocked(&m->worker)) return false;
    gate->seen = NULL;
    return true;
}

static Step enter(Task *t, const Op *op) {
    Member *m = t->member;
    if (!gate_pass(m, &m->handing) || !gate_pass(m, &m->gate) || !gate_pass(m, &m->follow)) return STEP_BLOCKED;
    return hold_check(t, op) ? STEP_DONE : STEP_BLOCKED;
}

static Step eval(Task *t, const Op *op) {
    switch (op->kind) {
    case OP_PUT: return ring_put(t, op);
    case OP_GET: return ring_get(t, op);
    case OP_FREE: ring_free(t, op); break;
    case OP_COPY: return ring_copy(t, op);
    case OP_WRITE: ring_write(t, op); break;
    case OP_READY: hold_ready(t, op); break;
    default: eval_part(t, op); break;
    }
    return STEP_DONE;
}

const TeamCalls member_calls = {
    .enter = enter,
    .eval = eval,
    .filled = ring_filled,
    .issued = hold_issued,
    .made = hold_made,
    .after = after,
    .share = role_share,
    .whole = role_range,
    .is_shared = role_shares,
    .turns_begin = turns_begin,
    .turns_next = turns_next,
};
