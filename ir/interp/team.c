/* team.c: teams: their workgroups are drawn from the seed, and so is who goes on.
   Takes a kernel with roles. Gives what its tasks store; a fault for each member that is left waiting. */
#include "ir/interp/team.h"

/* ---- setting up ---- */

static void member_make(Team *t, int workgroup, int role, int group) {
    Member *m = ARENA_NEW(t->w->arena, Member);
    m->team = t;
    m->role = &t->roles->role.p[role];
    m->number = role, m->workgroup = workgroup, m->group = group;
    m->end = ARENA_ARRAY(t->w->arena, End, t->roles->ring.n);
    for (int i = 0; i < t->roles->ring.n; i++)
        m->end[i].read = ARENA_ARRAY(t->w->arena, int64_t, t->roles->ring.p[i].slots);
    m->worker = (Worker){.rank = t->rank, .task = task_new(t->w, t->k), .member = m};
    m->worker.task->member = m;
    m->worker.task->calls = &member_calls;
    m->worker.task->worker = &m->worker;
    t->member[(workgroup * t->roles->role.n + role) * t->groups + group] = m;
    vec_push(t->w->arena, &t->worker, &m->worker);
}

static void queue_add(Team *t, int workgroup, int ring, int group) {
    Queue *q = queue_make(t, workgroup, ring, group);
    t->queue[(workgroup * t->roles->ring.n + ring) * t->groups + group] = q;
    vec_push(t->w->arena, &t->worker, &q->worker);
}

static void workgroup_make(Team *t, int workgroup) {
    for (int r = 0; r < t->roles->role.n; r++)
        for (int g = 0; g < team_groups(t, r); g++) member_make(t, workgroup, r, g);
    for (int r = 0; r < t->roles->ring.n; r++)
        for (int g = 0; g < ring_groups(t, &t->roles->ring.p[r]); g++) queue_add(t, workgroup, r, g);
}

static int64_t count_units(const Team *t) {
    int64_t n = 1;
    for (int i = 0; i < t->k->ngrid; i++) {
        int64_t tiles = range_tiles(t->w->m, t->k, i, t->w->sym);
        n *= i == t->roles->cluster_range ? ceil_div(tiles, t->roles->cluster) : tiles;
    }
    return n;
}

/* One to three, or as many as there are tasks, so that no two tasks meet in a workgroup. */
static int draw_clusters(Team *t) {
    enum { MOST = 16 };
    uint64_t draw = schedule_draw(&t->own) % 4;
    if (draw < 3) return 1 + (int)draw;
    return t->units < 1 ? 1 : t->units < MOST ? (int)t->units : MOST;
}

static Team *team_make(World *w, int rank, const Node *node) {
    Team *t = ARENA_NEW(w->arena, Team);
    *t = (Team){.w = w, .node = node, .k = node->kernel, .roles = node->kernel->roles, .rank = rank, .groups = 1};
    schedule_start(&t->own, w->seed + 7919 * (uint64_t)node->id + 104729 * (uint64_t)rank);
    for (int r = 0; r < t->roles->role.n; r++)
        if (team_groups(t, r) > t->groups) t->groups = team_groups(t, r);
    t->units = count_units(t);
    int clusters = draw_clusters(t);
    t->workgroups = clusters * t->roles->cluster;
    t->member = ARENA_ARRAY(w->arena, Member *, t->workgroups * t->roles->role.n * t->groups);
    t->queue = ARENA_ARRAY(w->arena, Queue *, t->workgroups * t->roles->ring.n * t->groups);
    t->taken = arena_alloc(w->arena, sizeof *t->taken * (size_t)clusters);
    for (int i = 0; i < t->workgroups; i++) workgroup_make(t, i);
    return t;
}

Team *team_of(World *w, int rank, const Node *node) {
    if (!w->roles || node->kind != NODE_CALL || !node->kernel->roles) return NULL;
    Team **slot = &w->team[rank * w->p->node.n + node->id];
    return *slot ? *slot : (*slot = team_make(w, rank, node));
}

/* ---- tasks ---- */

static void worker_begin(const Team *t, Worker *x) {
    Agents *a = t->w->agents;
    x->blocked = false;
    x->begun.n = 0;
    if (x->member) member_begin(x->member);
    if (x->queue) queue_begin(x->queue);
    if (!a || !x->member) return;
    x->clock = clock_copy(a, a->rank[t->rank].start);
    x->clock->at[x->entry] = x->clock->weak[x->entry] = (Stamp)t->generation << STAMP_SHIFT;
}

void team_begin(Team *t, int64_t generation) {
    t->generation = generation;
    t->next = t->left = 0;
    for (int i = 0; i < t->workgroups / t->roles->cluster; i++) t->taken[i].n = 0;
    for (int i = 0; i < t->worker.n; i++) {
        worker_begin(t, t->worker.p[i]);
        t->left += t->worker.p[i]->member != NULL;
    }
}

/* All that its members and copies did is before what follows the node. */
static void team_publish(Team *t, Agents *a) {
    RankRun *rank = &a->rank[t->rank];
    Stamp last = (Stamp)t->generation << STAMP_SHIFT | STAMP_LAST;
    for (int i = 0; i < t->worker.n; i++) {
        Worker *x = t->worker.p[i];
        if (x->clock) clock_join(a, rank->finish, x->clock);
        rank->finish->at[x->entry] = rank->finish->weak[x->entry] = last;
        clock_drop(a, x->clock);
        x->clock = NULL;
    }
    agents_done(a, t->rank, world_tasks(t->w, t->node));
}

static void team_end(Team *t) {
    for (int i = 0; i < t->worker.n; i++)
        if (t->worker.p[i]->queue) queue_check(t->worker.p[i]->queue);
    if (t->w->agents) team_publish(t, t->w->agents);
}

bool team_can_run(const Worker *x) {
    const Member *m = x->member;
    if (x->queue) return x->queue->under_way > 0;
    return m->team->left && !m->finished && !worker_is_blocked(x);
}

void team_turn(Schedule *s, Worker *x) {
    if (x->queue) {
        queue_bring(x->queue, schedule_draw(s));
        return;
    }
    member_turn(x->member);
    if (x->member->finished && --x->member->team->left == 0) team_end(x->member->team);
}

void team_blocked(const Worker *x) {
    const Member *m = x->member;
    if (!m || !m->team->left || m->finished) return;
    InterpFault f = blocked_fault(x);
    f.text = x->on.what;
    f.ring = x->on.what && x->on.ring >= 0 ? m->team->roles->ring.p[x->on.ring].name : NULL;
    world_fault(m->team->w, f);
}

/* ---- sequential runs ---- */

static bool can_run(const void *of, const Worker *x) {
    const Team *t = of;
    return !t->w->stopped && team_can_run(x);
}

void team_run(World *w, int rank, const Node *node, int64_t generation) {
    Team *t = team_of(w, rank, node);
    for (int i = t->own.worker.n; i < t->worker.n; i++) schedule_add(w, &t->own, t->worker.p[i]);
    team_begin(t, generation);
    for (Worker *x; (x = schedule_pick(&t->own, can_run, t));) team_turn(&t->own, x);
    for (int i = 0; i < t->worker.n && !w->stopped; i++) team_blocked(t->worker.p[i]);
    if (t->left) w->stopped = true;
}
