/* overlap.c: rings over the bytes of others: what a put may overwrite.
   A slot's bytes are those of its tiles, whole; groups with queues of their own share them in their order. */
#include "ir/interp/team.h"

/* Of a slot, with a share for each group that has a queue of its own. */
static int64_t slot_bytes(const Member *m, const Queue *q) {
    int64_t bytes = 0;
    for (int i = 0; i < q->ring->tile.n; i++) {
        const Type *type = &q->ring->tile.p[i].type;
        int64_t n = 1;
        for (int k = 0; k < type->nrange; k++) n *= role_extent(m->worker.task, type->range[k]);
        bytes += (n * elem_bits(type->elem) + 7) / 8;
    }
    return bytes / ring_groups(m->team, q->ring);
}

static int64_t slot_begins(const Member *m, const Queue *q, uint64_t number) {
    return (q->group * q->ring->slots + (int64_t)(number % (uint64_t)q->ring->slots)) * slot_bytes(m, q);
}

static int bytes_of(const Roles *r, int ring) { return r->ring.p[ring].over >= 0 ? r->ring.p[ring].over : ring; }

static bool overlaps(const Member *m, const Queue *q, uint64_t number, const Queue *other, uint64_t held) {
    int64_t at = slot_begins(m, q, number), begin = slot_begins(m, other, held);
    return at < begin + slot_bytes(m, other) && begin < at + slot_bytes(m, q);
}

static bool holds_bytes(const Member *m, const Queue *q, uint64_t number, const Queue *other) {
    for (int i = 0; i < other->ring->slots; i++) {
        const Slot *s = &other->slot[i];
        if (s->number < 0 || !slot_holder(other, (uint64_t)s->number + (uint64_t)other->ring->slots)) continue;
        if (overlaps(m, q, number, other, (uint64_t)s->number)) return true;
    }
    return false;
}

static bool ring_is_clear(const Member *m, const Queue *q, uint64_t number, int other) {
    for (int g = 0; g < ring_groups(m->team, &m->team->roles->ring.p[other]); g++)
        if (holds_bytes(m, q, number, team_queue(m->team, q->workgroup, other, g))) return false;
    return true;
}

/* No slot of another ring that has these bytes too is in use. */
bool ring_has_room(const Member *m, const Queue *q, uint64_t number) {
    const Roles *r = m->team->roles;
    for (int i = 0; i < r->ring.n; i++) {
        if (i == q->number || bytes_of(r, i) != bytes_of(r, q->number) || ring_is_clear(m, q, number, i)) continue;
        member_fault(m, arena_format(m->team->w->report_arena,
                                     "a put into ring '%s', whose bytes a slot of ring '%s' still has", q->ring->name,
                                     r->ring.p[i].name));
        return false;
    }
    return true;
}
