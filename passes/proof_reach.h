/* proof_reach.h: which generations of one rank precede which of another, from what ranks certainly wait for.
   after(k, q, r): everything of generation g on rank q happens before everything of generation g + k on rank r. */
#ifndef TILEC_PASSES_PROOF_REACH_H
#define TILEC_PASSES_PROOF_REACH_H

#include "ir/ir.h"

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

/* Sets the coordinates along the flag's axis of which the task (0, 0, ..) of the kernel certainly acquires a word, whatever
   the sizes are: word 0 exists for all of them. */
void wait_names_always(const Module *, const Kernel *, const Flag *, const Op *wait, const int *coord, bool *named);

#endif
