/* order_alone.h: an order of workgroups as a C++ function, for texts that are not the compiler's own. */
#ifndef TILEC_CODEGEN_TEXT_ORDER_ALONE_H
#define TILEC_CODEGEN_TEXT_ORDER_ALONE_H

#include "base/text.h"
#include "ir/order.h"

/* Ranges of an order, as axes of a HIP grid: z, y, x, of which some are left out, and have the place that they have. */
typedef struct {
    int n, axis[3];
    int64_t columns; /* of x, whose rows and columns are the last two ranges; 0: it is one range */
} OrderAxes;

/* struct NAME_block { unsigned x, y, z; }; and NAME_block NAME_order(), from blockIdx to what stands in its place. A
   bijection for every grid of fewer than 2^32 workgroups. comment: lines above them. */
void order_alone_write(Text *, const char *name, const char *comment, const Order *, const OrderAxes *);

#endif
