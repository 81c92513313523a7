/* ring.c: put, copy, write, get and free, by a member of a team.
   put waits until all who read a slot have freed it; get, until all who fill it have. Both ends release and acquire. */
#include "ir/interp/team.h"

#include <math.h>

/* The queues of a ring that the member sees: its group's, or those of all groups. */
typedef struct {
    int first, last;
} Groups;

static Groups groups_of(const Member *m, int ring) {
    const Ring *r = &m->team->roles->ring.p[ring];
    int own = m->role->in >= 0 ? m->role->in : m->number;
    if (r->per == own) return (Groups){m->group, m->group};
    return (Groups){0, ring_groups(m->team, r) - 1};
}

static Queue *queue_of(const Member *m, int ring, int group) { return team_queue(m->team, m->workgroup, ring, group); }

static const char *format_ring(const Member *m, const char *format, int ring) {
    return arena_format(m->team->w->report_arena, format, m->team->roles->ring.p[ring].name);
}

static Step block(Member *m, const uint64_t *seen, uint64_t want, const char *what, int ring) {
    m->worker.on =
        (Blocked){.seen = seen, .want = want, .flag = -1, .tensor = -1, .element = -1, .what = what, .ring = ring};
    return STEP_BLOCKED;
}

static int writer_number(const Queue *q, const Member *m) {
    int i = 0;
    while (q->writer.p[i] != m) i++;
    return i;
}

/* ---- put ---- */

static const Member *cluster_holder(const Queue *q, uint64_t number) {
    const Member *holder = slot_holder(q, number);
    for (int i = 0; !holder && queue_is_shared(q) && i < q->team->roles->cluster; i++)
        holder = slot_holder(queue_peer(q, i), number);
    return holder;
}

/* What is shared is written in all workgroups of the cluster. */
static bool cluster_has_room(const Member *m, const Queue *q, uint64_t number) {
    if (!queue_is_shared(q)) return ring_has_room(m, q, number);
    for (int i = 0; i < m->team->roles->cluster; i++)
        if (!ring_has_room(m, queue_peer(q, i), number)) return false;
    return true;
}

static void tile_poison(const World *w, Lane l, Tile *x, int64_t n) {
    tile_reserve(w, x, n);
    for (int64_t i = 0; i < n; i++) {
        if (l == LANE_INT)
            ((int64_t *)x->data)[i] = (int64_t)0x9999999999999999;
        else if (l == LANE_DOUBLE)
            ((double *)x->data)[i] = NAN;
        else
            ((float *)x->data)[i] = NAN;
        if (x->bound) x->bound[i] = 0;
    }
}

static void slot_begin(const Member *m, const Queue *q, Slot *s, uint64_t number) {
    const Task *t = m->worker.task;
    if (t->w->agents) clock_drop(t->w->agents, s->full);
    s->full = NULL;
    s->number = (int64_t)number;
    s->task = t->linear;
    s->come = 0;
    for (int r = 0; r < t->k->range.n; r++) s->range[r] = role_range(t, r);
    for (int i = 0; i < q->ring->tile.n; i++) {
        Share whole = share_of(m, q->ring->tile.p[i].type);
        tile_poison(t->w, lane_of(q->ring->tile.p[i].type.elem), &s->tile[i], share_tile(&whole));
    }
}

/* Whether the member stands where the slot was begun: the same task, and the same tiles of the ranges of its tiles. */
static bool same_place(const Member *m, const Queue *q, const Slot *s) {
    const Task *t = m->worker.task;
    if (s->task != t->linear) return false;
    for (int i = 0; i < q->ring->tile.n; i++) {
        const Type *type = &q->ring->tile.p[i].type;
        for (int k = 0; k < type->nrange; k++) {
            RangeState r = role_range(t, type->range[k]);
            if (r.begin != s->range[type->range[k]].begin || r.end != s->range[type->range[k]].end) return false;
        }
    }
    return true;
}

static void put_into(Member *m, Queue *q, uint64_t number) {
    Agents *a = m->team->w->agents;
    Slot *s = queue_slot(q, number);
    for (int i = 0; a && i < (queue_is_shared(q) ? m->team->roles->cluster : 1); i++) {
        const Slot *peer = queue_is_shared(q) ? queue_slot(queue_peer(q, i), number) : s;
        if (peer->back) clock_join(a, m->worker.clock, peer->back);
    }
    if (s->number != (int64_t)number)
        slot_begin(m, q, s, number);
    else if (!same_place(m, q, s))
        member_fault(m, format_ring(m, "the groups of a role fill a slot of ring '%s' at different places", q->number));
}

