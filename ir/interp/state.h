/* state.h: what the files of the interpreter share; not for others.
   A world is one run: every rank's part of every tensor. A task is one execution of a kernel's body, a step at a time.
 */
#ifndef TILEC_IR_INTERP_STATE_H
#define TILEC_IR_INTERP_STATE_H

#include "ir/interp/interp.h"

typedef struct Task Task;
typedef struct Agents Agents;
typedef struct Cell Cell;
typedef struct Packet Packet;
typedef struct Mark Mark;
typedef struct Once Once;
typedef struct Member Member;
typedef struct Queue Queue;
typedef struct Team Team;

/* ---- memory ---- */

/* One slot of a rank's part of a tensor. */
typedef struct {
    char *data;
    double *bound;  /* NULL without bounds, for integers of the caller's, and for bools */
    Cell *cell;     /* who wrote and read each element; NULL where no race is possible */
    Packet *packet; /* of a packet tensor, concurrent */
    Mark *mark;     /* of what is written to places declared unique */
} Copy;

typedef struct {
    const Tensor *t;
    int rank;
    int64_t dim[MAX_DIMS], stride[MAX_DIMS], count;
    Copy *copy; /* t->slots of them */
} Part;

/* A node's argument as its kernel sees it. */
typedef struct {
    Part *part;
    int64_t offset, dim[MAX_DIMS], stride[MAX_DIMS];
} View;

/* ---- tiles ---- */

/* How the elements of a tile are held: floats of 32 bits and less in float, f64 in double, the rest in int64_t. */
typedef enum { LANE_FLOAT, LANE_DOUBLE, LANE_INT } Lane;

/* In a role, what a value holds at a time: nothing yet; what the tile has; a sum that products are still adding to; nothing
   any more, as its registers have gone on into another product or have other values now. */
typedef enum { HOLDS_NOTHING, HOLDS_DATA, HOLDS_SUM, HOLDS_LEFT } Holds;

typedef struct {
    Holds holds;
    int16_t ring;    /* 1 + the ring of whose slot it is a tile; 0: of none */
    uint64_t slot;   /* the number of that slot's get */
    int64_t product; /* number of the last product that adds to it or reads its registers, among those of the member */
} Held;

typedef struct {
    int64_t n, cap;
    void *data;
    double *bound; /* NULL without bounds */
    Held held;
} Tile;

/* A range in the running task: its current tile covers [begin, end), from lo + index * size. */
typedef struct {
    int64_t lo, hi, begin, end, index;
    int64_t step; /* of its loop: `down` it runs from the last tile to the first */
} RangeState;

typedef enum { STEP_DONE, STEP_BLOCKED, STEP_FINISHED } Step;

/* What a task does otherwise in a team (member.c). */
typedef struct {
    Step (*enter)(Task *, const Op *);              /* before each operation: whether it may run */
    Step (*eval)(Task *, const Op *);               /* operations of CLASS_ROLE */
    void (*filled)(Task *, const Op *put);          /* at the end of its region */
    void (*issued)(Task *, const Op *mma);
    void (*made)(Task *, const Value *);            /* a value is to be made anew; its tile is as before */
    const Op *(*after)(Task *, const Region *);     /* what follows this body; NULL: nothing */
    void (*share)(Task *, int range, int64_t size); /* of the tile that a range has come to, the group's part */
    RangeState (*whole)(const Task *, int range);   /* the range of the whole task */
    bool (*is_shared)(const Task *, int range);     /* by the groups of its role */
    void (*turns_begin)(Task *, const Op *loop);    /* a loop in turns */
    void (*turns_next)(Task *, const Op *loop, const Op *done);
} TeamCalls;

enum { TEMPS = 8 };

