/* runtime.h: what the files of the runtime share: groups of ranks, meshes, instances, the queue of runs.
   Includes nothing of the compiler. */
#ifndef TILE_RUNTIME_H
#define TILE_RUNTIME_H

#include "device/host.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

/* ---- error.c ---- */

/* Sets the thread's sentence; returns code. */
int tile_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- place.c: which rank am I ---- */

typedef struct {
    int rank, nranks, local_ranks;
    bool from_environment;
    char key[96]; /* what tells this job from others of the same user and group */
} Place;

enum { MAX_WORKERS = 1024 }; /* of a rank */

int place_find(const tile_mesh_config *, Place *);
int place_workers(const tile_mesh_config *, const Place *);

/* ---- group.c: ranks that meet, exchange a few bytes and share memory; only for open, recover and close ---- */

typedef struct Group Group;

/* Memory of equal parts, one a rank, that all ranks see; zero at first. */
typedef struct {
    char *base;
    size_t stride, bytes; /* of a part; of all */
    _Atomic int *users;   /* threads: ranks that still use the mapping; NULL: the mapping is this rank's own */
} Share;

struct Group {
    int rank, nranks;
    uint64_t timeout_ns; /* of each step */
    int missing;         /* after a failed step: who did not come; -1: not known */
    bool threads;        /* of this process; false: processes */
    bool broken;         /* a step failed: the next ones do too, as messages of it may still be under way */
    int (*allgather)(Group *, const void *in, void *out, size_t each);
    int (*share)(Group *, size_t part, Share *);
    bool (*lost)(const Group *, int rank); /* NULL: not known */
    void (*close)(Group *);
};

int group_open(const tile_mesh_config *, const Place *, uint64_t timeout_ns, Group **);
int group_open_threads(const char *name, int rank, int nranks, uint64_t timeout_ns, Group **);
int group_open_processes(const char *name, int rank, int nranks, uint64_t timeout_ns, Group **);
void share_close(Share *);
int group_agree(Group *, int status);                      /* the first rank's error if any has one */
int group_broken(Group *, int missing, const char *doing); /* sets the sentence; TILE_E_TIMEOUT */

void *pages_map(size_t bytes); /* private, zero, page-aligned; NULL when out of memory; bytes 0 gives one page */
void pages_unmap(void *, size_t bytes);
size_t pages_round(size_t bytes);

/* ---- queue.c: runs in order, tickets to workers ---- */

enum { QUEUE_DEPTH = 64, FRAMES = 16 }; /* runs queued on a mesh; of one instance */
enum { WHY_BYTES = 256 };

/* One run's arguments; they belong to the instance and are used in turn. */
typedef struct {
    tile_instance *instance;
    void **arg;
    int64_t *dim;
    uint64_t *scalar; /* copies of scalar arguments */
    int64_t tickets;
    uint64_t generation;
    _Atomic int64_t left; /* tickets that are not done */
    _Atomic int error;    /* the first of its tasks */
} Frame;

typedef struct {
    const char *name;
    uint64_t begin, end, waited;
    uint64_t generation;
    int64_t ticket;
} TraceEvent;

typedef struct {
    tile_mesh *mesh;
    int id;
    pthread_t thread;
    uint64_t waited;
    TraceEvent *event; /* NULL: no trace */
    size_t events;
} Worker;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    Frame *frame[QUEUE_DEPTH]; /* of run number n at n mod depth; runs are numbered from 1 */
    uint64_t enqueued;         /* under lock */
    uint64_t started;          /* under lock */
    _Atomic uint64_t finished;
    _Atomic uint64_t tickets; /* low half of the run's number, then tickets that nobody took */
    _Atomic int64_t shares;   /* a worker takes this part of what is left at once; 0: one ticket */
    _Atomic bool stop;
    int sleepers, waiters; /* under lock */
    _Atomic int permits;   /* threads that may still begin to work */
    _Atomic int spare;     /* permits that the run in progress has no use for */
    _Atomic bool helped;   /* a caller works while it waits */
    int error;             /* of the first failed run since the last synchronisation; under lock */
    char why[WHY_BYTES];   /* the sentence of its TILE_E_RANGE; likewise */
} Queue;

