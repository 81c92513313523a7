/* shard.c: copies blocks between a whole array and a rank's part, row by row. */
#include "driver/shard.h"

#include <string.h>

int64_t shard_shape(const Module *m, const Tensor *t, const int64_t *sym, const int *coord, int64_t *dim) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= dim[d] = size_eval(m, t->dim[d], sym, coord);
    return n;
}

size_t shard_bytes(Elem e, int64_t n) {
    return elem_is_packed(e) ? ((size_t)n * (size_t)elem_bits(e) + 7) / 8 : (size_t)n * elem_bytes(e);
}

/* Elements `at`, `at + 1`, .. of a part, the first of a byte in its lowest bits. */
static void row_pack(uint8_t *part, int64_t at, const uint8_t *from, int64_t n, int bits) {
    for (int64_t i = 0; i < n; i++) {
        int64_t bit = (at + i) * bits;
        unsigned code = from[i] & ((1u << bits) - 1);
        part[bit / 8] = (uint8_t)(bit % 8 ? part[bit / 8] | code << bit % 8 : code);
    }
}

static void row_unpack(const uint8_t *part, int64_t at, int8_t *to, int64_t n, int bits) {
    for (int64_t i = 0; i < n; i++) {
        int64_t bit = (at + i) * bits;
        to[i] = (int8_t)((int8_t)(uint8_t)(part[bit / 8] << (8 - bits - bit % 8)) >> (8 - bits));
    }
}

void shard_copy(const Module *m, const Tensor *t, const int64_t *sym, const int *coord, const Array *whole, void *part, bool back) {
    int64_t dim[MAX_DIMS], start[MAX_DIMS], at[MAX_DIMS] = {0};
    const int64_t left = shard_shape(m, t, sym, coord, dim);
    size_t each = elem_bytes(t->elem);
    for (int d = 0; d < t->ndim; d++) start[d] = t->dim[d].axis < 0 ? 0 : size_origin(m, t->dim[d], sym, coord);
    int64_t row = t->ndim ? dim[t->ndim - 1] : 1;
    char *p = part;
    for (int64_t done = 0; done < left; done += row, p += (size_t)row * each) {
        int64_t index = 0;
        for (int d = 0; d < t->ndim; d++) index = index * whole->dim[d] + start[d] + at[d];
        char *w = (char *)whole->data + (size_t)index * each;
        if (elem_is_packed(t->elem) && back) row_unpack(part, done, (int8_t *)w, row, elem_bits(t->elem));
        else if (elem_is_packed(t->elem)) row_pack(part, done, (const uint8_t *)w, row, elem_bits(t->elem));
        else memcpy(back ? w : p, back ? p : w, (size_t)row * each);
        for (int d = t->ndim - 2; d >= 0 && ++at[d] == dim[d]; d--) at[d] = 0;
    }
}
