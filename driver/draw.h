/* draw.h: inputs drawn from a seed. */
#ifndef TILEC_DRIVER_DRAW_H
#define TILEC_DRIVER_DRAW_H

#include "ir/interp.h"

/* Floats in [-1, 1), integers in [0, 8), of t2 in [-1, 1], drawn from the seed and the argument's place. */
void array_draw(Array *, int64_t seed, int place);

#endif
