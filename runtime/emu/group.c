/* group.c: runs the workgroups of a launch: threads in random order, until all have ended. A thread stops where it
   waits for others: at the barrier, or at an operation of its wave. */
#include "emu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local Group *emu;
static _Thread_local char last_text[512];

const char *emu_text(void) { return last_text; }

uint64_t emu_random(void) {
    uint64_t z = (emu->random += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void text_set(const char *format, va_list args) {
    int n = snprintf(emu->text, sizeof emu->text, "kernel '%s', workgroup %lld, thread %d ", emu->launch->kernel,
                     (long long)emu->group, emu->thread);
    vsnprintf(emu->text + n, sizeof emu->text - (size_t)n, format, args);
}

static Lane *lane_now(void) { return &emu->lane[emu->thread]; }
static void lane_leave(void) { fiber_switch(&lane_now()->fiber, &emu->main); }

static void lane_ready(int thread) {
    emu->lane[thread].state = LANE_READY;
    emu->ready[emu->nready++] = thread;
}

void emu_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_set(format, args);
    va_end(args);
    emu->failed = true;
    for (;;) lane_leave();
}

/* ---- what a thread calls ---- */

int tile_emu_thread(void) { return emu->thread; }
int64_t tile_emu_group(void) { return emu->group; }

void tile_emu_begin(int threads, int lanes) {
    if (threads != emu->launch->threads)
        emu_fail("belongs to a workgroup of %d, the launch has %d", threads, emu->launch->threads);
    emu->lanes = lanes;
}

char *tile_emu_lds(size_t bytes) {
    if (bytes != emu->lds.bytes) emu_fail("wants %zu bytes of LDS, the launch gives %zu", bytes, emu->lds.bytes);
    return emu->lds.base;
}

void tile_emu_check(const void *p, size_t bytes, int how, const void *value) {
    (how == TILE_LDS_LOADS || how == TILE_LDS_STORES ? lds_check : global_check)(p, bytes, how, value);
}

void tile_emu_sync(void) {
    lane_now()->state = LANE_SYNC;
    if (++emu->waiting < emu->launch->threads) {
        lane_leave();
        return;
    }
    emu->waiting = 0;
    emu->lds.epoch++;
    for (int i = 0; i < emu->launch->threads; i++)
        if (i != emu->thread) lane_ready(i);
    lane_now()->state = LANE_READY;
}

/* ---- operations of a wave ---- */

static int wave_first(void) { return emu->thread / emu->lanes * emu->lanes; }

static int wave_size(void) {
    int left = emu->launch->threads - wave_first();
    return left < emu->lanes ? left : emu->lanes;
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
    if (wave_size() < emu->lanes) emu_fail("multiplies in a wave of %d lanes", wave_size());
    for (int i = 0; i < emu->lanes; i++) arg[i] = &emu->lane[wave_first() + i].arg;
    matrix_multiply(arg[0]->op, arg, emu->lanes);
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

/* ---- launches ---- */

static void lane_main(void) {
    emu->launch->run(emu->launch->call);
    lane_now()->state = LANE_DONE;
    for (;;) lane_leave();
}

static void check_all_ended(void) {
    int left = 0, sync = 0;
    for (int i = 0; i < emu->launch->threads; i++) {
        left += emu->lane[i].state != LANE_DONE;
        sync += emu->lane[i].state == LANE_SYNC;
    }
    if (!left) return;
    emu->failed = true;
    snprintf(emu->text, sizeof emu->text,
             "kernel '%s', workgroup %lld: %d of %d threads wait at a barrier and %d for lanes of their waves that do "
             "not come",
             emu->launch->kernel, (long long)emu->group, sync, emu->launch->threads, left - sync);
}

static void group_run(int64_t number) {
    emu->group = number;
    emu->waiting = emu->nready = 0;
    emu->lds.epoch++;
    if (emu->lds.bytes) memset(emu->lds.base, 0xff, emu->lds.bytes);
    for (int i = 0; i < emu->launch->threads; i++) {
        fiber_begin(&emu->lane[i].fiber, lane_main);
        lane_ready(i);
    }
    while (emu->nready && !emu->failed) {
        int pick = (int)(emu_random() % (uint64_t)emu->nready);
        emu->thread = emu->ready[pick];
        emu->ready[pick] = emu->ready[--emu->nready];
        fiber_switch(&emu->main, &lane_now()->fiber);
    }
    if (!emu->failed) check_all_ended();
}

static bool group_open(Group *g, const Launch *l) {
    bool good = true;
    g->launch = l;
    g->lds = (Lds){.base = aligned_alloc(256, (l->lds_bytes + 256) / 256 * 256),
                   .bytes = l->lds_bytes,
                   .touch = calloc(l->lds_bytes + 1, sizeof(Touch))};
    for (int i = 0; i < l->threads; i++) good = good && fiber_open(&g->lane[i].fiber);
    return good && g->lds.base && g->lds.touch;
}

static void group_close(Group *g) {
    for (int i = 0; i < EMU_THREADS; i++) fiber_close(&g->lane[i].fiber);
    free(g->lds.base);
    free(g->lds.touch);
    free(g);
}

/* A random order of all workgroups: i times an odd step, shifted, within a power of two. */
static void groups_run(void) {
    uint64_t n = (uint64_t)emu->launch->ngroups, size = 1;
    while (size < n) size *= 2;
    uint64_t step = emu_random() | 1, shift = emu_random();
    for (uint64_t i = 0; i < size && !emu->failed; i++) {
        uint64_t number = (i * step + shift) & (size - 1);
        if (number < n) group_run((int64_t)number);
    }
}

bool emu_launch(const Launch *l) {
    static _Atomic uint32_t launches;
    const char *seed = getenv("TILE_EMU_SEED");
    Group *g = calloc(1, sizeof *g);
    bool good = g && group_open(g, l);
    if (good) {
        g->number = ++launches;
        g->random = (seed ? strtoull(seed, NULL, 10) : 0) * 0x2545f4914f6cdd1du + g->number;
        emu = g;
        groups_run();
        emu = NULL;
        good = !g->failed;
    }
    snprintf(last_text, sizeof last_text, "%s", g && g->failed ? g->text : good ? "" : "out of memory");
    if (g) group_close(g);
    return good;
}
