/* emu.h: the emulator of GPUs: all devices of the process, driven by one thread. Workgroups of all launches that may
   run take turns, chosen by a seed; the threads of a workgroup are fibers. The first error ends all launches. What
   memory promises, and how that is checked: clock.c, history.c, words.c; docs/gpu.md. */
#ifndef TILE_EMU_EMU_H
#define TILE_EMU_EMU_H

#include "device/tile_emu.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum {
    EMU_THREADS = 1024, /* of a workgroup */
    EMU_LANES = 64,
    EMU_WAVES = 32,
    EMU_DEVICES = 8,
    EMU_PLACES = 8 /* workgroups that a device can hold */
};

/* ---- fiber.c ---- */

typedef struct Fiber {
    void *context; /* where it goes on */
    char *stack;
    struct Fiber *next; /* of those that nobody uses */
} Fiber;

Fiber *fiber_take(void); /* NULL: no memory */
void fiber_give(Fiber *);
void fiber_begin(Fiber *, void (*run)(void)); /* the next switch to it calls run, which does not return */
void fiber_switch(Fiber *from, Fiber *to);

/* ---- clock.c: what is known of the accesses of others ---- */

/* Accesses of the workgroups at one place, up to these ticks: reads that are over, stores that devices see. */
typedef struct {
    uint64_t read, near, far; /* near: from the same device */
} Known;

typedef struct {
    Known place[EMU_DEVICES * EMU_PLACES];
} Clock;

void known_join(Clock *to, const Clock *from);

/* A clock that several words carry. */
typedef struct {
    Clock clock;
    int users;
} Snapshot;

Snapshot *snapshot_make(const Clock *);
Snapshot *snapshot_share(Snapshot *); /* NULL stays NULL */
void snapshot_drop(Snapshot *);
Snapshot *snapshot_join(Snapshot *, Snapshot *); /* takes the first's place */

/* ---- history.c: who touched a byte ---- */

/* LOOK, ATOMIC: of words, and sums: they do not disturb each other. */
typedef enum { TOUCH_READ, TOUCH_STORE, TOUCH_LOOK, TOUCH_ATOMIC } TouchKind;

/* One access: at a time of a wave of the workgroup at a place. */
typedef struct {
    uint64_t tick;
    uint8_t place, wave, kind;
} Touch;

typedef uint32_t History; /* a number: equal ones are the same history */
enum { HISTORY_NONE, HISTORY_HOST, HISTORY_FIRST };

/* The history after this access of the wave that runs. *other: what it is not ordered after; kind UINT8_MAX: nothing.
 */
History history_next(History, TouchKind, Touch *other);
uint32_t history_count(void);
void history_forget(void);

/* ---- memory.c: allocations and LDS ---- */

typedef struct Block {
    struct Block *next;
    char *base;
    size_t bytes;
    int device;       /* -1: the host's, for all */
    bool shared;      /* made to be addressed by other devices */
    History *history; /* of each byte */
} Block;

/* Which threads touched a byte since the last barrier. */
typedef struct {
    uint32_t epoch;
    int32_t writer; /* -1: none */
    int32_t reader; /* -1: none, -2: several */
} LdsTouch;

typedef struct {
    char *base;
    size_t bytes, room;
    LdsTouch *touch;
    uint32_t epoch;
} Lds;

void *memory_alloc(size_t bytes, int device, bool shared); /* poisoned; NULL: no memory */
bool memory_free(void *base);
Block *memory_find(const void *p);            /* the block that begins nearest at or before p; NULL: none */
void memory_by_host(void *, size_t, History); /* HISTORY_HOST: the host wrote it */
void memory_forget(void);                     /* every byte's history but whether it was written */
Block *memory_covered(const char *p, size_t bytes, bool store); /* an error where it is not all in one block */
void global_check(const char *p, size_t bytes, TouchKind, const char *value);
void memory_check_own(const char *p); /* a sum of this device alone goes there */
bool lds_open(Lds *, size_t bytes);
void lds_check(const char *p, size_t bytes, bool store, const char *value);

/* ---- fences.c, words.c ---- */

typedef struct {
    uint64_t *at, value;
    int scope;
    Snapshot *near, *far; /* what goes with it: for this device, for others */
} WordStore;

enum { TALK_STORES = 4 };

/* What a wave has to do with words. */
typedef struct {
    Clock acquired;                    /* known to it, and to the others behind the next barrier */
    Clock seen_near, seen_far;         /* loaded, an acquire is still to come; from this device, from others */
    Snapshot *released, *released_far; /* by its last fence; by its last one for all devices */
    WordStore store[TALK_STORES];      /* on their way */
    int nstores;
} Talk;

Talk *talk_now(void);           /* of the wave that runs */
Clock *talk_acquired(int wave); /* NULL: nothing */
void talk_end(Talk *);
bool known_raise(uint64_t *known, uint64_t to);    /* was it less? */
void words_send(Talk *);                           /* all of its stores arrive */
void words_drift(Talk *);                          /* some of them do */
void words_forget(const char *base, size_t bytes); /* NULL: all */

