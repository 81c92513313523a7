/* scalar.h: the value of a scalar argument as text. */
#ifndef TILEC_DRIVER_SCALAR_H
#define TILEC_DRIVER_SCALAR_H

#include "ir/interp/interp.h"

typedef enum {
    SCALAR_NO_NUMBER,
    SCALAR_READ,
    SCALAR_OUTSIDE
} ScalarText; /* outside: a number that the type does not have */

/* 1e-5, -3, true: of a tensor of one element, which gets its memory. Whatever else is no number. */
bool scalar_is_number(const char *);
ScalarText scalar_parse(Arena *, const Tensor *, const char *text, Array *);

#endif
