/* run.h: shared by the files of the checker: every task of every rank in one generation, as a list of events.
   Generations are alike, so checking one generation and one distance between two is enough. */
#ifndef TILEC_PASSES_PROOF_RUN_H
#define TILEC_PASSES_PROOF_RUN_H

#include "passes/proof/proof.h"
#include "passes/proof/eval.h"
#include "passes/proof/reach.h"

enum { ALWAYS = INT32_MAX, MAX_EVENTS = 1 << 22 };

typedef enum { EVENT_WAIT, EVENT_SIGNAL, EVENT_READ, EVENT_WRITE, EVENT_NONE /* a wait left out */ } EventKind;

typedef struct {
    int32_t lo, hi;
} Bounds;

/* In the order in which the task executes them. The box is bounds in Run.box: a wait's words, a signal's word,
   an access's cells. The ranks are a wait's sources, a signal's destinations, where accessed memory lies. */
typedef struct {
    const Op *op;
    int32_t task, ref; /* ref: flag or tensor */
    int32_t box;
    int32_t until;     /* the last event before which it has certainly been executed */
    int16_t rank_lo, rank_hi;
    uint8_t kind;  /* EventKind */
    bool dense;    /* READ, WRITE of packets, and of what its node writes: every cell of the box, not only some */
    bool sync;     /* WAIT, SIGNAL: acquires, releases; a wait of unknown words does not */
} Event;

typedef struct {
    int node, rank;
    int64_t number; /* in its grid */
    int first, n;   /* events */
} Task;

/* The words of a flag family: [home][source][word], homes and sources as mesh ranks. */
typedef struct {
    int64_t words;    /* of the largest source */
    int64_t *extent;  /* [rank][dimension] */
    int32_t *count;   /* signals that a word gets in a generation; NULL without words */
    int32_t *waited;  /* 1 + the home's first node that certainly acquires it, of this generation; 0: none */
    bool weak;        /* some signal of it releases nothing, or not far enough */
    bool signals_last; /* in every task its signal follows every access */
    int32_t *signal;  /* events that signal it, sorted by (source, word) */
    int32_t *first;   /* [source * words + word]: where in signal */
} Words;

typedef VEC(int32_t) Accesses; /* events of one tensor, in order of nodes */

typedef struct {
    const Module *m;
    const Program *p;
    const int64_t *sym;
    Arena *arena;
    int ranks, most_events;
    int (*coord)[MAX_AXES];
    VEC(Task) task;
    VEC(Event) event;
    VEC(Bounds) box;
    Words *words;    /* per flag */
    bool *written;   /* per tensor: by some node */
    bool *own_order; /* per node: its tasks wait for each other */
    bool launches;   /* on each rank, nodes follow each other */
    int32_t *heard;  /* of launches, [node][source][rank]: 1 + the rank's first node that certainly waits for tasks of that
                        node of the source, or of a later one */
    Accesses *access; /* per tensor */
    Reach reach;
    Proof *proof;
} Run;

/* Records the first failure; false, for returning. */
bool run_fail(Run *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool run_fail_size(Run *, Loc, const char *what);
bool run_fail_flag(Run *, int flag, const Op *, const char *format, ...) __attribute__((format(printf, 4, 5)));
const char *task_text(Run *, const Task *);

Run run_begin(const Module *, const Program *, const int64_t *sym, Arena *, Proof *);
bool run_trace(Run *);          /* fills task, event, box, access; looked at is only what has at most most_events */
void run_renew(Run *, Arena *); /* before it is checked again; what that takes lies in the arena */
bool run_orders(Run *);         /* all there is to check */
bool trace_program(Run *);                   /* fills task, event, box */
bool trace_node(Run *, int node, int ranks); /* adds to task, event, box: the tasks of the first so many ranks */
void run_list(Run *);                        /* adds the events to access */
bool words_check(Run *);                /* words are completed exactly, waits go forward; fills words, reach */
int64_t word_linear(const Run *, int flag, int source, const Bounds *box); /* of an exact box; -1: no such word */
size_t word_slot(const Run *, int flag, int home, int source, int64_t word); /* in Words.count and .waited */
bool wait_has_source(const Run *, const Event *wait, int source);

/* a happens before b: a's access is released after it and acquired before b's, in one generation. */
bool order_direct(const Run *, const Event *a, const Event *b, int64_t lag);
bool order_holds(const Run *, const Event *a, const Event *b);
int32_t *run_heard(const Run *, int node, int source, int rank);
/* Every task of the node happens before the event: on every rank along the axis; on the event's own rank (-1). */
bool order_after_node(const Run *, int node, int axis, const Event *);

bool run_fail_pair(Run *, const Event *a, const Event *b, int64_t later); /* b of a generation that much later */

bool run_fail_siblings(Run *, const Event *a, const Event *b); /* of two tasks of one node */

bool event_reads_result(const Run *, const Event *); /* which other tasks of the node write */

bool cells_check(Run *); /* within a generation, tile by tile */
bool cells_siblings(Run *, int tensor); /* the same of one node's accesses; what has too many cells is not looked at */
bool slot_reuse_check(Run *); /* reuse of slots by later generations */

#endif
