/* trial.h: which waits a proof can do without, one after the other. */
#ifndef TILEC_PASSES_PROOF_TRIAL_H
#define TILEC_PASSES_PROOF_TRIAL_H

#include "ir/ir.h"

typedef struct Trial Trial;

/* Of a program whose sizes are numbers; NULL: it has more tasks than can be checked. Holds as long as the program stays as
   it is, but for waits that a trial has shown to be redundant. */
Trial *trial_new(const Module *, const Program *, Arena *);

/* Trials are made of waits outside of loops: how a loop is looked at hangs on the waits inside. */
bool trial_takes(const Op *wait);

/* True where the program is proved without the wait, too: later trials are made without it. */
bool trial_without(Trial *, const Op *wait);

#endif
