/* steps.h: shared by steps.c and steps_make.c alone. */
#ifndef TILEC_PASSES_LAYOUT_STEPS_H
#define TILEC_PASSES_LAYOUT_STEPS_H

#include "passes/pass.h"

/* A kernel like this one that has no range `row` in its grid: loops take `step` of its positions at a time. */
Kernel *steps_make(Module *, Kernel *, int row, int64_t step);

#endif
