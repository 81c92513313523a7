/* build.h: operations made one after the other, with their results. Part of ir.h. */
#ifndef TILEC_IR_BUILD_H
#define TILEC_IR_BUILD_H

#include "ir/ir.h"

/* Operations are appended to a region at the builder's end. */
typedef struct {
    Module *m;
    Kernel *k;
    Region *at;
    Loc loc;
} Builder;

Op *op_append(Builder *, OpKind);                               /* attached at the end, no results yet */

Value *build_const_f(Builder *, Elem, double);
Value *build_const_i(Builder *, Elem, int64_t);
Value *build_index(Builder *, OpKind, int range);               /* POS, BEGIN, END */
Value *build_size(Builder *, OpKind, Size);                     /* SIZE, ORIGIN */
Value *build_rank(Builder *, int axis);
Value *build_unary(Builder *, OpKind, Value *);                 /* also CAST-free type-preserving operations */
Value *build_binary(Builder *, OpKind, Value *, Value *);       /* also COMPARE; element types must agree */
Value *build_select(Builder *, Value *cond, Value *, Value *);
Value *build_cast(Builder *, Elem, Value *);                    /* no operation when the type is already that */
Value *build_broadcast(Builder *, Type, Value *);              /* over the type's ranges; no operation when it has them */
Value *build_reduce(Builder *, OpKind, Value *, const int16_t *over, int nover);
Value *build_prefix(Builder *, OpKind, Value *, int over);
Value *build_dot(Builder *, Value *, Value *, Value *acc);      /* over = ranges that x and y share; acc may be NULL */
/* The same over some of the shared ranges; the others stay, as in sum(x * y, c) of batches. */
Value *build_contract(Builder *, Value *, Value *, Value *acc, const int16_t *over, int nover);
Value *build_mma(Builder *, Value *, Value *, Value *acc, const int16_t *over, int nover, Name by); /* in roles */
Value *build_load(Builder *, int param, const Span *sub, int nsub);
Value *build_group(Builder *, int range);                       /* of a ragged range of the grid */
Op *build_print(Builder *, OpKind, Value *x, Value *when, Value *const *place, int n, Name text);
Op *build_store(Builder *, int param, const Span *sub, int nsub, Value *, StoreMode);
/* for: returns the op with its body region and one body argument and one result per initial value;
   end the body with build_yield. */
Op *build_for(Builder *, int range, Value *lo, Value *hi, Value *const *init, int ninit);
Op *build_if(Builder *, Value *cond, const Type *result, int nresult);
Op *build_yield(Builder *, Value *const *value, int n);

#endif
