/* relation.h: what the statement instances of a node read and write, and the dependences between nodes.
   Boxes are plain affine data; isl objects are built from them on demand (docs/design/synchronisation.md). */
#ifndef TILEC_IR_POLY_RELATION_H
#define TILEC_IR_POLY_RELATION_H

#include "ir/ir.h"

/* Positions [start, start + extent) along a dimension. start: a sum over the tile numbers of grid ranges and of loops that
   begin at such a sum, the rank, sizes and scalars. limit: start less its constant and rank parts, plus extent, never exceeds it.
   Not known: any position of the dimension. */
typedef struct {
    bool known;
    Affine start;
    int64_t extent, limit;
    Affine base;    /* the start without the one range of several positions, where it steps by 1 */
    int unit;       /* 1 + that range; 0: there is none, or several, or it is divided */
    int64_t length; /* places that it has, the same on every rank; INT64_MAX: not known, or there is none */
} Box;

typedef struct {
    Op *op;
    int node, tensor, number; /* number: in the order of the body */
    bool write, remote;
    Box rank;                 /* remote: whose memory, along the tensor's axis */
    int ndim;
    Box dim[MAX_DIMS];
} Access;
typedef VEC(Access) AccessList;

/* Loads and stores of a CALL node, in the order of the body. A loop inside the tile of a range stands for all of it. */
AccessList node_accesses(const Module *, const Program *, int node, Arena *);
/* Of one tensor: numbers, such as the layers of a cache, tell them apart along some dimension. */
bool accesses_apart(const Access *, const Access *);
/* The write certainly reaches every element of a private tensor (relation_cover.c). */
bool access_covers(const Program *, const Access *);
/* Places along a dimension of the parameter, in each iteration of the loops around. */
Box subscript_box(const Module *, const Kernel *, const Op *access, int dim);

/* The parameter is a result, and the kernel's own tasks read what they have written there. */
bool kernel_reads_result(const Kernel *, int param);

/* floor(a / q) where it is affine again: false otherwise. */
bool affine_floor_div(const Affine *, int64_t q, Affine *);
/* An integer scalar as a sum over what tiles and ranks decide; false when it depends on data or is not affine. */
bool value_affine(const Module *, const Kernel *, const Value *, Affine *);
/* The first position of the range's current tile; false when it depends on data or is not affine. */
bool range_begin(const Module *, const Kernel *, int range, const Op *at, Affine *);
const Op *range_loop(const Op *at, int range); /* the loop around that runs over the range, or NULL */
/* Of two tasks of one node, the earlier has `from` and the later `to`: what it reads of the result comes from there, or both
   add to the same places in the order of tasks. */
bool siblings_need_order(const Kernel *, const Access *from, const Access *to);
bool kernel_orders_tasks(const Kernel *); /* there are such accesses */

/* The range in whose current tile a loop stays: from its beginning or a position in it, to another or its end; -1: none. */
int loop_positions_of(const Op *loop);
bool condition_is_known(const Op *); /* and which branch of an if is taken? */

#endif
