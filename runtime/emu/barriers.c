/* barriers.c: where threads wait for fewer or more than their workgroup: barriers in LDS, whose phases arrivals and
   bytes of copies end; numbered barriers; the cluster's. PTX ISA, "mbarrier", "bar", "barrier.cluster". */
#include "cluster.h"

#include <string.h>

/* ---- in LDS ---- */

static Mbar *mbar_find(Group *g, uint32_t at) {
    Member *m = &g->cluster->member[g->rank];
    for (int i = 0; i < m->nmbars; i++)
        if (m->mbar[i].at == at) return &m->mbar[i];
    return NULL;
}

void tile_emu_mbar_init(uint32_t at, int count) {
    Member *m = &emu->cluster->member[emu->rank];
    size_t byte = shared_at(emu, at, 8, true);
    Touch by = order_touch(TOUCH_LDS_STORE);
    if (at % 8) emu_fail("makes a barrier at byte %zu of LDS: no multiple of 8", byte);
    if (mbar_find(emu, at)) emu_fail("makes the barrier at byte %zu of LDS once more", byte);
    if (count < 1) emu_fail("makes a barrier of %d arrivals", count);
    if (m->nmbars == GROUP_MBARS) emu_fail("makes more than %d barriers", GROUP_MBARS);
    lds_touch(&emu->lds, byte, 8, &by, NULL);
    m->mbar[m->nmbars++] =
        (Mbar){.group = emu, .at = at, .count = count, .missing = count, .actor = order_actor(ACTOR_LOADS), .made = by};
}

void tile_emu_mbar_init_done(void) { order_fence(); }

Mbar *mbar_at(Group *g, uint32_t at, TouchKind kind) {
    Mbar *b = mbar_find(g, at);
    Touch by = order_touch(kind);
    if (!b) emu_fail("uses a barrier at byte %zu of LDS, which nothing made", shared_at(g, at, 8, false));
    if (!order_knows(&b->made, &by))
        emu_fail("uses the barrier at byte %zu of LDS, which another made, with nothing between",
                 shared_at(g, at, 8, false));
    return b;
}

static void phase_end(Mbar *b) {
    b->phases++;
    b->missing = b->count;
    b->done = b->open;
    b->done.seen[b->actor] = b->done.fenced[b->actor] = b->phases;
    if (b->copies) b->done.seen[b->copies] = b->phases;
    lanes_wake(b->group, b);
}

void mbar_come(Mbar *b, int arrivals, int64_t bytes) {
    b->missing -= arrivals;
    b->bytes -= bytes;
    if (!b->missing && !b->bytes) phase_end(b);
}

void mbar_arrive(Mbar *b) {
    if (!b->missing)
        emu_fail("arrives once too often at the barrier at byte %zu of LDS", shared_at(b->group, b->at, 8, true));
    mbar_come(b, 1, 0);
}

/* bytes: that the arrival announces. */
static void arrive(Mbar *b, int bytes) {
    order_release(&b->open);
    b->bytes += bytes;
    mbar_arrive(b);
}

void tile_emu_mbar_arrive(uint32_t at, int rank) {
    Group *g = rank < 0 ? emu : cluster_group(rank);
    arrive(mbar_at(g, at, g == emu ? TOUCH_LDS_READ : TOUCH_ASYNC_READ), 0);
}

void tile_emu_mbar_expect(uint32_t at, int bytes) { arrive(mbar_at(emu, at, TOUCH_LDS_READ), bytes); }

void tile_emu_mbar_complete(uint32_t at, int rank, int bytes) {
    Group *g = cluster_group(rank);
    mbar_come(mbar_at(g, at, g == emu ? TOUCH_LDS_READ : TOUCH_ASYNC_READ), 0, bytes);
}

/* What is sent counts as stored when the barrier's phase ends: who has not waited for that does not know it. */
static Mbar *send(uint32_t at, uint32_t bar, int rank, const void *value, int bytes) {
    Group *g = cluster_group(rank);
    Mbar *b = mbar_at(g, bar, g == emu ? TOUCH_LDS_READ : TOUCH_ASYNC_READ);
    Touch by = order_touch_by(b->actor, b->phases + 1, TOUCH_LDS_STORE);
    size_t byte = shared_at(g, at, (size_t)bytes, true);
    if (at % (uint32_t)bytes) emu_fail("writes %d bytes at address %u of LDS: no multiple of %d", bytes, at, bytes);
    lds_touch(&g->lds, byte, (size_t)bytes, &by, NULL);
    memcpy(g->lds.base + byte, value, (size_t)bytes);
    return b;
}

