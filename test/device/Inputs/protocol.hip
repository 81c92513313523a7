/* Kernels that use every function of tile_flags.h, for protocol.c, which takes the fences, barriers and scopes of that
   text away one by one. */
#include TARGET

/* Is this kind of thing taken away from this line? */
extern "C" bool taken(char kind, int line);

#define NARROW(scope, line) ((scope) == TILE_SYSTEM && taken('n', line) ? TILE_DEVICE : (scope))
#define tile_drain() (taken('d', __LINE__) ? (void)0 : tile_drain())
#define tile_sync() (taken('s', __LINE__) ? (void)0 : tile_sync())
#define tile_fence_release(scope) (taken('r', __LINE__) ? (void)0 : tile_fence_release(NARROW(scope, __LINE__)))
#define tile_fence_acquire(scope) (taken('a', __LINE__) ? (void)0 : tile_fence_acquire(NARROW(scope, __LINE__)))
#define tile_word_load(p, scope) tile_word_load(p, NARROW(scope, __LINE__))
#define tile_word_store(p, v, scope) tile_word_store(p, v, NARROW(scope, __LINE__))
#define tile_word_add(p, v, scope) tile_word_add(p, v, NARROW(scope, __LINE__))
#define tile_word_swap(p, from, to, scope) tile_word_swap(p, from, to, NARROW(scope, __LINE__))
#include "device/tile_flags.h"
#undef tile_fence_acquire

/* What the kernels below do with it. */
#define NARROW_HERE(scope, line) ((scope) == TILE_SYSTEM && taken('N', line) ? TILE_DEVICE : (scope))
#define tile_poll(t, w, want, scope, flag, from, task)                                                                 \
    (taken('P', __LINE__) ? false : tile_poll(t, w, want, scope, flag, from, task))
#define tile_packet_get(t, p, g, data, flag, from, task)                                                               \
    (taken('P', __LINE__) ? false : tile_packet_get(t, p, g, data, flag, from, task))
#define tile_release(scope) (taken('R', __LINE__) ? (void)0 : tile_release(NARROW_HERE(scope, __LINE__)))
#define tile_release_each(scope) (taken('R', __LINE__) ? (void)0 : tile_release_each(NARROW_HERE(scope, __LINE__)))
#define tile_arrive(lds, count, n, scope) tile_arrive(lds, count, n, NARROW_HERE(scope, __LINE__))

#include "protocol.h"

static float *tile_of(const protocol_call &call, int rank, int area, uint64_t g, int64_t tile) {
    return (float *)call.task->symmetric[rank] + ((area * 2 + (int)(g % 2)) * TILES + tile) * THREADS;
}

static float value(uint64_t g, int rank, int64_t tile, int thread) {
    return (float)(g * 1000 + rank * 100 + tile * 10 + thread % 7);
}

/* The words that thread 0 publishes; the same of every rank. */
static void tell_all(const protocol_call &call, int word, uint64_t g) {
    if (tile_thread() == 0)
        for (int r = 0; r < call.task->nranks; r++) tile_publish(&call.task->word[r][word], g, TILE_SYSTEM);
}

/* All threads: false when one of n words does not come. */
static bool await(const protocol_call &call, char *lds, int word, int n, uint64_t g, int scope) {
    const tile_gpu_task *t = call.task;
    bool late = false;
    for (int i = tile_thread(); i < n; i += THREADS)
        late |= tile_poll(t, &t->word[t->rank][word + i], g, scope, word, i % t->nranks, tile_group());
    return !tile_any(lds, late);
}

TILE_KERNEL(begin, protocol_call, 64) { if (tile_thread() == 0) tile_run_begin(call.task); }
TILE_KERNEL(end, protocol_call, 64) {
    const tile_ending ending = tile_run_ending(call.task);
    tile_run_end(call.task, &ending);
}

/* Results of all runs are summed. */
static void result(const protocol_call &call, int64_t tile, float x) {
    float *to = &call.out[tile * THREADS + tile_thread()];
    tile_store_f32(to, tile_load_f32(to) + x);
}

/* ---- pull: each rank stores at home, the others read it there ---- */

TILE_KERNEL(pull_send, protocol_call, THREADS) {
    const uint64_t g = tile_generation(call.task);
    const int rank = call.task->rank, t = tile_thread();
    tile_store_f32(tile_of(call, rank, PULL, g, tile_group()) + t, value(g, rank, tile_group(), t));
    tile_release(TILE_SYSTEM);
    tell_all(call, WORD_PULL + (int)tile_group() * call.task->nranks + rank, g);
}

TILE_KERNEL(pull_receive, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int t = tile_thread(), from = (t + 65) % THREADS;
    if (!await(call, lds, WORD_PULL, call.task->nranks * TILES, g, TILE_SYSTEM)) return;
    float sum = 0;
    for (int r = 0; r < call.task->nranks; r++) sum += tile_load_f32(tile_of(call, r, PULL, g, tile_group()) + from);
    result(call, tile_group(), sum);
}

/* ---- push: several tasks store at the peers, the last one tells them ---- */

TILE_KERNEL(push_send, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int rank = call.task->rank, t = tile_thread();
    for (int r = 0; r < call.task->nranks; r++)
        tile_store_f32(tile_of(call, r, PUSH + rank, g, tile_group()) + t, value(g, rank, tile_group(), t));
    if (!tile_arrive(lds, &call.task->count[0], TILES, TILE_SYSTEM)) return;
    tile_release(TILE_SYSTEM);
    tell_all(call, WORD_PUSH + rank, g);
}