struct Task {
    World *w;
    const Kernel *k;
    const Node *node;
    int rank;
    const int *coord;
    int64_t generation, linear;
    View *view;        /* of each parameter, for each peer: view[param * peers + peer] */
    RangeState *range; /* of each range */
    Tile *tile;        /* of each value */
    Tile temp[TEMPS];  /* of the operation in hand */
    Tile *carry;       /* yielded values on their way to the carried ones */
    const Op *pc;      /* NULL: finished */
    int64_t *offset;   /* subscripts of the access in hand */
    int64_t noffset;
    struct Worker *worker; /* concurrent, or in a team: who runs it */
    Member *member;         /* NULL: not in a team */
    const TeamCalls *calls; /* likewise */
    Task *next;            /* in a list of idle tasks */
};

struct World {
    Arena *arena;        /* of the run */
    Arena *report_arena; /* of the caller */
    const Module *m;
    const Program *p;
    const int64_t *sym;
    int ranks, peers; /* peers: of the longest mesh axis */
    int (*coord)[MAX_AXES];
    Part *part;  /* part[rank * tensors + tensor] */
    View **view; /* view[rank * nodes + node], made when first needed */
    Task **idle; /* of each kernel */
    bool bounds, expected;
    Agents *agents; /* NULL: sequential */
    bool roles, stopped; /* teams run kernels that have roles; one of them cannot go on */
    uint64_t seed;
    Team **team; /* team[rank * nodes + node], made when first needed */
    Once *once;     /* of the running node's parameters; NULL: results are not looked at */
    InterpReport *report;
    const InterpWatch *watch; /* NULL: nobody */
    const InterpPrints *prints; /* likewise */
};

/* world.c */
Part *world_part(const World *, int rank, int tensor);
void world_fault(World *, InterpFault);
void world_invalid(const Task *, const char *text);
void team_run(World *, int rank, const Node *, int64_t generation); /* sequential */
InterpTask task_id(const Task *);
const View *world_view(World *, int rank, const Node *); /* of the node's arguments */
bool world_chosen(World *, const Node *, int rank, int64_t generation); /* by the node's condition */
int64_t world_tasks(const World *, const Node *);

/* memory.c */
bool world_check_arrays(World *, Array *io); /* false after faults */
bool world_check_values(World *, const Array *io); /* likewise */
void world_make_parts(World *, const Array *io);
void world_scatter(World *, const Array *io);
void world_gather(World *, Array *io);

/* task.c */
Task *task_new(World *, const Kernel *);
void grid_go(Task *);                           /* to the tiles of the grid that .index names */
int64_t loop_steps(const Task *, const Op *loop);
void loop_step(Task *, const Op *loop, int64_t step); /* its range is at that step */
void value_pass(Task *, const Value *from, const Value *to);
void task_advance(Task *, const Op *done); /* to what follows */
Task *task_begin(World *, const Node *, int rank, int64_t generation, int64_t linear);
Step task_step(Task *); /* executes one operation, or is blocked at it */
void task_end(Task *);

/* watch.c */
bool watch_wants(const World *, const Node *, int rank, int64_t task); /* which then begins without tiles of another */
void task_show(const Task *); /* its tiles; the run stops */
void node_show(World *, const Node *, int rank, int64_t generation); /* its arguments; the run may stop */

/* tile.c */
Lane lane_of(Elem);
size_t lane_bytes(Lane);
double lane_get(Lane, const void *, int64_t i);
double lane_eps(Lane); /* of two neighbours of 1; integers: 0 */
int64_t range_extent(const Task *, int range);
int64_t ranges_count(const Task *, const int16_t *range, int n);
Tile *tile_make(Task *, const Value *);
void tile_exact(Tile *);                             /* no element may differ */
void tile_reserve(const World *, Tile *, int64_t n); /* for any lane */
Tile *tile_of(const Task *, const Value *);
int64_t tile_int(const Task *, const Value *); /* an integer scalar */
/* The value over these ranges, in this order: itself, or repeated and permuted into the temporary. */
const Tile *tile_over(Task *, const Value *, const int16_t *range, int n, int temp);
const Tile *tile_as(Task *, const Value *, Type, int temp);
void tile_reorder(const Task *, Lane, const Tile *from, const int16_t *fr, int nf, Tile *to, const int16_t *tr, int nt);
void tile_copy(const World *, Lane, const Tile *from, Tile *to);

