/* kernel.h: a HIP kernel as a kernel of the IR that does nothing but touch memory. */
#ifndef TILEC_FRONTEND_HIP_KERNEL_H
#define TILEC_FRONTEND_HIP_KERNEL_H

#include "frontend/hip/hip.h"
#include "ir/ir.h"

/* Its grid has a range for each axis with more than one workgroup, slowest first: z, y, x. Where the kernel divides
   blockIdx.x by a number, x is two ranges. */
typedef struct {
    Kernel *k;
    int axis[3];     /* of each range; x in two parts is the last two */
    int64_t columns; /* of x in two parts; 0: one range */
    int lost;        /* accesses that are not affine */
    const HipAccess *lost_one;
} HipTasks;

HipTasks hip_tasks(Module *, const HipKernel *);

#endif
