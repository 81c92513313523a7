/* role_run.c: rings are bounded queues with blocking ends, so that one run decides whether roles stop each other (Kahn
   networks). Runs count slots only, for drawn numbers of iterations, with a clock for each group: what a group surely
   did before an operation of another. */
#include "ir/verify/role_run.h"

#include "base/text.h"

#include <string.h>

enum { RUNS = 12 }; /* draws: two for each of the least trip counts */

/* What an agent has done with one copy of a ring: the clock of each put or free. */
typedef struct {
    VEC(const int *) put, back, met; /* met: of each MEET */
    int got;
} End;

/* A group of a role in a workgroup of the cluster. */
typedef struct {
    const Role *role;
    int group, workgroup;
    Events event;
    int at, brackets;
    int *clock;              /* by agent */
    VEC(const int *) when;   /* of each event */
    VEC(const int *) passed; /* of each PASS */
} Agent;

typedef struct {
    Verifier *v;
    const Kernel *k;
    Arena *arena;
    int agents, rings;
    Agent *agent;
    End *end;           /* by agent, ring and copy */
    int *next;          /* by role and workgroup: who goes next into brackets */
    const int **passed; /* likewise: the clock of who left last */
} Run;

enum { COPIES = 8 }; /* of a ring: groups of a workgroup */

static End *end_of(const Run *r, int agent, int ring, int copy) {
    return &r->end[(agent * r->rings + ring) * COPIES + copy];
}

static int role_number(const Run *r, const Agent *a) { return (int)(a->role - r->k->roles->role.p); }

static int turnstile(const Run *r, const Agent *a) { return a->workgroup * r->k->roles->role.n + role_number(r, a); }

/* ---- who is at a ring ---- */

static bool is_shared(const Run *r, int ring) {
    const Ring *x = &r->k->roles->ring.p[ring];
    for (int i = 0; i < x->tile.n; i++)
        if (x->tile.p[i].share >= 0 || x->tile.p[i].sum) return true;
    return false;
}

/* The agent, with what runs on its threads, does that with this copy. */
static bool does(const Run *r, const Agent *a, EventKind kind, int ring, int copy) {
    const Roles *roles = r->k->roles;
    int per = roles->ring.p[ring].per;
    for (int i = 0; i < roles->role.n; i++) {
        const Role *role = &roles->role.p[i];
        if (!role_is_of(roles, role, role_number(r, a))) continue;
        bool own = per < 0 || !role_is_of(roles, role, per) || a->group == copy;
        if (own && (kind == EVENT_PUT ? role_puts(role, ring) : role_reads(role, ring)) > 0) return true;
    }
    return false;
}

static bool meets(const Run *r, const Agent *a, int other, EventKind kind, const Event *e) {
    const Agent *b = &r->agent[other];
    return (b->workgroup == a->workgroup || is_shared(r, e->ring)) && does(r, b, kind, e->ring, e->copy);
}

/* ---- clocks ---- */

static void clock_join(const Run *r, Agent *a, const int *other) {
    for (int i = 0; i < r->agents && other; i++)
        if (other[i] > a->clock[i]) a->clock[i] = other[i];
}

static const int *clock_tick(const Run *r, Agent *a) {
    a->clock[a - r->agent]++;
    return arena_copy(r->arena, a->clock, sizeof *a->clock * (size_t)r->agents);
}

/* ---- events ---- */

/* All groups of the cluster have come to the put of number n: what they write may lie over bytes that any of them
   read. */
static bool have_met(const Run *r, Agent *a, int ring, int n) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r->agents; i++)
            for (int c = 0; c < ring_copies(r->k, ring); c++) {
                const End *e = end_of(r, i, ring, c);
                if (!does(r, &r->agent[i], EVENT_PUT, ring, c)) continue;
                if (e->met.n <= n) return false;
                if (pass) clock_join(r, a, e->met.p[n]);
            }
    return true;
}

static bool put_try(const Run *r, Agent *a, const Event *e) {
    End *own = end_of(r, (int)(a - r->agent), e->ring, e->copy);
    int need = own->put.n - r->k->roles->ring.p[e->ring].slots + 1;
    const Ring *x = &r->k->roles->ring.p[e->ring];
    if (ring_sums(x) && x->over >= 0 && !have_met(r, a, e->ring, own->put.n)) return false;
    for (int i = 0; i < r->agents; i++)
        if (meets(r, a, i, EVENT_GET, e) && end_of(r, i, e->ring, e->copy)->back.n < need) return false;
    for (int i = 0; i < r->agents && need > 0; i++)
        if (meets(r, a, i, EVENT_GET, e)) clock_join(r, a, end_of(r, i, e->ring, e->copy)->back.p[need - 1]);
    return true;
}

static bool get_try(const Run *r, Agent *a, const Event *e) {
    End *own = end_of(r, (int)(a - r->agent), e->ring, e->copy);
    for (int i = 0; i < r->agents; i++)
        if (meets(r, a, i, EVENT_PUT, e) && end_of(r, i, e->ring, e->copy)->put.n <= own->got) return false;
    for (int i = 0; i < r->agents; i++)
        if (meets(r, a, i, EVENT_PUT, e)) clock_join(r, a, end_of(r, i, e->ring, e->copy)->put.p[own->got]);
    own->got++;
    return true;
}

