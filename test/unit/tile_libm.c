/* tile_libm.c: the functions of tile_libm.h against the host's library in long double, on random arguments of all
   magnitudes, and on what is special. */
#include "device/tile_host.h"
#include "device/tile_libm.h"
#include "test/unit/check.h"

#include <stdlib.h>

static int failures;

typedef struct {
    const char *name;
    double (*ours)(double);
    long double (*exact)(long double);
    double limit; /* ulp */
    double most;  /* magnitude of the arguments */
} Function;

static const Function functions[] = {
    {"exp", tile_exp_f64, expl, 2, 745},   {"exp2", tile_exp2_f64, exp2l, 2, 1074},
    {"log", tile_log_f64, logl, 2, 1e308}, {"log2", tile_log2_f64, log2l, 3, 1e308},
    {"sin", tile_sin_f64, sinl, 1, 1e308}, {"cos", tile_cos_f64, cosl, 1, 1e308},
    {"tanh", tile_tanh_f64, tanhl, 6, 30}, {"erf", tile_erf_f64, erfl, 20, 7},
};

static uint64_t state = 1;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Any sign; magnitudes up to `most`: half of them spread evenly, half over all exponents. */
static double draw_number(double most) {
    double even = ((double)(draw() >> 11) * 0x1p-52 - 1) * most;
    double any = tile_f64_of_bits(draw());
    return draw() & 1 || !(fabs(any) <= most) ? even : any;
}

static double ulps(double got, long double want) {
    double near = (double)want;
    if (isnan(near) || isnan(got)) return isnan(near) && isnan(got) ? 0 : INFINITY;
    if (isinf(near) || isinf(got)) return near == got ? 0 : INFINITY;
    double unit = fmax(nextafter(fabs(near), INFINITY) - fabs(near), 0x1p-1074);
    return (double)(fabsl(got - want) / unit);
}

static void check_function(const Function *f) {
    double worst = 0, at = 0;
    for (int i = 0; i < 100000; i++) {
        double x = draw_number(f->most), error = ulps(f->ours(x), f->exact(x));
        if (error > worst) worst = error, at = x;
    }
    printf("%s: %.2f ulp at %.17g\n", f->name, worst, at);
    CHECK(worst <= f->limit);
}

static void check_power(void) {
    double worst = 0;
    for (int i = 0; i < 100000; i++) {
        double a = fabs(draw_number(i % 2 ? 1e300 : 4)), b = draw_number(i % 3 ? 3 : 300);
        worst = fmax(worst, ulps(tile_pow_any(a, b), powl(a, b)));
    }
    printf("pow: %.2f ulp\n", worst);
    CHECK(worst <= 4);
}

static void check_specials(void) {
    static const double special[] = {0.0, -0.0, 1,        -1,        2,   -2,    3,     -3,
                                     0.5, -0.5, INFINITY, -INFINITY, NAN, 1e308, 5e-324};
    int n = sizeof special / sizeof *special;
    for (int i = 0; i < n; i++) {
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
            CHECK(ulps(functions[f].ours(special[i]), functions[f].exact(special[i])) <= functions[f].limit);
        for (int k = 0; k < n; k++)
            CHECK(ulps(tile_pow_any(special[i], special[k]), powl(special[i], special[k])) <= 4);
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) check_function(&functions[i]);
    check_power();
    check_specials();
    return failures != 0;
}
