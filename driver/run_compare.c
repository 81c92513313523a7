/* run_compare.c: a result against what it should be, element by element, within bounds, and the line that says so.
   Takes two arrays of one shape. An element is compared where both values are finite and its bound is. */
#include "driver/run_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool both_finite(const Array *a, const Array *b, int64_t i) {
    return !elem_is_float(a->elem) || (isfinite(array_get(a, i)) && isfinite(array_get(b, i)));
}

/* Relative to the bound: the largest is the worst. */
static double error_ratio(double error, double bound) {
    return error == 0 ? 0 : bound > 0 && isfinite(error) ? error / bound : INFINITY;
}

static void difference_take(Difference *d, int64_t i, double error, double bound, double *ratio) {
    double q = error_ratio(error, bound);
    d->compared++;
    d->over += error > bound;
    if (q <= *ratio) return;
    *ratio = q;
    d->at = i, d->error = error, d->limit = bound;
}

Difference compare(const Comparison *c) {
    Difference d = {.at = -1, .first = -1};
    double ratio = -1;
    for (int64_t i = 0, n = array_count(c->result); i < n; i++) {
        double error = array_error(c->result, c->reference, i), bound = c->bound ? c->bound[i] : 0;
        bool finite = both_finite(c->result, c->reference, i), odd = !finite && (error == 0 || isinf(bound));
        if (odd && d.odd++ == 0) d.first = i;
        d.open += finite && isinf(bound);
        if (!odd && isfinite(bound)) difference_take(&d, i, error, bound, &ratio);
    }
    return d;
}

bool compare_agrees(const Comparison *c, const Difference *d) { return !d->over && (c->allow_nan || !d->odd); }

/* ---- the line ---- */

static void element_print(const Comparison *c, int64_t i) {
    const Array *a = c->result;
    int64_t stride = array_count(a);
    printf("%s", c->name);
    for (int d = 0; d < a->ndim; d++) {
        stride /= a->dim[d];
        printf("%s%" PRId64, d ? ", " : "[", i / stride % a->dim[d]);
    }
    if (a->ndim) printf("]");
}

static void value_print(const Array *a, int64_t i) {
    int digits = a->elem == ELEM_F64 ? 17 : a->elem == ELEM_F32 ? 9 : 5;
    if (elem_is_float(a->elem))
        printf("%.*g", digits, isnan(array_get(a, i)) ? (double)NAN : array_get(a, i)); /* without a sign */
    else
        printf("%" PRId64, array_get_int(a, i));
}

/* C[3, 7] = 4.25, reference 4.5 */
static void values_print(const Comparison *c, int64_t i) {
    element_print(c, i);
    printf(" = ");
    value_print(c->result, i);
    printf(", reference ");
    value_print(c->reference, i);
}

static void counts_print(const Comparison *c, const Difference *d) {
    if (d->over)
        printf("; %" PRId64 " of %" PRId64 " differ", d->over, d->compared);
    else
        printf("; %" PRId64 " compared", d->compared);
    if (d->at >= 0 && d->error == 0) printf(", all equal");
    if (d->at < 0 || d->error == 0) return;
    printf(", worst ");
    values_print(c, d->at);
}

static const char *verdict(const Comparison *c, const Difference *d) {
    return d->over ? "differs" : compare_agrees(c, d) ? "agrees" : "not comparable";
}

bool compare_report(const Comparison *c) {
    Difference d = compare(c);
    printf("%s: %s: largest error %.3g, bound there %.3g: %s%s", c->program, c->name, d.error, d.limit, verdict(c, &d),
           c->with);
    counts_print(c, &d);
    if (d.open) printf("; nothing is known of %" PRId64 " elements, which have no bound", d.open);
    if (d.odd) {
        printf("; %" PRId64 " are NaN or infinite, first ", d.odd);
        values_print(c, d.first);
    }
    printf("\n");
    return compare_agrees(c, &d);
}
