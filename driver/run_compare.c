/* run_compare.c: a result against what it should be, element by element, within bounds, and the line that says so.
   Takes two arrays of one shape. An element is compared where both values are finite, and equal or with a bound. */
#include "driver/run_compare.h"
#include "driver/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool both_finite(const Array *a, const Array *b, int64_t i) {
    return !elem_is_float(a->elem) || (isfinite(array_get(a, i)) && isfinite(array_get(b, i)));
}

typedef struct {
    double error, bound, expected;
} Element;

static Element element_of(const Comparison *c, int64_t i) {
    double bound = c->bound ? c->bound[i] : 0, expected = c->expected ? c->expected[i] : bound;
    return (Element){array_error(c->result, c->reference, i), bound, expected < bound ? expected : bound};
}

static double error_ratio(double error, double bound) {
    return error == 0 ? 0 : bound > 0 && isfinite(error) ? error / bound : INFINITY;
}

/* Relative to the bound that tells most: only what is past the worst case is above 1. */
static double element_ratio(const Element *e) {
    return isfinite(e->bound) ? error_ratio(e->error, e->bound) : fmin(1, error_ratio(e->error, e->expected));
}

/* The largest ratios so far: to the bound, and to the expected one. */
typedef struct {
    double worst, far;
} Ratios;

static void difference_take(Difference *d, int64_t i, const Element *e, Ratios *most) {
    double ratio = element_ratio(e), beyond = error_ratio(e->error, e->expected);
    d->compared++;
    d->over += !(e->error <= e->bound);
    if (ratio > most->worst) most->worst = ratio, d->at = i;
    if (!(e->error <= e->bound) || e->error <= e->expected) return;
    d->beyond++;
    if (beyond > most->far) most->far = beyond, d->far = i;
}

Difference compare(const Comparison *c) {
    Difference d = {.at = -1, .first = -1, .far = -1};
    Ratios most = {-1, -1};
    for (int64_t i = 0, n = array_count(c->result); i < n; i++) {
        Element e = element_of(c, i);
        bool finite = both_finite(c->result, c->reference, i), odd = !finite && (e.error == 0 || isinf(e.bound));
        bool open = finite && e.error > 0 && isinf(e.expected);
        if (odd && d.odd++ == 0) d.first = i;
        d.open += open;
        if (!odd && !open) difference_take(&d, i, &e, &most);
    }
    return d;
}

/* Where nothing was compared, nothing agrees. */
bool compare_agrees(const Comparison *c, const Difference *d) {
    bool nothing = d->compared == 0 && d->open > 0;
    return !d->over && (c->allow_nan || (!d->odd && !nothing));
}

/* ---- the line ---- */

static void value_print(const Array *a, int64_t i) {
    int digits = a->elem == ELEM_F64 ? 17 : a->elem == ELEM_F32 ? 9 : 5;
    if (elem_is_float(a->elem))
        printf("%.*g", digits, isnan(array_get(a, i)) ? (double)NAN : array_get(a, i)); /* without a sign */
    else
        printf("%" PRId64, array_get_int(a, i));
}

/* C[3, 7] = 4.25, reference 4.5 */
static void values_print(const Comparison *c, int64_t i) {
    printf("%s", c->name);
    array_place_print(stdout, c->result, i);
    printf(" = ");
    value_print(c->result, i);
    printf(", reference ");
    value_print(c->reference, i);
}

static void counts_print(const Comparison *c, const Difference *d, double error) {
    if (d->over)
        printf("; %" PRId64 " of %" PRId64 " differ", d->over, d->compared);
    else
        printf("; %" PRId64 " compared", d->compared);
    if (d->at >= 0 && error == 0) printf(", all equal");
    if (d->at < 0 || error == 0) return;
    printf(", worst ");
    values_print(c, d->at);
}

static void rest_print(const Comparison *c, const Difference *d) {
    if (d->beyond) {
        printf("; %" PRId64 " beyond the expected error, worst ", d->beyond);
        values_print(c, d->far);
    }
    if (d->open) printf("; nothing is known of %" PRId64 " elements, which have no bound", d->open);
    if (d->odd) {
        printf("; %" PRId64 " are NaN or infinite, first ", d->odd);
        values_print(c, d->first);
    }
}

static const char *verdict(const Comparison *c, const Difference *d) {
    return d->over ? "differs" : compare_agrees(c, d) ? "agrees" : "not comparable";
}

void compare_print(const Comparison *c, const Difference *d) {
    Element worst = d->at >= 0 ? element_of(c, d->at) : (Element){0};
    printf("%s: %s: largest error %.3g, bound there %.3g", c->program, c->name, worst.error, worst.bound);
    if (worst.expected < worst.bound) printf(" (expected %.3g)", worst.expected);
    printf(": %s", verdict(c, d));
    if (c->with) printf(" %s %s", d->over ? "from" : "with", c->with);
    counts_print(c, d, worst.error);
    rest_print(c, d);
    printf("\n");
}