/* A group of the cluster that has not come to the put, and may still read bytes that others would write; NULL: none. */
static const Member *group_behind(const Member *m, int ring, uint64_t number) {
    const Team *t = m->team;
    const int cluster = t->roles->cluster, first = m->workgroup / cluster * cluster;
    for (int w = first; w < first + cluster; w++)
        for (int g = 0; g < ring_groups(t, &t->roles->ring.p[ring]); g++) {
            const Member *x = team_queue(t, w, ring, g)->writer.p[0];
            if (x->end[ring].met <= number) return x;
        }
    return NULL;
}

static Step meet(Member *m, int ring, uint64_t number) {
    const Ring *r = &m->team->roles->ring.p[ring];
    if (!ring_sums(r) || r->over < 0) return STEP_DONE;
    m->end[ring].met = number + 1;
    const Member *behind = group_behind(m, ring, number);
    return behind ? block(m, &behind->end[ring].met, number + 1, "the other groups of its cluster", ring) : STEP_DONE;
}

Step ring_put(Task *t, const Op *op) {
    Member *m = t->member;
    uint64_t number = m->end[op->ring].puts;
    Groups g = groups_of(m, op->ring);
    if (meet(m, op->ring, number) == STEP_BLOCKED) return STEP_BLOCKED;
    for (int i = g.first; i <= g.last; i++) {
        const Queue *q = queue_of(m, op->ring, i);
        const Member *holder = cluster_holder(q, number);
        if (holder)
            return block(m, &holder->end[op->ring].frees, number - (uint64_t)q->ring->slots + 1, "a free slot",
                         op->ring);
        if (!cluster_has_room(m, q, number)) return STEP_BLOCKED;
    }
    m->filled = 0;
    for (int i = g.first; i <= g.last; i++) put_into(m, queue_of(m, op->ring, i), number);
    return STEP_DONE;
}

/* ---- copy and write ---- */

static const Op *put_around(const Op *op) {
    while (op->kind != OP_PUT) op = op->in->parent;
    return op;
}

static void fill_note(Member *m, const Op *op, int ring) {
    if (m->filled >> op->slot & 1)
        member_fault(m, format_ring(m, "a tile of a slot of ring '%s' is filled twice", ring));
    m->filled |= (uint64_t)1 << op->slot;
}

/* Offsets of what is outside altogether are negative: its elements are 0. */
static void flight_begin(Member *m, Flight *f, const View *view, const int64_t *offset, int64_t n, Type type) {
    const Task *t = m->worker.task;
    if (n > f->cap) {
        f->cap = n;
        f->offset = ARENA_ARRAY(t->w->arena, int64_t, n);
    }
    f->set = true;
    f->past = t->w->agents ? clock_release(t->w->agents, &m->worker) : NULL;
    f->part = view->part;
    f->copy = view_copy(t, view);
    f->n = n;
    f->share = share_of(m, type);
    for (int64_t i = 0; i < n; i++) f->offset[i] = offset ? offset[i] : -1;
}

Step ring_copy(Task *t, const Op *op) {
    Member *m = t->member;
    int ring = put_around(op)->ring;
    Type over;
    const View *view;
    int64_t n;
    const int64_t *offset = access_offsets(t, op, &over, &view, &n);
    if (!offset) view = &t->view[op->param * t->w->peers];
    const Copy *c = view_copy(t, view);
    if (offset && t->w->agents && c->packet && !agents_packet_ready(t, c, view, offset, n)) return STEP_BLOCKED;
    fill_note(m, op, ring);
    Groups g = groups_of(m, ring);
    for (int i = g.first; i <= g.last; i++) {
        Queue *q = queue_of(m, ring, i);
        Filling *f = &queue_slot(q, m->end[ring].puts)->filling[writer_number(q, m)];
        flight_begin(m, &f->flight[op->slot], view, offset, n, q->ring->tile.p[op->slot].type);
    }
    return STEP_DONE;
}

void ring_write(Task *t, const Op *op) {
    Member *m = t->member;
    int ring = put_around(op)->ring;
    Groups g = groups_of(m, ring);
    fill_note(m, op, ring);
    for (int i = g.first; i <= g.last; i++) {
        const Queue *q = queue_of(m, ring, i);
        Type type = q->ring->tile.p[op->slot].type;
        Share s = share_of(m, type);
        share_give(t->w, lane_of(type.elem), &s, tile_as(t, op->arg.p[0], type, 3),
                   &queue_slot(q, m->end[ring].puts)->tile[op->slot]);
    }
}

static bool is_under_way(const Queue *q, const Filling *f) {
    for (int i = 0; i < q->ring->tile.n; i++)
        if (f->flight[i].set) return true;
    return false;
}

/* What is written is there at once, what is copied when the queue brings it. */
static void put_end(Member *m, Queue *q, uint64_t number) {
    Agents *a = m->team->w->agents;
    Slot *s = queue_slot(q, number);
    Filling *f = &s->filling[writer_number(q, m)];
    Clock *past = a ? clock_release(a, &m->worker) : NULL;
    if (!is_under_way(q, f)) {
        queue_arrive(q, s, past);
        return;
    }
    f->under_way = true;
    f->past = past;
    q->under_way++;
    Begun begun = {.stamp = queue_stamp(q, number), .task = s->task};
    if (a) vec_push(a->w->arena, &q->worker.begun, begun);
}

