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
    if (!elem_is_float(e) || e == ELEM_F32 || e == ELEM_F64) return b;
    return bound_join(w, b, bound_own(w, 1, ldexp(fabs(x), -float_digits(e)) + (elem_bits(e) == 8 ? 0x1p-9 : 0x1p-24)));
}

/* The largest integer of a type, as floats tell it. */
static double most_of(Elem e) { return e == ELEM_U8 ? 255 : ldexp(1, elem_bits(e) - 1) - 1; }

static double whole(Elem to, double x) {
    const double most = most_of(to), least = to == ELEM_U8 ? 0 : -most - 1;
    return isnan(x) ? 0 : fmin(fmax(trunc(x), least), most);
}

/* Of the integer that x becomes. */
static double bound_whole(Elem to, double x, double b) {
    if (b == 0 || to == ELEM_BOOL) return 0;
    return fmax(whole(to, x + b) - whole(to, x), whole(to, x) - whole(to, x - b));
}

double bound_wrap(Elem e, int64_t z, double b) {
    if (b == 0 || e == ELEM_BOOL) return 0;
    return whole(e, (double)z + b) - whole(e, (double)z - b) < 2 * floor(b) ? INFINITY : b;
}

double bound_convert(const World *w, Lane from, Elem to, double x, double b) {
    if (lane_of(to) == LANE_INT && from != LANE_INT) return bound_whole(to, x, b);
    if (lane_of(to) == LANE_INT) return b == 0 || fabs(x) > 0x1p62 ? b : bound_wrap(to, int_wrap(to, (int64_t)x), b);
    bool narrows = from == LANE_DOUBLE && to == ELEM_F32 && b != 0;
    return bound_round(w, to, x, narrows ? bound_join(w, b, bound_own(w, 1, ldexp(fabs(x), -23))) : b);
}
