/* reach.h: which generations of one rank precede which of another, from what ranks certainly wait for.
   after(k, q, r): everything of generation g on rank q happens before everything of generation g + k on rank r. */
#ifndef TILEC_PASSES_PROOF_REACH_H
#define TILEC_PASSES_PROOF_REACH_H

#include "ir/ir.h"

/* Generations that a wait goes back: more than the two slots of a tensor need. */
enum { MAX_LAG = 4 };

typedef struct {
    int ranks, lags; /* waits go back less than `lags` generations */
    int most; /* k runs over 1 .. most: the slots of the program's tensors, at least 2 */
    bool needed; /* some memory is visible to peers */
    bool *acquired;
    bool *after;
} Reach;

Reach reach_new(Arena *, const Program *, int ranks);
/* Some task of the rank certainly acquires a word of the source, lag generations back. */
void reach_acquire(Reach *, int64_t lag, int source, int rank);
void reach_close(Reach *);
bool reach_after(const Reach *, int64_t k, int q, int r);

/* The same for all ranks of a group at once. least[axis][c]: fewest generations back at which every rank certainly waits for a
   word of the rank that differs from it in this coordinate alone; MAX_LAG + 1: none does. A chain of waits through other
   ranks is never shorter than its link along the axis. */
typedef struct {
    const Module *m;
    int8_t *least[MAX_AXES];
} Lags;

Lags lags_new(Arena *, const Module *);
void lags_hear(Lags *, int axis, int64_t lag, int64_t lo, int64_t hi); /* every rank, of these coordinates */
bool lags_after(const Lags *, int axis, int64_t k, int c); /* after(k, q, r) for q with this coordinate and all other r of its group */

/* What every rank's task (0, 0, ..) of the kernel certainly acquires by this wait, whatever the sizes are: word 0 exists for
   all of them. */
void lags_wait(Lags *, const Kernel *, const Flag *, const Op *wait);

#endif
