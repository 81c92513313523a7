/* draw.h: inputs drawn from a seed. */
#ifndef TILEC_DRIVER_DRAW_H
#define TILEC_DRIVER_DRAW_H

#include "ir/interp/interp.h"

/* Values for a tensor of a program, drawn from the seed and the argument's place: floats
   between their declared bounds, else in [-1, 1), integers in their declared range, else in [0, 8), of t2 in [-1, 1].
   Places that are declared unique are distinct as long as their range has others, which without a declaration is the
   number of them. Starts of groups ascend from 0 to the number of positions. */
void array_draw(Array *, const Module *, const Program *, const Tensor *, const int64_t *sym, int64_t seed, int place);

#endif
