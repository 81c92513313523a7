/* shard.c: copies blocks between a whole array and a rank's part, row by row. */
#include "driver/shard.h"

#include <string.h>

int64_t shard_shape(const Module *m, const Tensor *t, const int64_t *sym, const int *coord, int64_t *dim) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= dim[d] = size_eval(m, t->dim[d], sym, coord);
    return n;
}

void shard_copy(const Module *m, const Tensor *t, const int64_t *sym, const int *coord, const Array *whole, void *part, bool back) {
    int64_t dim[MAX_DIMS], start[MAX_DIMS], at[MAX_DIMS] = {0};
    int64_t left = shard_shape(m, t, sym, coord, dim);
    size_t each = elem_bytes(t->elem);
    for (int d = 0; d < t->ndim; d++) start[d] = t->dim[d].axis < 0 ? 0 : size_origin(m, t->dim[d], sym, coord);
    int64_t row = t->ndim ? dim[t->ndim - 1] : 1;
    char *p = part;
    for (; left > 0; left -= row, p += (size_t)row * each) {
        int64_t index = 0;
        for (int d = 0; d < t->ndim; d++) index = index * whole->dim[d] + start[d] + at[d];
        char *w = (char *)whole->data + (size_t)index * each;
        memcpy(back ? w : p, back ? p : w, (size_t)row * each);
        for (int d = t->ndim - 2; d >= 0 && ++at[d] == dim[d]; d--) at[d] = 0;
    }
}
