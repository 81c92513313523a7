/* eval.h: what subscripts, bounds and scalars of a kernel are for one task of one rank, as intervals.
   An interval is exact when lo = hi; what cannot be known is unbounded; no position at all is empty (lo > hi). */
#ifndef TILEC_PASSES_PROOF_EVAL_H
#define TILEC_PASSES_PROOF_EVAL_H

#include "ir/ir.h"

/* Larger than each size and place, 2^40, and sums of such do not overflow. */
#define UNBOUNDED ((int64_t)1 << 60)

typedef struct {
    int64_t lo, hi;
} Interval;

/* Where a range stands: the number of its tile, its first position, one past its last, and the positions between. */
typedef struct {
    Interval index, begin, end, pos;
} RangeAt;

typedef struct {
    const Module *m;
    const Kernel *k;
    const int64_t *sym;
    const int *coord;
    RangeAt *at; /* per range of the kernel */
    int budget;  /* operations left for the value being evaluated */
} Env;

Interval interval_of(int64_t);
bool interval_exact(Interval);
bool interval_empty(Interval);

void env_grid(Env *, int range, int64_t index);
void env_tile(Env *, int range, int64_t lo, int64_t hi, int64_t index); /* tile number `index` of a loop over [lo, hi) */
void env_whole(Env *, int range, Interval lo, Interval hi);              /* any tile of the loop */
int64_t env_trips(const Env *, int range, int64_t lo, int64_t hi);
Interval env_affine(Env *, const Affine *);
Interval env_value(Env *, const Value *);

#endif
