/* checkpoint.h: reads a llama2.c checkpoint of the first format: seven int32, then float32 tensors, layers stacked.
   The tensors have the names and shapes that stories.tile gives them. */
#ifndef STORIES_CHECKPOINT_H
#define STORIES_CHECKPOINT_H

#include "../common/input.h"

#include <stdint.h>

/* The numbers of the header in its order; WIDTH, that of a head, follows from them. */
enum { DIM, HIDDEN, LAYERS, HEADS, GROUPS, VOCAB, PLACES, HEADER, WIDTH = HEADER, NUMBERS };

typedef struct {
    const char *name; /* "w.wq" */
    int ndim;
    int64_t dim[4];
    const char *data; /* float32, not aligned */
} CheckpointTensor;

enum { TENSORS = 11 };

typedef struct {
    int64_t number[NUMBERS];
    CheckpointTensor tensor[TENSORS];
} Checkpoint;

/* Takes the file's bytes, which have to outlive the checkpoint. false: the reason says what is wrong, and where. */
bool checkpoint_parse(Checkpoint *, const char *bytes, size_t n, Reason *);
/* NULL: there is none of that name. */
const CheckpointTensor *checkpoint_find(const Checkpoint *, const char *name);

#endif
