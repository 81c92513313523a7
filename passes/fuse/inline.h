/* inline.h: copying operations of one kernel into another, with ranges, parameters and values renamed. */
#ifndef TILEC_PASSES_FUSE_INLINE_H
#define TILEC_PASSES_FUSE_INLINE_H

#include "ir/ir.h"

typedef struct {
    Module *m;
    Kernel *from, *into;
    Region *at;         /* copies are appended here */
    int16_t *range;     /* [from->range.n] numbers in `into`; -1: not mapped, a fresh one is made when met */
    int *param;         /* [from->param.n] numbers in `into`; -1: not mapped: an error of the caller to meet it */
    Value **value;      /* [from->nvalue] copies so far; the caller may preset entries */
    bool pointwise;     /* copies have the ranges of their operands in `into`, none of `from` */
    /* Called before an access is copied; returns true when it did the copying itself. */
    bool (*access)(void *ctx, const Op *);
    void *ctx;
} Inline;

Inline inline_begin(Module *, Kernel *from, Kernel *into, Region *at);
void inline_region(Inline *, const Region *); /* all operations, in order */
void inline_op(Inline *, const Op *);
Type inline_type(Inline *, Type);
Affine inline_affine(Inline *, const Affine *);
/* Moves the operations that were built aside to before `at`. */
void region_splice_before(Op *at, Region *aside);
void region_replace(Region *, const Value *, Value *by); /* in operands and subscripts */

#endif
