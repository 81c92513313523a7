/* turns.c: loops in turns. Turn j runs the pieces of the body in the order of the line, a piece of shift s for
   iteration j - s. Pieces of iterations that do not exist are left out, and those of other runs, which have turns of
   their own. Each iteration has a bank with its values, so that a read of an overwritten value is found. */
#include "ir/interp/team.h"

static const Op *end_of(const Op *loop) { return loop->region[0]->last; }

static Turning *turning_of(const Member *m, const Op *loop) {
    for (int i = 0; i < m->turning.n; i++)
        if (m->turning.p[i]->loop == loop) return m->turning.p[i];
    return NULL;
}

/* The loop in turns whose body, or an operation within, makes the value; NULL: none. */
static Turning *turning_around(const Member *m, const Value *v) {
    const Region *r = v->def ? v->def->in : v->arg_of;
    for (; r->parent; r = r->parent->in)
        if (r->parent->turn.n) return turning_of(m, r->parent);
    return NULL;
}

/* ---- setting up ---- */

static void turning_value(Arena *a, Turning *t, const Value *v) {
    t->index[v->id] = t->value.n;
    vec_push(a, &t->value, v);
}

static void turning_region(Arena *a, Turning *t, const Region *r) {
    for (int i = 0; r && i < r->arg.n; i++) turning_value(a, t, r->arg.p[i]);
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) turning_value(a, t, op->res.p[i]);
        for (int i = 0; i < 2; i++) turning_region(a, t, op->region[i]);
    }
}

static int last_shift(const Op *loop) {
    int most = 0;
    for (int i = 0; i < loop->turn.n; i++)
        if (loop->turn.p[i].shift > most) most = loop->turn.p[i].shift;
    return most;
}

static Turning *turning_make(Member *m, const Op *loop) {
    Arena *a = m->team->w->arena;
    Turning *t = ARENA_NEW(a, Turning);
    t->loop = loop;
    t->index = ARENA_ARRAY(a, int, m->team->k->nvalue);
    for (int i = 0; i < m->team->k->nvalue; i++) t->index[i] = -1;
    turning_region(a, t, loop->region[0]);
    t->made = ARENA_ARRAY(a, int64_t, t->value.n);
    t->banks = last_shift(loop) + 3;
    t->bank = ARENA_ARRAY(a, Tile *, t->banks);
    for (int i = 0; i < t->banks; i++) t->bank[i] = ARENA_ARRAY(a, Tile, t->value.n);
    vec_push(a, &m->turning, t);
    return t;
}

/* ---- values ---- */

static Tile *value_in(Member *m, Turning *t, int64_t iteration, const Value *v);

/* A carried value is what the iteration before yields, as soon as that is made. */
static void carried_take(Member *m, Turning *t, int64_t iteration, const Value *v, Tile *to) {
    const Value *from = end_of(t->loop)->arg.p[v->index];
    const Tile *x = t->index[from->id] < 0 ? tile_of(m->worker.task, from) : value_in(m, t, iteration - 1, from);
    if (x && x->held.holds != HOLDS_NOTHING) tile_copy(m->team->w, lane_of(v->type.elem), x, to);
}

/* Of an iteration that is not over; NULL of another. */
static Tile *value_in(Member *m, Turning *t, int64_t iteration, const Value *v) {
    if (iteration < 0 || iteration <= t->newest - t->banks) return NULL;
    int at = t->index[v->id];
    Tile *x = iteration == t->now ? tile_of(m->worker.task, v) : &t->bank[iteration % t->banks][at];
    if (x->held.holds == HOLDS_NOTHING && v->arg_of == t->loop->region[0] && iteration > 0)
        carried_take(m, t, iteration, v, x);
    return x;
}

static void values_forget(const Task *task, const Turning *t, int first) {
    for (int i = first; i < t->value.n; i++) tile_of(task, t->value.p[i])->held = (Held){0};
}

static void values_swap(const Task *task, const Turning *t, Tile *bank, bool load) {
    for (int i = 0; i < t->value.n; i++) {
        if (load)
            *tile_of(task, t->value.p[i]) = bank[i];
        else
            bank[i] = *tile_of(task, t->value.p[i]);
    }
}

static void values_go(const Task *task, Turning *t, int64_t iteration) {
    values_swap(task, t, t->bank[t->now % t->banks], false);
    values_swap(task, t, t->bank[iteration % t->banks], true);
    t->now = iteration;
}

static void iteration_go(Member *m, Turning *t, int64_t iteration) {
    Task *task = m->worker.task;
    const Region *body = t->loop->region[0];
    loop_step(task, t->loop, iteration);
    if (iteration == t->now) return;
    values_go(task, t, iteration);
    if (iteration <= t->newest) return;
    t->newest = iteration;
    values_forget(task, t, 0);
    for (int i = 0; i < body->arg.n; i++) value_in(m, t, iteration - 1, body->arg.p[i]);
}

bool turns_overwritten(const Member *m, const Value *v) {
    const Turning *t = turning_around(m, v);
    return t && !t->loop->runs && v->def && v->def->kind != OP_GET && t->made[t->index[v->id]] > t->now;
}

const Tile *turns_value(Member *m, const Value *v) {
    Turning *t = turning_around(m, v);
    return t ? value_in(m, t, t->now, v) : tile_of(m->worker.task, v);
}

