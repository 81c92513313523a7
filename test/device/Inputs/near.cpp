/* near.cpp: quotients of scores, of all exponents, within 2^-22 of the quotient where that is a normal number; tanh near
   0 within 2^-21. */
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include <stdio.h>

static bool is_near(float x, float y) {
    const double exact = (double)x / (double)y, got = tile_div_near(x, y);
    if (fabs(exact) < 0x1p-126) return fabs(got) <= 0x1p-126;
    if (fabs(exact) > 0x1.fffffdp127) return got == exact || isinf(got);
    return fabs(got - exact) <= 0x1p-22 * fabs(exact);
}

static bool is_near_tanh(float x, float by) {
    const double exact = tanh((double)x * (double)by);
    return fabs(tile_tanh_small(x, by) - exact) <= 0x1p-21 * fabs(exact);
}

/* From nearly 0, in steps of 2^-17 of themselves, to the largest of these, and its opposite: times 1, and times what a cap of
   30 has. */
static void count_tanh(void) {
    const float factors[] = {1, 1 / 30.0f};
    int wrong = 0, all = 0;
    for (float by : factors) {
        for (float x = 0x1p-100f; x * by <= TILE_TANH_SMALL; x += x * 0x1p-17f, all += 2)
            wrong += !is_near_tanh(x, by) + !is_near_tanh(-x, by);
        wrong += tile_tanh_small(0, by) != 0 || !is_near_tanh(TILE_TANH_SMALL / by, by);
    }
    printf("tanh: %d wrong, %s\n", wrong, all > 1000000 ? "many" : "few");
}

int main() {
    const float digits[] = {1, 1.25f, -1.5f, 1.9999999f};
    int wrong = 0, quotients = 0;
    for (int a = -126; a < 128; a++)
        for (int b = -126; b < 128; b++)
            for (int i = 0; i < 16; i++) {
                const float x = ldexpf(digits[i / 4], a), y = ldexpf(digits[i % 4], b);
                quotients++;
                if (is_near(x, y)) continue;
                if (!wrong++) printf("%a / %a = %a\n", (double)x, (double)y, (double)tile_div_near(x, y));
            }
    printf("%d quotients, %d wrong, %g\n", quotients, wrong, (double)tile_div_near(1, INFINITY));
    count_tanh();
}
