/* flags.h: what the files of the pass `flags` share: which tasks of a producer a consumer's tile needs, flag families. */
#ifndef TILEC_PASSES_SYNC_FLAGS_H
#define TILEC_PASSES_SYNC_FLAGS_H

#include "ir/poly/relation.h"
#include "passes/pass.h"

/* Tile numbers lo..hi along a grid dimension of the producer, or ranks; in terms of the consumer. !known: all. */
typedef struct {
    bool known;
    Affine lo, hi;
} Need;

/* What must have happened before access `to` because of access `from` of an earlier node. */
typedef struct {
    const Access *from, *to;
    int axis;             /* mesh axis it crosses; -1: inside a rank */
    Need dim[MAX_RANGES]; /* per grid dimension of the producer */
    Need source;          /* ranks that have what is needed */
    bool dest_known;      /* in terms of the producer's grid, else all ranks */
    Affine dest;
    int dest_dim;         /* the grid dimension that is the destination, or -1 */
    int owner_dim;        /* .dest is floor(INDEX(owner_dim) / owner_group), or -1 */
    int64_t owner_group;
} Edge;

Edge edge_of(const Program *, const Access *from, const Access *to);
/* The same with every task of the producer, on every rank of the axis where memory of peers is involved. */
Edge edge_whole(const Program *, const Access *from, const Access *to);

typedef struct {
    PassContext *pass;
    Module *m;
    Program *p;
    AccessList *access; /* per node */
    bool *coarse;       /* per node: each task waits for all before it */
    int waits, signals;
    int64_t events;     /* of the last proof: its cost */
} Flags;

/* family.c. The family for this edge (a new one, or one that has the same words), its signal, and the wait: before the access, or
   first thing in the consumer's tasks. */
void flags_insert(Flags *, const Edge *, int64_t lag, bool first);
/* The pieces of that: the family with these words and destinations, and a wait for these of its words. */
int flags_family(Flags *, const Edge *, const FlagDim *, const Span *dest);
void flags_wait(Flags *, const Edge *, int flag, const Span *sub, int64_t lag, bool first);
bool grid_is_one_tile(const Module *, const Range *);

/* flags_self.c: tasks of one node that need each other. */
void flags_insert_self(Flags *, const Access *from, const Access *to);
/* After a proof that failed: every wait of these accesses for all tasks before. false: it was so already. */
bool flags_coarsen_self(Flags *, int node);

#endif
