/* pieces.h: a loop run in parts whose results its merge combines. */
#ifndef TILEC_PASSES_PIECES_H
#define TILEC_PASSES_PIECES_H

#include "ir/ir.h"

/* Loops of the kernel that say how they merge; the n-th in the order of the text, or NULL. */
Op *merge_loop(const Kernel *, int n);

/* Of a loop's part, before it is merged: where a variable that begins at -inf or inf is there still, nothing has counted, and
   what is no number among the variables over the same ranges (exp(-inf - -inf)) is what it was at the loop's beginning. */
Value **part_mend(Builder *, Value *const *begin, Value *const *part, int n);

/* Takes a loop with a merge, in value form. Gives the same loop cut into up to `parts` parts of equal length, each from
   the loop's initial values, merged one after the other: ((1 2) 3) .., or from the last one backwards, (1 (2 3)) .. */
void loop_cut(Module *, Kernel *, Op *loop, int64_t parts, bool backwards);

#endif
