/* tile_gfx942.h: the device vocabulary (tile_gpu.h) on MI300X, and its matrix instructions. What a row says:
   tile_cdna.h. */
#ifndef TILE_DEVICE_TILE_GFX942_H
#define TILE_DEVICE_TILE_GFX942_H

#define TILE_CHIPLETS 8 /* each with an L2 of its own */

#include "device/tile_cdna.h"

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