static bool enter_try(const Run *r, Agent *a) {
    if (r->next[turnstile(r, a)] != a->brackets * role_groups(a->role) + a->group) return false;
    clock_join(r, a, r->passed[turnstile(r, a)]);
    return true;
}

/* The group has passed a token on at least so often. */
static bool has_passed(const Run *r, Agent *a, const Agent *group, int n) {
    if (group->passed.n < n) return false;
    if (n > 0) clock_join(r, a, group->passed.p[n - 1]);
    return true;
}

/* Groups of a role lie beside each other. */
static bool follow_try(const Run *r, Agent *a) { return a->group == 0 || has_passed(r, a, a - 1, a->passed.n + 1); }

/* The group behind has taken the token before this one. */
static bool pass_try(const Run *r, Agent *a) {
    return a->group + 1 == role_groups(a->role) || has_passed(r, a, a + 1, a->passed.n);
}

static bool event_try(const Run *r, Agent *a, const Event *e) {
    switch (e->kind) {
    case EVENT_PUT:
    case EVENT_ROOM: return put_try(r, a, e);
    case EVENT_GET: return get_try(r, a, e);
    case EVENT_ENTER: return enter_try(r, a);
    case EVENT_FOLLOW: return follow_try(r, a);
    case EVENT_PASS: return pass_try(r, a);
    default: return true;
    }
}

static void event_end(const Run *r, Agent *a, const Event *e, const int *now) {
    End *own = e->ring >= 0 ? end_of(r, (int)(a - r->agent), e->ring, e->copy) : NULL;
    vec_push(r->arena, &a->when, now);
    if (e->kind == EVENT_PUT) vec_push(r->arena, &own->put, now);
    if (e->kind == EVENT_FREE) vec_push(r->arena, &own->back, now);
    if (e->kind == EVENT_MEET) vec_push(r->arena, &own->met, now);
    if (e->kind == EVENT_PASS) vec_push(r->arena, &a->passed, now);
    if (e->kind != EVENT_LEAVE) return;
    a->brackets++;
    r->next[turnstile(r, a)]++;
    r->passed[turnstile(r, a)] = now;
}

/* ---- the run ---- */

/* True: it could go on for a while, or found a violation. */
static bool agent_go(const Run *r, Agent *a) {
    int before = a->at;
    for (; a->at < a->event.n; a->at++) {
        const Event *e = &a->event.p[a->at];
        const End *own = e->kind == EVENT_FREE ? end_of(r, (int)(a - r->agent), e->ring, e->copy) : NULL;
        if (own && own->back.n >= own->got) {
            violation(r->v, e->op->loc, "role '%s' gives back a slot of ring '%s' before it gets it", a->role->name,
                      r->k->roles->ring.p[e->ring].name);
            a->at = a->event.n;
            return true;
        }
        if (!event_try(r, a, e)) break;
        event_end(r, a, e, clock_tick(r, a));
    }
    return a->at > before;
}

static const char *waits_for(EventKind kind) {
    return kind == EVENT_PUT || kind == EVENT_ROOM ? "a free slot" : kind == EVENT_GET ? "a full slot" : "its turn";
}

static bool is_named(const Run *r, int agent) {
    for (int i = 0; i < agent; i++)
        if (r->agent[i].role == r->agent[agent].role && r->agent[i].at < r->agent[i].event.n) return true;
    return false;
}

static void stuck_report(const Run *r) {
    Text text = {0};
    const Op *first = NULL;
    for (int i = 0; i < r->agents; i++) {
        const Agent *a = &r->agent[i];
        if (a->at == a->event.n || is_named(r, i)) continue;
        const Event *e = &a->event.p[a->at];
        text_printf(&text, "%s'%s' waits for %s", first ? ", " : "", a->role->name, waits_for(e->kind));
        if (e->ring >= 0) text_printf(&text, " of ring '%s'", r->k->roles->ring.p[e->ring].name);
        if (!first) first = e->op;
    }
    if (first) violation(r->v, first->loc, "its roles may stop each other: %s", text_str(&text));
    text_free(&text);
}

static void run_go(const Run *r) {
    int before = r->v->violations;
    for (bool again = true; again && r->v->violations == before;) {
        again = false;
        for (int i = 0; i < r->agents; i++) again |= agent_go(r, &r->agent[i]);
    }
    if (r->v->violations == before) stuck_report(r);
}

/* ---- order ---- */

/* The agent's event with clock a is before the event with clock b. */
static bool is_before(int agent, const int *a, const int *b) { return b[agent] >= a[agent]; }

/* Ring and copy: every one that reads gave back the slot of number n before the clock. */
static bool all_back(const Run *r, int workgroup, int ring, int copy, int n, const int *clock) {
    for (int i = 0; i < r->agents; i++) {
        const End *e = end_of(r, i, ring, copy);
        if (r->agent[i].workgroup == workgroup && does(r, &r->agent[i], EVENT_GET, ring, copy) &&
            (n >= e->back.n || !is_before(i, e->back.p[n], clock)))
            return false;
    }
    return true;
}

