/* agent.c: workers take tickets in order and run their tasks under a schedule drawn from the seed.
   A turn is one load, store, wait or signal and what follows it up to the next. Gives faults: a deadlock names every
   word that is waited for. */
#include "ir/interp/team.h"

/* ---- setting up ---- */

static void mark_written(const Node *node, const Region *r, bool *written) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_STORE) written[node->arg.p[op->param].tensor] = true;
}

static void count_tickets(Agents *a) {
    const World *w = a->w;
    a->first_ticket = ARENA_ARRAY(w->arena, int64_t, w->ranks * w->p->node.n);
    for (int r = 0; r < w->ranks; r++) {
        RankRun *rank = &a->rank[r];
        for (int i = 0; i < w->p->node.n; i++) {
            a->first_ticket[r * w->p->node.n + i] = rank->tickets;
            rank->tickets += world_tasks(w, w->p->node.p[i]);
        }
        rank->entry = a->entries;
        a->entries += rank->tickets;
    }
    a->ticketed = a->entries;
}

/* Beside the tasks of tickets, each member and queue has a stamp in clocks. */
static void add_teams(Agents *a) {
    World *w = a->w;
    for (int r = 0; r < w->ranks; r++)
        for (int i = 0; i < w->p->node.n; i++) {
            const Team *t = team_of(w, r, w->p->node.p[i]);
            for (int k = 0; t && k < t->worker.n; k++) {
                t->worker.p[k]->entry = a->entries++;
                schedule_add(w, &a->schedule, t->worker.p[k]);
            }
        }
}

static void scan_program(Agents *a) {
    World *w = a->w;
    a->written = ARENA_ARRAY(w->arena, bool, w->p->tensor.n);
    for (int i = 0; i < w->p->tensor.n; i++) a->packets |= w->p->tensor.p[i].packet;
    for (int i = 0; i < w->p->node.n; i++) {
        const Node *n = w->p->node.p[i];
        if (n->kind == NODE_CALL)
            mark_written(n, n->kernel->body, a->written);
        else
            world_fault(w, (InterpFault){.kind = FAULT_INVALID,
                                         .at = {.rank = -1, .node = i},
                                         .other.rank = -1,
                                         .tensor = -1,
                                         .element = -1,
                                         .flag = -1,
                                         .text = "a collective in a module with flags"});
    }
}

void agents_make(World *w, const InterpOptions *o) {
    Agents *a = w->agents = ARENA_NEW(w->arena, Agents);
    int each = o->workers > 0 ? o->workers : 2, workers = each * w->ranks;
    a->w = w;
    schedule_start(&a->schedule, o->seed);
    Worker *worker = ARENA_ARRAY(w->arena, Worker, workers);
    a->rank = ARENA_ARRAY(w->arena, RankRun, w->ranks);
    scan_program(a);
    count_tickets(a);
    flags_make(a);
    vec_push(w->arena, &a->read, (Read){0});
    for (int i = 0; i < workers; i++) {
        worker[i].rank = i / each;
        schedule_add(w, &a->schedule, &worker[i]);
    }
    add_teams(a);
    for (int r = 0; r < w->ranks; r++) {
        a->rank[r].generation = 1;
        a->rank[r].start = clock_new(a);
        a->rank[r].finish = clock_new(a);
    }
}

/* ---- tasks of a worker ---- */

static const Node *ticket_node(const Agents *a, int rank, int64_t ticket, int64_t *linear) {
    const Program *p = a->w->p;
    int i = p->node.n - 1;
    while (a->first_ticket[rank * p->node.n + i] > ticket) i--; /* nodes without tasks share a first ticket */
    *linear = ticket - a->first_ticket[rank * p->node.n + i];
    return p->node.p[i];
}


