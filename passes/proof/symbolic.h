/* symbolic.h: the proof for every value of the run-time dimensions. */
#ifndef TILEC_PASSES_PROOF_SYMBOLIC_H
#define TILEC_PASSES_PROOF_SYMBOLIC_H

#include "passes/proof/proof.h"

Proof proof_symbolic(const Module *, const Program *, Arena *);

#endif
