/* queue.c: the slots of a ring: what is copied comes at a time that the schedule draws, and is read then.
   A tile that a cluster shares has a part from each of its workgroups. */
#include "ir/interp/team.h"

#include <math.h>

/* ---- setting up ---- */

static bool region_has(const Region *r, OpKind kind, int ring) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == kind && op->ring == ring) return true;
    return false;
}

/* A queue of one group is for that group's threads, and for all of other roles. */
static bool is_end(const Queue *q, const Member *m, OpKind kind) {
    int own = m->role->in >= 0 ? m->role->in : m->number;
    if (q->ring->per == own && m->group != q->group) return false;
    return region_has(m->role->body, kind, q->number);
}

static void queue_ends(Queue *q) {
    const Team *t = q->team;
    for (int r = 0; r < t->roles->role.n; r++)
        for (int g = 0; g < team_groups(t, r); g++) {
            Member *m = team_member(t, q->workgroup, r, g);
            if (is_end(q, m, OP_PUT)) vec_push(t->w->arena, &q->writer, m);
            if (is_end(q, m, OP_GET)) vec_push(t->w->arena, &q->reader, m);
        }
}

static void slot_make(const Queue *q, Slot *s) {
    Arena *a = q->team->w->arena;
    s->range = ARENA_ARRAY(a, RangeState, q->team->k->range.n);
    s->tile = ARENA_ARRAY(a, Tile, q->ring->tile.n);
    s->filling = ARENA_ARRAY(a, Filling, q->writer.n);
    for (int i = 0; i < q->writer.n; i++) s->filling[i].flight = ARENA_ARRAY(a, Flight, q->ring->tile.n);
}

Queue *queue_make(Team *t, int workgroup, int ring, int group) {
    Queue *q = ARENA_NEW(t->w->arena, Queue);
    q->team = t, q->ring = &t->roles->ring.p[ring];
    q->number = ring, q->workgroup = workgroup, q->group = group;
    queue_ends(q);
    q->slot = ARENA_ARRAY(t->w->arena, Slot, q->ring->slots);
    for (int i = 0; i < q->ring->slots; i++) slot_make(q, &q->slot[i]);
    q->task = (Task){.w = t->w, .k = t->k, .node = t->node, .rank = t->rank, .worker = &q->worker};
    q->worker = (Worker){.rank = t->rank, .task = &q->task, .queue = q};
    return q;
}

void queue_begin(Queue *q) {
    q->full = 0;
    q->under_way = 0;
    q->task.generation = q->team->generation;
    for (int i = 0; i < q->ring->slots; i++) q->slot[i].number = q->slot[i].freed = -1;
}

Slot *queue_slot(const Queue *q, uint64_t number) { return &q->slot[number % (uint64_t)q->ring->slots]; }

bool queue_is_shared(const Queue *q) {
    for (int i = 0; i < q->ring->tile.n; i++)
        if (q->ring->tile.p[i].share >= 0 || q->ring->tile.p[i].sum) return q->team->roles->cluster > 1;
    return false;
}

Queue *queue_peer(const Queue *q, int i) {
    int cluster = q->team->roles->cluster, first = q->workgroup / cluster * cluster;
    return team_queue(q->team, first + i, q->number, q->group);
}

const Member *slot_holder(const Queue *q, uint64_t number) {
    for (int i = 0; i < q->reader.n; i++)
        if (q->reader.p[i]->end[q->number].frees + (uint64_t)q->ring->slots <= number) return q->reader.p[i];
    return NULL;
}

/* ---- slots that are full ---- */

static bool slot_is_full(const Queue *q, uint64_t number) {
    const Slot *s = queue_slot(q, number);
    return s->number == (int64_t)number && s->come == q->writer.n;
}

/* Where workgroup i's part of a shared tile begins. */
static int64_t part_begin(const Queue *q, int64_t n, int i) { return n * i / q->team->roles->cluster; }

/* Part `from` of workgroup from's tile goes to workgroup to. */
static void part_share(Queue *q, uint64_t number, int tile, int from, int to) {
    Tile *x = &queue_slot(queue_peer(q, from), number)->tile[tile],
         *y = &queue_slot(queue_peer(q, to), number)->tile[tile];
    Lane l = lane_of(q->ring->tile.p[tile].type.elem);
    Share s = {.outer = 1, .whole = y->n, .first = part_begin(q, y->n, from), .inner = 1};
    s.count = part_begin(q, y->n, from + 1) - s.first;
    if (x->n != y->n) {
        member_fault(q->writer.p[0],
                     arena_format(q->team->w->report_arena,
                                  "a cluster shares tiles of ring '%s' that are of different extents", q->ring->name));
        return;
    }
    share_take(q->team->w, l, &s, x, &q->task.temp[0]);
    share_give(q->team->w, l, &s, &q->task.temp[0], y);
}

static void element_add(const World *w, Lane l, Tile *to, const Tile *x, int64_t i) {
    if (l == LANE_INT)
        ((int64_t *)to->data)[i] = (int32_t)(uint32_t)(((int64_t *)to->data)[i] + ((const int64_t *)x->data)[i]);
    else if (l == LANE_DOUBLE)
        ((double *)to->data)[i] += ((const double *)x->data)[i];
    else
        ((float *)to->data)[i] += ((const float *)x->data)[i];
    if (!to->bound) return;
    const double own = bound_own(w, 1, lane_eps(l) * fabs(lane_get(l, to->data, i)));
    to->bound[i] = bound_join(w, bound_join(w, to->bound[i], x->bound[i]), own);
}