void tile_emu_cluster_send(uint32_t at, uint32_t bar, int rank, const void *value, int bytes) {
    mbar_come(send(at, bar, rank, value, bytes), 0, bytes);
}

void tile_emu_cluster_pass(uint32_t at, uint32_t bar, int rank, int32_t x) {
    Mbar *b = send(at, bar, rank, &x, sizeof x);
    arrive(b, sizeof x);
    mbar_come(b, 0, sizeof x);
}

void tile_emu_mbar_wait(uint32_t at, int parity) {
    Mbar *b = mbar_at(emu, at, TOUCH_LDS_READ);
    if (parity & ~1) emu_fail("waits for parity %d", parity);
    while ((int)(b->phases & 1) == parity) lane_wait(LANE_BAR, b);
    if (order_wave()->view.seen[b->actor] < b->phases) order_acquire(&b->done);
}

/* ---- by their number ---- */

static void bar_end(Bar *b) {
    uint32_t waves = 0;
    b->done = b->open;
    b->come = 0;
    memset(&b->open, 0, sizeof b->open);
    for (int i = 0; i < emu->launch->threads; i++)
        if (emu->lane[i].on == b) waves |= 1u << i / group_lanes();
    for (int i = 0; i < group_waves(); i++)
        if (waves >> i & 1) order_meet(emu, i, &b->done);
    lanes_wake(emu, b);
}

void tile_emu_bar(int number, int threads, bool waits) {
    if (number < 0 || number >= GROUP_BARS) emu_fail("names the barrier %d of %d", number, GROUP_BARS);
    Bar *b = &emu->cluster->member[emu->rank].bar[number];
    if (threads % group_lanes()) emu_fail("meets %d threads, which are no whole waves", threads);
    if (b->come && b->of != threads)
        emu_fail("meets %d threads at barrier %d, others there %d", threads, number, b->of);
    b->of = threads;
    order_release(&b->open);
    if (waits) lane_now()->on = b;
    if (++b->come == threads)
        bar_end(b);
    else if (waits)
        lane_wait(LANE_BAR, b);
}

/* ---- of the cluster ---- */

static void cluster_end(Cluster *c) {
    c->phases++;
    c->come = 0;
    c->done = c->open;
    for (int r = 0; r < c->size; r++) {
        uint32_t waves = 0;
        for (int i = 0; c->member[r].group && i < emu->launch->threads; i++)
            if (c->member[r].group->lane[i].on == c) waves |= 1u << i / group_lanes();
        for (int i = 0; i < group_waves(); i++)
            if (waves >> i & 1) order_meet(c->member[r].group, i, &c->done);
        if (c->member[r].group) lanes_wake(c->member[r].group, c);
    }
}

void tile_emu_cluster_arrive(void) {
    Cluster *c = emu->cluster;
    Lane *l = lane_now();
    if (l->met) emu_fail("arrives at the cluster's barrier twice");
    l->met = c->phases + 1;
    order_release(&c->open);
    if (++c->come == c->size * emu->launch->threads) cluster_end(c);
}

void tile_emu_cluster_wait(void) {
    Cluster *c = emu->cluster;
    Lane *l = lane_now();
    if (!l->met) emu_fail("waits at the cluster's barrier, and has not arrived there");
    if (c->phases < l->met) lane_wait(LANE_BAR, c);
    l->met = 0;
    order_acquire(&c->done);
}

/* ---- what is missing ---- */

static bool may_go_on(const Cluster *c) {
    for (int r = 0; r < c->size; r++)
        if (c->member[r].group && c->member[r].group->nready) return true;
    return c->copies;
}

bool cluster_waits(const Group *g, char *text, size_t size) {
    const Cluster *c = g->cluster;
    const char *end = text + size;
    *text = 0;
    if (may_go_on(c)) return true;
    for (int r = 0; r < c->size; r++)
        for (int i = 0; c->member[r].group && i < c->member[r].nmbars; i++) {
            const Mbar *b = &c->member[r].mbar[i];
            bool awaited = false;
            for (int k = 0; k < g->launch->threads; k++) awaited |= c->member[r].group->lane[k].on == b;
            if (awaited && end - text > 128)
                text += snprintf(text, (size_t)(end - text),
                                 "; at the barrier at byte %zu of LDS miss %d arrivals and %lld bytes",
                                 shared_at(b->group, b->at, 8, false), b->missing, (long long)b->bytes);
        }
    return false;
}
