/* emu.h: the emulator of GPUs: all devices of the process, driven by one thread. Workgroups of all launches that may
   run take turns, chosen by a seed; the threads of a workgroup are fibers. The first error ends all launches. What
   memory promises, and how that is checked: clock.c, history.c, words.c; docs/design/emulator.md. */
#ifndef TILE_EMU_EMU_H
#define TILE_EMU_EMU_H

#include "device/tile_emu.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum {
    EMU_THREADS = 1024, /* of a workgroup */
    EMU_LANES = 64,     /* of the widest wave, that of CDNA */
    EMU_WAVES = 32,     /* of a workgroup: 1024 threads in the narrowest waves */
    EMU_DEVICES = 8,    /* of a host, as its largest machines have */
    EMU_PLACES = 8      /* workgroups that a device can hold */
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

/* Of global memory; LOOK, ATOMIC: of words, and sums: they do not disturb each other. Of LDS by threads (LDS_), and by
   copies and products that go on by themselves (ASYNC_). */
typedef enum {
    TOUCH_READ,
    TOUCH_STORE,
    TOUCH_LOOK,
    TOUCH_ATOMIC,
    TOUCH_LDS_READ,
    TOUCH_LDS_STORE,
    TOUCH_ASYNC_READ,
    TOUCH_ASYNC_STORE
} TouchKind;

enum { LANE_SEVERAL = UINT8_MAX };

/* One access: at a time of a wave of the workgroup at a place; of LDS, at a time of an actor (cluster.h). */
typedef struct {
    uint64_t tick;
    uint16_t actor;
    uint8_t place, lane, kind;
} Touch;

typedef uint32_t History; /* a number: equal ones are the same history */
enum { HISTORY_NONE, HISTORY_HOST, HISTORY_FIRST, HISTORY_MEMO = 1024, HISTORY_SAME = 4096 };

/* The last answers: what follows on a history at a time of a wave. */
typedef struct {
    History from, to;
    Touch by, other;
} HistoryMemo;

/* Those of some memory. */
typedef struct {
    struct {
        uint32_t at, n;
    } * past;                /* of each: its touches */
    uint32_t first, n, room; /* numbers from first on; others have no touches */
    Touch *touch;
    uint32_t used, touches; /* room for so many */
    HistoryMemo memo[HISTORY_MEMO];
    History same[HISTORY_SAME]; /* by their touches: the last ones */
} Histories;

/* The history after this access of the wave that runs. *other: what it is not ordered after; kind UINT8_MAX: nothing.
 */
History history_next(Histories *, History, const Touch *by, Touch *other);
/* It conflicts with what the launch before did: the launch that runs has to follow first. */
bool history_is_fresh(const Histories *, History, const Touch *by);
void history_forget(Histories *);

/* ---- memory.c: allocations ---- */

typedef struct Block {
    struct Block *next;
    char *base;
    size_t bytes;
    int device;       /* -1: the host's, for all */
    bool shared;      /* made to be addressed by other devices */
    History *history; /* of each byte */
} Block;

void *memory_alloc(size_t bytes, int device, bool shared); /* poisoned; NULL: no memory */
bool memory_free(void *base);
Block *memory_find(const void *p);            /* the block that begins nearest at or before p; NULL: none */
void memory_by_host(void *, size_t, History); /* HISTORY_HOST: the host wrote it */
void memory_forget(void);                     /* every byte's history but whether it was written */
uint32_t memory_histories(void);              /* how many there are */
Block *memory_covered(const char *p, size_t bytes, bool store); /* an error where it is not all in one block */
void global_check(const char *p, size_t bytes, TouchKind, const char *value);
void global_touch(const char *p, size_t bytes, TouchKind, const char *value); /* the same at any address */
void memory_check_own(const char *p); /* a sum of this device alone goes there */
/* An error where they are not all in `memory` of so many bytes. */
void check_range(const char *p, size_t bytes, const char *base, size_t size, const char *memory, bool store);
/* The same, and where the address is no multiple of their number. */
void check_place(const char *p, size_t bytes, const char *base, size_t size, const char *memory, bool store);

/* ---- lds.c: memory of a workgroup ---- */

typedef struct {
    char *base;
    size_t bytes, room;
    History *history; /* of each byte */
    Histories *all;
} Lds;

bool lds_open(Lds *, size_t bytes);
void lds_forget(Lds *); /* all accesses so far are ordered before what follows */
void lds_check(const char *p, size_t bytes, bool store, const char *value); /* by the thread that runs, to its own */
/* By the thread or what it begins. value: what is stored; NULL: nobody knows. */
void lds_touch(Lds *, size_t at, size_t bytes, const Touch *by, const char *value);

/* ---- fences.c, words.c ---- */

typedef struct {
    uint64_t *at, value;
    int scope;
    Snapshot *near, *far; /* what goes with it: for this device, for others */
} WordStore;

/* Of words, that a wave holds back and lets change places; chosen: no measurement is recorded. */
enum { TALK_STORES = 4, EMU_STORE_GROUPS = 16 /* that a thread lets go on, and one (tile_tma_wait_reads) */ };

/* What a wave has to do with words. */
typedef struct {
    Clock acquired;                    /* known to it, and to the others behind the next barrier */
    Clock seen_near, seen_far;         /* loaded, an acquire is still to come; from this device, from others */
    Snapshot *released, *released_far; /* by its last fence; by its last one for all devices */
    WordStore store[TALK_STORES];      /* on their way */
    int nstores;
    bool unfenced; /* it has acquired what its copies by boxes do not know of yet */
} Talk;

