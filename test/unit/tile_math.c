/* tile_math.c: the functions of tile_math.h against the exact values, over every f32 or every n-th.
   usage: tile_math [STEP: distance of the bit patterns tried; 1: all] */
#include "device/tile_host.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    float (*ours)(float);
    double (*exact)(double);
    double limit; /* ulp */
} Function;

static const Function functions[] = {
    {"exp", tile_exp, exp, 2},    {"exp2", tile_exp2, exp2, 2}, {"log", tile_log, log, 2},
    {"log2", tile_log2, log2, 2}, {"tanh", tile_tanh, tanh, 2}, {"erf", tile_erf, erf, 2},
};

/* Distance of neighbouring floats at the magnitude of y. */
static double ulp_at(double y) {
    int e;
    frexp(y, &e);
    return ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

static double error_of(float got, double want) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got) || fabs(want) > 3.4028235677973366e38) return got == (float)want ? 0 : INFINITY;
    return fabs((double)got - want) / ulp_at(want);
}

static int check(const Function *f, uint32_t step) {
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += step) {
        float x = tile_f32_of_bits((uint32_t)bits);
        double error = error_of(f->ours(x), f->exact(x));
        if (error > worst) worst = error, at = x;
    }
    printf("%s: %.3f ulp at %.9g\n", f->name, worst, (double)at);
    return worst > f->limit;
}

int main(int argc, char **argv) {
    uint32_t step = argc > 1 ? (uint32_t)atoi(argv[1]) : 4099;
    int failures = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) failures += check(&functions[i], step ? step : 1);
    return failures != 0;
}
