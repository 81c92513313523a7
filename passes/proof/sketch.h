/* sketch.h: the first rank's tasks of a program for given sizes. */
#ifndef TILEC_PASSES_PROOF_SKETCH_H
#define TILEC_PASSES_PROOF_SKETCH_H

#include "passes/proof/proof.h"
#include "passes/proof/reach.h"

/* False, and the proof says why: two tasks of one node certainly touch a place in no order. Else notes whom every rank hears
   (NULL: nothing). What is too large is not looked at. */
bool proof_sketch(const Module *, const Program *, const int64_t *sym, Lags *heard, Proof *, Arena *);

#endif
