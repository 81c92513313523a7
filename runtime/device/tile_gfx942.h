/* tile_gfx942.h: the device vocabulary (tile_gpu.h) on MI300X, and its matrix instructions. What a row says:
   tile_cdna.h. */
#ifndef TILE_DEVICE_TILE_GFX942_H
#define TILE_DEVICE_TILE_GFX942_H

#define TILE_CHIPLETS 8 /* each with an L2 of its own */

#include "device/tile_cdna.h"

/* Four of OCP's f8e4m3 as f8e4m3fnuz: the same bits are half the value, but -0 becomes 0, and what is no number 0x80. */
TILE_FN uint32_t tile_fnuz4(uint32_t x) {
    const uint32_t sizes = 0x7f7f7f7f, ones = 0x01010101, signs = 0x80808080;
#ifdef TILE_EMU
    const uint32_t size = x & sizes, none = (size + ones) & signs, minus = x & (size + sizes) & signs;
    return (size & ~(none - (none >> 7))) | minus | none;
#else /* by the compiler's own choice of instructions registers of the loop around are spilled */
    uint32_t size, none, minus;
    __asm__("v_and_b32 %1, %4, %0\n\tv_add_u32 %2, %5, %1\n\tv_and_b32 %2, %6, %2\n\t"
            "v_add_u32 %3, %4, %1\n\tv_and_b32 %3, %0, %3\n\tv_and_or_b32 %3, %3, %6, %2\n\t"
            "v_lshrrev_b32 %0, 7, %2\n\tv_sub_u32 %0, %2, %0\n\tv_bfi_b32 %0, %0, 0, %1\n\tv_or_b32 %0, %0, %3"
            : "+v"(x), "=&v"(size), "=&v"(none), "=&v"(minus)
            : "s"(sizes), "s"(ones), "s"(signs));
    return x;
#endif
}

TILE_FN void tile_fnuz16(void *regs) {
    uint32_t words[4];
    __builtin_memcpy(words, regs, sizeof words);
#pragma unroll
    for (int i = 0; i < 4; i++) words[i] = tile_fnuz4(words[i]);
    __builtin_memcpy(regs, words, sizeof words);
}

TILE_MFMA(f32_32x32x16_fp8_fp8, f8e4m3fnuz, f8e4m3fnuz, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_fp8_fp8, f8e4m3fnuz, f8e4m3fnuz, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_fp8_bf8, f8e4m3fnuz, f8e5m2fnuz, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_fp8_bf8, f8e4m3fnuz, f8e5m2fnuz, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_bf8_fp8, f8e5m2fnuz, f8e4m3fnuz, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_bf8_fp8, f8e5m2fnuz, f8e4m3fnuz, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_bf8_bf8, f8e5m2fnuz, f8e5m2fnuz, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_bf8_bf8, f8e5m2fnuz, f8e5m2fnuz, f32, 8, 4, 16, 32)
TILE_MFMA(i32_32x32x16_i8, i8, i8, i32, 8, 16, 32, 16)
TILE_MFMA(i32_16x16x32_i8, i8, i8, i32, 8, 4, 16, 32)

#endif
