/* place.h: placements of a kernel's results, where its arguments are split or partial along one mesh axis. Judged
   from the kernel's lowered body. */
#ifndef TILEC_FRONTEND_SEMA_PLACE_H
#define TILEC_FRONTEND_SEMA_PLACE_H

#include "ir/ir.h"

typedef enum {
    PLACE_FINE,
    PLACE_NOT_PARALLEL, /* a split dimension is read or written at other places than the task's own */
    PLACE_NOT_LINEAR,   /* a partial value goes where partial results do not add up */
    PLACE_BOUND,        /* the local length of a split dimension is used as a number */
} PlaceFault;

typedef struct {
    const Module *m;
    const Kernel *k;
    int axis;
    const Place *in;  /* of each parameter that is read: R, S or P along the axis */
    Place *out;       /* of each parameter: filled for results and inout parameters */
    PlaceFault fault; /* the first one, .. */
    const Op *at;     /* .. and where: NULL, or for an access .. */
    int dim;          /* .. the dimension of its parameter */
} PlaceQuery;

/* false: .fault says why. */
bool kernel_place(PlaceQuery *);

#endif
