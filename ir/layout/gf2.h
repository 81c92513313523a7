/* gf2.h: vectors over GF(2) as the bits of a word, and the spaces they span.
   A Span remembers of which added vectors each element of its basis is the sum, so that it also solves equations. */
#ifndef TILEC_IR_LAYOUT_GF2_H
#define TILEC_IR_LAYOUT_GF2_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int dim, added;
    uint64_t basis[64]; /* basis[i] has its highest bit where no other has any */
    uint64_t sum[64];   /* which of the added vectors basis[i] is the sum of */
} Span;

bool span_add(Span *,
              uint64_t vector); /* false when it lies in the span already; counted among the added all the same */
bool span_has(const Span *, uint64_t vector);
/* The added vectors whose sum is `vector`, as bits; only vectors that were independent when added take part. */
bool span_solve(const Span *, uint64_t vector, uint64_t *sum);
/* A vector outside both spans, of at most two bits, within the low `bits`: zero when one of them is the whole space. */
uint64_t span_outside(const Span *, const Span *, int bits);

#endif
