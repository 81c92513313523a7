/* tile_cdna.h: what the CDNA machines have in common: waves, the vocabulary, and their first matrix instructions.
   TILE_MFMA(name, A, B, C and D, elements of A and of B a lane, of D a lane, rows, depth): D += A B with what follows
   __builtin_amdgcn_mfma_. Left out, here and in the machines' own headers: several blocks at once, 4-bit and rounded
   f32 operands. */
#ifndef TILE_DEVICE_TILE_CDNA_H
#define TILE_DEVICE_TILE_CDNA_H

#define TILE_LANES 64 /* of a wave: CDNA3 ISA */
#define TILE_HOLDS 1 /* a barrier does not wait for the loads and stores of its waves */
#define TILE_TICK_NS 10u /* of the clock that runs at a constant rate */

#ifdef TILE_EMU
#include "device/tile_emu.h"
#else
#include "device/tile_amd.h"
#endif

#include "device/tile_cdna_math.h"
#include "device/tile_cdna_turns.h"
#include "device/tile_rows.h"

TILE_MFMA(f32_32x32x8f16, f16, f16, f32, 4, 16, 32, 8)
TILE_MFMA(f32_16x16x16f16, f16, f16, f32, 4, 4, 16, 16)
TILE_MFMA(f32_32x32x8bf16_1k, bf16, bf16, f32, 4, 16, 32, 8)
TILE_MFMA(f32_16x16x16bf16_1k, bf16, bf16, f32, 4, 4, 16, 16)
TILE_MFMA(f32_32x32x2f32, f32, f32, f32, 1, 16, 32, 2)
TILE_MFMA(f32_16x16x4f32, f32, f32, f32, 1, 4, 16, 4)
TILE_MFMA(f64_16x16x4f64, f64, f64, f64, 1, 4, 16, 4)

#endif
