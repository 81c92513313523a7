/* tile_libm.h: the C library's functions of floats for machines that come without one: f64 within a few ulp (erf: 20),
   f32 through f64. Right first, not fast. C11 and C++; test/unit/tile_libm.c compares with the host's library.
   Methods: exp from S. L. Moshier's Cephes, log, sin and cos from Sun's fdlibm (published coefficients); reduction by
   pi / 2: M. Payne, R. Hanek, SIGNUM Newsletter 18 (1983); erf: Abramowitz and Stegun 7.1.6. */
#ifndef TILE_DEVICE_TILE_LIBM_H
#define TILE_DEVICE_TILE_LIBM_H

#include "device/tile_scalar.h"

TILE_FN uint64_t tile_bits_of_f64(double x) {
    uint64_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

TILE_FN double tile_f64_of_bits(uint64_t u) {
    double x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

/* x 2^n in steps, so that results below the normal range come out right; |n| <= 2,200 */
TILE_FN double tile_scale_f64(double x, int n) {
    for (; n > 1000; n -= 1000) x *= 0x1p1000;
    for (; n < -1000; n += 1000) x *= 0x1p-1000;
    return x * tile_f64_of_bits((uint64_t)(n + 1023) << 52);
}

/* e^r - 1, |r| <= log(2) / 2 */
TILE_FN double tile_expm1_small(double r) {
    double z = r * r;
    double p = r * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 9.99999999999999999910e-1);
    double q = ((3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z + 2.27265548208155028766e-1) * z + 2.0;
    return 2.0 * p / (q - p);
}

TILE_FN double tile_exp_f64(double x) {
    if (!(x > -746.0)) return x != x ? x : 0.0;
    if (x > 710.0) return INFINITY;
    double n = rint(x * 1.4426950408889634);
    double r = x - n * 6.93145751953125e-1 - n * 1.42860682030941723212e-6;
    return tile_scale_f64(1.0 + tile_expm1_small(r), (int)n);
}

TILE_FN double tile_exp2_f64(double x) {
    if (!(x > -1076.0)) return x != x ? x : 0.0;
    if (x > 1025.0) return INFINITY;
    double n = rint(x);
    return tile_scale_f64(1.0 + tile_expm1_small((x - n) * 0.6931471805599453), (int)n);
}

/* A positive finite x = m 2^e, sqrt(1/2) <= m < sqrt(2). */
TILE_FN double tile_split_f64(double x, int *e) {
    bool tiny = x < 0x1p-1022;
    uint64_t u = tile_bits_of_f64(tiny ? x * 0x1p54 : x);
    int64_t exponent = (int64_t)(u - 0x3fe6a09e667f3bcdu) >> 52;
    *e = (int)exponent - (tiny ? 54 : 0);
    return tile_f64_of_bits(u - ((uint64_t)exponent << 52));
}

/* (log(1 + f) - 2 s) / s, s = f / (2 + f), z = s^2 */
TILE_FN double tile_log_rest_f64(double z) {
    double p = 1.479819860511658591e-01;
    p = p * z + 1.531383769920937332e-01;
    p = p * z + 1.818357216161805012e-01;
    p = p * z + 2.222219843214978396e-01;
    p = p * z + 2.857142874366239149e-01;
    p = p * z + 3.999999999940941908e-01;
    p = p * z + 6.666666666666735130e-01;
    return p * z;
}

TILE_FN double tile_log_small(double m) {
    double f = m - 1.0, s = f / (2.0 + f), half = 0.5 * f * f;
    return f - (half - s * (half + tile_log_rest_f64(s * s)));
}

TILE_FN bool tile_log_special(double x, double *y) {
    *y = x == 0.0 ? -INFINITY : x > 0.0 ? INFINITY : NAN;
    return !(x > 0.0 && x < INFINITY);
}

TILE_FN double tile_log_f64(double x) {
    double y;
    int e;
    if (tile_log_special(x, &y)) return y;
    double m = tile_split_f64(x, &e);
    return e * 6.93147180369123816490e-01 + (tile_log_small(m) + e * 1.90821492927058770002e-10);
}

TILE_FN double tile_log2_f64(double x) {
    double y;
    int e;
    if (tile_log_special(x, &y)) return y;
    double m = tile_split_f64(x, &e);
    return e + tile_log_small(m) * 1.4426950408889634;
}

/* ---- powers: the logarithm as a sum of two ---- */

typedef struct {
    double high, low;
} tile_f64_pair;

TILE_FN tile_f64_pair tile_pair(double a, double b) { /* |a| >= |b| */
    tile_f64_pair p = {a + b, 0};
    p.low = b - (p.high - a);
    return p;
}

TILE_FN tile_f64_pair tile_log_pair(double x) {
    int e;
    double f = tile_split_f64(x, &e) - 1.0, d = 2.0 + f, s = f / d;
    double rest = (__builtin_fma(-s, d, f) - s * (f - (d - 2.0))) / d; /* s + rest = f / (2 + f) */
    tile_f64_pair m = tile_pair(2.0 * s, 2.0 * rest + s * tile_log_rest_f64(s * s));
    if (e == 0) return m;
    tile_f64_pair sum = tile_pair(e * 6.93147180369123816490e-01, m.high);
    return tile_pair(sum.high, sum.low + (m.low + e * 1.90821492927058770002e-10));
}

TILE_FN double tile_pow_positive(double a, double b) {
    if (a == 0.0) return b > 0 ? 0.0 : INFINITY;
    if (a == INFINITY) return b > 0 ? INFINITY : 0.0;
    if (b == INFINITY || b == -INFINITY) return a == 1.0 ? 1.0 : (a > 1.0) == (b > 0) ? INFINITY : 0.0;
    tile_f64_pair l = tile_log_pair(a);
    double y = b * l.high, rest = __builtin_fma(b, l.high, -y) + b * l.low, e = tile_exp_f64(y);
    return e > 0.0 && e < INFINITY ? e + e * rest : e;
}

TILE_FN double tile_pow_any(double a, double b) {
    if (b == 0.0 || a == 1.0) return 1.0;
    if (a != a || b != b) return NAN;
    bool negative = tile_bits_of_f64(a) >> 63, whole = floor(b) == b;
    bool odd = whole && floor(b * 0.5) != b * 0.5;
    if (!negative) return tile_pow_positive(a, b);
    if (!whole && a != 0.0 && a != -INFINITY) return NAN;
    double size = tile_pow_positive(-a, b);
    return odd ? -size : size;
}

/* ---- sine and cosine ---- */

/* 2 / pi after the point */
TILE_FN uint64_t tile_two_over_pi(int word) {
    static const uint64_t bits[20] = {
        0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
        0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
        0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
        0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du,
    };
    return bits[word];
}

/* 64 bits of 2 / pi from bit `at` after the point on; zeros before it */
TILE_FN uint64_t tile_two_over_pi_at(int at) {
    if (at <= -64) return 0;
    if (at < 0) return tile_two_over_pi(0) >> -at;
    uint64_t high = tile_two_over_pi(at / 64) << (at % 64);
    return at % 64 ? high | tile_two_over_pi(at / 64 + 1) >> (64 - at % 64) : high;
}

/* Finite x = (4 n + quadrant) pi / 2 + r, |r| <= pi / 4: the bits of x / (pi / 2) around the point. */
TILE_FN tile_f64_pair tile_reduce_far(double x, int *quadrant) {
    uint64_t u = tile_bits_of_f64(x), m = (u & 0xfffffffffffffu) | 0x10000000000000u;
    int e = (int)(u >> 52 & 0x7ff) - 1075; /* |x| = m 2^e; of m 2^e 2/pi all above 2^2 is left out */
    unsigned __int128 p1 = (unsigned __int128)m * tile_two_over_pi_at(e - 2 + 64);
    uint64_t p0 = m * tile_two_over_pi_at(e - 2);
    unsigned __int128 p2 = (unsigned __int128)m * tile_two_over_pi_at(e - 2 + 128) >> 64;
    unsigned __int128 sum = ((unsigned __int128)p0 << 64) + p1 + p2; /* of units 2^-126 */
    int q = (int)(sum >> 126);
    sum <<= 2;
    bool up = (bool)(sum >> 127);
    if (up) sum = -sum;
    uint64_t top = (uint64_t)(sum >> 64);
    double high = (double)top, low = (double)(int64_t)(top - (uint64_t)high) + (double)(uint64_t)sum * 0x1p-64;
    double r = high * 1.5707963267948966;
    double rest = __builtin_fma(high, 1.5707963267948966, -r) + high * 6.123233995736766e-17 + low * 1.5707963267948966;
    bool negative = u >> 63;
    *quadrant = negative ? -(q + up) : q + up;
    double unit = up != negative ? -0x1p-64 : 0x1p-64;
    return tile_pair(unit * r, unit * rest);
}

TILE_FN double tile_sin_small(tile_f64_pair r) {
    double x = r.high, z = x * x;
    double p = 1.58969099521155010221e-10;
    p = p * z - 2.50507602534068634195e-08;
    p = p * z + 2.75573137070700676789e-06;
    p = p * z - 1.98412698298579493134e-04;
    p = p * z + 8.33333333332248946124e-03;
    p = p * z - 1.66666666666666324348e-01;
    return x + (z * x * p + r.low * (1.0 - 0.5 * z));
}

TILE_FN double tile_cos_small(tile_f64_pair r) {
    double x = r.high, z = x * x;
    double p = -1.13596475577881948265e-11;
    p = p * z + 2.08757232129817482790e-09;
    p = p * z - 2.75573143513906633035e-07;
    p = p * z + 2.48015872894767294178e-05;
    p = p * z - 1.38888888888741095749e-03;
    p = p * z + 4.16666666666666019037e-02;
    double half = 0.5 * z, w = 1.0 - half;
    return w + (((1.0 - w) - half) + (z * z * p - x * r.low));
}

/* sin(x + shift pi / 2) */
TILE_FN double tile_sin_shifted(double x, int shift) {
    int quadrant = 0;
    if (!(x > -INFINITY && x < INFINITY)) return NAN;
    tile_f64_pair r = {x, 0};
    if (fabs(x) > 0.7853981633974483) r = tile_reduce_far(x, &quadrant);
    quadrant = (quadrant + shift) & 3;
    double y = quadrant & 1 ? tile_cos_small(r) : tile_sin_small(r);
    return quadrant & 2 ? -y : y;
}

TILE_FN double tile_sin_f64(double x) { return tile_sin_shifted(x, 0); }
TILE_FN double tile_cos_f64(double x) { return tile_sin_shifted(x, 1); }

/* ---- tanh, erf ---- */

TILE_FN double tile_tanh_f64(double x) {
    double a = fabs(x), y;
    if (a < 0.17) {
        double e = tile_expm1_small(2.0 * a);
        y = e / (e + 2.0);
    } else {
        y = 1.0 - 2.0 / (tile_exp_f64(2.0 * a) + 1.0);
    }
    return tile_bits_of_f64(x) >> 63 ? -y : y;
}

/* 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n + 1) / (1 3 .. (2n + 1)): all terms have one sign */
TILE_FN double tile_erf_f64(double x) {
    double z = x * x, term = x, sum = x;
    if (x != x) return x;
    if (z > 36.0) return x < 0 ? -1.0 : 1.0;
    for (int n = 1; n < 200 && fabs(term) > 1e-17 * fabs(sum); n++) {
        term *= 2.0 * z / (2 * n + 1);
        sum += term;
    }
    return 1.1283791670955126 * tile_exp_f64(-z) * sum;
}

/* ---- the library's names, where there is no library ---- */

#ifdef TILE_NO_LIBRARY
#define exp(x) tile_exp_f64(x)
#define exp2(x) tile_exp2_f64(x)
#define log(x) tile_log_f64(x)
#define log2(x) tile_log2_f64(x)
#define sin(x) tile_sin_f64(x)
#define cos(x) tile_cos_f64(x)
#define tanh(x) tile_tanh_f64(x)
#define erf(x) tile_erf_f64(x)
#define pow(a, b) tile_pow_any(a, b)
#define sinf(x) ((float)tile_sin_f64(x))
#define cosf(x) ((float)tile_cos_f64(x))
#define erff(x) ((float)tile_erf_f64(x))
#define powf(a, b) ((float)tile_pow_any(a, b))
#endif

#endif
