/* redundant.h: which waits a proof can do without, one after the other. */
#ifndef TILEC_PASSES_PROOF_REDUNDANT_H
#define TILEC_PASSES_PROOF_REDUNDANT_H

#include "ir/ir.h"

typedef struct Redundant Redundant;

/* Of a program whose sizes are numbers; NULL: it has more tasks than can be checked. Holds as long as the program stays as
   it is, but for waits that were found to be redundant. */
Redundant *redundant_new(const Module *, const Program *, Arena *);

/* Waits outside of loops can be asked about: how a loop is looked at hangs on the waits inside. */
bool redundant_knows(const Op *wait);

/* True where the program is proved without the wait, too: later waits are asked about without it. */
bool redundant_wait(Redundant *, const Op *wait);

#endif
