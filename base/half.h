/* half.h: the small float formats as bits: bf16, f16 and the 8-bit floats, to and from f32 and f64.
   Rounding is to nearest even, once, from the exact value. Too large: infinity in bf16 and f16, the largest finite
   value in the 8-bit formats (as the machines' saturating conversions do); NaN stays NaN. */
#ifndef TILEC_BASE_HALF_H
#define TILEC_BASE_HALF_H

#include "base/elem.h"

#include <stdint.h>

/* Bits of x in a float type of 16 bits or less, and back. */
uint16_t float_encode(Elem, double x);
double float_decode(Elem, uint16_t bits);

/* These two types have functions of their own, which are faster. */
uint16_t bf16_encode(float);
float bf16_decode(uint16_t bits);
float f16_decode(uint16_t bits);

/* Distance between neighbours of magnitude 1 as an exponent: f32 has 23, bf16 7; -1 for types that are not floats. */
int float_digits(Elem);

#endif
