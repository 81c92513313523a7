/* tile_flags.h: flags on GPUs (docs/design/synchronisation.md), one text for all machines, over what their headers
   define: tile_drain, tile_fence_release, tile_fence_acquire, tile_word_load, tile_word_store, tile_word_add,
   tile_word_swap, tile_any, tile_broadcast, tile_groups, tile_clock_ns, tile_pause. Collective: all threads of the
   workgroup call it together; lds: memory of the workgroup that nothing else uses meanwhile. */
#ifndef TILE_DEVICE_TILE_FLAGS_H
#define TILE_DEVICE_TILE_FLAGS_H

#include "device/tile_gpu_task.h"

#include "tile.h"

#ifndef TILE_POLL
#define TILE_POLL 256 /* spins between looks at the poison word and the clock */
#endif

/* ---- faults ---- */

/* Rank 0's word is set first, by whoever comes first, so that all ranks name the same record. */
TILE_FN void tile_poison(const tile_gpu_task *t) {
    uint64_t why = (uint64_t)t->rank + 1;
    for (int r = 0; r < t->nranks; r++) {
        uint64_t seen = tile_word_swap(&t->fault[r]->poison, 0, why, TILE_SYSTEM);
        if (seen) why = seen;
    }
}

TILE_FN uint64_t tile_poison_seen(const tile_gpu_task *t) {
    return tile_word_load(&t->fault[t->rank]->poison, TILE_SYSTEM);
}

/* What this rank's poison word says, which the host is told; 0: healthy. */
TILE_FN uint64_t tile_poisoned(const tile_gpu_task *t) {
    uint64_t why = tile_poison_seen(t);
    if (why) tile_word_store(&t->notice->fault, why, TILE_SYSTEM);
    return why;
}

typedef struct {
    int code, flag, missing;
    uint64_t expected, seen;
    int64_t task;
} tile_reason;

/* Only the first one is written: true for that. */
TILE_FN bool tile_record_write(const tile_gpu_task *t, tile_gpu_record *to, tile_reason why) {
    if (tile_word_add(&to->claim, 1, TILE_DEVICE)) return false;
    tile_store_i32(&to->rank, t->rank);
    tile_store_i32(&to->missing, why.missing);
    tile_store_i32(&to->flag, why.flag);
    tile_store_i32(&to->code, why.code);
    tile_store_i32(&to->instance, t->instance);
    tile_store_i64(&to->task, why.task);
    tile_store8(&to->expected, &why.expected);
    tile_store8(&to->seen, &why.seen);
    tile_fence_release(TILE_SYSTEM);
    return true;
}

/* The first wait of a rank that gives up leaves a record; the mesh is poisoned after it. */
TILE_FN void tile_give_up(const tile_gpu_task *t, tile_reason why) {
    if (!tile_record_write(t, &t->fault[t->rank]->record, why)) return;
    tile_poison(t);
    tile_poisoned(t);
}

/* ---- records of print, and of assertions that fail: any thread leaves them ---- */

TILE_FN void tile_print(tile_prints *to, int64_t site, uint64_t value, const int64_t *place, int n) {
    const uint64_t number = tile_word_add(&to->count, 1, TILE_DEVICE);
    if (number >= to->room) return;
    tile_print_record *r = &to->record[number];
    const uint64_t which = (uint64_t)site;
    tile_store8(&r->site, &which);
    tile_store8(&r->value, &value);
    for (int i = 0; i < n; i++) tile_store_i64(&r->place[i], place[i]);
}

TILE_FN void tile_failed(tile_prints *to, int64_t site, uint64_t value, const int64_t *place, int n) {
    tile_word_add(&to->failed, 1, TILE_DEVICE);
    tile_print(to, site, value, place, n);
}

/* ---- waits ---- */

/* A word has come to `want`, which may wrap. */
TILE_FN bool tile_reached(uint64_t seen, uint64_t want) { return (int64_t)(seen - want) >= 0; }

/* One look of a wait at poison and clock, before the word itself is looked at once more. 0: go on. */
TILE_FN int tile_look(const tile_gpu_task *t, unsigned spin, uint64_t start) {
    if (spin % TILE_POLL) return 0;
    if (tile_poisoned(t)) return TILE_E_POISONED;
    return tile_clock_ns() - start > t->timeout_ns ? TILE_E_TIMEOUT : 0;
}

