/* match.h: reading the dataflow of values. */
#ifndef TILEC_IR_MATCH_H
#define TILEC_IR_MATCH_H

#include "ir/ir.h"

const Op *match_op(const Value *, OpKind); /* what computes it, when of that kind; else NULL */
const Value *match_bare(const Value *);    /* without broadcasts */
bool match_number(const Value *, double *);
/* The other operand of an operation on two values, one of them `known`; NULL: it is no such operation. */
const Value *match_other(const Value *, OpKind, const Value *known);
void match_sum(const Value *v, const Value **base, int64_t *c); /* v = base + c, as many numbers as there are in c */
bool match_is_pos(const Affine *, int range);                   /* the range's positions as they are */

#endif
