/* tile_math.h: functions of f32 without branches or tables, so that loops over them become vector code.
   Errors against the exact value (test/unit/tile_math.c tries every f32): exp, exp2, log, log2, tanh, erf below 2 ulp.
   Method: range reduction and the minimax polynomials of S. L. Moshier's Cephes library, published coefficients; erf's
   are our own. */
#ifndef TILE_DEVICE_TILE_MATH_H
#define TILE_DEVICE_TILE_MATH_H

/* A NaN on either side gives NaN. */
#ifndef TILE_OWN_MAX /* the machine has an instruction */
TILE_FN float tile_min_f32(float a, float b) { return a < b || a != a ? a : b; }
TILE_FN float tile_max_f32(float a, float b) { return a > b || a != a ? a : b; }
#endif
TILE_FN double tile_min_f64(double a, double b) { return a < b || a != a ? a : b; }
TILE_FN double tile_max_f64(double a, double b) { return a > b || a != a ? a : b; }

#ifndef TILE_GPU
/* The same for `reduction` clauses, whose own min and max may lose a NaN. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma omp declare reduction(tile_min:float : omp_out = tile_min_f32(omp_out, omp_in)) initializer(omp_priv = INFINITY)
#pragma omp declare reduction(tile_max:float                                                                           \
                              : omp_out = tile_max_f32(omp_out, omp_in)) initializer(omp_priv = -INFINITY)
#pragma omp declare reduction(tile_min:double                                                                          \
                              : omp_out = tile_min_f64(omp_out, omp_in)) initializer(omp_priv = INFINITY)
#pragma omp declare reduction(tile_max:double                                                                          \
                              : omp_out = tile_max_f64(omp_out, omp_in)) initializer(omp_priv = -INFINITY)
#pragma GCC diagnostic pop
#endif

#ifndef TILE_OWN_DIV
TILE_FN float tile_div_f32(float a, float b) { return a / b; }
#endif

TILE_FN float tile_mod_f32(float a, float b) { return a - floorf(a / b) * b; }
TILE_FN double tile_mod_f64(double a, double b) { return a - floor(a / b) * b; }
TILE_FN float tile_pow_f32(float a, float b) { return powf(a, b); }
TILE_FN double tile_pow_f64(double a, double b) { return pow(a, b); }

/* 2^n by its exponent bits, -126 <= n <= 127 */
TILE_FN float tile_power_of_two(int32_t n) { return tile_f32_of_bits((uint32_t)(n + 127) << 23); }

/* x 2^n in two steps, so that results below the normal range come out right */
TILE_FN float tile_scale(float x, int32_t n) {
    int32_t half = n >> 1;
    return x * tile_power_of_two(half) * tile_power_of_two(n - half);
}

/* Nearest integer of |x| < 2^22: adding 1.5 * 2^23 leaves it in the low bits of the sum. */
#define TILE_ROUNDER 12582912.0f

TILE_FN int32_t tile_rounded_bits(float shifted) {
    return (int32_t)(tile_bits_of_f32(shifted) - tile_bits_of_f32(TILE_ROUNDER));
}

/* e^r for |r| <= log(2) / 2 */
TILE_FN float tile_exp_small(float r) {
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return p * r * r + r + 1.0f;
}

#ifndef TILE_OWN_EXP /* the machine has an instruction for 2^x */
TILE_FN float tile_exp(float x) {
    float y = x < -105.0f ? -105.0f : x > 89.0f ? 89.0f : x;
    float shifted = y * 1.44269504f + TILE_ROUNDER, n = shifted - TILE_ROUNDER;
    float r = y - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    return tile_scale(tile_exp_small(r), tile_rounded_bits(shifted));
}

TILE_FN float tile_exp2(float x) {
    float y = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
    float shifted = y + TILE_ROUNDER, n = shifted - TILE_ROUNDER;
    return tile_scale(tile_exp_small((y - n) * 0.693147181f), tile_rounded_bits(shifted));
}

/* For -126 <= x <= 126. */
TILE_FN float tile_exp2_normal(float x) {
    float shifted = x + TILE_ROUNDER, n = shifted - TILE_ROUNDER;
    return tile_exp_small((x - n) * 0.693147181f) * tile_power_of_two(tile_rounded_bits(shifted));
}
#endif

/* x = m 2^e with sqrt(1/2) <= m < sqrt(2); gives f = m - 1 */
TILE_FN float tile_split(float x, float *e) {
    bool tiny = x < 1.17549435e-38f;
    uint32_t bits = tile_bits_of_f32(tiny ? x * 8388608.0f : x);
    int32_t exponent = (int32_t)(bits - 0x3f3504f3u) >> 23;
    *e = (float)exponent - (tiny ? 23.0f : 0.0f);
    return tile_f32_of_bits(bits - ((uint32_t)exponent << 23)) - 1.0f;
}

/* log(1 + f) - f + f^2 / 2 */
TILE_FN float tile_log_rest(float f) {
    float p = 7.0376836292e-2f;
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    return p * f * f * f;
}

/* What a logarithm gives where the formula does not hold. */
TILE_FN float tile_log_specials(float x, float y) {
    y = x == INFINITY ? INFINITY : y;
    y = x == 0.0f ? -INFINITY : y;
    return x >= 0.0f ? y : NAN;
}

TILE_FN float tile_log(float x) {
    float e, f = tile_split(x, &e);
    float y = tile_log_rest(f) - 2.12194440e-4f * e - 0.5f * f * f;
    return tile_log_specials(x, f + y + 0.693359375f * e);
}

TILE_FN float tile_log2(float x) {
    float e, f = tile_split(x, &e);
    float y = tile_log_rest(f) - 0.5f * f * f;
    /* log2(e) = 1 + 0.4426..: the large parts are added last */
    return tile_log_specials(x, y * 0.44269504f + f * 0.44269504f + y + f + e);
}

TILE_FN float tile_tanh(float x) {
    float a = fabsf(x), z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float small = p * z * x + x, large = 1.0f - 2.0f / (tile_exp(2.0f * a) + 1.0f);
    return a < 0.625f ? small : x < 0.0f ? -large : large;
}

/* Below 0.9 by a polynomial of erf(x) / x - 1, else of log2(1 - erf(|x|)), which is below half a unit from 4 on; both
   by Remez' algorithm for the error of the result. */
TILE_FN float tile_erf(float x) {
    float a = fabsf(x), z = x * x, y = a < 4.0f ? a : 4.0f;
    float p = -6.09036011e-4f;
    p = p * z + 5.01196273e-3f;
    p = p * z - 2.67789084e-2f;
    p = p * z + 1.12821408e-1f;
    p = p * z - 3.76125246e-1f;
    p = p * z + 1.28379151e-1f;
    float q = 2.85970455e-4f;
    q = q * y - 4.42256732e-3f;
    q = q * y + 3.21940444e-2f;
    q = q * y - 1.50204286e-1f;
    q = q * y - 9.18962240e-1f;
    q = q * y - 1.62706745f;
    q = q * y - 2.40133784e-4f;
    float large = 1.0f - tile_exp2_normal(q);
    large = tile_f32_of_bits(tile_bits_of_f32(large) | (tile_bits_of_f32(x) & 0x80000000u));
    return a >= 0.9f ? large : p * x + x;
}

#endif
