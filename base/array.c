/* array.c: dense arrays of every element type: what programs take and give, and what .npy files hold.
   Takes any shape whose bytes fit 62 bits. */
#include "base/array.h"
#include "base/half.h"

#include <math.h>
#include <string.h>

size_t elem_bytes(Elem e) { return elem_bits(e) < 8 ? 1 : (size_t)elem_bits(e) / 8; }

bool array_bytes(Elem e, int ndim, const int64_t *dim, int64_t *count, size_t *bytes) {
    int64_t n = 1, total;
    bool empty = false;
    for (int d = 0; d < ndim; d++) {
        if (dim[d] < 0) return false;
        empty |= dim[d] == 0;
        if (dim[d] && __builtin_mul_overflow(n, dim[d], &n)) return false;
    }
    if (__builtin_mul_overflow(n, (int64_t)elem_bytes(e), &total) || total > INT64_MAX / 2) return false;
    *count = empty ? 0 : n;
    *bytes = empty ? 0 : (size_t)total;
    return true;
}

bool array_new(Arena *arena, Elem e, int ndim, const int64_t *dim, Array *out) {
    int64_t count;
    size_t bytes;
    if (!array_bytes(e, ndim, dim, &count, &bytes)) return false;
    *out = (Array){.elem = e, .ndim = ndim, .data = arena_alloc(arena, bytes)};
    for (int d = 0; d < ndim; d++) out->dim[d] = dim[d];
    return true;
}

int64_t array_count(const Array *a) {
    int64_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= a->dim[d];
    return n;
}

int64_t array_get_int(const Array *a, int64_t i) {
    switch (a->elem) {
    case ELEM_I64:
        return ((const int64_t *)a->data)[i];
    case ELEM_I32:
        return ((const int32_t *)a->data)[i];
    case ELEM_I16:
        return ((const int16_t *)a->data)[i];
    case ELEM_U8:
    case ELEM_BOOL:
        return ((const uint8_t *)a->data)[i];
    case ELEM_I8:
    case ELEM_I4:
    case ELEM_T2:
        return ((const int8_t *)a->data)[i];
    default:
        return (int64_t)array_get(a, i);
    }
}

double array_get(const Array *a, int64_t i) {
    if (!elem_is_float(a->elem)) return (double)array_get_int(a, i);
    if (a->elem == ELEM_F64) return ((const double *)a->data)[i];
    if (a->elem == ELEM_F32) return ((const float *)a->data)[i];
    if (elem_bits(a->elem) == 16) return float_decode(a->elem, ((const uint16_t *)a->data)[i]);
    return float_decode(a->elem, ((const uint8_t *)a->data)[i]);
}

/* At least 1 where they are not equal: beyond 2^53 floats round. */
static double ints_apart(int64_t x, int64_t y) { return x == y ? 0 : fmax(1, fabs((double)x - (double)y)); }

double array_error(const Array *a, const Array *b, int64_t i) {
    if (!elem_is_float(a->elem)) return ints_apart(array_get_int(a, i), array_get_int(b, i));
    double x = array_get(a, i), y = array_get(b, i);
    if (x == y || (isnan(x) && isnan(y))) return 0;
    double e = fabs(x - y);
    return isnan(e) ? INFINITY : e;
}

double array_bound(const Array *a, int64_t i) { return a->bound ? a->bound[i] : 0; }

void array_set_int(Array *a, int64_t i, int64_t x) {
    switch (a->elem) {
    case ELEM_I64:
        ((int64_t *)a->data)[i] = x;
        break;
    case ELEM_I32:
        ((int32_t *)a->data)[i] = (int32_t)x;
        break;
    case ELEM_I16:
        ((int16_t *)a->data)[i] = (int16_t)x;
        break;
    case ELEM_BOOL:
        ((uint8_t *)a->data)[i] = x != 0;
        break;
    case ELEM_U8:
    case ELEM_I8:
    case ELEM_I4:
    case ELEM_T2:
        ((uint8_t *)a->data)[i] = (uint8_t)x;
        break;
    default:
        array_set(a, i, (double)x);
    }
}

void array_set(Array *a, int64_t i, double x) {
    if (!elem_is_float(a->elem))
        array_set_int(a, i, (int64_t)x);
    else if (a->elem == ELEM_F64)
        ((double *)a->data)[i] = x;
    else if (a->elem == ELEM_F32)
        ((float *)a->data)[i] = (float)x;
    else if (elem_bits(a->elem) == 16)
        ((uint16_t *)a->data)[i] = float_encode(a->elem, x);
    else
        ((uint8_t *)a->data)[i] = (uint8_t)float_encode(a->elem, x);
}

int64_t array_wrong(const Array *a) {
    const int most = a->elem == ELEM_BOOL ? 1 : a->elem == ELEM_I4 ? 7 : a->elem == ELEM_T2 ? 1 : 127;
    const int least = a->elem == ELEM_BOOL ? 0 : a->elem == ELEM_I4 ? -8 : -1;
    const signed char *v = a->data;
    for (int64_t i = 0, n = most == 127 ? 0 : array_count(a); i < n; i++)
        if (v[i] > most || v[i] < least) return i;
    return -1;
}
