/* half.c: the small float formats, each a row of facts; OCP 8-bit formats (OFP8 1.0) and the fnuz variant of CDNA3.
   Takes and gives values only: no state. */
#include "base/half.h"

#include <math.h>
#include <string.h>

typedef struct {
    int man, emin;      /* stored digits; exponent of the smallest normal number */
    uint16_t sign, max; /* sign bit; code of the largest finite value */
    uint16_t inf, nan;  /* inf = max: overflow saturates */
    bool negative_zero;
} Format;

static const Format *format_of(Elem e) {
    static const Format f16 = {10, -14, 0x8000, 0x7bff, 0x7c00, 0x7e00, true};
    static const Format bf16 = {7, -126, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, true};
    static const Format e4m3 = {3, -6, 0x80, 0x7e, 0x7e, 0x7f, true};
    static const Format e5m2 = {2, -14, 0x80, 0x7b, 0x7b, 0x7e, true};
    static const Format fnuz = {3, -7, 0x80, 0x7f, 0x7f, 0x80, false};
    switch (e) {
    case ELEM_F16:
        return &f16;
    case ELEM_BF16:
        return &bf16;
    case ELEM_F8E4M3:
        return &e4m3;
    case ELEM_F8E5M2:
        return &e5m2;
    case ELEM_F8E4M3FNUZ:
        return &fnuz;
    default:
        return NULL;
    }
}

/* A double's digits stand below its exponent, to which the bias is added. IEEE 754, binary64. */
enum { DOUBLE_DIGITS = 52, DOUBLE_BIAS = 1023 };

/* 2^e, a normal number; libm's ldexp and ilogb took a third of the interpreter's time. */
static double power_of_two(int e) {
    uint64_t bits = (uint64_t)(e + DOUBLE_BIAS) << DOUBLE_DIGITS;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The exponent of a magnitude; that of a subnormal number stands below the normal ones. */
static int exponent_of(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (int)(bits >> DOUBLE_DIGITS) - DOUBLE_BIAS;
}

/* The code of a finite magnitude a: with q the exponent of its last digit, r = a / 2^q rounded to even; a carry out of
   the digits moves into the exponent by itself. */
static uint32_t magnitude_encode(const Format *f, double a) {
    if (a == 0) return 0;
    int e = exponent_of(a);
    if (e < f->emin) e = f->emin;
    double r = a * power_of_two(f->man - e) + 0x1p52 - 0x1p52; /* to the nearest integer */
    uint64_t code = ((uint64_t)(e - f->emin) << f->man) + (uint64_t)r;
    return code > f->max ? f->inf : (uint32_t)code;
}

uint16_t float_encode(Elem e, double x) {
    if (e == ELEM_BF16 && (float)x == x) return bf16_encode((float)x);
    const Format *f = format_of(e);
    if (isnan(x)) return f->nan;
    uint32_t code = isinf(x) ? f->inf : magnitude_encode(f, fabs(x));
    bool minus = signbit(x) && (code || f->negative_zero);
    return (uint16_t)(code | (minus ? f->sign : 0));
}

static bool code_is_nan(const Format *f, uint16_t bits) {
    if (!f->negative_zero) return bits == f->nan;
    uint16_t code = bits & (uint16_t)(f->sign - 1);
    return code > f->max + (f->man == 3 ? 0 : 1); /* 4-digit formats have no infinity */
}

static bool code_is_infinite(const Format *f, uint16_t bits) {
    return f->man != 3 && (bits & (f->sign - 1)) == f->max + 1;
}

double float_decode(Elem e, uint16_t bits) {
    if (e == ELEM_BF16) return bf16_decode(bits);
    if (e == ELEM_F16) return f16_decode(bits);
    const Format *f = format_of(e);
    if (code_is_nan(f, bits)) return NAN;
    double sign = bits & f->sign ? -1 : 1;
    if (code_is_infinite(f, bits)) return sign * INFINITY;
    uint32_t code = bits & (f->sign - 1u), exponent = code >> f->man, digits = code & ((1u << f->man) - 1);
    if (exponent == 0) return sign * digits * power_of_two(f->emin - f->man);
    return sign * (digits + (1u << f->man)) * power_of_two((int)exponent - 1 + f->emin - f->man);
}

uint16_t bf16_encode(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float bf16_decode(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Exponent and digits lie 13 places lower than those of f32, whose bias is larger by 112. */
float f16_decode(uint16_t b) {
    uint32_t bits = (uint32_t)(b & 0x7fff) << 13;
    float x;
    if ((b & 0x7fff) > 0x7c00) return NAN;
    memcpy(&x, &bits, sizeof x);
    x = (b & 0x7fff) == 0x7c00 ? INFINITY : x * 0x1p112f;
    return b & 0x8000 ? -x : x;
}

int float_digits(Elem e) {
    if (e == ELEM_F64) return 52;
    if (e == ELEM_F32) return 23;
    const Format *f = format_of(e);
    return f ? f->man : -1;
}
