/* fuse.h: what the parts of the pass fuse share: a producer and a consumer of one tensor. */
#ifndef TILEC_PASSES_FUSE_H
#define TILEC_PASSES_FUSE_H

#include "passes/inline.h"
#include "passes/pass.h"

/* Longer bodies gain nothing, and take longer to look through at each step of a chain. */
enum { FUSE_MOST_VALUES = 512 };

typedef struct {
    Program *p;
    Node *producer, *consumer;
    int tensor, out, in; /* out: parameter of the producer, in: of the consumer */
    bool kept;           /* the tensor is stored as well: others read it, or the program gives it */
    Op *store, *load;
    int loads;                                  /* of the same place */
    int16_t stored[MAX_DIMS], loaded[MAX_DIMS]; /* ranges of the two kernels, by dimension */
} Pair;

/* Of a program's tensors, counted in one walk over its nodes. */
typedef struct {
    int uses, out;  /* out: parameter of the producer */
    Node *producer; /* the first */
    bool updated;   /* in place */
} Use;

Op *fuse_access(const Kernel *, int param, int *count); /* the last one; NULL when not all are of one place */
/* The producer stores every element once, the consumer loads what it stores, by positions of grid ranges of their own.
 */
bool fuse_accesses_meet(Pair *);
/* A body without control flow whose grid is exactly the dimensions of an access, and that does not know its tiles. */
bool fuse_elementwise(const Kernel *, const Op *access);
/* Of the tensor that the consumer reads: whose result it is, if it may move down to the consumer. */
bool fuse_find_producer(Pair *, const Use *);
bool fuse_sliced(const Arg *);
int fuse_uses(const Node *, int tensor); /* as an argument, by a collective, as its condition */
bool fuse_touches_updated(const Use *, const Node *);
Kernel *fuse_own_kernel(Module *, Node *); /* the node's kernel, copied if others call it */
Name fuse_name(Module *, const Kernel *, const Kernel *);
void fuse_take_params(Module *, const Node *from, int but, Node *to, Inline *);
void fuse_drop_param(Node *, int gone);
void fuse_drop_node(Program *, const Node *gone);

/* fuse_prologue.c: an elementwise producer moves to where the consumer loads its result; false: nothing to do */
bool fuse_prologue(PassContext *, Program *, Node *consumer, const Use *);

/* fuse_siblings.c: the node runs beside an earlier one that reads what it reads, in one loop; false: with none */
bool fuse_siblings(PassContext *, Program *, Node *, const Use *);

#endif