/* Of two rings of the same bytes, a slot of one is back before any of the other is filled. What a cluster sums is
   filled in all of its workgroups. */
static bool fill_apart(const Run *r, int agent, int ring, int copy, int other, int other_copy) {
    const End *e = end_of(r, agent, ring, copy);
    const bool all = ring_sums(&r->k->roles->ring.p[ring]);
    for (int b = 0; b < r->agents; b++) {
        const End *f = end_of(r, b, other, other_copy);
        const int workgroup = r->agent[b].workgroup;
        if (workgroup != r->agent[agent].workgroup && !all) continue;
        for (int n = 0; n < e->put.n; n++)
            for (int m = 0; m < f->put.n; m++)
                if (!all_back(r, workgroup, other, other_copy, m, e->put.p[n]) &&
                    !all_back(r, workgroup, ring, copy, n, f->put.p[m]))
                    return false;
    }
    return true;
}

static void over_verify(const Run *r, int ring) {
    const Ring *x = &r->k->roles->ring.p[ring];
    for (int i = 0; i < r->agents; i++)
        for (int c = 0; c < ring_copies(r->k, ring); c++)
            for (int d = 0; d < ring_copies(r->k, x->over); d++) {
                if (fill_apart(r, i, ring, c, x->over, d)) continue;
                violation(r->v, x->loc, "ring '%s' may be filled while ring '%s', whose bytes it has, is in use",
                          x->name, r->k->roles->ring.p[x->over].name);
                return;
            }
}

/* All tiles that the task gets, and all that it waits for, come before its signal. */
static void signal_verify(const Run *r, const Agent *a, int at) {
    const Event *signal = &a->event.p[at];
    for (int i = 0; i < r->agents; i++) {
        const Agent *b = &r->agent[i];
        for (int n = 0; n < b->event.n && b->workgroup == a->workgroup; n++) {
            const Event *e = &b->event.p[n];
            bool reads = e->kind == EVENT_GET && r->k->roles->ring.p[e->ring].tile.n,
                 counts = reads || e->kind == EVENT_WAIT;
            if (e->task != signal->task || !counts || is_before(i, b->when.p[n], a->when.p[at])) continue;
            violation(r->v, signal->op->loc, "role '%s' may signal before role '%s' %s", a->role->name, b->role->name,
                      e->kind == EVENT_WAIT
                          ? "waits"
                          : arena_format(r->arena, "gets ring '%s'", r->k->roles->ring.p[e->ring].name));
            return;
        }
    }
}

static void order_verify(const Run *r) {
    int before = r->v->violations;
    for (int i = 0; i < r->k->roles->ring.n; i++)
        if (r->k->roles->ring.p[i].over >= 0) over_verify(r, i);
    for (int i = 0; i < r->agents; i++)
        for (int n = 0; n < r->agent[i].event.n && r->v->violations == before; n++)
            if (r->agent[i].event.p[n].kind == EVENT_SIGNAL) signal_verify(r, &r->agent[i], n);
}

/* ---- all runs ---- */

static int agents_of(const Kernel *k) {
    int n = 0;
    for (int i = 0; i < k->roles->role.n; i++)
        if (k->roles->role.p[i].in < 0) n += role_groups(&k->roles->role.p[i]);
    return n;
}

static Run run_new(Verifier *v, const RoleCourse *c, unsigned draw) {
    enum { WORKGROUPS = 2 }; /* of a cluster: the others do what the second does */
    const Roles *roles = c->k->roles;
    int workgroups = roles->cluster < WORKGROUPS ? roles->cluster : WORKGROUPS, n = workgroups * agents_of(c->k),
        at = 0;
    Run r = {.v = v, .k = c->k, .arena = c->arena, .agents = n, .rings = roles->ring.n};
    r.agent = ARENA_ARRAY(r.arena, Agent, n + 1);
    r.end = ARENA_ARRAY(r.arena, End, n * r.rings * COPIES + 1);
    r.next = ARENA_ARRAY(r.arena, int, workgroups * roles->role.n + 1);
    r.passed = ARENA_ARRAY(r.arena, const int *, workgroups * roles->role.n + 1);
    for (int w = 0; w < workgroups; w++)
        for (int i = 0; i < roles->role.n; i++)
            for (int g = 0; g < role_groups(&roles->role.p[i]) && roles->role.p[i].in < 0; g++) {
                Agent *a = &r.agent[at++];
                a->role = &roles->role.p[i], a->group = g, a->workgroup = w;
                a->event = role_events(c, a->role, g, draw);
                a->clock = ARENA_ARRAY(r.arena, int, n);
            }
    return r;
}

void role_runs_verify(Verifier *v, const Kernel *k) {
    int before = v->violations;
    for (unsigned draw = 0; draw < RUNS && v->violations == before; draw++) {
        Arena *a = arena_new();
        const RoleCourse c = role_course(k, a);
        const Run r = run_new(v, &c, draw);
        run_go(&r);
        if (v->violations == before) order_verify(&r);
        arena_free(a);
    }
}
