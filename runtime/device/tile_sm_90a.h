/* tile_sm_90a.h: the device vocabulary (tile_gpu.h) on H100 and H200, and the matrix instructions of a warp.
   TILE_MMA(shape, its types of D, A and B, our types of A, B and D, registers of A and of B and elements of D a lane,
   rows, depth): D += A B by mma.sync.aligned.SHAPE.row.col.D.A.B.D; 8 columns. Left out: operands that round f32, sums
   in f16. */
#ifndef TILE_DEVICE_TILE_SM_90A_H
#define TILE_DEVICE_TILE_SM_90A_H

#define TILE_LANES 32   /* of a warp: CUDA C++ programming guide */
#define TILE_CHIPLETS 1 /* all share one L2 */
#define TILE_HOLDS 0 /* a fence behind a barrier takes along what all waves loaded and stored */

#ifdef TILE_EMU
#include "device/tile_emu_sm_90a.h"
#else
#include "device/tile_nvidia.h"
#include "device/tile_fragment.h"
#include "device/tile_tma.h"
#include "device/tile_wgmma_asm.h"
#endif
#include "device/tile_panel.h"
#include "device/tile_wgmma.h"

TILE_MMA(m16n8k8, f32, f16, f16, f16, f16, f32, 2, 1, 4, 16, 8)
TILE_MMA(m16n8k16, f32, f16, f16, f16, f16, f32, 4, 2, 4, 16, 16)
TILE_MMA(m16n8k8, f32, bf16, bf16, bf16, bf16, f32, 2, 1, 4, 16, 8)
TILE_MMA(m16n8k16, f32, bf16, bf16, bf16, bf16, f32, 4, 2, 4, 16, 16)
TILE_MMA(m16n8k32, f32, e4m3, e4m3, f8e4m3, f8e4m3, f32, 4, 2, 4, 16, 32)
TILE_MMA(m16n8k32, f32, e4m3, e5m2, f8e4m3, f8e5m2, f32, 4, 2, 4, 16, 32)
TILE_MMA(m16n8k32, f32, e5m2, e4m3, f8e5m2, f8e4m3, f32, 4, 2, 4, 16, 32)
TILE_MMA(m16n8k32, f32, e5m2, e5m2, f8e5m2, f8e5m2, f32, 4, 2, 4, 16, 32)
TILE_MMA(m8n8k16, s32, s8, s8, i8, i8, i32, 1, 1, 2, 8, 16)
TILE_MMA(m16n8k16, s32, s8, s8, i8, i8, i32, 2, 1, 4, 16, 16)
TILE_MMA(m16n8k32, s32, s8, s8, i8, i8, i32, 4, 2, 4, 16, 32)
TILE_MMA(m8n8k16, s32, s8, u8, i8, u8, i32, 1, 1, 2, 8, 16)
TILE_MMA(m16n8k16, s32, s8, u8, i8, u8, i32, 2, 1, 4, 16, 16)
TILE_MMA(m16n8k32, s32, s8, u8, i8, u8, i32, 4, 2, 4, 16, 32)
TILE_MMA(m8n8k16, s32, u8, s8, u8, i8, i32, 1, 1, 2, 8, 16)
TILE_MMA(m16n8k16, s32, u8, s8, u8, i8, i32, 2, 1, 4, 16, 16)
TILE_MMA(m16n8k32, s32, u8, s8, u8, i8, i32, 4, 2, 4, 16, 32)
TILE_MMA(m8n8k16, s32, u8, u8, u8, u8, i32, 1, 1, 2, 8, 16)
TILE_MMA(m16n8k16, s32, u8, u8, u8, u8, i32, 2, 1, 4, 16, 16)
TILE_MMA(m16n8k32, s32, u8, u8, u8, u8, i32, 4, 2, 4, 16, 32)
TILE_MMA(m8n8k4, f64, f64, f64, f64, f64, f64, 1, 1, 2, 8, 4)
TILE_MMA(m16n8k4, f64, f64, f64, f64, f64, f64, 2, 1, 4, 16, 4)
TILE_MMA(m16n8k8, f64, f64, f64, f64, f64, f64, 4, 2, 4, 16, 8)
TILE_MMA(m16n8k16, f64, f64, f64, f64, f64, f64, 8, 4, 4, 16, 16)

/* d += a b, 16 x 8, over 16, of operands as registers hold them (tile_fragment.h). */
#ifdef TILE_EMU
TILE_FN void tile_mma_words_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
    tile_mma_m16n8k16_f32_bf16_bf16_f32(d, (const tile_bf16 *)a, (const tile_bf16 *)b);
}
TILE_FN void tile_mma_words_f16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
    tile_mma_m16n8k16_f32_f16_f16_f32(d, (const tile_f16 *)a, (const tile_f16 *)b);
}
#endif

#endif
