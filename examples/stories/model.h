/* model.h: one rank's arguments of the program `step`, where its mesh runs: blocks of a checkpoint's tensors, caches. */
#ifndef STORIES_MODEL_H
#define STORIES_MODEL_H

#include "checkpoint.h"
#include "step.h"

typedef struct {
    tile_mesh *mesh;
    step_args args; /* in the mesh's memory */
    float *logits;  /* here: what the last step gave */
    int32_t next;
    int64_t vocab, places;
} Model;

/* The checkpoint has the sizes that the program was compiled for. false: the reason names both. */
bool model_fits(const Checkpoint *, Reason *);
/* These return the runtime's codes. */
int model_open(Model *, tile_mesh *, const Checkpoint *);
int model_step(Model *, step *, int token, int64_t at);
void model_close(Model *);

#endif
