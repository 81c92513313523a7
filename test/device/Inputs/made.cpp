// made.cpp: each pair of neighbours of a chunk of 16 bytes, in each lane, is the two elements that lie there, whatever lies around them.
#include "device/tile_sm_90a.h"

#include "device/tile_roles.h"

#include "device/tile_made.h"

#include <cstdio>

static int wrong, seen;

static void expect(float got, int want) { wrong += got != (float)want || (want == 0 && tile_bits_of_f32(got)), seen++; }

/* Element at of the chunk: two's complement of so many bits, or 0 to 255. */
static int element(const uint32_t *chunk, int bits, bool sign, int at) {
    const int x = (int)(chunk[at * bits / 32] >> at * bits % 32 & ((1u << bits) - 1));
    return sign && x >> (bits - 1) ? x - (1 << bits) : x;
}

static uint32_t pair_8(const uint32_t *chunk, int, int h, int q) {
    uint16_t x;
    __builtin_memcpy(&x, (const char *)chunk + 8 * h + 2 * q, 2);
    return tile_made_pair_8(x);
}
static uint32_t pair_4(const uint32_t *chunk, int b, int h, int q) {
    return tile_made_pair_4(((const uint8_t *)chunk)[8 * b + 4 * h + q]);
}
static uint32_t pair_2(const uint32_t *chunk, int b, int h, int q) { return tile_made_pair_2(chunk, b, h, q); }

#define CHECK(name, bits, sign)                                                                                        \
    static void check_##name(const uint32_t *chunk) {                                                                  \
        for (int b = 0; b < 8 / bits; b++)                                                                             \
            for (int h = 0; h < 2; h++)                                                                                \
                for (int q = 0; q < 4; q++) {                                                                          \
                    const uint32_t x = pair_##bits(chunk, b, h, q);                                                    \
                    for (int e = 0; e < 2; e++) {                                                                      \
                        const int want = element(chunk, bits, sign, 16 * b + 8 * h + 2 * q + e);                       \
                        expect(tile_f32_of_bf16((tile_bf16)(tile_made_bf16_##name(x) >> 16 * e)), want);               \
                        expect(tile_f32_of_f16((tile_f16)(tile_made_f16_##name(x) >> 16 * e)), want);                  \
                        expect(tile_made_f32_of_##name(x, e), want);                                                   \
                        expect((float)tile_made_byte_of_##name(x, e), want);                                           \
                    }                                                                                                  \
                }                                                                                                      \
    }
CHECK(i2, 2, true)
CHECK(i4, 4, true)
CHECK(i8, 8, true)
CHECK(u8, 8, false)

/* Each byte once at each place, beside each other byte at some. */
int main() {
    for (uint32_t n = 0; n < 256; n++) {
        uint8_t bytes[16];
        uint32_t chunk[4];
        for (uint32_t i = 0; i < 16; i++) bytes[i] = (uint8_t)(n * (i % 2 ? 167 : 1) + 89 * i);
        __builtin_memcpy(chunk, bytes, 16);
        check_i2(chunk), check_i4(chunk), check_i8(chunk), check_u8(chunk);
    }
    printf("%d wrong of %d\n", wrong, seen);
}
