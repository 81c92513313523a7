/* shadow.c: writers and readers of each element, to find accesses that nothing orders and reads of elements that
   nothing wrote. A write must know of the last write and of every read since; a read must know of the last write.
   Where one read knows of another, the later read stands for both. */
#include "ir/interp/agent.h"

void agents_make_shadow(World *w, const Part *p, Copy *c) {
    if (!w->agents->written[p->t->id]) return;
    c->cell = ARENA_ARRAY(w->arena, Cell, p->count);
    if (p->t->packet) c->packet = ARENA_ARRAY(w->arena, Packet, p->count);
}

/* Of a member of a team, or of what it copies. */
static InterpTask team_task(const Agents *a, int64_t entry, Stamp stamp) {
    int i = a->schedule.worker.n - 1, k = 0;
    while (a->schedule.worker.p[i]->entry != entry) i--;
    const Worker *x = a->schedule.worker.p[i];
    while (k + 1 < x->begun.n && x->begun.p[k + 1].stamp <= stamp) k++;
    InterpTask t = task_id(x->task);
    t.generation = stamp >> STAMP_SHIFT;
    if (k < x->begun.n) t.task = x->begun.p[k].task;
    return t;
}

static InterpTask agents_task(const Agents *a, int64_t entry, Stamp stamp) {
    if (entry >= a->ticketed) return team_task(a, entry, stamp);
    int rank = a->w->ranks - 1, node = a->w->p->node.n - 1;
    while (a->rank[rank].entry > entry) rank--;
    int64_t ticket = entry - a->rank[rank].entry;
    const int64_t *first = &a->first_ticket[rank * a->w->p->node.n];
    while (first[node] > ticket) node--;
    return (InterpTask){.rank = rank, .generation = stamp >> STAMP_SHIFT, .node = node, .task = ticket - first[node]};
}

static void fault_access(Task *t, FaultKind kind, const Part *p, int64_t element, int64_t entry, Stamp stamp) {
    InterpTask other = entry < 0 ? (InterpTask){.rank = -1} : agents_task(t->w->agents, entry, stamp);
    world_fault(t->w, (InterpFault){.kind = kind,
                                    .at = task_id(t),
                                    .other = other,
                                    .tensor = p->t->id,
                                    .home = p->rank,
                                    .element = element,
                                    .flag = -1});
}

/* ---- lists of readers ---- */

static int32_t read_new(Agents *a, Read r) {
    int32_t i = a->free_read;
    if (i) {
        a->free_read = a->read.p[i].next;
        a->read.p[i] = r;
        return i;
    }
    vec_push(a->w->arena, &a->read, r);
    return a->read.n - 1;
}

static void reads_note(Agents *a, Cell *c, const Stamp *known, int64_t entry) {
    Read *head = &a->read.p[c->reads];
    if (c->reads && known[head->reader] >= head->stamp) {
        head->reader = entry;
        head->stamp = known[entry];
        return;
    }
    c->reads = read_new(a, (Read){.reader = entry, .stamp = known[entry], .next = c->reads});
}

static void reads_check(Task *t, const Part *p, int64_t element, Cell *c, const Stamp *known) {
    Agents *a = t->w->agents;
    for (int32_t i = c->reads, next; i; i = next) {
        Read *r = &a->read.p[i];
        if (known[r->reader] < r->stamp) fault_access(t, FAULT_RACE, p, element, r->reader, r->stamp);
        next = r->next;
        r->next = a->free_read;
        a->free_read = i;
    }
    c->reads = 0;
}

/* ---- accesses ---- */

static bool made_by_run(const Part *p) { return p->t->role == ROLE_TEMP || p->t->role == ROLE_OUTPUT; }

static void cell_read(Task *t, const Part *p, Cell *c, int64_t element, bool packet) {
    const Clock *clock = t->worker->clock;
    if (!packet && c->writer && clock->at[c->writer - 1] < c->stamp)
        fault_access(t, FAULT_RACE, p, element, c->writer - 1, c->stamp);
    else if (made_by_run(p) && !c->writer)
        fault_access(t, FAULT_POISON, p, element, -1, 0);
    else if (made_by_run(p) && c->stamp >> STAMP_SHIFT != (Stamp)t->generation)
        fault_access(t, FAULT_POISON, p, element, c->writer - 1, c->stamp);
    reads_note(t->w->agents, c, packet ? clock->weak : clock->at, t->worker->entry);
}

void agents_read(Task *t, const Part *p, const Copy *c, const int64_t *offset, int64_t n) {
    if (!c->cell) return;
    for (int64_t i = 0; i < n; i++)
        if (offset[i] >= 0) cell_read(t, p, &c->cell[offset[i]], offset[i], c->packet);
}

static void cell_write(Task *t, const Part *p, Cell *c, int64_t element, bool packet, bool add) {
    const Clock *clock = t->worker->clock;
    const Stamp *stored = packet ? clock->weak : clock->at;
    if (c->writer && stored[c->writer - 1] < c->stamp && !(add && c->add))
        fault_access(t, FAULT_RACE, p, element, c->writer - 1, c->stamp);
    reads_check(t, p, element, c, clock->weak);
    c->writer = t->worker->entry + 1;
    c->stamp = clock->at[t->worker->entry];
    c->add = add;
}

/* The packets of one store tell of all that their task did before, through one shared clock. */
static void packets_write(Task *t, const Copy *c, const int64_t *offset, int64_t n) {
    Agents *a = t->w->agents;
    Clock *past = clock_release(a, t->worker);
    for (int64_t i = 0; i < n; i++) {
        if (offset[i] < 0) continue;
        Packet *p = &c->packet[offset[i]];
        clock_drop(a, p->clock);
        p->clock = past;
        p->generation = (uint64_t)t->generation;
        past->refs++;
    }
    clock_drop(a, past);
}

/* What a packet's sender read before it sent, such as this copy two generations ago, is before this store; what it stored
   elsewhere may still be on its way. */
void agents_write(Task *t, const Part *p, const Copy *c, const int64_t *offset, int64_t n, bool add) {
    for (int64_t i = 0; i < n; i++)
        if (offset[i] >= 0) cell_write(t, p, &c->cell[offset[i]], offset[i], c->packet, add);
    if (c->packet) packets_write(t, c, offset, n);
}

bool agents_packet_ready(Task *t, const Copy *c, const View *v, const int64_t *offset, int64_t n) {
    const Clock *last = NULL;
    for (int64_t i = 0; i < n; i++) {
        if (offset[i] < 0 || c->packet[offset[i]].generation == (uint64_t)t->generation) continue;
        t->worker->on = (Blocked){.seen = &c->packet[offset[i]].generation,
                                  .want = (uint64_t)t->generation,
                                  .equal = true,
                                  .flag = -1,
                                  .tensor = v->part->t->id,
                                  .home = v->part->rank,
                                  .element = offset[i]};
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        if (offset[i] < 0 || c->packet[offset[i]].clock == last) continue;
        last = c->packet[offset[i]].clock;
        clock_join_weak(t->w->agents, t->worker->clock, last);
    }
    return true;
}
