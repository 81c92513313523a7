/* run_expect.c: tilec run --expect: results against arrays of the user's own, element by element.
   Takes a program that ran. A float may differ by the tolerance times 1 + |reference|, a whole number not at all. */
#include "driver/run.h"
#include "driver/run_compare.h"
#include "base/npy.h"

#include <math.h>
#include <string.h>

/* Relative, in the order of PyTorch's torch.testing.assert_close. */
static double tolerance_of(const Run *r, Elem e) {
    if (r->s.o->tolerance) return *r->s.o->tolerance;
    return e == ELEM_F64 ? 1e-7 : e == ELEM_F32 ? 1e-5 : e == ELEM_F16 ? 1e-3 : e == ELEM_BF16 ? 1.6e-2 : 0.125;
}

static const double *bounds_of(const Run *r, const Array *reference, Elem e) {
    if (!elem_is_float(e)) return NULL;
    double *bound = ARENA_ARRAY(r->s.arena, double, array_count(reference)), tolerance = tolerance_of(r, e);
    for (int64_t i = 0, n = array_count(reference); i < n; i++) {
        double x = fabs(array_get(reference, i));
        bound[i] = isfinite(x) ? tolerance * (1 + x) : 0;
    }
    return bound;
}

/* The file may have another type of the same kind: NumPy has no bf16. */
static bool fits(const Array *result, const Array *reference) {
    bool good = reference->ndim == result->ndim && elem_is_float(reference->elem) == elem_is_float(result->elem);
    for (int d = 0; good && d < result->ndim; d++) good = reference->dim[d] == result->dim[d];
    return good;
}

static int expect_one(const Run *r, int i, const Binding *b) {
    Array reference = {0};
    size_t most = (size_t)array_count(&r->io[i]) * sizeof(double);
    const char *failed = npy_load(r->s.arena, b->path, r->io[i].elem, most, &reference);
    if (failed && !reference.ndim) return fprintf(stderr, "tilec: error: %s: %s\n", b->path, failed), EXIT_RUN;
    if (!fits(&r->io[i], &reference)) {
        fprintf(stderr, "tilec: error: %s: '%s' is %s, the file has %s\n", b->path, b->name,
                array_text(r->s.arena, &r->io[i]), array_text(r->s.arena, &reference));
        return EXIT_RUN;
    }
    Comparison c = {.program = r->p->name,
                    .name = b->name,
                    .result = &r->io[i],
                    .reference = &reference,
                    .bound = bounds_of(r, &reference, r->io[i].elem),
                    .with = b->path,
                    .allow_nan = r->s.o->allow_nan};
    Difference d = compare(&c);
    compare_print(&c, &d);
    return compare_agrees(&c, &d) ? EXIT_OK : EXIT_DIFFERS;
}

int run_expect(const Run *r) {
    int code = EXIT_OK;
    for (int k = 0; k < r->s.o->expect.n && code != EXIT_RUN; k++)
        for (int i = 0; i < r->p->io.n; i++) {
            const Binding *b = &r->s.o->expect.p[k];
            if (strcmp(run_tensor(r, i)->name, b->name) || run_tensor(r, i)->role == ROLE_INPUT) continue;
            int one = expect_one(r, i, b);
            if (one) code = one;
        }
    return code;
}
