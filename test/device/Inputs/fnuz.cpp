// fnuz.cpp: each code of OCP's f8e4m3 at each place of a word becomes a code of f8e4m3fnuz with half the value, what is no number none.
#include "device/tile_gfx942.h"

#include <cstdio>

int main() {
    int wrong = 0;
    for (uint32_t code = 0; code < 256; code++)
        for (uint32_t other = 0; other < 256; other += 51)
            for (int place = 0; place < 32; place += 8) {
                const uint32_t around = other * 0x01010101u & ~(255u << place);
                const uint32_t x = tile_fnuz4(around | code << place) >> place & 255;
                const float want = tile_f32_of_f8e4m3((uint8_t)code) / 2, got = tile_f32_of_f8e4m3fnuz((uint8_t)x);
                wrong += want != want ? got == got : got != want;
            }
    printf("%d wrong\n", wrong);
}
