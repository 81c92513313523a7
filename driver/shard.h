/* shard.h: whole arrays and the ranks' own parts of them. */
#ifndef TILEC_DRIVER_SHARD_H
#define TILEC_DRIVER_SHARD_H

#include "ir/interp/interp.h"

/* Local extents of a tensor on a rank; the number of elements. */
int64_t shard_shape(const Module *, const Tensor *, const int64_t *sym, const int *coord, int64_t *dim);
/* Bytes of so many elements in a program's memory, where i4 and t2 are packed. */
size_t shard_bytes(Elem, int64_t n);
/* Copies the rank's part of `whole` into `part`, or back. */
void shard_copy(const Module *, const Tensor *, const int64_t *sym, const int *coord, const Array *whole, void *part, bool back);

#endif
