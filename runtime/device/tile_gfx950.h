/* tile_gfx950.h: the device vocabulary (tile_gpu.h) on MI355X, and its matrix instructions. What a row says:
   tile_cdna.h. */
#ifndef TILE_DEVICE_TILE_GFX950_H
#define TILE_DEVICE_TILE_GFX950_H

#define TILE_CHIPLETS 8 /* each with an L2 of its own */

#include "device/tile_cdna.h"
#include "device/tile_copies.h"

#ifndef TILE_EMU
typedef __bf16 tile_bf16x8 __attribute__((ext_vector_type(8)));
#define TILE_VEC_bf16_8 tile_bf16x8
#endif

TILE_MFMA(f32_32x32x16_f16, f16, f16, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_f16, f16, f16, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_bf16, bf16, bf16, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_bf16, bf16, bf16, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_fp8_fp8, f8e4m3, f8e4m3, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_fp8_fp8, f8e4m3, f8e4m3, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_fp8_bf8, f8e4m3, f8e5m2, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_fp8_bf8, f8e4m3, f8e5m2, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_bf8_fp8, f8e5m2, f8e4m3, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_bf8_fp8, f8e5m2, f8e4m3, f32, 8, 4, 16, 32)
TILE_MFMA(f32_32x32x16_bf8_bf8, f8e5m2, f8e5m2, f32, 8, 16, 32, 16)
TILE_MFMA(f32_16x16x32_bf8_bf8, f8e5m2, f8e5m2, f32, 8, 4, 16, 32)
TILE_MFMA(i32_32x32x16_i8, i8, i8, i32, 8, 16, 32, 16)
TILE_MFMA(i32_16x16x32_i8, i8, i8, i32, 8, 4, 16, 32)
TILE_MFMA(i32_32x32x32_i8, i8, i8, i32, 16, 16, 32, 32)
TILE_MFMA(i32_16x16x64_i8, i8, i8, i32, 16, 4, 16, 64)

/* f8f6f4 with scales of 1: TILE_MFMA_SCALED(name, A, B, codes of these types, elements of D a lane, rows, depth);
   the types stand behind the name */
TILE_MFMA_SCALED(scale_f32_32x32x64_f8f6f4, f8e4m3, f8e4m3, 0, 0, 16, 32, 64)
TILE_MFMA_SCALED(scale_f32_32x32x64_f8f6f4, f8e4m3, f8e5m2, 0, 1, 16, 32, 64)
TILE_MFMA_SCALED(scale_f32_32x32x64_f8f6f4, f8e5m2, f8e4m3, 1, 0, 16, 32, 64)
TILE_MFMA_SCALED(scale_f32_32x32x64_f8f6f4, f8e5m2, f8e5m2, 1, 1, 16, 32, 64)
TILE_MFMA_SCALED(scale_f32_16x16x128_f8f6f4, f8e4m3, f8e4m3, 0, 0, 4, 16, 128)
TILE_MFMA_SCALED(scale_f32_16x16x128_f8f6f4, f8e4m3, f8e5m2, 0, 1, 4, 16, 128)
TILE_MFMA_SCALED(scale_f32_16x16x128_f8f6f4, f8e5m2, f8e4m3, 1, 0, 4, 16, 128)
TILE_MFMA_SCALED(scale_f32_16x16x128_f8f6f4, f8e5m2, f8e5m2, 1, 1, 4, 16, 128)

#endif
