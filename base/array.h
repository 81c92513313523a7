/* array.h: dense arrays of every element type: what programs take and give, and what .npy files hold. */
#ifndef TILEC_BASE_ARRAY_H
#define TILEC_BASE_ARRAY_H

#include "base/arena.h"
#include "base/elem.h"

enum { SOURCE_DIMS = 8 };               /* of a tensor of the language */
enum { MAX_DIMS = SOURCE_DIMS + 1 };    /* what collectives make has one more: partial sums of the ranks */

/* Dense, row-major. i4 and t2 take a byte an element. ndim 0: one element. */
typedef struct {
    Elem elem;
    int ndim;
    int64_t dim[MAX_DIMS];
    void *data;
    double *bound; /* beside each float element: by how much two legal evaluations may differ; or NULL */
} Array;

size_t elem_bytes(Elem); /* of an element of an array */
/* False when the size in bytes does not fit 62 bits or a dimension is negative. */
bool array_bytes(Elem, int ndim, const int64_t *dim, int64_t *count, size_t *bytes);
bool array_new(Arena *, Elem, int ndim, const int64_t *dim, Array *out); /* zeros */
int64_t array_count(const Array *);
int64_t array_wrong(const Array *); /* the first element that is no value of its type (bool, i4, t2); -1: none */
double array_get(const Array *, int64_t i); /* i64 beyond 2^53 rounds */
int64_t array_get_int(const Array *, int64_t i);
/* How far two elements are apart, and the bound of one: 0 where both are NaN, infinite where one is. */
double array_error(const Array *, const Array *, int64_t i);
double array_bound(const Array *, int64_t i);
void array_set(Array *, int64_t i, double);
void array_set_int(Array *, int64_t i, int64_t);

#endif
