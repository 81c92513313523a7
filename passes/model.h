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
    double start;   /* seconds from the start of a run to its first task, and from its last task to its end */
    double cache;   /* bytes that a kernel finds in the caches again */
    double cached;  /* bytes/s of one core from there */
    double staged;  /* bytes/s of one core to and from where products find their operands and keep their sums */
    double dot;     /* flop/s of one core in products of matrices */
    double row;     /* flop/s of one core in products with a single row */
    double ops;     /* elements/s of one core in additions and the like */
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

/* A loop that each task of a kernel runs. */
typedef struct {
    int processors;
    int64_t tasks, steps;
    double step, part; /* bytes that a step reads, bytes that the loop carries */
} SplitCost;

double model_split(const TargetFacts *, const SplitCost *, int64_t parts); /* seconds */

/* What a node computes and moves on one rank; sym: values of the run-time sizes. */
typedef struct {
    double dot, row;      /* flop */
    double ops;           /* elements, of additions or as many as take their time */
    double bytes, linked; /* each tensor once; in memory that peers address */
    double staged;        /* of the operands of products, copied tile by tile, and of their sums, at each step of a loop */
    double tasks;
} NodeCost;

NodeCost model_node(Arena *, const Module *, const Node *, const int64_t *sym);
double model_node_seconds(const TargetFacts *, const NodeCost *, double cores);
/* Seconds of a program on a rank that has this many cores, which may be a part of one. */
double model_program(const TargetFacts *, const Module *, const Program *, const int64_t *sym, double cores);
/* Workers that a run should use: 1 where handing tasks from core to core costs what it gains, else 0 for all. */
int model_workers(const TargetFacts *, const Module *, const Program *);

#endif
