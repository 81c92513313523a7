/* y = the sum of all ranks' x, and z = x's running sum over workgroups: flags between ranks, slots, tickets, flags of one
   node; values of x, of which all ranks see all but the first, are 0 to 999. The program of test/unit/rt_gpu_mesh.c. */
#include TARGET

#include "device/tile_flags.h"

#ifdef TILE_EMU
#include "device/tile_image.h"
#endif

enum { THREADS = 64, MOST = 1024, GROUPS = MOST / THREADS };

typedef struct {
    struct {
        const float *x;
        float *y, *z;
        int64_t n;
    } args;
    char *local;
    const tile_gpu_task *task;
} ranks_call;

TILE_FN float *slot_of(const tile_gpu_task *t, int rank, uint64_t g) {
    return (float *)t->symmetric[rank] + (g % 2) * MOST;
}

TILE_KERNEL(ranks_begin, ranks_call, 64) { if (tile_thread() == 0) tile_run_begin(call.task); }

TILE_KERNEL(ranks_look, ranks_call, 64) {
    if (tile_thread() == 0) tile_run_begin(call.task);
    tile_sync();
    for (int64_t i = tile_thread(); i < call.args.n; i += THREADS)
        tile_look_at(call.task, 0, i ? TILE_ALL : TILE_ONE, i, (int64_t)tile_load_f32(&call.args.x[i]), 0, 1000);
}

TILE_FN void finish(const ranks_call call, char *lds) {
    const tile_ending ending = tile_run_ending(call.task);
    if (tile_run_failed(lds, call.task, &ending) && tile_thread() < TILE_LANES) {
        tile_spoil(call.args.y, 4 * call.args.n, 0xff);
        tile_spoil(call.args.z, 4 * call.args.n, 0xff);
    }
    tile_run_end(call.task, &ending);
}

TILE_KERNEL(ranks_end, ranks_call, 64) {
    TILE_LDS(lds, 8);
    finish(call, lds);
}

TILE_KERNEL(give, ranks_call, 64) {
    const tile_gpu_task *const t = call.task;
    if (tile_refused(t)) return;
    const uint64_t g = tile_generation(t);
    const int64_t i = tile_group() * THREADS + tile_thread();
    if (i < call.args.n) tile_store_f32(&slot_of(t, t->rank, g)[i], tile_load_f32(&call.args.x[i]));
    tile_release(TILE_SYSTEM);
    for (int to = 0; to < t->nranks && tile_thread() == 0; to++)
        tile_publish(&t->word[to][t->rank * GROUPS + tile_group()], g, TILE_SYSTEM);
}

TILE_KERNEL(sum, ranks_call, 64) {
    TILE_LDS(lds, 8);
    const tile_gpu_task *const t = call.task;
    if (tile_refused(t)) return;
    const uint64_t g = tile_generation(t);
    const int64_t i = tile_group() * THREADS + tile_thread();
    bool late = false;
    for (int from = tile_thread(); from < t->nranks; from += THREADS)
        late |= tile_poll(t, &t->word[t->rank][from * GROUPS + tile_group()], g, TILE_SYSTEM, 0, from, tile_group());
    if (tile_any(lds, late)) return;
    float y = 0;
    for (int r = 0; r < t->nranks && i < call.args.n; r++) y += tile_load_f32(&slot_of(t, r, g)[i]);
    if (i < call.args.n) tile_store_f32(&call.args.y[i], y);
}

TILE_KERNEL(chain, ranks_call, 64) {
    TILE_LDS(lds, 8);
    const tile_gpu_task *const t = call.task;
    if (tile_refused(t)) return;
    const uint64_t g = tile_generation(t);
    const int64_t task = tile_take(lds, &t->ticket[0]), i = task * THREADS + tile_thread();
    tile_gpu_word *const done = &t->word[t->rank][t->nranks * GROUPS];
    bool late = false;
    if (task > 0 && tile_thread() == 0) late = tile_poll(t, &done[task - 1], g, TILE_DEVICE, 1, t->rank, task);
    if (tile_any(lds, late)) return;
    if (i < call.args.n) {
        const float before = task > 0 ? tile_load_f32(&call.args.z[i - THREADS]) : 0;
        tile_store_f32(&call.args.z[i], before + tile_load_f32(&call.args.x[i]));
    }
    tile_release(TILE_DEVICE);
    if (tile_thread() == 0) tile_publish(&done[task], g, TILE_DEVICE);
}

/* y[0] = x[0] of the rank before, as a packet. */
TILE_FN void pass_on(const ranks_call call, char *lds) {
    const tile_gpu_task *const t = call.task;
    const uint64_t g = tile_generation(t);
    const int next = (t->rank + 1) % t->nranks;
    const size_t at = 2 * sizeof(float) * MOST + g % 2 * sizeof(tile_packet);
    uint32_t bits = 0;
    bool late = false;
    tile_release_each(TILE_SYSTEM);
    if (tile_thread() == 0) {
        tile_packet_put((tile_packet *)(t->symmetric[next] + at), g, tile_bits_of_f32(tile_load_f32(call.args.x)));
        late = tile_packet_get(t, (const tile_packet *)(t->symmetric[t->rank] + at), g, &bits, 2, -1, 0);
    }
    if (tile_any(lds, late)) return;
    if (tile_thread() == 0) tile_store_f32(call.args.y, tile_f32_of_bits(bits));
}

TILE_KERNEL(pass, ranks_call, 64) {
    TILE_LDS(lds, 8);
    pass_on(call, lds);
}

/* The same, by the first of several workgroups, of which the last one ends the run. */
TILE_KERNEL(pass_last, ranks_call, 64) {
    TILE_LDS(lds, 8);
    if (tile_group() == 0) pass_on(call, lds);
    if (tile_is_last(lds, call.task->ticket)) finish(call, lds);
}

/* Ranks 0 and 1 answer each other n times; y[0] = nanoseconds of an answer and the question. */
TILE_KERNEL(turns, ranks_call, 64) {
    const tile_gpu_task *const t = call.task;
    const uint64_t g = tile_generation(t), first = (g - 1) * (uint64_t)call.args.n, begin = tile_clock_ns();
    const int peer = 1 - t->rank, at = t->nranks * GROUPS;
    if (tile_thread() || t->rank > 1) return;
    for (uint64_t k = 1; k <= (uint64_t)call.args.n; k++) {
        if (t->rank == 0) tile_publish(&t->word[peer][at], first + k, TILE_SYSTEM);
        if (tile_poll(t, &t->word[t->rank][at], first + k, TILE_SYSTEM, 0, peer, 0)) return;
        tile_fence_release(TILE_SYSTEM);
        if (t->rank == 1) tile_publish(&t->word[peer][at], first + k, TILE_SYSTEM);
    }
    tile_store_f32(&call.args.y[0], (float)(tile_clock_ns() - begin) / (float)call.args.n);
}

#ifdef TILE_EMU
extern "C" __attribute__((visibility("default"))) const tile_emu_symbol ranks_code[] = {
    {"ranks_begin", ranks_begin}, {"ranks_look", ranks_look}, {"give", give}, {"sum", sum}, {"chain", chain}, {"pass", pass}, {"pass_last", pass_last}, {"turns", turns},
    {"ranks_end", ranks_end}, {NULL, NULL}};
#endif