/* subscript.c */
int64_t affine_scalar(const Task *, const Affine *);
/* Row-major element of the part for each element of the access's tile; negative: outside. NULL: outside altogether. */
const int64_t *access_offsets(Task *, const Op *, Type *over, const View **, int64_t *n);

/* math.c, cast.c: dense lanes of n elements */
void math_unary(OpKind, Lane, int64_t n, const void *x, void *z);
void math_binary(OpKind, Lane, int64_t n, const void *x, const void *y, void *z);
void math_compare(OpKind, Lane, int64_t n, const void *x, const void *y, int64_t *z);
int64_t int_wrap(Elem, int64_t);
void ints_wrap(Elem, int64_t n, int64_t *);
void tile_convert(Elem from, Elem to, int64_t n, const void *x, void *z);
void elems_load(Elem, const void *memory, const int64_t *offset, int64_t n, void *lane);
void elems_store(Elem, void *memory, const int64_t *offset, int64_t n, Lane, const void *lane, bool add);

/* rounding.c: how the bounds of several errors make one */
double bound_join(const World *, double a, double b);           /* of two errors that add up */
double bound_own(const World *, double n, double b);            /* of n roundings of at most b each */
double bound_round(const World *, Elem, double x, double b);    /* after rounding x, which is no more precise than f32, to the type */
double bound_convert(const World *, Lane from, Elem to, double x, double b); /* after conversion of x */
bool bound_is_linear(const World *, double x, double b);        /* f(x) then differs by |f'(x)| b: expected errors, well below |x| */
double bound_wrap(Elem, int64_t z, double b);                   /* of an integer that has been wrapped to its type */
double bound_settle(double z, double b); /* of a result z: what is no number is infinite; 0 where z has no neighbours */

/* bound.c */
void tile_wrap(Elem, Tile *); /* integers to their type */
void bound_unary(const World *, OpKind, Lane, const Tile *x, Tile *z);
void bound_binary(const World *, OpKind, int64_t times, Lane, const Tile *x, const Tile *y, Tile *z); /* times: roundings */

/* product.c */
typedef struct {
    int64_t batch, m, n, k;
} Product;
void product_add(Lane, const Product *, const void *x, const void *y, void *z);

/* reduce.c, dot.c */
void eval_reduce(Task *, const Op *);
void eval_prefix(Task *, const Op *);
void eval_dot(Task *, const Op *);

/* access.c */
Copy *view_copy(const Task *, const View *);
Step eval_load(Task *, const Op *);
Step eval_store(Task *, const Op *);

Step eval_group(Task *, const Op *); /* group.c */
void eval_print(Task *, const Op *); /* print.c */
/* unique.c: after such a store, with its offsets, which do not last */
void unique_check(Task *, const Op *store, const View *, Copy *, Type over, const int64_t *offset, int64_t n);

/* once.c: around the tasks of a node on a rank, and at each store */
void once_make(World *);
void once_begin(World *, const Node *, const View *);
void once_store(const Task *, const Op *store, const int64_t *offset, int64_t n);
bool once_broken(const World *, const Node *, int param, InterpTask at, InterpFault *); /* at: rank, generation and node */

/* collective.c */
void collective_run(World *, const Node *, int64_t generation);

/* agent.c, flag.c, shadow.c: concurrent runs only */
void agents_make(World *, const InterpOptions *);
void agents_run(World *, int64_t generations);
Step agents_wait(Task *, const Op *);
void agents_signal(Task *, const Op *);
bool agents_packet_ready(Task *, const Copy *, const View *, const int64_t *offset, int64_t n);
void agents_read(Task *, const Part *, const Copy *, const int64_t *offset, int64_t n);
void agents_write(Task *, const Part *, const Copy *, const int64_t *offset, int64_t n, bool add);
void agents_make_shadow(World *, const Part *, Copy *);

#endif