const Tile *turns_made(const Member *m, const Value *v) {
    Turning *t = turning_around(m, v);
    if (!t) return tile_of(m->worker.task, v);
    int at = t->index[v->id];
    int64_t before = t->made[at];
    if (t->now > before) t->made[at] = t->now;
    return before < 0 || before == t->now || t->loop->runs ? tile_of(m->worker.task, v)
                                                           : &t->bank[before % t->banks][at];
}

/* ---- turns ---- */

/* The first operation of the piece from op on; NULL: no more. */
static const Op *piece_from(const Op *op, int piece) {
    while (op && (op->kind == OP_YIELD || op->piece != piece)) op = op->next;
    return op;
}

static bool entry_runs(const Turning *t, const Turn *entry) {
    int64_t iteration = t->turn - entry->shift;
    return iteration >= t->first && iteration < t->end && piece_from(t->loop->region[0]->first, entry->piece);
}

static void bracket_leave(Member *m) {
    m->brackets += m->in_bracket;
    m->in_bracket = false;
}

/* Groups pass through brackets one after the other: the first of them once the last has left the one before. */
static void bracket_enter(Member *m) {
    int groups = team_groups(m->team, m->number);
    if (m->in_bracket || groups == 1) return;
    const Member *before = team_member(m->team, m->workgroup, m->number, (m->group + groups - 1) % groups);
    m->in_bracket = true;
    m->gate = (Blocked){.seen = &before->brackets,
                        .want = m->brackets + (m->group > 0),
                        .flag = -1,
                        .tensor = -1,
                        .element = -1,
                        .what = "its turn between groups",
                        .ring = -1};
}

static bool ends_in_turn(const Turning *t) { return t->loop->ends && t->n >= t->loop->ends; }

/* The turn begins the group's last iterations: the group before has begun all of its own. */
static void turn_begin(Member *m, const Turning *t) {
    if (!ends_in_turn(t) || t->turn != t->n - t->loop->ends || m->group == 0) return;
    const Member *before = team_member(m->team, m->workgroup, m->number, m->group - 1);
    m->follow = (Blocked){.seen = &before->passed,
                          .want = m->passed + 1,
                          .flag = -1,
                          .tensor = -1,
                          .element = -1,
                          .what = "its turn to end a loop",
                          .ring = -1};
}

static void turn_end(Member *m, const Turning *t) {
    bracket_leave(m);
    m->passed += ends_in_turn(t) && t->turn == t->n - 1;
}

static void loop_leave(Member *m, Turning *t) {
    Task *task = m->worker.task;
    const Op *loop = t->loop;
    bracket_leave(m);
    for (int i = 0; i < loop->res.n; i++) {
        const Value *v = t->n ? end_of(loop)->arg.p[i] : loop->region[0]->arg.p[i];
        const Tile *x = t->n && t->index[v->id] >= 0 ? value_in(m, t, t->n - 1, v) : tile_of(task, v);
        tile_copy(task->w, lane_of(v->type.elem), x, tile_of(task, loop->res.p[i]));
    }
    values_go(task, t, 0); /* no two iterations of the next run share a tile */
    task_advance(task, loop);
}

/* From the iteration `first` on: all of them where the loop has no runs; what fills no run is done one by one. */
static void run_begin(Turning *t, int64_t first) {
    const int64_t left = t->n - first, runs = t->loop->runs ? t->loop->runs : left;
    t->first = t->turn = first;
    t->end = left < runs ? first + 1 : first + runs;
}

/* The turn behind the one that is over. */
static void turn_next(Member *m, Turning *t) {
    turn_end(m, t);
    t->at = 0;
    if (++t->turn == t->end + last_shift(t->loop) && t->end < t->n) run_begin(t, t->end);
}

/* To the next piece that runs, from the line's place on. */
static void turns_seek(Member *m, Turning *t) {
    const Op *loop = t->loop;
    for (; t->n && t->turn < t->end + last_shift(loop); turn_next(m, t)) {
        if (t->at == 0) turn_begin(m, t);
        for (; t->at < loop->turn.n; t->at++) {
            const Turn *entry = &loop->turn.p[t->at];
            if (!entry->alone) bracket_leave(m);
            if (!entry_runs(t, entry)) continue;
            if (entry->alone) bracket_enter(m);
            iteration_go(m, t, t->turn - entry->shift);
            m->worker.task->pc = piece_from(loop->region[0]->first, entry->piece);
            return;
        }
    }
    loop_leave(m, t);
}

void turns_begin(Task *task, const Op *loop) {
    Member *m = task->member;
    Turning *t = turning_of(m, loop);
    if (!t) t = turning_make(m, loop);
    t->n = loop_steps(task, loop);
    t->at = 0;
    run_begin(t, 0);
    t->now = t->newest = 0;
    for (int i = 0; i < t->value.n; i++) t->made[i] = -1;
    values_forget(task, t, loop->region[0]->arg.n);
    turns_seek(m, t);
}

void turns_next(Task *task, const Op *loop, const Op *done) {
    Turning *t = turning_of(task->member, loop);
    const Op *next = piece_from(done->next, loop->turn.p[t->at].piece);
    task->pc = next;
    if (next) return;
    t->at++;
    turns_seek(task->member, t);
}