/* Waits for a word that has reached why.expected; of a packet for one whose upper half is that. false: *word is it. */
TILE_FN bool tile_await(const tile_gpu_task *t, const uint64_t *p, bool packet, int scope, tile_reason why,
                        uint64_t *word) {
    uint64_t start = tile_clock_ns();
    for (unsigned spin = 1;; spin++) {
        why.code = tile_look(t, spin, start);
        *word = tile_word_load(p, scope);
        why.seen = packet ? *word >> 32 : *word;
        if (packet ? why.seen == why.expected : tile_reached(why.seen, why.expected)) return false;
        if (why.code == TILE_E_TIMEOUT) tile_give_up(t, why);
        if (why.code) return true;
        tile_pause();
    }
}

/* One thread waits until the word has reached generation `want`: what was published before it is visible to the threads
   that this one meets afterwards. scope: TILE_SYSTEM unless all who arrive at the word are of this device. from: the
   rank that publishes it, task: of this workgroup, for the fault record. true: it does not come, and all of the
   workgroup has to end: `if (tile_any(lds, timed_out)) return;`. */
TILE_FN bool tile_poll(const tile_gpu_task *t, const tile_gpu_word *w, uint64_t want, int scope, int flag, int from,
                       int64_t task) {
    uint64_t seen;
    if (tile_await(t, &w->value, false, scope, tile_reason{0, flag, from, want, 0, task}, &seen)) return true;
    tile_fence_acquire(scope);
    return false;
}

/* The generation of this run. */
TILE_FN uint64_t tile_generation(const tile_gpu_task *t) { return tile_word_load(t->generation, TILE_DEVICE) + 1; }

/* ---- signals ---- */

/* Collective. All that the workgroup has stored, and what others published to it, comes before what its thread 0
   publishes next. */
TILE_FN void tile_release(int scope) {
    tile_drain();
    tile_sync();
    if (tile_thread() == 0) tile_fence_release(scope);
}

/* The same before each of its threads. */
TILE_FN void tile_release_each(int scope) {
    tile_drain();
    tile_sync();
    tile_fence_release(scope);
}

/* Thread 0, after tile_release: completes generation g of a word, here or on a peer. */
TILE_FN void tile_publish(tile_gpu_word *w, uint64_t g, int scope) { tile_word_store(&w->value, g, scope); }

/* One thread's arrival, with all that it knows of; otherwise as tile_arrive. */
TILE_FN bool tile_arrive_alone(uint64_t *count, uint64_t arrivals, int scope) {
    /* a chiplet publishes to other devices only what it wrote itself: each arrival its own */
    tile_fence_release(TILE_CHIPLETS > 1 ? scope : TILE_DEVICE);
    if (tile_word_add(count, 1, TILE_DEVICE) + 1 != arrivals) return false;
    tile_fence_acquire(TILE_DEVICE);
    tile_word_store(count, 0, TILE_DEVICE);
    return true;
}

/* Collective. One of `arrivals` arrivals of this device; true for the last one, which has everything that the others
   did before theirs, and publishes at this scope. The counter is free again when anyone can see what it publishes. */
TILE_FN bool tile_arrive(char *lds, uint64_t *count, uint64_t arrivals, int scope) {
    tile_drain();
    tile_sync();
    return tile_any(lds, tile_thread() == 0 && tile_arrive_alone(count, arrivals, scope));
}

/* Collective. All workgroups of the launch have come here, which leave the counter as it was: true for the last one,
   which has everything that the others did before. */
TILE_FN bool tile_is_last(char *lds, uint64_t *count) {
    if (tile_groups() > 1) return tile_arrive(lds, count, (uint64_t)tile_groups(), TILE_DEVICE);
    tile_sync();
    return true;
}

/* ---- packets: data and generation in one word; every slot is written in every generation that uses it ---- */

typedef uint64_t tile_packet;

/* Any thread, after tile_release_each(TILE_SYSTEM): what the workgroup has read came before it. */
TILE_FN void tile_packet_put(tile_packet *p, uint64_t g, uint32_t data) {
    tile_word_store(p, g << 32 | data, TILE_SYSTEM);
}

/* One thread waits for this generation's packet; true as of tile_poll. */
TILE_FN bool tile_packet_get(const tile_gpu_task *t, const tile_packet *p, uint64_t g, uint32_t *data, int flag,
                             int from, int64_t task) {
    uint64_t seen;
    bool timed_out = tile_await(t, p, true, TILE_SYSTEM, tile_reason{0, flag, from, (uint32_t)g, 0, task}, &seen);
    *data = (uint32_t)seen;
    return timed_out;
}

/* ---- tickets: tasks of a launch that wait for each other are numbered as they begin ---- */

