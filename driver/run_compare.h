/* run_compare.h: a result against what it should be, element by element. */
#ifndef TILEC_DRIVER_RUN_COMPARE_H
#define TILEC_DRIVER_RUN_COMPARE_H

#include "ir/interp/interp.h"

typedef struct {
    const char *program, *name; /* of the result */
    const Array *result, *reference;
    const double *bound;    /* of each element: by how much it may differ; infinite: nothing is known; NULL: 0 */
    const double *expected; /* by how much it does with high probability; NULL: nothing is known of that */
    const char *with;       /* what the verdict calls the reference; NULL: nothing */
    bool allow_nan;         /* NaN agrees with NaN, an infinity with itself */
} Comparison;

typedef struct {
    int64_t compared, over; /* elements with finite values, equal or with either bound; past that of the worst case */
    int64_t open;           /* finite and different without either bound */
    int64_t odd, first;     /* NaN or infinite in both, or in one without a bound; the first of them */
    int64_t at;             /* the element whose error is largest relative to its bound; -1: none was compared */
    int64_t beyond, far;    /* past the expected bound, and not past the other; the one farthest past it */
} Difference;

Difference compare(const Comparison *);
bool compare_agrees(const Comparison *, const Difference *);
void compare_print(const Comparison *, const Difference *); /* a line */

#endif
