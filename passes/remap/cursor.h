/* cursor.h: a task of a kernel, access by access. */
#ifndef TILEC_PASSES_REMAP_CURSOR_H
#define TILEC_PASSES_REMAP_CURSOR_H

#include "passes/proof/eval.h"

typedef struct {
    const Kernel *k;
    Env env;
    const Region *in; /* where it stands; NULL: at the end */
    const Op *op;     /* the next one; NULL: at the region's end */
    int64_t *index, *lo, *hi; /* of the loops that are open, by range */
    bool unknown;             /* it has met a loop or condition over data */
} Cursor;

/* Room for ranges of the kernel; sizes and rank are those of the environment. */
Cursor cursor_new(const Module *, const Kernel *, const int64_t *sym, const int *coord, Arena *);
void cursor_begin(Cursor *, const int64_t *tile); /* of a task */
const Op *cursor_next(Cursor *);                  /* its next load or store; NULL: there is none */

#endif
