/* reuse.h: which places of its tensors each task of a kernel touches, and what an order of the tasks makes of that. */
#ifndef TILEC_PASSES_REMAP_REUSE_H
#define TILEC_PASSES_REMAP_REUSE_H

#include "ir/ir.h"
#include "target/rates.h"

/* Where an access is along a dimension: pieces lo .. hi - 1 of it, for each tile of the ranges of the grid that it
   follows. The last dimension is counted in cache lines. */
typedef struct {
    int64_t step[MAX_RANGES]; /* in .lo and .hi, of a tile along a range; 0: the place is the same */
    int32_t *lo, *hi;
    int64_t n;                /* entries */
} ReuseDim;

/* Accesses of one group share pieces: no access begins or ends inside of a piece. */
typedef struct {
    int group;
    bool write;
    int ndim;
    ReuseDim dim[MAX_DIMS];
} ReuseAccess;

typedef struct {
    int ndim;
    bool shared; /* two tasks touch one place */
    int32_t pieces[MAX_DIMS];
    double *length[MAX_DIMS]; /* of a piece: positions; of the last dimension bytes of its lines */
} ReuseGroup;

typedef struct {
    const Kernel *k;
    int64_t tiles[MAX_RANGES], tasks; /* of the grid */
    VEC(ReuseAccess) access;
    VEC(ReuseGroup) group;
    int unknown;    /* accesses whose places are data, or too many */
    double *weight; /* bytes that a task touches, by the tile of .heavy; NULL: all tasks touch as much */
    int heavy;      /* a range */
} Reuse;

/* Run-time sizes at their bounds, on the first rank. */
Reuse reuse_of(const Module *, const Kernel *, Arena *);
bool reuse_shares(const Reuse *); /* some group is shared: two tasks read one place, or write parts of one line */

/* Workgroups at once on a chiplet, and what they share there. */
typedef struct {
    int chiplets;
    int64_t slots;          /* workgroups of a chiplet at once */
    double cache, last;     /* bytes of a chiplet's L2 and of the last level */
    double last_rate, rate; /* bytes/s of the last level and of memory */
} RemapMachine;

/* Bytes, in the caches' view: workgroups at once go through their tasks in step. */
typedef struct {
    double asked, fetched, memory; /* by processors; from beyond the L2; from and to memory */
    double held;                   /* that a chiplet touches while its slots run one task each, on average */
    double balance;                /* time of the slot that ends last, over the mean */
    double seconds;                /* of moving .fetched and .memory */
} Traffic;

/* Room for counting, which several orders use: what has been touched on a chiplet, and at all. */
typedef struct Cell Cell;
typedef struct {
    Arena *arena;
    Cell *cell;
    uint64_t mask, used;
} CellTable;
typedef struct {
    CellTable near, far;
} TrafficRoom;

Traffic traffic_of(const Reuse *, const RemapMachine *, const Order *, TrafficRoom *);
Order order_row_major(const Kernel *);

/* Of the family, what is tried for the kernel, the simplest first. */
typedef VEC(Order) OrderList;
OrderList orders_to_try(const Reuse *, const RemapMachine *, Arena *);

/* Of a kernel in roles, whose workgroups share one L2; no digits: row-major. */
Order order_of_one_cache(const Reuse *, const Order *now);

/* false: the machine's order is its own, or not known. */
bool remap_machine(const char *target, const Kernel *, RemapMachine *);

/* The order that takes least time by the estimate. */
typedef struct {
    bool shares; /* two tasks touch one place; else nothing was counted, and the order is row-major */
    bool other;  /* than row-major */
    Order order;
    Traffic row_major, traffic;
} RemapChoice;
RemapChoice remap_choose(const Module *, const Kernel *, const RemapMachine *, Arena *);

#endif
