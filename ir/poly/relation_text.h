/* relation_text.h: accesses as constraints in isl's notation.
   Names: n<symbol>, <letter><range> tile numbers, <letter>r<axis> ranks, v<value> scalars, m0 whose memory, x<dimension>. */
#ifndef TILEC_IR_POLY_RELATION_TEXT_H
#define TILEC_IR_POLY_RELATION_TEXT_H

#include "base/text.h"
#include "ir/poly/relation.h"

enum { MAX_VALUES = 16 };

typedef struct {
    const Module *m;
    const Kernel *k;
    char letter;
    const int *coord; /* numbers for the ranks; NULL: variables */
    bool values;      /* scalars are variables; else what depends on them is unknown */
    Text *text;
    int value[MAX_VALUES], nvalue; /* scalars met, by id */
} RelationText;

bool relation_can_write(const RelationText *, const Affine *);
void relation_affine(RelationText *, const Affine *);
void relation_size(Text *, Size);                                     /* of a size that is not split */
void relation_box(RelationText *, const Box *, const char *x, int d); /* and x<d> inside the box */
/* and x<d> below where the range ends that steps by 1; false: not known, and nothing is written */
bool relation_end(RelationText *w, const Box *b, const char *x, int d);
void relation_ranges(RelationText *);                                 /* and tile numbers of which there are positions */
void relation_tasks(RelationText *);                                  /* and tile numbers of tasks: on every rank those of the longest block */
void relation_loops(RelationText *, const Op *access); /* and iterations that loops around it have, branches that are taken */
void relation_tensor(RelationText *, const Tensor *);                 /* and places that exist */
void relation_blocks(RelationText *, const Tensor *);                 /* and places in the block of who has the memory, where it is a number */
void relation_symbols(Text *, const Module *);                        /* and run-time sizes that are possible */
void relation_names(Text *, const char *stem, int n, bool *some);     /* a, b, .. for a tuple */

/* relation_fit.c: no integer of which it is computed ever leaves its type */
bool relation_fits(const Module *, const Kernel *, const Value *);

/* relation_guard.c */
/* An integer scalar; false where it depends on more than tiles and sizes, or may wrap. */
bool relation_value(RelationText *, const Value *);
bool relation_guards(RelationText *, const Op *access); /* and the conditions of the branches around it; as above */

#endif
