/* model.h: the one cost model. Times are predicted from counts (bytes by level of memory, launches, waits) and the
   facts of a target; the passes choose by it and `tilec explain` prints what it said. */
#ifndef TILEC_PASSES_MODEL_H
#define TILEC_PASSES_MODEL_H

#include "ir/ir.h"

/* Facts about a machine, in SI units; sources beside the rows of model.def. */
typedef struct {
    const char *name;
    double memory;  /* bytes/s of one rank's copy, read plus written */
    double link;    /* bytes/s from a peer's memory */
    double flag;    /* seconds from a signal on one rank to the end of the wait on another */
    double barrier; /* seconds of a barrier of all ranks */
    double task;    /* seconds of taking and starting a task */
} TargetFacts;

const TargetFacts *target_facts(const char *target); /* NULL: unknown */

/* What a form of a collective costs one rank. */
typedef struct {
    double copied; /* bytes read plus written in the rank's own memory */
    double moved;  /* bytes that cross a link */
    int flags;     /* waits in sequence that nothing hides */
    int barriers;
    int tasks;
} CommCost;

double model_comm(const TargetFacts *, const CommCost *);

#endif
