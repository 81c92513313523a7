/* symbolic.h: the proof for every value of the run-time dimensions. */
#ifndef TILEC_PASSES_PROOF_SYMBOLIC_H
#define TILEC_PASSES_PROOF_SYMBOLIC_H

#include "passes/proof/proof.h"

Proof proof_symbolic(const Module *, const Program *, Arena *);

/* Some extent of its tensors or kernels is known at run time only. */
bool program_has_symbols(const Program *);

#endif
