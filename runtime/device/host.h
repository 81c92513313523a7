/* host.h: the flag protocol of the CPU in C11 atomics, as generated code and the runtime use it.
   Everything of the protocol (publish, wait, arrive, packets, poison, deadlines, meeting) stands here once; the
   exhaustive checker in test/protocol runs this very text over its own memory (TILE_MODEL). Meaning:
   docs/design/synchronisation.md. */
#ifndef TILE_DEVICE_HOST_H
#define TILE_DEVICE_HOST_H

#include "tile_program.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { TILE_WORD_STRIDE = 64 }; /* each flag word in a cache line of its own */

typedef struct {
    _Alignas(TILE_WORD_STRIDE) _Atomic uint64_t value; /* generation of the last completion */
} tile_word;

typedef _Atomic uint64_t tile_count;  /* arrivals of the generation in flight; zero between completions */
typedef _Atomic uint64_t tile_packet; /* 32 bits of data below the low 32 bits of their generation */

/* Why a wait gave up. */
typedef struct {
    int32_t rank, missing, flag;
    int32_t code; /* 0: TILE_E_TIMEOUT */
    int64_t task;
    uint64_t expected, seen;
    char name[64]; /* of the flag */
} tile_record;

/* One per rank, visible to all ranks, zero at first. */
typedef struct {
    _Alignas(64) _Atomic uint64_t poison; /* 1 + the rank whose record says why; 0: healthy */
    _Alignas(64) _Atomic uint64_t claim;  /* waits of this rank that gave up: the first writes the record */
    tile_record record;                   /* written before any poison word names this rank */
} tile_fault_cell;

typedef struct tile_fault_hooks {
    tile_fault_cell *const *cell; /* [nranks] */
    uint64_t timeout_ns;
    bool recovering;            /* the poison of the last incarnation is ignored */
    const tile_flag_info *flag; /* names for the record: flag[n].name */
    const char *what;           /* the name where a wait is not of a flag family (flag < 0) */
    bool (*lost)(const struct tile_fault_hooks *, int rank); /* has that rank's process ended? NULL: not known */
    const void *ctx;                                         /* for lost */
} tile_fault_hooks;

/* What a task sees. All pointers are valid for the whole run. */
struct tile_task {
    int rank, nranks;
    int coord[3];           /* along each mesh axis */
    uint64_t generation;    /* g, from 1 */
    void *const *arg;       /* the caller's tensors and scalars */
    const int64_t *dim;     /* run-time sizes */
    char *local;            /* private workspace */
    char *const *symmetric; /* [nranks] peer-visible workspace of each rank */
    tile_word *const *word; /* [nranks] flag words of each rank */
    tile_count *count;      /* arrival counters of this rank */
    void *scratch;          /* of this worker, 64-byte aligned */
    const tile_fault_hooks *fault;
    int64_t ticket;
    struct tile_prints *prints; /* tile_print.h; NULL: the program leaves none */
    uint64_t *waited; /* nanoseconds that this worker has spent in waits; NULL: not measured */
};

/* The atomic operations of the protocol. The checker defines TILE_MODEL as the name of a header with its own. */
#ifdef TILE_MODEL
#include TILE_MODEL
#else
#define TILE_LOAD(p, order) atomic_load_explicit((p), memory_order_##order)
#define TILE_STORE(p, v, order) atomic_store_explicit((p), (v), memory_order_##order)
#define TILE_ADD(p, v, order) atomic_fetch_add_explicit((p), (v), memory_order_##order)
#define TILE_REACHED(seen, want) ((int64_t)((seen) - (want)) >= 0)
#define TILE_POLL 256      /* spins between looks at the poison word and the clock */
#define TILE_PLAIN_READ(p) /* marks an ordinary access for the checker */
#define TILE_PLAIN_WRITE(p)

