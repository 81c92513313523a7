/* group.c: a workgroup on a device: its threads run in random order, until all have ended. A thread stops where it
   waits for others: at the barrier, at an operation of its wave, at a word that has not come. */
#include "emu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Group *emu;
static Fiber back; /* the emulator's thread */

static Lane *lane_now(void) { return &emu->lane[emu->thread]; }
static void lane_leave(void) { fiber_switch(lane_now()->fiber, &back); }

static void lane_ready(int thread) {
    emu->lane[thread].state = LANE_READY;
    emu->ready[emu->nready++] = thread;
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

static int lanes(void) { return emu->launch->machine->lanes; }

int group_waves(void) { return (emu->launch->threads + lanes() - 1) / lanes(); }

void group_pass_time(void) { emu->tick += 2; }

void group_yield(bool polling) {
    emu->polling |= polling;
    emu->yields = true;
    lane_ready(emu->thread);
    lane_leave();
}

/* ---- what a thread calls ---- */

int tile_emu_thread(void) { return emu->thread; }
int64_t tile_emu_group(void) { return emu->number; }
int64_t tile_emu_groups(void) { return emu->launch->ngroups; }

char *tile_emu_lds(size_t bytes) {
    if (bytes != emu->lds.bytes) emu_fail("wants %zu bytes of LDS, the launch gives %zu", bytes, emu->lds.bytes);
    return emu->lds.base;
}

/* Launches before may not have ended for a thread that has not waited for them, where others of its workgroup have to. */
static void follow_check(void) {
    Lane *l = lane_now();
    l->touched = true;
    if (emu->follows && !l->followed) emu_fail("touches memory, and has not followed the launches before");
}

void tile_emu_follow(void) {
    Lane *l = lane_now();
    if (l->touched) emu_fail("has touched memory before it follows the launches before");
    l->followed = emu->follows = true;
}

void tile_emu_check(const void *p, size_t bytes, int how, const void *value) {
    static const TouchKind kind[] = {[TILE_LOADS] = TOUCH_READ,
                                     [TILE_STORES] = TOUCH_STORE,
                                     [TILE_ATOMICS] = TOUCH_ATOMIC,
                                     [TILE_SHARED_ATOMICS] = TOUCH_ATOMIC};
    if (how == TILE_LDS_LOADS || how == TILE_LDS_STORES)
        lds_check(p, bytes, how == TILE_LDS_STORES, value);
    else {
        follow_check();
        if (how == TILE_COVERS)
            memory_covered(p, bytes, false);
        else
            global_check(p, bytes, kind[how], value);
    }
    if (how == TILE_ATOMICS) memory_check_own(p);
}

/* What a wave has acquired is known to all, and what it has drained is out. */
static void wave_sync(Wave *w) {
    if (!emu->launch->machine->holds) w->undrained = 0;
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
    emu->lds.epoch++;
    emu->synced = emu->tick + 1;
    group_pass_time();
    for (int i = 0; i < group_waves(); i++) wave_sync(&emu->waves[i]);
    for (int i = 0; i < emu->launch->threads; i++)
        if (i != emu->thread) lane_ready(i);
    lane_now()->state = LANE_READY;
}

/* ---- operations of a wave ---- */

static int wave_first(void) { return emu->thread / lanes() * lanes(); }

static int wave_size(void) {
    int left = emu->launch->threads - wave_first();
    return left < lanes() ? left : lanes();
}

static bool wave_complete(void) {
    for (int i = 0; i < wave_size(); i++)
        if (emu->lane[wave_first() + i].state != LANE_WAVE) return false;
    return true;
}

static void wave_check(void) {
    const WaveArg *mine = &lane_now()->arg;
    for (int i = 0; i < wave_size(); i++) {
        const WaveArg *other = &emu->lane[wave_first() + i].arg;
        if (other->kind != mine->kind || other->op != mine->op)
            emu_fail("and lane %d of its wave are at different operations", i);
    }
}

static void wave_shuffle(void) {
    uint32_t value[EMU_LANES];
    Lane *lane = &emu->lane[wave_first()];
    int n = wave_size();
    for (int i = 0; i < n; i++) {
        int from = lane[i].arg.from;
        if (from < 0 || from >= n) emu_fail("is in a wave whose lane %d wants the value of lane %d", i, from);
        value[i] = lane[from].arg.value;
    }
    for (int i = 0; i < n; i++) lane[i].arg.value = value[i];
}

static void wave_multiply(void) {
    const WaveArg *arg[EMU_LANES];
    if (wave_size() < lanes()) emu_fail("multiplies in a wave of %d lanes", wave_size());
    for (int i = 0; i < lanes(); i++) arg[i] = &emu->lane[wave_first() + i].arg;
    matrix_multiply(arg[0]->op, arg, lanes());
}

/* The last lane that comes does the work of all. */
static void wave_meet(WaveArg arg) {
    lane_now()->arg = arg;
    lane_now()->state = LANE_WAVE;
    if (!wave_complete()) {
        lane_leave();
        return;
    }
    wave_check();
    if (arg.kind == WAVE_SHUFFLE)
        wave_shuffle();
    else
        wave_multiply();
    for (int i = 0, first = wave_first(), n = wave_size(); i < n; i++)
        if (first + i != emu->thread) lane_ready(first + i);
    lane_now()->state = LANE_READY;
}

uint32_t tile_emu_shuffle(uint32_t x, int lane) {
    wave_meet((WaveArg){.kind = WAVE_SHUFFLE, .value = x, .from = lane});
    return lane_now()->arg.value;
}

void tile_emu_multiply(const tile_emu_matrix *op, void *d, const void *a, const void *b) {
    wave_meet((WaveArg){.kind = WAVE_MULTIPLY, .op = op, .d = d, .a = a, .b = b});
}

/* ---- turns ---- */

static void lane_main(void) {
    emu->launch->run(emu->launch->call);
    lane_now()->state = LANE_DONE;
    emu->left--;
    for (;;) lane_leave();
}

static void stuck_report(void) {
    char text[512];
    int sync = 0;
    for (int i = 0; i < emu->launch->threads; i++) sync += emu->lane[i].state == LANE_SYNC;
    snprintf(text, sizeof text,
             "kernel '%s', workgroup %lld: %d of %d threads wait at a barrier and %d for lanes of their waves that do "
             "not come",
             emu->launch->kernel, (long long)emu->number, sync, emu->launch->threads, emu->left - sync);
    engine_mistake(text);
}

bool group_begin(Group *g, Launch *l, int64_t number) {
    emu = g;
    g->launch = l;
    g->number = number;
    g->waiting = g->nready = 0;
    g->polling = g->follows = false;
    g->left = l->threads;
    g->start = g->tick += 2;
    g->synced = g->start - 1;
    g->known = l->begin;
    memset(g->waves, 0, sizeof g->waves);
    bool good = lds_open(&g->lds, l->lds_bytes);
    for (int i = 0; i < l->threads; i++) {
        g->lane[i].fiber = fiber_take();
        if (!g->lane[i].fiber) return false;
        fiber_begin(g->lane[i].fiber, lane_main);
        g->lane[i].touched = g->lane[i].followed = false;
        lane_ready(i);
    }
    return good;
}

bool group_turn(Group *g) {
    emu = g;
    g->yields = false;
    for (int i = 0; i < group_waves(); i++)
        if (g->waves[i].talk) words_drift(g->waves[i].talk);
    int steps = 1 + (int)(engine_random() % 1024);
    while (steps-- && g->nready && !g->yields && !engine_interrupts()) {
        int pick = (int)((engine_random() >> 32) * (uint64_t)g->nready >> 32);
        g->thread = g->ready[pick];
        g->wave = g->thread / lanes();
        g->ready[pick] = g->ready[--g->nready];
        fiber_switch(&back, lane_now()->fiber);
    }
    if (!g->nready && g->left) stuck_report();
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
    for (int i = 0; i < l->threads && g->lane[i].fiber; i++) {
        fiber_give(g->lane[i].fiber);
        g->lane[i].fiber = NULL;
    }
    g->launch = NULL;
    l->ended++;
}
