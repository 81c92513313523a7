/* group.c: a workgroup on a device: its threads run in random order, until all have ended. A thread stops where it
   waits for others: at the barrier, at an operation of its wave, at a word that has not come. */
#include "cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Group *emu;
static Fiber back; /* the emulator's thread */

Lane *lane_now(void) { return &emu->lane[emu->thread]; }
static void lane_leave(void) { fiber_switch(lane_now()->fiber, &back); }

void lane_wake(Group *g, int thread) {
    g->lane[thread].state = LANE_READY;
    g->lane[thread].on = NULL;
    g->ready[g->nready++] = thread;
}

void lanes_wake(Group *g, const void *on) {
    for (int i = 0; i < g->launch->threads; i++) {
        if (g->lane[i].on != on) continue;
        g->lane[i].on = NULL;
        g->polling = false;
        if (g->lane[i].state == LANE_BAR) lane_wake(g, i);
    }
}

void lane_wait(LaneState state, const void *on) {
    lane_now()->state = state;
    lane_now()->on = on;
    lane_leave();
}

void emu_fail(const char *format, ...) {
    char text[512];
    va_list args;
    int n = snprintf(text, sizeof text, "kernel '%s', workgroup %lld, thread %d ", emu->launch->kernel,
                     (long long)emu->number, emu->thread);
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    engine_mistake(text);
    for (;;) lane_leave();
}

int group_lanes(void) { return emu->launch->facts->machine.lanes; }

int group_waves(void) { return (emu->launch->threads + group_lanes() - 1) / group_lanes(); }

void group_pass_time(void) { emu->tick += 2; }

void group_yield(bool polling) {
    emu->polling |= polling;
    emu->yields = true;
    lane_wake(emu, emu->thread);
    lane_leave();
}

/* ---- what a thread calls ---- */

int tile_emu_thread(void) { return emu->thread; }
int64_t tile_emu_group(void) { return emu->number; }
int64_t tile_emu_groups(void) { return emu->launch->ngroups; }

char *tile_emu_lds(size_t bytes) {
    if (bytes && bytes != emu->lds.bytes)
        emu_fail("wants %zu bytes of LDS, the launch gives %zu", bytes, emu->lds.bytes);
    return emu->lds.base;
}

/* Launches before may not have ended for a thread that has not waited for them, where others of its workgroup have to.
 */
void follow_check(void) {
    Lane *l = lane_now();
    l->touched = true;
    if (emu->follows && !l->followed) emu_fail("touches memory, and has not followed the launches before");
}

void tile_emu_follow(void) {
    Lane *l = lane_now();
    if (l->touched) emu_fail("has touched memory before it follows the launches before");
    l->followed = emu->follows = true;
}

/* Behind all that the workgroup does: it ends when the launches before have. */
void tile_emu_end_behind(void) { emu->ends_behind = true; }

/* Nothing that the launch before does is known: flags say. */
void tile_emu_beside(void) {
    if (!emu->beside) emu->known = emu->launch->before;
    emu->beside = emu->launch->beside = true;
}

void tile_emu_check(const void *p, size_t bytes, int how, const void *value) {
    static const TouchKind kind[] = {[TILE_LOADS] = TOUCH_READ,
                                     [TILE_STORES] = TOUCH_STORE,
                                     [TILE_LOOKS] = TOUCH_READ,
                                     [TILE_ATOMICS] = TOUCH_ATOMIC,
                                     [TILE_SHARED_ATOMICS] = TOUCH_ATOMIC};
    if (how == TILE_LDS_LOADS || how == TILE_LDS_STORES)
        lds_check(p, bytes, how == TILE_LDS_STORES, value);
    else {
        bool early = how == TILE_LOOKS && !lane_now()->followed;
        if (how == TILE_COVERS || early)
            memory_covered(p, bytes, false);
        else
            global_check(p, bytes, kind[how], value);
    }
    if (how == TILE_ATOMICS) memory_check_own(p);
}

