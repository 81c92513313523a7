/* proof.h: the checker of synchronised programs, independent of the passes that made them.
   What is proved, under which memory model: docs/design/proof.md. */
#ifndef TILEC_PASSES_PROOF_PROOF_H
#define TILEC_PASSES_PROOF_PROOF_H

#include "passes/pass.h"

#include <stdarg.h>

typedef struct {
    bool proved;
    const char *id;            /* NULL: the flags are wrong; else the program is, and this names its fault */
    const char *why;           /* not proved: the missing edge, or what is wrong with a wait or signal */
    const char *note[3];       /* the two tasks and the tile that they share, where there are such */
    Loc loc;
    const Op *from, *to;       /* the missing edge: these accesses of these nodes, `later` generations apart */
    int from_node, to_node;
    int64_t later;
    bool too_large;            /* not looked at: more tasks or tiles than the checker takes */
    bool symbolic;             /* for all sizes, from the structure: then the tasks counted are nodes */
    int flag;                  /* not an edge: this flag is wrong; -1 */
    int64_t tasks, waits, signals, pairs; /* of one generation, over all ranks; pairs: ordered accesses checked */
} Proof;

bool program_has_symbols(const Program *); /* some extent of its tensors or kernels is known at run time only */

void proof_keep(Proof *, Arena *); /* its texts */
/* Keeps the first failure. */
void proof_fail(Proof *, Arena *, Loc, const char *format, va_list);

/* One program for these values of the run-time dimensions (NULL: there are none). Texts lie in the arena. */
Proof proof_program(const Module *, const Program *, const int64_t *sym, Arena *);

/* With 200, or its bound, for each run-time dimension. */
Proof proof_sample(const Module *, const Program *, Arena *);

/* The proof that fits: for all sizes where some are run-time dimensions, tasks are too many, or `structural`; else of the given ones.
   What holds for all sizes must hold for one; there, tasks of one node are compared as well, and what a wait in terms of
   values that are computed names is not known. */
Proof proof_for(const Module *, const Program *, bool structural, Arena *);

/* Every program of a module with flags; what is not proved is an internal error "sync-unproved". Without flags: true. */
bool proof_check(PassContext *);

#endif
