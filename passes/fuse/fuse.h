/* fuse.h: what the parts of the pass fuse share: a producer and a consumer of one tensor. */
#ifndef TILEC_PASSES_FUSE_FUSE_H
#define TILEC_PASSES_FUSE_FUSE_H

#include "passes/fuse/inline.h"
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
    bool pointwise; /* the consumer runs where the producer stores, wherever that is */
    int16_t stored[MAX_DIMS], loaded[MAX_DIMS]; /* ranges of the two kernels, by dimension */
} Pair;

/* Of a program's tensors, counted in one walk over its nodes. */
typedef struct {
    int uses, out;  /* out: parameter of the producer */
    Node *producer; /* the first */
    bool updated;   /* in place */
} Use;

/* fuse.c: what reads these tensors becomes an epilogue of who makes them. */
void fuse_behind(PassContext *, Program *, const int *tensor, int tensors);

/* pair.c */
Op *fuse_access(const Kernel *, int param, int *count); /* the last one; NULL when not all are of one place */
/* The producer stores every element once, the consumer loads what it stores, both by positions of grid ranges of their
   own. */
bool fuse_accesses_meet(Pair *);
/* One task of the producer's grid writes what a store of the consumer sets, which may lack a range that is one tile. */
bool fuse_stores_once(const Pair *);
/* A body without control flow whose grid is exactly the dimensions of an access, and that does not know its tiles. */
bool fuse_elementwise(const Kernel *, const Op *access);
bool fuse_reduces(const Kernel *);
/* Every subscript is the position of a grid range of its own: the element is stored (loaded) by one task, once. */
bool fuse_identity_access(const Kernel *, const Op *, int16_t *range);
/* The consumer is elementwise but for what a task of the producer has whole, and each task stores once what it sets. */
bool fuse_is_epilogue(Pair *);

/* pointwise.c: elements of the consumer's results depend on elements at the same place alone. */
bool fuse_is_pointwise(Pair *);
/* Loads and stores of the consumer, but that of the pair, become accesses where the producer stores. */
void fuse_pointwise_access(Inline *, const Pair *, const Op *);

/* edit.c */
int fuse_results(const Kernel *); /* parameters that it stores */
/* What the consumer would have loaded: a store repeats its value along the ranges that the value lacks. */
Value *fuse_loaded_value(Builder *, const Pair *, const Op *store);
Kernel *fuse_own_kernel(Module *, Node *);    /* the node's kernel, copied if others call it */
Node fuse_clone_node(Module *, const Node *); /* with a kernel and arguments of its own */
Name fuse_name(Module *, const Kernel *, const Kernel *);
void fuse_take_params(Module *, const Node *from, int but, Node *to, Inline *);
void fuse_drop_param(Node *, int gone);
void fuse_move_down(Program *, Node *producer, Node *consumer); /* with the consumer in it, to where that stood */
void fuse_drop_node(Program *, const Node *gone);

/* order.c */
void fuse_count_uses(const Program *, Use *);
int fuse_uses(const Node *, int tensor);    /* as an argument, by a collective, as its condition */
bool fuse_makes(const Node *, const Arg *); /* elements of it; parts that stand at other numbers do not meet */
bool fuse_touches_updated(const Use *, const Node *);
/* Of the tensor that the consumer reads: whose result it is, if it may move down to the consumer. */
bool fuse_find_producer(Pair *, const Use *);

/* prologue.c: an elementwise producer moves to where the consumer loads its result; false: nothing to do */
bool fuse_prologue(PassContext *, Program *, Node *consumer, const Use *);

/* view.c: the node copies a result in other extents, and its producer stores these; false: nothing to do */
bool fuse_view(PassContext *, Program *, Node *copy, const Use *);

/* siblings.c: the node runs beside an earlier one that reads what it reads, in one loop; false: with none. Schedules
   take few at once: those whose results meet come first. */
bool fuse_met_siblings(PassContext *, Program *, Node *, const Use *);
bool fuse_siblings(PassContext *, Program *, Node *, const Use *);

/* join.c: bodies of kernels with the same tasks. They agree: loops over equal tiles with equal bounds, or none;
   simple accesses. Joined, all of `from` goes beside the body of `into`, where the grid's ranges and all parameters are
   mapped. */
bool fuse_same_tiles(const Range *, const Range *);
bool fuse_bodies_agree(const Kernel *, const Kernel *);
bool fuse_has_loop(const Kernel *);
void fuse_join(Inline *);

/* parts.c: a consumer that reads a row in parts, as a rotary embedding does, runs behind a producer that makes
   the row part by part; false: nothing to do */
bool fuse_parts(PassContext *, Program *, Node *consumer, const Use *);

#endif