TILE_KERNEL(push_receive, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int t = tile_thread(), from = (t + 65) % THREADS;
    if (!await(call, lds, WORD_PUSH, call.task->nranks, g, TILE_SYSTEM)) return;
    float sum = 0;
    for (int r = 0; r < call.task->nranks; r++)
        sum += tile_load_f32(tile_of(call, call.task->rank, PUSH + r, g, tile_group()) + from);
    result(call, tile_group(), sum);
}

/* ---- packets, and one copy whose reader says with packets that it is free again ---- */

static uint64_t *packets(const protocol_call &call, int at, uint64_t g, int from) {
    return call.packets[at] + ((g % 2) * RANKS + from) * THREADS;
}

TILE_KERNEL(packet_send, protocol_call, THREADS) {
    const uint64_t g = tile_generation(call.task);
    const int rank = call.task->rank, t = tile_thread();
    for (int r = 0; r < call.task->nranks; r++)
        tile_packet_put(&packets(call, r, g, rank)[t], g, (uint32_t)(value(g, rank, 0, t)));
}

TILE_KERNEL(packet_receive, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int t = tile_thread(), from = (t + 65) % THREADS;
    float sum = 0;
    bool late = false;
    for (int r = 0; r < call.task->nranks; r++) {
        uint32_t data = 0;
        late |= tile_packet_get(call.task, &packets(call, call.task->rank, g, r)[from], g, &data, 7, r, tile_group());
        sum += (float)data;
    }
    if (tile_any(lds, late)) return;
    result(call, 0, sum);
}

/* Rank 0 stores to the next rank, which reads and thanks; before it stores again it has the thanks of the last thread. */
TILE_KERNEL(thanks_send, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int rank = call.task->rank, t = tile_thread(), to = (rank + 1) % call.task->nranks;
    uint64_t *const thanks = &call.packets[rank][THANKS + THREADS - 1];
    uint32_t data;
    if (tile_any(lds, g > 1 && t == 0 && tile_packet_get(call.task, thanks, g - 1, &data, 8, to, 0))) return;
    tile_store_f32(tile_of(call, to, COPY, 0, 0) + t, value(g, rank, 0, t));
    tile_release(TILE_SYSTEM);
    if (t == 0) tile_publish(&call.task->word[to][WORD_COPY], g, TILE_SYSTEM);
}

TILE_KERNEL(thanks_receive, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int rank = call.task->rank, nranks = call.task->nranks, t = tile_thread();
    if (!await(call, lds, WORD_COPY, 1, g, TILE_SYSTEM)) return;
    result(call, 0, tile_load_f32(tile_of(call, rank, COPY, 0, 0) + (t + 65) % THREADS));
    tile_release_each(TILE_SYSTEM);
    tile_packet_put(&call.packets[(rank + nranks - 1) % nranks][THANKS + t], g, 0);
}

/* ---- tasks of one launch ---- */

/* Each adds 1 to what the task before it stored. */
TILE_KERNEL(chain, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int64_t task = tile_take(lds, &call.task->ticket[0]);
    const int t = tile_thread(), from = (t + 65) % THREADS, rank = call.task->rank;
    if (task > 0 && !await(call, lds, WORD_CHAIN + (int)task - 1, 1, g, TILE_DEVICE)) return;
    const float x = task ? tile_load_f32(&call.out[(task - 1) * THREADS + from]) + 1 : (float)g;
    tile_store_f32(&call.out[task * THREADS + t], x);
    tile_release(TILE_DEVICE);
    if (t == 0) tile_publish(&call.task->word[rank][WORD_CHAIN + task], g, TILE_DEVICE);
}

/* The last task sums what all others stored. */
TILE_KERNEL(gather, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    const uint64_t g = tile_generation(call.task);
    const int64_t task = tile_take(lds, &call.task->ticket[1]), last = tile_groups() - 1;
    const int t = tile_thread(), from = (t + 65) % THREADS, rank = call.task->rank;
    if (task < last) {
        tile_store_f32(&call.out[task * THREADS + t], (float)g + task);
        if (!tile_arrive(lds, &call.task->count[1], (uint64_t)last, TILE_DEVICE)) return;
        tile_release(TILE_DEVICE);
        if (t == 0) tile_publish(&call.task->word[rank][WORD_GATHER], g, TILE_DEVICE);
        return;
    }
    if (!await(call, lds, WORD_GATHER, 1, g, TILE_DEVICE)) return;
    float sum = 0;
    for (int i = 0; i < last; i++) sum += tile_load_f32(&call.out[i * THREADS + from]);
    tile_store_f32(&call.out[last * THREADS + t], sum);
}

/* ---- faults ---- */

TILE_KERNEL(waits_in_vain, protocol_call, THREADS) {
    TILE_LDS(lds, 8);
    await(call, lds, WORD_VAIN, 1, 1, TILE_SYSTEM);
}

/* Looks at the record as soon as its rank is poisoned. */
TILE_KERNEL(onlooker, protocol_call, 64) {
    uint64_t why;
    if (tile_thread() != 0) return;
    while (!(why = tile_poisoned(call.task))) tile_pause();
    tile_fence_acquire(TILE_SYSTEM);
    tile_store_f32(call.out, (float)tile_load_i32(&call.task->fault[why - 1]->record.flag));
}
