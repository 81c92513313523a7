/* scalar.c: the value of a scalar argument as text, in the type of the scalar.
   Takes decimal and hexadecimal numbers, true and false, inf and nan. */
#include "driver/scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_one_element(const Tensor *t) {
    for (int d = 0; d < t->ndim; d++)
        if (!size_is_number(t->dim[d]) || t->dim[d].c != 1) return false;
    return true;
}

static bool int_fits(Elem e, long long x) {
    int bits = elem_bits(e);
    if (e == ELEM_BOOL || e == ELEM_U8) return x >= 0 && x <= (e == ELEM_BOOL ? 1 : 255);
    if (e == ELEM_T2) return x >= -1 && x <= 1;
    return bits == 64 || (x >= -(1LL << (bits - 1)) && x < 1LL << (bits - 1));
}

static ScalarText int_parse(Elem e, const char *text, Array *a) {
    bool truth = e == ELEM_BOOL && strcmp(text, "true") == 0,
         is_word = truth || (e == ELEM_BOOL && strcmp(text, "false") == 0);
    int base = strpbrk(text, "xX") ? 16 : 10; /* 010 is ten, as it is for a float */
    char *end = NULL;
    errno = 0;
    long long x = is_word ? truth : strtoll(text, &end, base);
    if (!is_word && (errno || *end || !int_fits(e, x))) return SCALAR_OUTSIDE;
    array_set_int(a, 0, x);
    return SCALAR_READ;
}

static ScalarText float_parse(double x, Array *a) {
    array_set(a, 0, x);
    return isfinite(x) && !isfinite(array_get(a, 0)) ? SCALAR_OUTSIDE : SCALAR_READ;
}

static bool number_parse(const char *text, double *x) {
    char *end;
    *x = strtod(text, &end);
    return end > text && *end == 0;
}

bool scalar_is_number(const char *text) { return number_parse(text, &(double){0}); }

ScalarText scalar_parse(Arena *arena, const Tensor *t, const char *text, Array *out) {
    int64_t ones[MAX_DIMS];
    double x = 0;
    bool word = t->elem == ELEM_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
    if (!has_one_element(t) || (!word && !number_parse(text, &x))) return SCALAR_NO_NUMBER;
    Array a;
    for (int d = 0; d < MAX_DIMS; d++) ones[d] = 1;
    array_new(arena, t->elem, t->ndim, ones, &a);
    ScalarText read = elem_is_float(t->elem) ? float_parse(x, &a) : int_parse(t->elem, text, &a);
    if (read == SCALAR_READ) *out = a;
    return read;
}
