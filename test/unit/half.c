/* half.c: every code of every small float format decodes and encodes to itself, and every midpoint between two
   neighbours goes to the even one. */
#include "base/half.h"
#include "test/unit/check.h"

#include <math.h>
#include <string.h>

static int failures;

static int codes_of(Elem e) { return elem_bits(e) == 16 ? 1 << 16 : 1 << 8; }

static void check_codes(Elem e, double largest, bool saturates) {
    for (int i = 0; i < codes_of(e); i++) {
        double x = float_decode(e, (uint16_t)i);
        uint16_t back = float_encode(e, x);
        if (isnan(x))
            CHECK(isnan(float_decode(e, back)));
        else if (isinf(x) && saturates)
            CHECK(float_decode(e, back) == copysign(largest, x));
        else
            CHECK(back == i);
    }
}

/* Codes of positive finite values are consecutive integers in the order of their values. */
static void check_midpoints(Elem e, double largest) {
    for (int i = 0; float_decode(e, (uint16_t)i) < largest; i++) {
        double x = float_decode(e, (uint16_t)i), y = float_decode(e, (uint16_t)(i + 1)), mid = (x + y) / 2;
        CHECK(y > x);
        CHECK(float_encode(e, mid) == i + (i & 1));
        CHECK(float_encode(e, nextafter(mid, 0)) == i);
        CHECK(float_encode(e, nextafter(mid, INFINITY)) == i + 1);
        if (i) CHECK(float_decode(e, float_encode(e, -mid)) == -float_decode(e, float_encode(e, mid)));
    }
}

static void check_format(Elem e, double largest, bool saturates) {
    check_codes(e, largest, saturates);
    check_midpoints(e, largest);
    double beyond = float_decode(e, float_encode(e, largest * 4));
    CHECK(saturates ? beyond == largest : isinf(beyond));
    CHECK(float_decode(e, float_encode(e, -INFINITY)) == (saturates ? -largest : -INFINITY));
    CHECK(isnan(float_decode(e, float_encode(e, NAN))));
}

static void check_bf16_fast(void) {
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 251) {
        uint32_t b = (uint32_t)bits;
        float x;
        memcpy(&x, &b, sizeof x);
        if (isnan(x))
            CHECK(isnan(bf16_decode(bf16_encode(x))));
        else
            CHECK(bf16_encode(x) == float_encode(ELEM_BF16, x));
    }
}

static void check_f16_fast(void) {
    for (int i = 0; i < codes_of(ELEM_F16); i++) {
        float x = f16_decode((uint16_t)i);
        double y = float_decode(ELEM_F16, (uint16_t)i);
        CHECK(isnan(y) ? isnan(x) : x == y && !signbit(x) == !signbit(y));
    }
}

int main(void) {
    check_format(ELEM_F16, 65504, false);
    check_format(ELEM_BF16, ldexp(2 - ldexp(1, -7), 127), false);
    check_format(ELEM_F8E4M3, 448, true);
    check_format(ELEM_F8E5M2, 57344, true);
    check_format(ELEM_F8E4M3FNUZ, 240, true);
    check_bf16_fast();
    check_f16_fast();
    return failures != 0;
}