Talk *talk_now(void);           /* of the wave that runs */
Clock *talk_acquired(int wave); /* NULL: nothing */
void talk_end(Talk *);
bool known_raise(uint64_t *known, uint64_t to);    /* was it less? */
void words_send(Talk *);                           /* all of its stores arrive */
void words_drift(Talk *);                          /* some of them do */
void words_forget(const char *base, size_t bytes); /* NULL: all */

/* ---- group.c: a workgroup that is on a device ---- */

/* SYNC: at the workgroup's barrier; MEET: at an operation of its wave or more of them; BAR: at `on`, a barrier of some
   threads, of LDS or of the cluster. */
typedef enum { LANE_READY, LANE_SYNC, LANE_MEET, LANE_BAR, LANE_DONE } LaneState;

/* What a lane brings to an operation of `size` lanes; the last one that comes does the work of all. */
typedef struct MeetArg {
    void (*work)(int first, int size); /* equal in all, like op */
    int size;
    const void *op;
    uint32_t value;
    int from;
    void *d;
    const void *a, *b;
    uint64_t operand[2];
} MeetArg;

typedef struct {
    Fiber *fiber;
    LaneState state;
    bool touched, followed; /* global memory that the launch before wrote, or wrote to it; the launches before */
    MeetArg arg;
    const void *on;
    struct LaneCopies *copies; /* copies.c */
    uint64_t met;              /* phases of the cluster's barrier when it arrived there, and one */
    bool fenced;               /* what it wrote to registers is for products */
    uint32_t fence;            /* what its wave knew at this time, it has fenced and told nobody; 0: nothing */
    int stores;                /* by tiles, that it has not waited for */
    bool unwritten;            /* it has waited at most until stores by tiles had read LDS */
    struct {
        int stores;    /* that were begun by its end */
        uint32_t time; /* of its wave then */
    } group[EMU_STORE_GROUPS]; /* of stores by tiles: all committed ones, all but the last, .. */
} Lane;

typedef struct {
    uint64_t undrained; /* tick of its first load or store that may not be over; 0: none */
    uint64_t held;      /* the same at the last barrier */
    Talk *talk;         /* NULL: has touched no word */
} Wave;

typedef struct Launch Launch;

typedef struct Cluster Cluster;

typedef struct Group {
    Launch *launch; /* NULL: the place is free */
    int64_t number;
    Cluster *cluster; /* and its rank in it */
    int rank;
    int place;        /* of all devices */
    int thread, wave; /* that run */
    int waiting;      /* at the barrier */
    int left;         /* threads that have not ended */
    bool follows;     /* some thread has followed the launches before */
    bool ends_behind; /* some thread has waited for them in the end */
    bool beside;      /* it runs beside the launch before it */
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

bool group_begin(Group *, Launch *, int64_t number, Cluster *, int rank);
bool group_turn(Group *); /* true: it has ended */
void group_end(Group *);
int group_waves(void);
int group_lanes(void); /* of a wave */
void group_pass_time(void);
Lane *lane_now(void);
void lane_wait(LaneState, const void *on); /* until it is woken */
void lane_wake(Group *, int thread);
void lanes_wake(Group *, const void *on); /* all that wait there */
void lanes_meet(MeetArg);                 /* returns when all have come and the work is done */
void follow_check(void);                  /* memory is touched that launches before may still write, or read */
void group_yield(bool polling);           /* others may run before the thread goes on */
void emu_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* of the thread that runs: does not return */

/* ---- matrix.c ---- */

void matrix_multiply(const tile_emu_matrix *, const MeetArg *arg[], int lanes);
double matrix_value(tile_emu_elem, const void *, int i);

/* ---- engine.c: the thread that runs everything ---- */

struct Launch {
    const char *kernel;
    void (*run)(const void *call);
    const tile_emu_kernel *facts;
    void *call;
    int64_t ngroups; /* a multiple of the cluster */
    int threads, device;
    size_t lds_bytes;
    int64_t begun, ended;        /* workgroups */
    uint64_t tried, step, shift; /* of the random order */
    int resident;                /* workgroups at a time; 0: it has not begun */
    Clock begin, end;            /* what its workgroups know; what is known when they have ended */
    Clock before;                /* what they know before they have followed the launch before */
    bool beside;                 /* it has run beside that one */
    bool dependent;              /* it may begin before that one has ended: its workgroups have to follow it */
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
    bool failed;   /* the stream of the last record had failed by then */
    int pending;   /* records that streams have not come to */
    int followers; /* commands that wait for it */
    uint64_t done; /* records that streams have come to */
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
    Clock clock, before; /* what is known; what was when the last launch began */
} Stream;

extern _Thread_local Clock host_clock; /* what the thread that calls knows */

Device *device_of(int number);
Stream *stream_open(int device); /* NULL: no memory */
void stream_close(Stream *);
bool stream_put(Stream *, const Command *);   /* false: no memory */
bool stream_wait(Stream *);                   /* until all is done; false: a kernel made a mistake */
bool streams_advance(void);                   /* ends and begins what comes next; false: nothing to do */
int streams_launches(Launch *to[], int room); /* that could have another cluster of workgroups run */
int streams_claim(const Launch *); /* places for a cluster of each other stream of its device that has none there */
void streams_drop(void);

#pragma GCC visibility pop
#endif