/* A role that reads the ring on the same threads gets the slot before they go on. */
static void put_hand(Member *m, int ring) {
    const Queue *q = queue_of(m, ring, groups_of(m, ring).first);
    for (int i = 0; i < q->reader.n; i++) {
        const Member *x = q->reader.p[i];
        if (x->role->in != m->number || x->group != m->group) continue;
        block(m, &x->end[ring].gets, m->end[ring].puts, "the end of a store on its threads", ring);
        m->handing = m->worker.on;
    }
}

void ring_filled(Task *t, const Op *put) {
    Member *m = t->member;
    int ring = put->ring;
    Groups g = groups_of(m, ring);
    if (m->filled != ((uint64_t)1 << m->team->roles->ring.p[ring].tile.n) - 1)
        member_fault(m, format_ring(m, "a slot of ring '%s' has a tile that is not filled", ring));
    uint64_t number = m->end[ring].puts++;
    for (int i = g.first; i <= g.last; i++) put_end(m, queue_of(m, ring, i), number);
    put_hand(m, ring);
    task_advance(t, put);
}

/* ---- get and free ---- */

/* A role beside the groups gets the parts of all. */
static void parts_get(Member *m, int ring, uint64_t number, int tile, Tile *out) {
    const Task *t = m->worker.task;
    const Ring *r = &m->team->roles->ring.p[ring];
    Type type = r->tile.p[tile].type;
    int groups = ring_groups(m->team, r);
    for (int i = 0; i < groups; i++) {
        const Tile *whole = &queue_slot(queue_of(m, ring, i), number)->tile[tile];
        Share s = share_of_group(t, type, m->team->roles->role.p[r->per].split, groups, i);
        share_take(t->w, lane_of(type.elem), &s, whole, &m->part);
        share_give(t->w, lane_of(type.elem), &s, &m->part, out);
    }
}

static void tile_get(Member *m, const Op *op, int tile) {
    Task *t = m->worker.task;
    Groups g = groups_of(m, op->ring);
    uint64_t number = m->end[op->ring].gets;
    Tile *out = tile_make(t, op->res.p[tile]);
    if (g.first == g.last) {
        Type type = op->res.p[tile]->type;
        Share s = share_of(m, type);
        share_take(t->w, lane_of(type.elem), &s, &queue_slot(queue_of(m, op->ring, g.first), number)->tile[tile], out);
    } else {
        parts_get(m, op->ring, number, tile, out);
    }
    out->held = (Held){.holds = HOLDS_DATA, .ring = (int16_t)(1 + op->ring), .slot = number};
}

static Step get_from(Member *m, const Queue *q, uint64_t number) {
    const Slot *s = queue_slot(q, number);
    if (q->full <= number) return block(m, &q->full, number + 1, "a full slot", q->number);
    if (!same_place(m, q, s)) {
        member_fault(m, format_ring(m, "a slot of ring '%s' was put for another task or another step", q->number));
        return STEP_BLOCKED;
    }
    if (m->team->w->agents) clock_join(m->team->w->agents, m->worker.clock, s->full);
    return STEP_DONE;
}

Step ring_get(Task *t, const Op *op) {
    Member *m = t->member;
    Groups g = groups_of(m, op->ring);
    for (int i = g.first; i <= g.last; i++)
        if (get_from(m, queue_of(m, op->ring, i), m->end[op->ring].gets) == STEP_BLOCKED) return STEP_BLOCKED;
    for (int i = 0; i < op->res.n; i++) tile_get(m, op, i);
    m->end[op->ring].gets++;
    return STEP_DONE;
}

static void slot_free(Member *m, Slot *s, uint64_t number) {
    Agents *a = m->team->w->agents;
    if (s->freed != (int64_t)number) {
        clock_drop(a, s->back);
        s->back = clock_release(a, &m->worker);
        s->freed = (int64_t)number;
    } else {
        clock_join(a, s->back, m->worker.clock);
    }
}

void ring_free(Task *t, const Op *op) {
    Member *m = t->member;
    End *e = &m->end[op->ring];
    Groups g = groups_of(m, op->ring);
    if (e->frees == e->gets) {
        member_fault(m, format_ring(m, "a slot of ring '%s' is freed that was not got", op->ring));
        return;
    }
    hold_free(m, op->ring, e->frees);
    for (int i = g.first; t->w->agents && i <= g.last; i++)
        slot_free(m, queue_slot(queue_of(m, op->ring, i), e->frees), e->frees);
    e->frees++;
}