/* A strong compare-and-swap from `from`: acquires and releases nothing when it fails. */
#define TILE_SWAP(p, from, to, order)                                                                                  \
    atomic_compare_exchange_strong_explicit((p), &(uint64_t){(from)}, (to), memory_order_##order, memory_order_relaxed)

static inline uint64_t tile_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A wait looks so often without a pause, then yields for 2 ms, then sleeps: 50 us at first, 10 ms at last. Chosen: no
   measurement is recorded. */
enum { TILE_SPINS = 32, TILE_YIELD_NS = 2000000, TILE_NAP_NS = 50000, TILE_LONGEST_NAP_NS = 10000000 };

/* Has a wait become one that sleeps? By the clock: with more threads than cores one yield may take as long. */
static inline bool tile_sleeps(unsigned spin, uint64_t start) {
    return spin >= TILE_SPINS && tile_now() - start > TILE_YIELD_NS;
}

/* Spin first, then let other threads of the core run, then sleep: a 64th of what the wait has taken so far. */
static inline void tile_relax(unsigned spin, uint64_t start) {
    if (spin < TILE_SPINS) {
#if defined __x86_64__ || defined __i386__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("yield");
#endif
    } else if (!tile_sleeps(spin, start)) {
        sched_yield();
    } else {
        uint64_t nap = (tile_now() - start) / 64;
        nap = nap < TILE_NAP_NS ? TILE_NAP_NS : nap > TILE_LONGEST_NAP_NS ? TILE_LONGEST_NAP_NS : nap;
        nanosleep(&(struct timespec){.tv_nsec = (long)nap}, NULL);
    }
}

static inline bool tile_expired(const tile_task *t, uint64_t start, int from) {
    if (tile_now() - start > t->fault->timeout_ns) return true;
    return from >= 0 && t->fault->lost && t->fault->lost(t->fault, from);
}
#endif

void tile_test_delay(void); /* a random while, chosen by TILE_DELAY=seed in the environment */

/* Stands at every wait and signal; does something only in programs built with TILE_TEST_DELAY. */
static inline void tile_delay(void) {
#ifdef TILE_TEST_DELAY
    tile_test_delay();
#endif
}

/* ---- faults ---- */

/* Rank 0's word is set first, by whoever comes first, so that all ranks name the same record. */
static inline void tile_poison(const tile_task *t) {
    uint64_t why = (uint64_t)t->rank + 1;
    for (int r = 0; r < t->nranks; r++)
        if (!TILE_SWAP(&t->fault->cell[r]->poison, 0, why, release))
            why = TILE_LOAD(&t->fault->cell[r]->poison, acquire);
}

/* Only the first wait of a rank that gives up leaves a record; the mesh is poisoned after it. */
static inline int tile_give_up(const tile_task *t, tile_record why) {
    tile_fault_cell *own = t->fault->cell[t->rank];
    if (TILE_ADD(&own->claim, 1, relaxed) == 0) {
        TILE_PLAIN_WRITE(&own->record);
        own->record = why;
        tile_poison(t);
    }
    return TILE_E_TIMEOUT;
}

static inline tile_record tile_record_make(const tile_task *t, int flag, int missing, uint64_t expected,
                                           uint64_t seen) {
    tile_record why = {
        .rank = t->rank, .missing = missing, .flag = flag, .task = t->ticket, .expected = expected, .seen = seen};
    const char *name = flag >= 0 && t->fault->flag ? t->fault->flag[flag].name : t->fault->what;
    if (name) strncpy(why.name, name, sizeof why.name - 1);
    return why;
}

/* The record behind the poison of this rank, if there is any. Peers write both: nothing of them is taken on trust. */
static inline bool tile_fault_read(const tile_fault_hooks *fault, int rank, int nranks, tile_record *why) {
    uint64_t poison = TILE_LOAD(&fault->cell[rank]->poison, acquire);
    *why = (tile_record){.rank = -1, .missing = -1, .flag = -1, .task = -1, .name = "its record names no rank"};
    if (!poison) return false;
    if (poison > (uint64_t)nranks) return true;
    TILE_PLAIN_READ(&fault->cell[poison - 1]->record);
    *why = fault->cell[poison - 1]->record;
    why->name[sizeof why->name - 1] = 0;
    if (why->code > TILE_OK || why->code < TILE_E_RANGE) why->code = TILE_E_TIMEOUT;
    return true;
}

/* One look at poison and clock, before the word itself is looked at once more: what a rank published before it ended
   has come. TILE_OK to go on waiting. */
static inline int tile_wait_look(const tile_task *t, unsigned spin, uint64_t start, int from) {
    if (spin % TILE_POLL && !tile_sleeps(spin, start)) return TILE_OK;
    if (!t->fault->recovering && TILE_LOAD(&t->fault->cell[t->rank]->poison, relaxed)) return TILE_E_POISONED;
    return tile_expired(t, start, from) ? TILE_E_TIMEOUT : TILE_OK;
}

/* Ends a wait for what has not come; TILE_OK: not yet. */
static inline int tile_wait_end(const tile_task *t, int look, int flag, int from, uint64_t want, uint64_t seen) {
    return look == TILE_E_TIMEOUT ? tile_give_up(t, tile_record_make(t, flag, from, want, seen)) : look;
}

/* ---- flags ---- */

static inline int tile_wait_slow(const tile_task *t, const tile_word *w, uint64_t want, int flag, int from) {
    uint64_t start = tile_now();
    int error = TILE_OK;
    for (unsigned spin = 1; !error; spin++) {
        int look = tile_wait_look(t, spin, start, from);
        uint64_t seen = TILE_LOAD(&w->value, acquire);
        if (TILE_REACHED(seen, want)) break;
        error = tile_wait_end(t, look, flag, from, want, seen);
        tile_relax(spin, start);
    }
    if (t->waited) *t->waited += tile_now() - start;
    return error;
}

/* Waits until the word has reached generation `want`; then everything before its publication is visible.
   from_rank: who publishes it, for the fault record. TILE_OK, TILE_E_TIMEOUT (this wait gave up and poisoned the mesh)
   or TILE_E_POISONED (another did): the task must return the error at once. */
static inline int tile_wait(const tile_task *t, const tile_word *w, uint64_t want, int flag, int from_rank) {
    tile_delay();
    if (TILE_REACHED(TILE_LOAD(&w->value, acquire), want)) return TILE_OK;
    return tile_wait_slow(t, w, want, flag, from_rank);
}

/* One of `arrivals` arrivals; true for the last one, which has everything the others did before theirs, and publishes.
   The counter is free again when anyone can see what the last one publishes. */
static inline bool tile_arrive(const tile_task *t, tile_count *c, uint64_t arrivals) {
    (void)t;
    tile_delay();
    if (arrivals == 1) return true;
    if (TILE_ADD(c, 1, acq_rel) + 1 != arrivals) return false;
    TILE_STORE(c, 0, relaxed);
    return true;
}

/* Completes generation g of a word, here or on a peer: all that happened before is visible to who sees it. */
static inline void tile_publish(const tile_task *t, tile_word *w) {
    tile_delay();
    TILE_STORE(&w->value, t->generation, release);
}

/* ---- packets: data and generation in one word; every slot is written in every generation that uses it ---- */

static inline void tile_packet_put(const tile_task *t, tile_packet *p, uint32_t data) {
    tile_delay();
    TILE_STORE(p, t->generation << 32 | data, release);
}

static inline int tile_packet_slow(const tile_task *t, tile_packet *p, uint32_t *data, int flag, int from) {
    uint64_t start = tile_now(), want = (uint32_t)t->generation;
    int error = TILE_OK;
    for (unsigned spin = 1; !error; spin++) {
        int look = tile_wait_look(t, spin, start, from);
        uint64_t seen = TILE_LOAD(p, acquire);
        *data = (uint32_t)seen;
        if (seen >> 32 == want) break;
        error = tile_wait_end(t, look, flag, from, want, seen >> 32);
        tile_relax(spin, start);
    }
    if (t->waited) *t->waited += tile_now() - start;
    return error;
}

/* Waits for this generation's packet; errors as tile_wait. */
static inline int tile_packet_get(const tile_task *t, tile_packet *p, uint32_t *data, int flag, int from_rank) {
    tile_delay();
    uint64_t seen = TILE_LOAD(p, acquire);
    *data = (uint32_t)seen;
    if (seen >> 32 == (uint32_t)t->generation) return TILE_OK;
    return tile_packet_slow(t, p, data, flag, from_rank);
}

/* ---- meeting: all ranks arrive before any goes on; t->generation counts the meetings ---- */

static inline int tile_meet(const tile_task *t) {
    tile_publish(t, t->word[t->rank]);
    for (int r = 0; r < t->nranks; r++) {
        int error = r == t->rank ? TILE_OK : tile_wait(t, t->word[r], t->generation, -1, r);
        if (error) return error;
    }
    return TILE_OK;
}

/* The ranks, each with no work in flight, meet; each clears what is its own; they meet again. */
static inline int tile_recover(tile_task *t, void (*clear)(void *), void *ctx) {
    int error = tile_meet(t);
    if (error) return error;
    clear(ctx);
    t->generation++;
    return tile_meet(t);
}

#endif
