/* small_floats.c: the device's conversions of small floats against the compiler's own, whose rounding test/unit/half.c
   proves: every code, and f32 of every magnitude. */
#include "device/tile_host.h"
#include "base/half.h"
#include "test/unit/check.h"

#include <stdlib.h>

static int failures;

typedef struct {
    Elem elem;
    float (*decode)(uint8_t);
    uint8_t (*encode)(float);
} Format;

static const Format formats[] = {
    {ELEM_F8E4M3, tile_f32_of_f8e4m3, tile_f8e4m3_of_f32},
    {ELEM_F8E5M2, tile_f32_of_f8e5m2, tile_f8e5m2_of_f32},
    {ELEM_F8E4M3FNUZ, tile_f32_of_f8e4m3fnuz, tile_f8e4m3fnuz_of_f32},
};

static void check_codes(const Format *f) {
    for (int i = 0; i < 256; i++) {
        float x = f->decode((uint8_t)i);
        double want = float_decode(f->elem, (uint16_t)i);
        CHECK(isnan(want) ? isnan(x) : (double)x == want && !signbit(x) == !signbit(want));
    }
}

static void check_rounding(const Format *f, uint32_t step) {
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += step) {
        float x = tile_f32_of_bits((uint32_t)bits);
        uint16_t want = float_encode(f->elem, x);
        CHECK(isnan(x) ? isnan(float_decode(f->elem, f->encode(x))) : f->encode(x) == want);
    }
}

int main(int argc, char **argv) {
    uint32_t step = argc > 1 ? (uint32_t)atoi(argv[1]) : 1021;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        check_codes(&formats[i]);
        check_rounding(&formats[i], step ? step : 1);
    }
    return failures != 0;
}
