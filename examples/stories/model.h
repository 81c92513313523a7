/* model.h: one rank's arguments of the program `step`: its blocks of a checkpoint's tensors, its caches. */
#ifndef STORIES_MODEL_H
#define STORIES_MODEL_H

#include "checkpoint.h"
#include "step.h"

typedef struct {
    step_args args;
    int32_t ids[1], at[1], next[1];
    int64_t vocab, places;
} Model;

/* The checkpoint has the sizes that the program was compiled for. false: the reason names both. */
bool model_fits(const Checkpoint *, Reason *);
/* The parts of a rank of `ranks`; false when memory is exhausted. */
bool model_open(Model *, const Checkpoint *, int rank, int ranks);
void model_close(Model *);

#endif
