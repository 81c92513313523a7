/* model.h: the one cost model. Times are predicted from counts (bytes by level of memory, launches, waits) and the
   facts of a target; the passes choose by it and `tilec explain` prints what it said. */
#ifndef TILEC_PASSES_MODEL_MODEL_H
#define TILEC_PASSES_MODEL_MODEL_H

#include "ir/ir.h"
#include "target/rates.h"

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

/* What the tasks of a kernel do on a GPU, in all; how often one of them waits. */
typedef struct {
    double lanes;                  /* operations of a lane */
    double special;                /* those that the special function unit does */
    double dot;                    /* flop of products, of operands of 16 bits or as many as take their time */
    double matrix;                 /* clocks of a processor's matrix instructions */
    double lds;                    /* bytes written to and read from the memory of workgroups */
    double l2;                     /* bytes loaded and stored, each time */
    double read;                   /* bytes of what it loads, each once */
    double loads, pipelined, barriers; /* of one task: loads that it waits for, those made a step before, and barriers */
    double words;                  /* registers of a thread for tiles */
} GpuCost;

/* What a node computes and moves on one rank; sym: values of the run-time sizes. */
typedef struct {
    double dot, row;      /* flop */
    double ops;           /* elements, of additions or as many as take their time */
    double bytes, linked; /* each tensor once; in memory that peers address */
    double staged; /* of the operands of products, copied tile by tile, and of their sums, at each step of a loop */
    double tasks;
    double whole, share; /* tasks whose tiles are whole, and what one of them has of all elements */
    const Kernel *kernel;
    GpuCost gpu; /* where it is one of a GPU */
} NodeCost;

NodeCost model_node(Arena *, const TargetFacts *, const Module *, const Node *, const int64_t *sym);
double model_gpu_seconds(const GpuFacts *, const TargetFacts *, const NodeCost *);

double model_node_seconds(const TargetFacts *, const NodeCost *, double cores);
NodeCost model_most_cost(const Module *, const Node *, const char *target); /* run-time sizes at their bounds */
/* On all of a target's processors, or on one core of the host; run-time sizes at their bounds. 0: an unknown target. */
double model_most_seconds(const Module *, const Node *, const char *target);
/* Seconds of a program on a rank that has this many cores, which may be a part of one. */
double model_program(const TargetFacts *, const Module *, const Program *, const int64_t *sym, double cores);
/* Workers that a run should use: 1 where handing tasks from core to core costs what it gains, else 0 for all. */
int model_workers(const TargetFacts *, const Module *, const Program *);

#endif
