/* rounding.c: how the bounds of several errors make one: in the worst case, or with high probability.
   Errors of the worst case add up. Expected ones are taken for independent with mean 0, and add as their squares do:
   n roundings of at most u each come to at most lambda sqrt(n) u with probability 1 - 2 exp(-lambda^2 / 2), for any
   data (N. J. Higham and T. Mary, A New Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41,
   2019). */
#include "base/half.h"
#include "ir/interp/state.h"

#include <math.h>

/* lambda: 2 exp(-lambda^2 / 2) is 3e-8 of an element */
static const double certainty = 6;

double bound_join(const World *w, double a, double b) {
    return !w->expected ? a + b : b == 0 ? a : a == 0 ? b : sqrt(a * a + b * b);
}

double bound_own(const World *w, double n, double b) { return w->expected ? certainty * sqrt(n) * b : n * b; }

/* Two standard errors, of which a bound has `certainty`, are less than the value. */
bool bound_is_linear(const World *w, double x, double b) { return w->expected && fabs(x) > b * 2 / certainty; }

double bound_settle(double z, double b) {
    if (!isfinite(z)) return 0;
    return isnan(b) ? INFINITY : b;
}

double bound_round(const World *w, Elem e, double x, double b) {
    if (b == 0 || !isfinite(x)) return b == 0 ? 0 : bound_settle(x, b);
    if (e == ELEM_F32 || e == ELEM_F64) return b;
    return bound_join(w, b, bound_own(w, 1, ldexp(fabs(x), -float_digits(e)) + (elem_bits(e) == 8 ? 0x1p-9 : 0x1p-24)));
}

double bound_convert(const World *w, Elem from, Elem to, double x, double b) {
    bool narrows = from == ELEM_F64 && to == ELEM_F32 && b != 0;
    return bound_round(w, to, x, narrows ? bound_join(w, b, bound_own(w, 1, ldexp(fabs(x), -23))) : b);
}
