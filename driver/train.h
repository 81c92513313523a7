/* train.h: examples for a decision tree: times of a choice's arms, and features that a tree can ask for. */
#ifndef TILEC_DRIVER_TRAIN_H
#define TILEC_DRIVER_TRAIN_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>

typedef VEC(const char *) Words;

typedef struct {
    const char *name;
    double *feature, *us; /* of each name */
} Sample;

typedef struct {
    Words feature, arm;
    VEC(Sample) sample;
} Samples;

/* train_table.c: a line of names, `sample`, features, `us:ARM` of each arm, then a line a sample; words are between
   tabulators. false after a message. */
bool samples_read(Arena *, const char *path, Samples *);

/* train_tree.c: the tree's text and a report on standard output; false after a message. Samples whose names begin with
   "test " are only judged. */
bool samples_train(Arena *, const Samples *, const char *path);

#endif
