/* roles_wait.c: counts for the waits for products. wgmma.wait_group n waits until at most n groups are under way. A
   role that needs a group's sums or slots waits with the number of groups that it has surely committed since, on every
   path. A walk over the role's body keeps these numbers; at loops until no number falls any more. */
#include "codegen/gpu/roles.h"

#include <string.h>

enum { GROUPS = 16, BACK = 3, NEVER = 64 /* more groups than a role has under way */ };

/* since[g][b]: groups committed since the (b + 1)-th latest of group g; flight: groups under way, at most. */
typedef struct {
    int since[GROUPS][BACK], flight;
} State;

typedef struct {
    const Role *role;
    const Op *group[GROUPS]; /* their last mma */
    int n;
    Arena *arena;
    Waits *to;
} Walk;

/* ---- groups ---- */

static bool ends_piece(const Op *op, const Op *mma) {
    return op->piece != mma->piece || op->kind == OP_READY || op->kind == OP_FREE || op->kind == OP_YIELD ||
           op->kind == OP_FOR || op->kind == OP_IF;
}

bool mma_ends_group(const Op *mma) {
    for (const Op *op = mma->next; op && !ends_piece(op, mma); op = op->next)
        if (op->kind == OP_MMA) return false;
    return true;
}

static int group_of(const Walk *w, const Op *mma) {
    while (!mma_ends_group(mma) || mma->kind != OP_MMA) mma = mma->next;
    for (int g = 0; g < w->n; g++)
        if (w->group[g] == mma) return g;
    return 0;
}

/* ---- turns ---- */

static int turn_at(const Op *op) {
    const Op *loop = op->in->parent;
    for (int i = 0; loop && loop->kind == OP_FOR && i < loop->turn.n; i++)
        if (loop->turn.p[i].piece == op->piece) return i;
    return -1;
}

int op_shift(const Op *op) {
    int at = turn_at(op);
    return at < 0 ? 0 : op->in->parent->turn.p[at].shift;
}

/* Which of the latest of the group the operation asks for: 0, or one of earlier turns. */
static int back_of(const Op *op, const Op *group) {
    if (op->in != group->in || turn_at(op) < 0) return 0;
    int back = op_shift(op) - op_shift(group) - (turn_at(op) < turn_at(group));
    return back < 0 ? 0 : back < BACK ? back : BACK - 1;
}

/* ---- what an operation waits for ---- */

static void least(int *n, int x) {
    if (x < *n) *n = x;
}

static void sums_need(const Walk *w, const State *s, const Op *op, const Value *v, bool late, int depth, int *n) {
    enum { DEPTH = 8 /* loops around each other */ };
    const Op *d = v->def, *loop = d ? d : v->arg_of->parent;
    if (depth > DEPTH) return;
    if (d && d->kind == OP_MMA) {
        int g = group_of(w, d);
        least(n, s->since[g][late ? 0 : back_of(op, w->group[g])]);
    } else if (loop->kind == OP_FOR) {
        sums_need(w, s, op, loop->region[0]->last->arg.p[v->index], late, depth + 1, n);
        sums_need(w, s, op, loop->arg.p[v->index + 2], late, depth + 1, n);
    } else if (loop->kind == OP_IF) {
        for (int i = 0; i < 2 && loop->region[i]; i++)
            sums_need(w, s, op, loop->region[i]->last->arg.p[v->index], late, depth + 1, n);
    }
}

static bool reads_ring(const Op *mma, int ring) {
    for (int i = 0; i < 2; i++)
        if (mma->arg.p[i]->def && mma->arg.p[i]->def->kind == OP_GET && mma->arg.p[i]->def->ring == ring) return true;
    return false;
}

/* late: behind the loop, or at the end of a run, where no group of the turn has come before. */
static void slot_needs(const Walk *w, const State *s, const Op *op, bool late, int *n) {
    for (const Op *x = walk(w->role->body); x; x = walk_next(x, w->role->body)) {
        if (x->kind != OP_MMA || !reads_ring(x, op->ring)) continue;
        int g = group_of(w, x), back = late ? 0 : back_of(op, w->group[g]);
        least(n, s->since[g][back]);
    }
}

