/* merge.h: dimensions that one position counts become one. */
#ifndef TILEC_PASSES_SHAPE_MERGE_H
#define TILEC_PASSES_SHAPE_MERGE_H

#include "passes/pass.h"

void merge_dimensions(PassContext *, Kernel *);

#endif