/* What a wave has acquired is known to all, and what it has drained is out. */
static void wave_sync(Wave *w) {
    if (!emu->launch->facts->machine.holds) w->undrained = 0;
    w->held = w->undrained;
    if (!w->talk) return;
    known_join(&emu->known, &w->talk->acquired);
    w->talk->acquired = (Clock){0};
}

void tile_emu_sync(void) {
    lane_now()->state = LANE_SYNC;
    if (++emu->waiting < emu->launch->threads) {
        lane_leave();
        return;
    }
    emu->waiting = 0;
    emu->polling = false;
    order_sync();
    emu->synced = emu->tick + 1;
    group_pass_time();
    for (int i = 0; i < group_waves(); i++) wave_sync(&emu->waves[i]);
    for (int i = 0; i < emu->launch->threads; i++)
        if (i != emu->thread) lane_wake(emu, i);
    lane_now()->state = LANE_READY;
}

/* ---- operations of a wave, or of more lanes ---- */

static bool is_complete(int first, int size) {
    for (int i = 0; i < size; i++)
        if (emu->lane[first + i].state != LANE_MEET) return false;
    return true;
}

static void meet_check(int first, int size) {
    const MeetArg *mine = &lane_now()->arg;
    for (int i = 0; i < size; i++) {
        const MeetArg *other = &emu->lane[first + i].arg;
        if (other->work != mine->work || other->op != mine->op || other->size != mine->size)
            emu_fail("and lane %d of its wave are at different operations", i);
    }
}

void lanes_meet(MeetArg arg) {
    int first = emu->thread / arg.size * arg.size, left = emu->launch->threads - first;
    int size = left < arg.size ? left : arg.size;
    lane_now()->arg = arg;
    lane_now()->state = LANE_MEET;
    if (!is_complete(first, size)) {
        lane_leave();
        return;
    }
    meet_check(first, size);
    arg.work(first, size);
    for (int i = 0; i < size; i++)
        if (first + i != emu->thread) lane_wake(emu, first + i);
    lane_now()->state = LANE_READY;
}

static void shuffle(int first, int n) {
    uint32_t value[EMU_LANES];
    Lane *lane = &emu->lane[first];
    for (int i = 0; i < n; i++) {
        int from = lane[i].arg.from;
        if (from < 0 || from >= n) emu_fail("is in a wave whose lane %d wants the value of lane %d", i, from);
        value[i] = lane[from].arg.value;
    }
    for (int i = 0; i < n; i++) lane[i].arg.value = value[i];
}

static void multiply(int first, int n) {
    const MeetArg *arg[EMU_LANES];
    if (n < group_lanes()) emu_fail("multiplies in a wave of %d lanes", n);
    for (int i = 0; i < n; i++) arg[i] = &emu->lane[first + i].arg;
    matrix_multiply(arg[0]->op, arg, n);
}

static void any(int first, int n) {
    uint32_t sum = 0;
    for (int i = 0; i < n; i++) sum |= emu->lane[first + i].arg.value;
    for (int i = 0; i < n; i++) emu->lane[first + i].arg.value = sum;
}

static void wave_sync_lds(int first, int n) {
    (void)n;
    order_meet(emu, first / group_lanes(), NULL);
}

uint32_t tile_emu_shuffle(uint32_t x, int lane) {
    lanes_meet((MeetArg){.work = shuffle, .size = group_lanes(), .value = x, .from = lane});
    return lane_now()->arg.value;
}

void tile_emu_multiply(const tile_emu_matrix *op, void *d, const void *a, const void *b) {
    lanes_meet((MeetArg){.work = multiply, .size = group_lanes(), .op = op, .d = d, .a = a, .b = b});
}

bool tile_emu_wave_any(bool x) {
    lanes_meet((MeetArg){.work = any, .size = group_lanes(), .value = x});
    return lane_now()->arg.value;
}