static void wait_note(Walk *w, const Op *op, State *s, int n, bool late) {
    if (n >= s->flight || n >= NEVER) n = NEVER;
    Wait *found = NULL;
    for (int i = 0; i < w->to->wait.n; i++)
        if (w->to->wait.p[i].op == op) found = &w->to->wait.p[i];
    if (!found) {
        vec_push(w->arena, &w->to->wait, ((Wait){op, NEVER, NEVER}));
        found = &vec_last(&w->to->wait);
    }
    least(late ? &found->last : &found->but, n);
    least(&s->flight, late ? found->last : found->but);
}

/* ---- the walk ---- */

static void commit(Walk *w, State *s, const Op *mma) {
    int g = group_of(w, mma);
    for (int i = 0; i < w->n; i++)
        for (int b = 0; b < BACK; b++) s->since[i][b] += s->since[i][b] < NEVER;
    for (int b = BACK - 1; b > 0; b--) s->since[g][b] = s->since[g][b - 1];
    s->since[g][0] = 0;
    s->flight += s->flight < NEVER;
}

static bool join(State *to, const State *from) {
    State was = *to;
    for (int i = 0; i < GROUPS; i++)
        for (int b = 0; b < BACK; b++) least(&to->since[i][b], from->since[i][b]);
    if (from->flight > to->flight) to->flight = from->flight;
    return memcmp(&was, to, sizeof was) != 0;
}

static void ready_needs(const Walk *w, const State *s, const Op *op, bool late, int *n) {
    for (int i = 0; i < op->arg.n; i++) sums_need(w, s, op, op->arg.p[i], late, 0, n);
}

/* Where the last iterations of the loop, or of a run, are finished. */
static void walk_late(Walk *w, State *s, const Op *op) {
    const bool ready = op->kind == OP_READY && op->in->parent->runs;
    int n = NEVER;
    if (op->kind == OP_MMA && op->in->parent->runs && mma_ends_group(op)) commit(w, s, op);
    if (ready) ready_needs(w, s, op, true, &n);
    if (op->kind == OP_FREE) slot_needs(w, s, op, true, &n);
    if (ready || op->kind == OP_FREE) wait_note(w, op, s, n, true);
}

static void walk_region(Walk *, State *, const Region *);

static void walk_loop(Walk *w, State *s, const Op *loop) {
    for (bool moves = true; moves;) {
        State turn = *s;
        walk_region(w, &turn, loop->region[0]);
        moves = join(s, &turn);
    }
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op_shift(op)) walk_late(w, s, op);
}

static void walk_if(Walk *w, State *s, const Op *op) {
    State other = *s;
    walk_region(w, s, op->region[0]);
    walk_region(w, &other, op->region[1]);
    join(s, &other);
}

static void walk_op(Walk *w, State *s, const Op *op) {
    int n = NEVER;
    switch (op->kind) {
    case OP_MMA:
        if (mma_ends_group(op)) commit(w, s, op);
        break;
    case OP_READY:
        ready_needs(w, s, op, false, &n);
        wait_note(w, op, s, n, false);
        break;
    case OP_FREE:
        slot_needs(w, s, op, false, &n);
        wait_note(w, op, s, n, false);
        break;
    case OP_FOR: walk_loop(w, s, op); break;
    case OP_IF: walk_if(w, s, op); break;
    case OP_PUT: walk_region(w, s, op->region[0]); break;
    default: break;
    }
}

static void walk_region(Walk *w, State *s, const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) walk_op(w, s, op);
}

void hip_role_waits(Arena *a, const Role *role, Waits *to) {
    Walk w = {.role = role, .arena = a, .to = to};
    State s = {.flight = 0};
    for (int i = 0; i < GROUPS; i++)
        for (int b = 0; b < BACK; b++) s.since[i][b] = NEVER;
    for (const Op *op = walk(role->body); op; op = walk_next(op, role->body))
        if (op->kind == OP_MMA && mma_ends_group(op) && w.n < GROUPS) w.group[w.n++] = op;
    walk_region(&w, &s, role->body);
    walk_region(&w, &s, role->body); /* of the next task */
    for (int i = 0; i < to->wait.n; i++) {
        Wait *x = &to->wait.p[i];
        if (x->but >= NEVER) x->but = NO_WAIT;
        if (x->last >= NEVER) x->last = NO_WAIT;
    }
}