/* What the workgroups have written is added up in their order; then all have the sum. */
static void slot_sum(Queue *q, uint64_t number, int tile) {
    const World *w = q->team->w;
    const Lane l = lane_of(q->ring->tile.p[tile].type.elem);
    Tile *sum = &q->task.temp[0], *first = &queue_slot(queue_peer(q, 0), number)->tile[tile];
    const Share whole = {.outer = 1, .whole = first->n, .count = first->n, .inner = 1};
    share_take(w, l, &whole, first, sum);
    for (int from = 1; from < q->team->roles->cluster; from++)
        for (int64_t i = 0; i < first->n; i++)
            element_add(w, l, sum, &queue_slot(queue_peer(q, from), number)->tile[tile], i);
    for (int to = 0; to < q->team->roles->cluster; to++)
        share_give(w, l, &whole, sum, &queue_slot(queue_peer(q, to), number)->tile[tile]);
}

static void slot_share(Queue *q, uint64_t number) {
    int cluster = q->team->roles->cluster;
    for (int i = 0; i < q->ring->tile.n; i++)
        if (q->ring->tile.p[i].sum) slot_sum(q, number, i);
    for (int i = 0; i < q->ring->tile.n; i++)
        for (int from = 0; q->ring->tile.p[i].share >= 0 && from < cluster; from++)
            for (int to = 0; to < cluster; to++)
                if (from != to) part_share(q, number, i, from, to);
}

static void clocks_share(const Queue *q, uint64_t number) {
    Agents *a = q->team->w->agents;
    Slot *first = queue_slot(queue_peer(q, 0), number);
    for (int i = 1; a && i < q->team->roles->cluster; i++)
        clock_join(a, first->full, queue_slot(queue_peer(q, i), number)->full);
    for (int i = 1; a && i < q->team->roles->cluster; i++)
        clock_join(a, queue_slot(queue_peer(q, i), number)->full, first->full);
}

static bool cluster_is_full(const Queue *q, uint64_t number) {
    for (int i = 0; i < q->team->roles->cluster; i++)
        if (!slot_is_full(queue_peer(q, i), number)) return false;
    return true;
}

static void cluster_advance(Queue *q) {
    while (cluster_is_full(q, q->full)) {
        slot_share(q, q->full);
        clocks_share(q, q->full);
        for (int i = q->team->roles->cluster - 1; i >= 0; i--) {
            Queue *peer = queue_peer(q, i);
            if (peer != q) peer->full++;
        }
        q->full++;
    }
}

/* The clock is given. */
void queue_arrive(Queue *q, Slot *s, Clock *clock) {
    Agents *a = q->team->w->agents;
    if (a && s->full) {
        clock_join(a, s->full, clock);
        clock_drop(a, clock);
    } else {
        s->full = clock;
    }
    s->come++;
    if (queue_is_shared(q))
        cluster_advance(q);
    else
        while (slot_is_full(q, q->full)) q->full++;
}

/* ---- copies ---- */

static void flight_land(Queue *q, Slot *s, Flight *f, int tile) {
    World *w = q->team->w;
    Tile *own = &q->task.temp[0];
    Elem e = q->ring->tile.p[tile].type.elem;
    if (w->agents) agents_read(&q->task, f->part, f->copy, f->offset, f->n);
    tile_reserve(w, own, f->n);
    elems_load(f->part->t->elem, f->copy->data, f->offset, f->n, own->data);
    for (int64_t i = 0; own->bound && i < f->n; i++)
        own->bound[i] = f->copy->bound && f->offset[i] >= 0 ? f->copy->bound[f->offset[i]] : 0;
    share_give(w, lane_of(e), &f->share, own, &s->tile[tile]);
    f->set = false;
}

Stamp queue_stamp(const Queue *q, uint64_t number) {
    return ((Stamp)q->team->generation << STAMP_SHIFT) + (Stamp)number + 1;
}

static Clock *stamped(const Queue *q, const Slot *s, Clock *past) {
    if (past) past->at[q->worker.entry] = past->weak[q->worker.entry] = queue_stamp(q, (uint64_t)s->number);
    return past;
}

/* What it reads follows what the copy followed. */
static void flight_end(Queue *q, Slot *s, Flight *f, int tile) {
    q->worker.clock = stamped(q, s, f->past);
    flight_land(q, s, f, tile);
    if (f->past) clock_drop(q->team->w->agents, f->past);
    q->worker.clock = NULL;
}

/* Who gets the slot knows of what was read. */
static void filling_land(Queue *q, Slot *s, Filling *f) {
    q->under_way--;
    f->under_way = false;
    q->task.linear = s->task;
    for (int i = 0; i < q->ring->tile.n; i++)
        if (f->flight[i].set) flight_end(q, s, &f->flight[i], i);
    queue_arrive(q, s, stamped(q, s, f->past));
}

void queue_bring(Queue *q, uint64_t draw) {
    int at = (int)(draw % (uint64_t)q->under_way);
    for (int i = 0; i < q->ring->slots; i++)
        for (int k = 0; k < q->writer.n; k++) {
            Filling *f = &q->slot[i].filling[k];
            if (!f->under_way || at-- > 0) continue;
            filling_land(q, &q->slot[i], f);
            return;
        }
}

/* ---- at the end ---- */

void queue_check(const Queue *q) {
    for (int i = 0; i < q->writer.n; i++)
        for (int k = 0; k < q->reader.n; k++) {
            uint64_t puts = q->writer.p[i]->end[q->number].puts, gets = q->reader.p[k]->end[q->number].gets;
            if (puts == gets) continue;
            member_fault(q->reader.p[k],
                         arena_format(q->team->w->report_arena, "ring '%s' was put %llu times, and got %llu times",
                                      q->ring->name, (unsigned long long)puts, (unsigned long long)gets));
            return;
        }
}