int queue_open(tile_mesh *, int workers);
void queue_close(tile_mesh *);
/* Takes the instance's next frame, fills it and hands it to the workers; TILE_E_BUSY when too many are queued. */
int queue_add(tile_instance *, void *const *arg, const int64_t *dim, int64_t tickets);
void queue_wait(tile_mesh *); /* for all that is enqueued */
int queue_drain(tile_mesh *); /* the same; gives and clears the error */

/* ---- mesh.c ---- */

/* One per rank, in the memory that all ranks see. */
typedef struct {
    tile_fault_cell fault;
    tile_word barrier, recover; /* meetings so far */
} Control;

struct tile_mesh {
    int rank, nranks, nworkers;
    Group *group;
    Share control;
    tile_fault_cell **cell;         /* [nranks] */
    tile_word **barrier, **recover; /* [nranks] */
    tile_fault_hooks fault;         /* of the host's own waits */
    uint64_t barriers, recoveries;
    bool broken;   /* a recovery failed: only close */
    bool reported; /* the fault of this incarnation was returned as TILE_E_TIMEOUT */
    struct Gpu *gpu; /* gpu.h; NULL: the host */
    Queue queue;
    Worker *worker; /* [nworkers + 1]: the last is the caller, while it waits */
    tile_instance *instances;
    int opened; /* instances so far */
    tile_print_line *print; /* who takes lines of prints; NULL: stderr */
    void *print_context;
};

/* ---- fault.c ---- */

bool fault_poisoned(const tile_mesh *);
int fault_tell(const tile_record *, int code); /* sets the sentence; gives the code */
int fault_report(tile_mesh *);  /* TILE_E_TIMEOUT the first time, then TILE_E_POISONED; with the sentence */
void fault_clear(tile_mesh *);           /* this rank's record and poison */
bool fault_take_refusal(tile_mesh *);    /* of one rank: wrong starts poisoned it; now the last error, and no poison */
void fault_fill(const Frame *); /* NaN into the floating-point results of a failed run */
int64_t tile_extent(const tile_instance *, int64_t c, int sym, int split,
                    const int64_t *dim);                                           /* of the rank's own part */
int64_t arg_elements(const tile_instance *, const tile_arg *, const int64_t *dim); /* of the rank's own part */
size_t tile_elem_bits(const char *elem);                                           /* 0: unknown */

/* ---- instance.c ---- */

struct tile_instance {
    tile_mesh *mesh;
    tile_instance *next;
    const tile_program *program;
    int coord[3];
    Share share; /* symmetric workspace, then flag words, then shown sizes */
    size_t local_bytes, scratch_stride;
    char *local, *scratch;
    char **symmetric; /* [nranks] */
    tile_word **word; /* [nranks] */
    _Atomic uint64_t **sizes; /* [nranks] */
    tile_count *count;
    tile_fault_hooks fault;
    struct tile_prints *prints; /* on the host; NULL: the program leaves none */
    uint64_t generation; /* of the last run that started; under the queue's lock */
    Frame frame[FRAMES];
    struct GpuInstance *gpu; /* gpu.h; NULL: on the host */
    void *frame_memory;
    unsigned enqueued; /* under the queue's lock */
    unsigned finished; /* likewise */
};

void frame_fill(Frame *, void *const *arg, const int64_t *dim, int64_t tickets); /* copies the arguments */
void instance_task(const tile_instance *, const Frame *, tile_task *); /* the part that all tasks of a run share */
int instance_clear(tile_instance *);                                   /* for a new incarnation */

/* ---- print.c ---- */

size_t prints_bytes(const tile_program *, uint64_t *room); /* of an instance's records; 0: the program leaves none */
int prints_take(tile_mesh *);                              /* hands over lines of all that has ended; TILE_E_ASSERT */

/* ---- range.c ---- */

/* TILE_E_RANGE with a sentence when an input has a value outside its declared range. */
int frame_check(const Frame *, char why[WHY_BYTES]);

/* ---- sizes.c ---- */

size_t sizes_bytes(const tile_program *);                          /* of a rank's shown sizes */
void sizes_watch(tile_instance *);                                 /* its waits look at the peers' sizes too */
void sizes_show(const tile_instance *, const Frame *);             /* before the run's first task */
bool sizes_agree(const tile_instance *, uint64_t generation);      /* false: a record says which differ */

/* ---- trace.c ---- */

void trace_add(Worker *, const tile_task *, const tile_program *, uint64_t begin);
enum { TRACE_EVENTS = 1 << 16 }; /* kept per worker */

#pragma GCC visibility pop
#endif
