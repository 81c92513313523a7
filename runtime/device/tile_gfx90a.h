/* tile_gfx90a.h: the device vocabulary (tile_gpu.h) on MI250X, one die, and its matrix instructions. What a row says:
   tile_cdna.h. */
#ifndef TILE_DEVICE_TILE_GFX90A_H
#define TILE_DEVICE_TILE_GFX90A_H

#define TILE_CHIPLETS 1 /* each with an L2 of its own */

#include "device/tile_cdna.h"

TILE_MFMA(f32_32x32x4bf16, bf16, bf16, f32, 2, 16, 32, 4)
TILE_MFMA(f32_16x16x8bf16, bf16, bf16, f32, 2, 4, 16, 8)
TILE_MFMA(i32_32x32x8i8, i8, i8, i32, 4, 16, 32, 8)
TILE_MFMA(i32_16x16x16i8, i8, i8, i32, 4, 4, 16, 16)

#endif
