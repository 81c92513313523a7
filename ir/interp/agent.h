/* agent.h: what the files of concurrent runs share; not for others.
   Happens-before is between tasks, not workers: that one worker ran both orders nothing. A clock says for each task how
   far its past is known; a rank's generation follows all of its generation before. */
#ifndef TILEC_IR_INTERP_AGENT_H
#define TILEC_IR_INTERP_AGENT_H

#include "ir/interp/state.h"

/* How far a task is: generation << 20 | number of its releases so far. */
typedef uint32_t Stamp;
enum { STAMP_SHIFT = 20, STAMP_LAST = (1 << STAMP_SHIFT) - 1 };

/* A stamp for each task of every rank. weak: also what the arrival of packets tells; it orders packets, and stores after what
   their senders read; anything else needs more (docs/design/synchronisation.md). */
typedef struct Clock {
    int refs;
    Stamp *at, *weak;
    struct Clock *next; /* in the list of free ones */
} Clock;

/* What a worker waits for: a word (or a packet's generation) to reach, or be equal to, want. */
typedef struct {
    const uint64_t *seen;
    uint64_t want;
    bool equal;
    int flag, from;
    int64_t word;
    int tensor, home;
    int64_t element;
    const char *what; /* in a team: what else it waits for; NULL: nothing else */
    int ring;         /* -1: of no ring */
} Blocked;

/* From this stamp on it was at that task. */
typedef struct {
    Stamp stamp;
    int64_t task;
} Begun;

typedef struct Worker {
    int rank;
    Member *member; /* of a team; NULL: takes tickets, or */
    Queue *queue;   /* brings what is put into a queue */
    VEC(Begun) begun; /* by those of teams */
    Task *task; /* NULL: to take a ticket, if there is one */
    int64_t ticket;
    int64_t entry; /* of the task in clocks */
    Clock *clock;
    bool blocked;
    Blocked on;
    uint64_t priority;
} Worker;

/* Who may run, and by which draws one of them is picked. */
typedef struct {
    uint64_t random;
    uint64_t patience; /* a power of two: turns, about, until some worker's priority changes */
    VEC(Worker *) worker;
} Schedule;

typedef struct {
    int64_t generation, next, done, tickets;
    int64_t entry; /* first in clocks */
    Clock *start, *finish;
} RankRun;

/* What one store of a word published; clock NULL: nothing. */
typedef struct {
    int64_t generation;
    Clock *clock;
    SyncScope scope;
} Release;

/* The last few releases are kept. A wait that finds a later generation than the wanted one relies on the wanted
   generation's past alone. */
enum { RELEASES = 4 };
typedef struct {
    uint64_t value;
    Release past[RELEASES]; /* past[generation % RELEASES] */
} Word;

typedef struct {
    int64_t arrived;
    Clock *clock;
} Counter;

typedef struct {
    const Flag *f;
    int64_t ranks, words; /* along the axis; of the largest source */
    int64_t *extent;      /* extent[rank * dims + dim]: words of that source */
    int64_t *most;        /* of each dimension */
    bool by_dest;         /* a DEST dimension: each destination has its own counter */
    Word *word;           /* word[(home * ranks + source) * words + index] */
    Counter *counter;     /* counter[(rank * ranks + dest) * words + index] */
} FlagState;

typedef struct {
    int64_t reader;
    Stamp stamp;
    int32_t next;
} Read;

struct Agents {
    World *w;
    Schedule schedule;
    int64_t generations, entries;
    int64_t ticketed; /* of the entries: tasks of tickets; behind them, members and queues of teams */
    int64_t *first_ticket; /* first_ticket[rank * nodes + node] */
    RankRun *rank;
    FlagState *flag;
    bool *written; /* tensors that some node writes */
    bool packets;
    Clock *free_clock;
    VEC(Read) read; /* lists of readers; entry 0 is not used */
    int32_t free_read;
};

struct Cell {
    int64_t writer; /* entry + 1; 0: nobody yet */
    Stamp stamp;
    int32_t reads;
    bool add;
};

struct Packet {
    uint64_t generation;
    Clock *clock;
};

/* schedule.c */
InterpFault blocked_fault(const Worker *); /* what it waits for, at the end of a run */
void schedule_start(Schedule *, uint64_t seed);
uint64_t schedule_draw(Schedule *);
void schedule_add(World *, Schedule *, Worker *);
bool worker_is_blocked(const Worker *); /* by what it waits for, which has not come */
Worker *schedule_pick(Schedule *, bool (*can_run)(const void *of, const Worker *), const void *of); /* NULL: nobody can */

/* clock.c */
Clock *clock_new(Agents *);
Clock *clock_copy(Agents *, const Clock *);
void clock_drop(Agents *, Clock *); /* NULL: nothing */
void clock_join(const Agents *, Clock *to, const Clock *from);
void clock_join_weak(const Agents *, Clock *to, const Clock *from);
/* The task's past as of now, to be published; what the task does next is not in it. */
Clock *clock_release(Agents *, Worker *);

/* flag.c */
void flags_make(Agents *);

/* rank.c */
void agents_done(Agents *, int rank, int64_t tasks);

#endif
