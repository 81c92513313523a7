/* host_floats.c: the small floats of tile_host.h are those of the interpreter: every code, and f32 values between codes. */
#include "device/tile_host.h"
#include "base/half.h"
#include "test/unit/check.h"

static int failures;

#define CODES(T)                                                                                                       \
    static float host_##T##_decode(uint16_t code) {                                                                           \
        tile_##T x;                                                                                                    \
        memcpy(&x, &code, sizeof x);                                                                                   \
        return tile_f32_of_##T(x);                                                                                     \
    }                                                                                                                  \
    static uint16_t host_##T##_encode(float x) {                                                                              \
        tile_##T y = tile_##T##_of_f32(x);                                                                             \
        uint16_t code = 0;                                                                                             \
        memcpy(&code, &y, sizeof y);                                                                                   \
        return code;                                                                                                   \
    }
CODES(f16)
CODES(bf16)
CODES(f8e4m3)
CODES(f8e5m2)
CODES(f8e4m3fnuz)

typedef struct {
    Elem elem;
    float (*decode)(uint16_t);
    uint16_t (*encode)(float);
} Format;

#define FORMAT(T, elem) {elem, host_##T##_decode, host_##T##_encode}

static const Format formats[] = {
    FORMAT(f16, ELEM_F16),       FORMAT(bf16, ELEM_BF16),
    FORMAT(f8e4m3, ELEM_F8E4M3), FORMAT(f8e5m2, ELEM_F8E5M2),
    FORMAT(f8e4m3fnuz, ELEM_F8E4M3FNUZ),
};

static void check_encode(const Format *f, float x) {
    uint16_t ours = f->encode(x), want = float_encode(f->elem, x);
    if (isnan(x)) CHECK(isnan(f->decode(ours)));
    else CHECK(ours == want);
}

static void check_format(const Format *f) {
    for (int code = 0; code < 1 << elem_bits(f->elem); code++) {
        float x = f->decode((uint16_t)code);
        double want = float_decode(f->elem, (uint16_t)code);
        CHECK(isnan(want) ? isnan(x) : x == want);
        check_encode(f, x);
        check_encode(f, nextafterf(x, 0));
        check_encode(f, nextafterf(x, INFINITY));
    }
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 4099) check_encode(f, tile_f32_of_bits((uint32_t)bits));
}

int main(void) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) check_format(&formats[i]);
    return failures != 0;
}