/* Collective: the task of this workgroup. Whoever takes the last one leaves the counter as it was. */
TILE_FN int64_t tile_take(char *lds, uint64_t *ticket) {
    int64_t mine = 0;
    if (tile_thread() == 0) {
        mine = (int64_t)tile_word_add(ticket, 1, TILE_DEVICE);
        if (mine == tile_groups() - 1) tile_word_store(ticket, 0, TILE_DEVICE);
    }
    return tile_broadcast(lds, mine);
}

/* ---- runs: one thread begins a run, in a launch before all others or in the first one; a launch of one workgroup, or
   the last workgroup of the last launch, ends it ---- */

TILE_FN void tile_run_begin(const tile_gpu_task *t) {
    if (tile_word_swap(t->busy, 0, 1, TILE_DEVICE))
        tile_give_up(t, tile_reason{TILE_E_BUSY, -1, -1, tile_generation(t), 0, 0});
}

/* ---- inputs whose values have a declared range, looked at before anything is written ---- */

enum { TILE_REFUSED = 2 }; /* of the busy word: until the run ends, its kernels do nothing */
enum { TILE_ALL, TILE_ONE }; /* ranks that see a value: where all do, none has to be told */

/* Where this rank alone sees it, the mesh is poisoned; else each rank tells its own host. */
TILE_FN void tile_refuse(const tile_gpu_task *t, int ranks, tile_reason why) {
    if (ranks == TILE_ONE)
        tile_give_up(t, why);
    else if (tile_record_write(t, &t->fault[t->rank]->refusal, why))
        tile_word_store(&t->notice->refusal, 1, TILE_SYSTEM);
}

TILE_FN void tile_look_at(const tile_gpu_task *t, int arg, int ranks, int64_t at, int64_t value, int64_t least,
                          int64_t past) {
    if (value >= least && value < past) return;
    tile_word_store(t->busy, TILE_REFUSED, TILE_DEVICE);
    tile_refuse(t, ranks, tile_reason{TILE_E_RANGE, -1, arg, 0, (uint64_t)value, at});
}

/* Collective. True, and the task ends, where a thread sees a start of groups that is wrong: element `wrong` of argument `arg`
   (-1: of a temporary), which is -1 where it sees none. */
TILE_FN bool tile_refuse_starts(char *lds, const tile_gpu_task *t, int arg, int ranks, int64_t wrong, int64_t seen) {
    if (wrong >= 0) tile_refuse(t, ranks, tile_reason{TILE_E_RANGE, -1, arg, 1, (uint64_t)seen, wrong});
    return tile_any(lds, wrong >= 0);
}

TILE_FN bool tile_refused(const tile_gpu_task *t) { return tile_word_load(t->busy, TILE_DEVICE) == TILE_REFUSED; }

/* ---- the end of a run ---- */

/* What is read at the end of a run, all at once. */
typedef struct {
    uint64_t runs, busy, poison;
} tile_ending;

TILE_FN tile_ending tile_run_ending(const tile_gpu_task *t) {
    return tile_ending{tile_word_load(t->generation, TILE_DEVICE), tile_word_load(t->busy, TILE_DEVICE),
                       tile_poison_seen(t)};
}

/* Collective. A run that ends in a poisoned mesh may have read data that a failed task, here or on a peer, made up or
   did not send: the poison comes before all that is sent after a fault. A run that was refused has written nothing. */
TILE_FN bool tile_run_failed(char *lds, const tile_gpu_task *t, const tile_ending *e) {
    if (tile_thread() == 0 && e->poison) tile_poisoned(t);
    return tile_any(lds, tile_thread() == 0 && e->poison && e->busy != TILE_REFUSED);
}

/* Of one wave: all bytes of a result become `byte`. */
TILE_FN void tile_spoil(void *result, int64_t bytes, int byte) {
    const int64_t whole = bytes / 16;
    char *const to = (char *)result, pattern[16];
    __builtin_memset(pattern, byte, 16);
    for (int64_t at = tile_thread(); at < whole; at += TILE_LANES) tile_store16(to + 16 * at, pattern);
    for (int64_t at = 16 * whole + tile_thread(); at < bytes; at += TILE_LANES) tile_store1(to + at, pattern);
}

/* A run that was refused does not count: what is run next finds slots and flags as they were. */
TILE_FN void tile_run_end(const tile_gpu_task *t, const tile_ending *e) {
    if (tile_thread() != 0) return;
    tile_word_store(t->generation, e->runs + (e->busy != TILE_REFUSED), TILE_DEVICE);
    tile_word_store(t->busy, 0, TILE_DEVICE);
}

#endif
