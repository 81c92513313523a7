/* match_softmax.h: facts of kernels of attention. The result is acc / l behind a loop that carries three values: the
   largest score m of a row so far, the sum l of its exponentials, and the sum acc of values weighted by them. Found
   from the result backwards. */
#ifndef TILEC_CODEGEN_SCHEDULES_MATCH_SOFTMAX_H
#define TILEC_CODEGEN_SCHEDULES_MATCH_SOFTMAX_H

#include "codegen/schedules/match.h"

typedef struct {
    const Kernel *k;
    Attention *a;
    const Op *store, *values_at, *queries_at;
    int max, sum, acc;                          /* which of the carried values */
    const Value *score, *top, *weight, *shrink; /* x; what is subtracted from it; exp(x - top); exp(m - top) */
    double least;                               /* m at first */
    bool part;                                  /* it stores m, l and acc of a part of the keys */
} Softmax;

/* Fills in the loop, what it carries, the store and the score. NULL: found; "": it has not two products in a loop; else
   what keeps the loop from being one. guarded: a row that has seen no key is told apart. */
const char *softmax_find(Softmax *, bool *guarded);
bool softmax_scale(Softmax *);              /* the score is a positive number times .. */
bool softmax_products(Softmax *);           /* .. a product of loads of q and k */
bool softmax_places_agree(const Softmax *); /* q is as large as o, k as v, and rows of all four are of one width */
bool softmax_alone(const Softmax *);        /* the kernel stores nothing else */

#endif