/* Where nodes are launches: a node's first ticket waits until all before it are done, and follows them. */
static bool begins_launch(const Agents *a, int rank) {
    int nodes = a->w->p->node.n;
    bool launches = (a->w->m->form & FORM_LAUNCHES) || !(a->w->m->form & FORM_FLAGS);
    for (int i = 0; launches && i < nodes; i++)
        if (a->first_ticket[rank * nodes + i] == a->rank[rank].next) return true;
    return false;
}

/* A team takes all tasks of its node at once. */
static bool team_takes(Agents *a, RankRun *rank, int r) {
    int64_t linear;
    const Node *node = ticket_node(a, r, rank->next, &linear);
    Team *team = team_of(a->w, r, node);
    if (!team) return false;
    rank->next += world_tasks(a->w, node);
    team_begin(team, rank->generation);
    return true;
}

static void worker_take(Agents *a, Worker *worker) {
    RankRun *rank = &a->rank[worker->rank];
    int64_t linear;
    if (begins_launch(a, worker->rank)) clock_join(a, rank->start, rank->finish);
    if (team_takes(a, rank, worker->rank)) return;
    worker->ticket = rank->next++;
    worker->entry = rank->entry + worker->ticket;
    worker->clock = clock_copy(a, rank->start);
    Stamp begin = (Stamp)rank->generation << STAMP_SHIFT;
    worker->clock->at[worker->entry] = worker->clock->weak[worker->entry] = begin;
    const Node *node = ticket_node(a, worker->rank, worker->ticket, &linear);
    worker->task = task_begin(a->w, node, worker->rank, rank->generation, linear);
    worker->task->worker = worker;
}

static void worker_finish(Agents *a, Worker *worker) {
    RankRun *rank = &a->rank[worker->rank];
    Stamp last = (Stamp)rank->generation << STAMP_SHIFT | STAMP_LAST;
    worker->clock->at[worker->entry] = worker->clock->weak[worker->entry] = last;
    clock_join(a, rank->finish, worker->clock);
    clock_drop(a, worker->clock);
    worker->clock = NULL;
    task_end(worker->task);
    worker->task = NULL;
    agents_done(a, worker->rank, 1);
}

static bool at_turn(const Task *t) {
    OpClass class = op_info[t->pc->kind].class;
    return class == CLASS_MEMORY || class == CLASS_SYNC;
}

static void worker_turn(Agents *a, Worker *worker) {
    if (worker->member || worker->queue) {
        team_turn(&a->schedule, worker);
        return;
    }
    if (!worker->task) worker_take(a, worker);
    if (!worker->task) return;
    worker->blocked = false;
    Step step = STEP_FINISHED;
    do step = task_step(worker->task);
    while (step == STEP_DONE && !at_turn(worker->task));
    if (step == STEP_BLOCKED) worker->blocked = true;
    if (step == STEP_FINISHED) worker_finish(a, worker);
}

/* ---- the schedule ---- */

static bool worker_can_run(const void *of, const Worker *worker) {
    const Agents *a = of;
    const RankRun *rank = &a->rank[worker->rank];
    if (a->w->stopped) return false;
    if (worker->member || worker->queue) return team_can_run(worker);
    if (worker->task) return !worker_is_blocked(worker);
    if (rank->generation > a->generations || rank->next >= rank->tickets) return false;
    return rank->done == rank->next || !begins_launch(a, worker->rank);
}

static void report_blocked(Agents *a) {
    for (int i = 0; i < a->schedule.worker.n; i++) {
        const Worker *x = a->schedule.worker.p[i];
        if (x->member || x->queue) team_blocked(x);
        if (x->member || x->queue || !x->task) continue;
        world_fault(a->w, blocked_fault(x));
    }
}

void agents_run(World *w, int64_t generations) {
    Agents *a = w->agents;
    a->generations = generations;
    if (w->report->faults) return;
    for (Worker *x; (x = schedule_pick(&a->schedule, worker_can_run, a));) worker_turn(a, x);
    if (!w->stopped) report_blocked(a);
}
