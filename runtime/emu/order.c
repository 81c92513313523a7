/* order.c: order of accesses to LDS. Waves of a cluster learn of each other's accesses where they meet, and of a copy
   or a product where its end is waited for. Copies and products know of threads' stores, and copies to LDS of
   threads' reads, only behind a fence. After FastTrack (Flanagan and Freund, PLDI 2009). */
#include "cluster.h"

#include <string.h>

int order_actor(ActorKind kind) {
    Cluster *c = emu->cluster;
    if (c->nactors == CLUSTER_ACTORS) emu_fail("has more barriers and copies than the emulator can tell apart");
    c->actor[c->nactors] = (Actor){(uint8_t)kind, (uint8_t)emu->wave};
    return c->nactors++;
}

const char *order_name(ActorKind kind) {
    static const char *const name[] = {
        [ACTOR_LOADS] = "which a copy that nobody has waited for",
        [ACTOR_ROWS] = "which a thread's copy that nobody has waited for",
        [ACTOR_PRODUCTS] = "which a product that nobody has waited for",
        [ACTOR_STORES] = "which a store by tiles that nobody has waited for",
        [ACTOR_COPIES] = "which a thread's copy that it has not waited for",
    };
    return name[kind];
}

WaveView *order_wave(void) { return &emu->cluster->member[emu->rank].wave[emu->wave]; }

static int actor_of(const Group *g, int wave) { return g->rank * group_waves() + wave; }

Touch order_touch(TouchKind kind) {
    int actor = actor_of(emu, emu->wave), lane = emu->thread % group_lanes();
    return (Touch){order_wave()->time, (uint16_t)actor, 0, (uint8_t)lane, (uint8_t)kind};
}

Touch order_touch_by(int actor, uint32_t time, TouchKind kind) {
    return (Touch){time, (uint16_t)actor, 0, LANE_SEVERAL, (uint8_t)kind};
}

/* What a thread's own fence says of an actor's stores. */
static uint32_t fenced_by(const Lane *l, const WaveView *w, int actor) {
    int own = actor_of(emu, (int)(l - emu->lane) / group_lanes());
    return !l->fence ? 0 : actor == own ? l->fence : w->view.seen[actor];
}

bool order_knows(const Touch *t, const Touch *by) {
    const WaveView *w = order_wave();
    bool async = by->kind == TOUCH_ASYNC_READ || by->kind == TOUCH_ASYNC_STORE,
         own = t->actor == actor_of(emu, emu->wave);
    int lane = by->lane == LANE_SEVERAL ? emu->thread % group_lanes() : by->lane;
    if (own && t->lane != lane && t->tick >= w->joined) return false;
    if (async && (t->kind == TOUCH_LDS_STORE || (t->kind == TOUCH_LDS_READ && by->kind == TOUCH_ASYNC_STORE)))
        return t->tick <= w->view.fenced[t->actor] || t->tick <= fenced_by(lane_now(), w, t->actor);
    return own || t->tick <= w->view.seen[t->actor];
}

static bool completes_barrier(int kind) { return kind == ACTOR_LOADS || kind == ACTOR_ROWS; }

void order_least(int first, int waves, View *kept) {
    const Member *m = &emu->cluster->member[emu->rank];
    View *mine = &order_wave()->view;
    *kept = *mine;
    for (int a = 0; a < emu->cluster->nactors; a++)
        for (int w = first; w < first + waves && completes_barrier(emu->cluster->actor[a].kind); w++)
            if (m->wave[w].view.seen[a] < mine->seen[a]) mine->seen[a] = m->wave[w].view.seen[a];
}

static void raise(uint32_t *to, const uint32_t *from, int n) {
    for (int i = 0; i < n; i++) to[i] = to[i] > from[i] ? to[i] : from[i];
}

static void view_join(View *to, const View *from) {
    raise(to->seen, from->seen, emu->cluster->nactors);
    raise(to->fenced, from->fenced, emu->cluster->nactors);
}

/* What the wave did so far, others may know; what it does from now on has a later time. */
static void wave_pass(WaveView *w, int actor) { w->view.seen[actor] = w->time++; }

static void fences_tell(const Lane *l, const WaveView *w, View *to) {
    for (int i = 0; l->fence && i < emu->cluster->nactors; i++) {
        uint32_t upto = fenced_by(l, w, i);
        raise(&to->fenced[i], &upto, 1);
    }
}

void order_release(View *to) {
    WaveView *w = order_wave();
    wave_pass(w, actor_of(emu, emu->wave));
    view_join(to, &w->view);
    fences_tell(lane_now(), w, to);
}

void order_acquire(const View *from) {
    WaveView *w = order_wave();
    fences_tell(lane_now(), w, &w->view); /* what it learns now it has not fenced */
    lane_now()->fence = 0;
    view_join(&w->view, from);
    w->time++;
}

void order_fence(void) {
    WaveView *w = order_wave();
    wave_pass(w, actor_of(emu, emu->wave));
    lane_now()->fence = w->view.seen[actor_of(emu, emu->wave)];
}

void order_learn(int wave, int actor, uint32_t time) {
    WaveView *w = &emu->cluster->member[emu->rank].wave[wave];
    raise(&w->view.seen[actor], &time, 1);
    raise(&w->view.fenced[actor], &time, 1);
    w->time++;
}

void order_meet(Group *g, int wave, const View *from) {
    WaveView *w = &emu->cluster->member[g->rank].wave[wave];
    if (from) view_join(&w->view, from);
    for (int i = 0; from && i < group_lanes(); i++) g->lane[wave * group_lanes() + i].fence = 0;
    w->joined = ++w->time;
}

/* Where nothing but threads of this workgroup has been at work, all is over. */
void order_sync(void) {
    Cluster *c = emu->cluster;
    View all = {0};
    if (c->nactors == group_waves()) {
        lds_forget(&emu->lds);
        return;
    }
    for (int i = 0; i < group_waves(); i++) {
        WaveView *w = &c->member[emu->rank].wave[i];
        wave_pass(w, actor_of(emu, i));
        view_join(&all, &w->view);
        for (int k = 0; k < group_lanes(); k++) fences_tell(&emu->lane[i * group_lanes() + k], w, &all);
    }
    for (int i = 0; i < group_waves(); i++) order_meet(emu, i, &all);
}
