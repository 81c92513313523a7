/* bound.c: beside each number, by how much two legal evaluations may differ. An operation passes on what its operands
   differ by (derivative or interval) and adds c eps |result|. Where operands cannot differ and the operation is
   exact, neither does the result. Rows of ops.def name the functions moved_.. */
#include "ir/interp/state.h"

#include <math.h>

/* ---- z = f(x), |dx| <= b ---- */

/* Far below 0 no difference matters: the result's neighbours are 0 too. */
static double away_exp(const World *w, double x, double z, double b) {
    return bound_is_linear(w, 1, b) ? fabs(z) * b : fmin(fabs(z) * expm1(b), exp(x + b));
}

static double away_log(const World *w, double x, double b) {
    if (x > 0 && bound_is_linear(w, x, b)) return b / x;
    return x > b ? -log1p(-b / x) : INFINITY;
}

double moved_exp(const Moved *m) { return away_exp(m->w, m->x, m->z, m->dx); }
double moved_exp2(const Moved *m) {
    return away_exp(m->w, m->x * 0.6931471805599453, m->z, m->dx * 0.6931471805599454);
}
double moved_log(const Moved *m) { return away_log(m->w, m->x, m->dx); }
double moved_log2(const Moved *m) { return away_log(m->w, m->x, m->dx) * 1.4426950408889635; }

double moved_sqrt(const Moved *m) {
    return m->x > m->dx ? m->dx / (sqrt(m->x) + sqrt(m->x - m->dx)) : sqrt(m->x + m->dx);
}

double moved_rsqrt(const Moved *m) {
    if (m->x > 0 && bound_is_linear(m->w, m->x, m->dx)) return m->z * m->dx / (2 * m->x);
    return m->x > m->dx ? 1 / sqrt(m->x - m->dx) - m->z : INFINITY;
}

double moved_wave(const Moved *m) { return fmin(2, m->dx); }

/* The steepest tanh is in the interval is at the point nearest to 0. */
double moved_tanh(const Moved *m) {
    double nearest = fabs(m->x) > m->dx ? tanh(fabs(m->x) - m->dx) : 0;
    return fmin(2, m->dx * (1 - nearest * nearest));
}

double moved_erf(const Moved *m) { return fmin(2, m->dx * 1.1283791670955126); }

double moved_ascending(const Moved *m) {
    double (*f)(double) = op_info[m->f].unary.f64;
    return f(m->x + m->dx) - f(m->x - m->dx);
}

/* Near its zero a function's own error is not relative to its value. */
static double least_error(const OpBound *f) { return f->absolute ? 1 : f->own > 1 ? 0x1p-100 : 0; }

void bound_unary(const World *w, OpKind op, Lane l, const Tile *x, Tile *z) {
    const OpBound *f = &op_info[op].bound;
    double own = f->own * lane_eps(l), least = least_error(f) * lane_eps(l);
    for (int64_t i = 0; i < z->n; i++) {
        Moved m = {.w = w, .f = op, .x = lane_get(l, x->data, i), .z = lane_get(l, z->data, i), .dx = x->bound[i]};
        double away = m.dx == 0 ? 0 : f->moved ? f->moved(&m) : m.dx;
        z->bound[i] = bound_settle(m.z, bound_join(w, away, bound_own(w, 1, own * fabs(m.z) + least)));
    }
}

/* ---- z = f(x, y), |dx| <= bx, |dy| <= by ---- */

double moved_sum(const Moved *m) { return bound_join(m->w, m->dx, m->dy); }

double moved_product(const Moved *m) {
    double x = m->dx ? m->dx * fabs(m->y) : 0, y = m->dy ? m->dy * fabs(m->x) : 0;
    return bound_join(m->w, x, y) + (m->dx && m->dy ? m->dx * m->dy : 0);
}

double moved_quotient(const Moved *m) {
    double y = fabs(m->y);
    if (bound_is_linear(m->w, m->y, m->dy)) return bound_join(m->w, m->dx, fabs(m->z) * m->dy) / y;
    if (y > m->dy) return bound_join(m->w, m->dx, fabs(m->z) * m->dy) / (y - m->dy);
    return m->dx == 0 && m->dy == 0 ? 0 : INFINITY;
}

double moved_rest(const Moved *m) { return m->dx == 0 && m->dy == 0 ? 0 : fabs(m->y) + m->dy + m->dx; }

/* |z| ((1 + bx / |x|)^|y| - 1): of a base of either sign, for a whole exponent. */
static double away_power(double x, double y, double z, double bx) {
    if (y == 0) return 0;
    if (fabs(x) <= bx) return y > 0 ? 2 * pow(fabs(x) + bx, y) : INFINITY;
    return fabs(z) * (y > 0 ? pow(1 + bx / fabs(x), y) - 1 : pow(1 - bx / fabs(x), y) - 1);
}

double moved_pow(const Moved *m) {
    double x = m->x, y = m->y, bx = m->dx, by = m->dy;
    if (bx == 0 && by == 0) return 0;
    if (by == 0 && y == rint(y)) return away_power(x, y, m->z, bx);
    if (!(x > 0)) return INFINITY;
    double log_off = fabs(y) * away_log(m->w, x, bx) + fabs(log(x)) * by + bx * by;
    return away_exp(m->w, y * log(x), m->z, log_off);
}

/* By interval: a value clearly beyond what it is clamped to passes on nothing. */
static double away_least(double x, double y, double bx, double by) {
    double z = fmin(x, y), lo = fmin(x - bx, y - by), hi = fmin(x + bx, y + by);
    return bx == 0 && by == 0 ? 0 : fmax(z - lo, hi - z);
}

double moved_min(const Moved *m) { return away_least(m->x, m->y, m->dx, m->dy); }
double moved_max(const Moved *m) { return away_least(-m->x, -m->y, m->dx, m->dy); }

/* A quotient of integers is rounded; of bits nothing is known once they may differ. */
static double away_binary(Lane l, const OpBound *f, const Moved *m) {
    if (l == LANE_INT && m->dx == 0 && m->dy == 0) return 0;
    double away = f->moved ? f->moved(m) : INFINITY;
    return l == LANE_INT && m->f == OP_DIV ? floor(away) + 1 : away;
}

void bound_binary(const World *w, OpKind op, int64_t times, Lane l, const Tile *x, const Tile *y, Tile *z) {
    const OpBound *f = &op_info[op].bound;
    double own = f->own * lane_eps(l);
    for (int64_t i = 0; i < z->n; i++) {
        Moved m = {.w = w, .f = op, .x = lane_get(l, x->data, i), .y = lane_get(l, y->data, i), .z = lane_get(l, z->data, i)};
        m.dx = x->bound[i], m.dy = y->bound[i];
        double away = away_binary(l, f, &m);
        bool exact = away == 0 && f->exact_in_f64 && l == LANE_FLOAT && op_info[op].binary.f64(m.x, m.y) == m.z;
        z->bound[i] = exact ? 0 : bound_settle(m.z, bound_join(w, away, bound_own(w, (double)times, own * fabs(m.z))));
    }
}

void tile_wrap(Elem e, Tile *z) {
    ints_wrap(e, z->n, z->data);
    for (int64_t i = 0; z->bound && i < z->n; i++)
        z->bound[i] = bound_wrap(e, ((const int64_t *)z->data)[i], z->bound[i]);
}