void tile_emu_wave_sync(void) { lanes_meet((MeetArg){.work = wave_sync_lds, .size = group_lanes()}); }

/* ---- turns ---- */

static void lane_main(void) {
    emu->launch->run(emu->launch->call);
    if (lane_now()->stores) emu_fail("ends, and has not waited for its stores by tiles");
    if (emu->left == 1) cluster_end_check();
    if (emu->left == 1 && emu->launch->dependent && !emu->follows && !emu->ends_behind)
        emu_fail("ends, and has not followed the launches before");
    lane_now()->state = LANE_DONE;
    emu->left--;
    for (;;) lane_leave();
}

/* Nothing goes on in the workgroup. */
static void stuck_check(void) {
    char text[512], missing[256];
    int in[LANE_DONE + 1] = {0};
    if (cluster_waits(emu, missing, sizeof missing)) {
        emu->polling = true;
        return;
    }
    for (int i = 0; i < emu->launch->threads; i++) in[emu->lane[i].state]++;
    snprintf(text, sizeof text,
             "kernel '%s', workgroup %lld: %d of %d threads wait at a barrier, %d at one of some threads or of copies, "
             "and %d "
             "for lanes of their waves that do not come%s",
             emu->launch->kernel, (long long)emu->number, in[LANE_SYNC], emu->launch->threads, in[LANE_BAR],
             in[LANE_MEET], missing);
    engine_mistake(text);
}

bool group_begin(Group *g, Launch *l, int64_t number, Cluster *c, int rank) {
    emu = g;
    g->launch = l;
    g->number = number;
    g->cluster = c;
    g->rank = rank;
    g->waiting = g->nready = 0;
    g->polling = g->follows = g->ends_behind = g->beside = false;
    g->left = l->threads;
    g->start = g->tick += 2;
    g->synced = g->start - 1;
    g->known = l->begin;
    memset(g->waves, 0, sizeof g->waves);
    bool good = lds_open(&g->lds, l->lds_bytes);
    for (int i = 0; i < l->threads; i++) {
        g->lane[i] = (Lane){.fiber = fiber_take()};
        if (!g->lane[i].fiber) return false;
        fiber_begin(g->lane[i].fiber, lane_main);
        lane_wake(g, i);
    }
    return good;
}

bool group_turn(Group *g) {
    emu = g;
    g->yields = false;
    copies_drift(g->cluster);
    if (!g->nready) copies_arrive(g->cluster);
    for (int i = 0; i < group_waves(); i++)
        if (g->waves[i].talk) words_drift(g->waves[i].talk);
    int steps = 1 + (int)(engine_random() % 1024);
    while (steps-- && g->nready && !g->yields && !engine_interrupts()) {
        int pick = (int)((engine_random() >> 32) * (uint64_t)g->nready >> 32);
        g->thread = g->ready[pick];
        g->wave = g->thread / group_lanes();
        g->ready[pick] = g->ready[--g->nready];
        fiber_switch(&back, lane_now()->fiber);
    }
    if (!g->nready && g->left) stuck_check();
    return !g->left;
}

/* All that it did is known to the launches behind. */
void group_end(Group *g) {
    Launch *l = g->launch;
    emu = g;
    uint64_t all = g->tick + 1;
    g->known.place[g->place] = (Known){all, all, all};
    for (int i = 0; i < EMU_WAVES; i++) {
        if (g->waves[i].talk) known_join(&g->known, &g->waves[i].talk->acquired);
        talk_end(g->waves[i].talk);
    }
    known_join(&l->end, &g->known);
    cluster_leave(g);
    for (int i = 0; i < l->threads && g->lane[i].fiber; i++) {
        lane_copies_drop(&g->lane[i]);
        fiber_give(g->lane[i].fiber);
        g->lane[i].fiber = NULL;
    }
    g->launch = NULL;
    l->ended++;
}
