/* pieces.h: a loop run in parts whose results its merge combines. */
#ifndef TILEC_PASSES_SPLIT_PIECES_H
#define TILEC_PASSES_SPLIT_PIECES_H

#include "ir/ir.h"

/* Loops of the kernel that say how they merge; the n-th in the order of the text, or NULL. */
Op *merge_loop(const Kernel *, int n);

/* The variables of a loop's part, before the part is merged. Where a variable that begins at -inf or inf is there
   still, the part has counted nothing. Variables over the same ranges that are no numbers there (exp(-inf - -inf)) then get
   their values at the loop's beginning. */
Value **part_mend(Builder *, Value *const *begin, Value *const *part, int n);

/* Takes a loop with a merge, in value form. Gives the same loop cut into up to `parts` parts of equal length, each from
   the loop's initial values, merged one after the other: ((1 2) 3) .., or from the last one backwards, (1 (2 3)) .. */
void loop_cut(Module *, Kernel *, Op *loop, int64_t parts, bool backwards);

/* How a loop is cut: into `count` pieces of `step` positions, the last of which may be shorter. */
typedef struct {
    Value *step, *count;
    bool even; /* the last one is not */
} Pieces;

/* At the builder: up to `parts` pieces whose lengths are multiples of `multiple`. */
Pieces pieces_of(Builder *, const Op *loop, int64_t parts, int64_t multiple);
int64_t pieces_most(const Op *loop, int64_t parts,
                    int64_t multiple); /* `parts`, or fewer where the length is a number */
/* The bounds of piece `at`; of one past the last, bounds that hold no position. */
void piece_bounds(Builder *, const Op *loop, const Pieces *, Value *at, Value **from, Value **to);
/* The merge's operations to the end of `to`, about the results of one part and those of the one behind it. */
void merge_move(Op *loop, Region *to, Value *const *mine, Value *const *other);

#endif