/* ---- group.c: a workgroup that is on a device ---- */

typedef enum { LANE_READY, LANE_SYNC, LANE_WAVE, LANE_DONE } LaneState;
typedef enum { WAVE_SHUFFLE, WAVE_MULTIPLY } WaveKind;

/* What a lane brings to an operation of its wave. */
typedef struct {
    WaveKind kind;
    uint32_t value;
    int from;
    const tile_emu_matrix *op;
    void *d;
    const void *a, *b;
} WaveArg;

typedef struct {
    Fiber *fiber;
    LaneState state;
    bool touched, followed; /* global memory; the launches before */
    WaveArg arg;
} Lane;

typedef struct {
    uint64_t undrained; /* tick of its first load or store that may not be over; 0: none */
    uint64_t held;      /* the same at the last barrier */
    Talk *talk;         /* NULL: has touched no word */
} Wave;

typedef struct Launch Launch;

typedef struct {
    Launch *launch; /* NULL: the place is free */
    int64_t number;
    int place;        /* of all devices */
    int thread, wave; /* that run */
    int waiting;      /* at the barrier */
    int left;         /* threads that have not ended */
    bool follows;     /* some thread has followed the launches before */
    bool polling;     /* it waits for others, as far as is known */
    bool yields;      /* its turn ends here */
    Lane lane[EMU_THREADS];
    int ready[EMU_THREADS], nready;
    Lds lds;
    /* time of the place, which goes on from workgroup to workgroup; even: the first wave's, which signals; that plus
       one: the other waves' */
    uint64_t tick, start;
    uint64_t synced; /* accesses up to here are behind a barrier */
    Clock known;     /* to all its waves */
    Wave waves[EMU_WAVES];
} Group;

extern Group *emu; /* the workgroup whose thread runs */

bool group_begin(Group *, Launch *, int64_t number);
bool group_turn(Group *); /* true: it has ended */
void group_end(Group *);
int group_waves(void);
void group_pass_time(void);
void group_yield(bool polling); /* others may run before the thread goes on */
void emu_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* of the thread that runs: does not return */

/* ---- matrix.c ---- */

void matrix_multiply(const tile_emu_matrix *, const WaveArg *arg[], int lanes);

/* ---- engine.c: the thread that runs everything ---- */

struct Launch {
    const char *kernel;
    void (*run)(const void *call);
    const tile_emu_machine *machine;
    void *call;
    int64_t ngroups;
    int threads, device;
    size_t lds_bytes;
    int64_t begun, ended;        /* workgroups */
    uint64_t tried, step, shift; /* of the random order */
    int resident;                /* workgroups at a time; 0: it has not begun */
    Clock begin, end;            /* what its workgroups know; what is known when they have ended */
};

void engine_enter(void); /* around everything that touches the emulator's state */
void engine_leave(void);
bool engine_wake(void);       /* there is work; false: no thread for it */
void engine_wait(void);       /* within: until something has happened */
void engine_happened(void);   /* wakes those who wait */
bool engine_interrupts(void); /* the turn of the workgroup that runs ends here */
void engine_mistake(const char *text);
const char *engine_text(void); /* of the last mistake */
uint64_t engine_random(void);
uint64_t engine_ns(void);

/* ---- stream.c: devices, and commands in order on their streams ---- */

typedef struct {
    int peers;             /* bits: it may touch their memory */
    struct Stream *stream; /* the one that has no name */
} Device;

typedef struct Event {
    bool failed;           /* the stream of the last record had failed by then */
    int pending;           /* records that streams have not come to */
    int followers;         /* commands that wait for it */
    uint64_t done;         /* records that streams have come to */
    uint64_t ns;
    Clock clock;
} Event;

typedef struct Command {
    struct Command *next;
    Event *event;   /* NULL: a launch */
    uint64_t after; /* waits for that many records of the event; 0: records it */
    Launch launch;
    Clock host; /* what the thread that gave it knew */
} Command;

typedef struct Stream {
    struct Stream *next;
    int device;
    Command *first, *last;
    bool failed; /* a kernel's mistake has ended what was in it; told once */
    Clock clock;
} Stream;

extern _Thread_local Clock host_clock; /* what the thread that calls knows */

Device *device_of(int number);
Stream *stream_open(int device); /* NULL: no memory */
void stream_close(Stream *);
bool stream_put(Stream *, const Command *);   /* false: no memory */
bool stream_wait(Stream *);                   /* until all is done; false: a kernel made a mistake */
bool streams_advance(void);                   /* ends and begins what comes next; false: nothing to do */
int streams_launches(Launch *to[], int room); /* that could have another workgroup run */
void streams_drop(void);

#pragma GCC visibility pop
#endif
