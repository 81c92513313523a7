/* tile_wgmma.h: wgmma of sm_90a: products of 64 rows by a warpgroup of 128 threads, operands in shared memory.
   PTX ISA, "wgmma.mma_async"; layouts of the operands: docs/design/layout.md. A product is asynchronous: after
   tile_wgmma_commit() neither its sums nor its operands may be touched until tile_wgmma_wait(). tile_wgmma_asm.h has the
   instructions, tile_emu_sm_90a.h what stands for them in the emulator.

   TILE_WGMMA_SS(n, k, type, ta, tb) defines tile_wgmma_ss_n<n>_<type>_<ta><tb>(d, a, b, add): d = a b, plus d where
   `add` is not 0. d: n / 2 floats a lane; a, b: descriptors (tile_wgmma_panel). ta, tb: 0 where the operand's rows run
   along k, 1 where they run along m or n (16-bit types). TILE_WGMMA_RS(n, k, type, tb): the same with A in registers,
   four words a lane. 8-bit types: TILE_WGMMA_SS8(n, op, a, b) defines tile_wgmma_ss_n<n>_<op> of floats,
   TILE_WGMMA_SSI(n, op, a, b) of integers, whose sums are int32_t. */
#ifndef TILE_DEVICE_TILE_WGMMA_H
#define TILE_DEVICE_TILE_WGMMA_H

/* Those of the schedules (codegen/schedules). */
TILE_WGMMA_SS(256, 16, bf16, 0, 0)
TILE_WGMMA_SS(256, 16, bf16, 0, 1)
TILE_WGMMA_SS(64, 16, bf16, 0, 0)
TILE_WGMMA_SS(64, 16, bf16, 0, 1)
TILE_WGMMA_SS(256, 16, f16, 0, 0)
TILE_WGMMA_SS(256, 16, f16, 0, 1)
TILE_WGMMA_SS(64, 16, f16, 0, 0)
TILE_WGMMA_SS(64, 16, f16, 0, 1)
TILE_WGMMA_SS(128, 16, bf16, 0, 0)
TILE_WGMMA_SS(128, 16, bf16, 0, 1)
TILE_WGMMA_SS(128, 16, f16, 0, 0)
TILE_WGMMA_SS(128, 16, f16, 0, 1)
TILE_WGMMA_SS(8, 16, bf16, 0, 0)
TILE_WGMMA_SS(8, 16, bf16, 0, 1)
TILE_WGMMA_SS(8, 16, bf16, 1, 0)
TILE_WGMMA_SS(16, 16, bf16, 0, 0)
TILE_WGMMA_SS(16, 16, bf16, 0, 1)
TILE_WGMMA_SS(16, 16, bf16, 1, 0)
TILE_WGMMA_SS(32, 16, bf16, 0, 0)
TILE_WGMMA_SS(32, 16, bf16, 0, 1)
TILE_WGMMA_SS(32, 16, bf16, 1, 0)
TILE_WGMMA_SS(64, 16, bf16, 1, 0)
TILE_WGMMA_SS(128, 16, bf16, 1, 0)
TILE_WGMMA_SS(8, 16, f16, 0, 0)
TILE_WGMMA_SS(8, 16, f16, 0, 1)
TILE_WGMMA_SS(8, 16, f16, 1, 0)
TILE_WGMMA_SS(16, 16, f16, 0, 0)
TILE_WGMMA_SS(16, 16, f16, 0, 1)
TILE_WGMMA_SS(16, 16, f16, 1, 0)
TILE_WGMMA_SS(32, 16, f16, 0, 0)
TILE_WGMMA_SS(32, 16, f16, 0, 1)
TILE_WGMMA_SS(32, 16, f16, 1, 0)
TILE_WGMMA_SS(64, 16, f16, 1, 0)
TILE_WGMMA_SS(128, 16, f16, 1, 0)
/* Of the widths of tiles between the powers of 2. */
#define TILE_WGMMA_WIDTH(n)                                                                                            \
    TILE_WGMMA_SS(n, 16, bf16, 0, 0)                                                                                   \
    TILE_WGMMA_SS(n, 16, bf16, 0, 1)                                                                                   \
    TILE_WGMMA_SS(n, 16, f16, 0, 0)                                                                                    \
    TILE_WGMMA_SS(n, 16, f16, 0, 1)
TILE_WGMMA_WIDTH(144)
TILE_WGMMA_WIDTH(160)
TILE_WGMMA_WIDTH(176)
TILE_WGMMA_WIDTH(192)
TILE_WGMMA_WIDTH(208)
TILE_WGMMA_WIDTH(224)
TILE_WGMMA_WIDTH(240)
TILE_WGMMA_SS8(64, e4m3, e4m3, e4m3)
TILE_WGMMA_SS8(128, e4m3, e4m3, e4m3)
TILE_WGMMA_SS8(64, e5m2, e5m2, e5m2)
TILE_WGMMA_SS8(128, e5m2, e5m2, e5m2)
TILE_WGMMA_RS(64, 16, bf16, 1)
TILE_WGMMA_RS(80, 16, bf16, 1)
TILE_WGMMA_RS(96, 16, bf16, 1)
TILE_WGMMA_RS(112, 16, bf16, 1)
TILE_WGMMA_RS(128, 16, bf16, 1)
TILE_WGMMA_RS(64, 16, f16, 1)
TILE_WGMMA_RS(80, 16, f16, 1)
TILE_WGMMA_RS(96, 16, f16, 1)
TILE_WGMMA_RS(112, 16, f16, 1)
TILE_WGMMA_RS(128, 16, f16, 1)

/* Few rows, or few columns: any multiple of 8. */
#define TILE_WGMMA_FEW(n)                                                                                              \
    TILE_WGMMA_WIDTH(n)                                                                                                \
    TILE_WGMMA_SS(n, 16, bf16, 1, 0)                                                                                   \
    TILE_WGMMA_SS(n, 16, f16, 1, 0)
TILE_WGMMA_FEW(24)
TILE_WGMMA_FEW(40)
TILE_WGMMA_FEW(48)
TILE_WGMMA_FEW(56)
TILE_WGMMA_FEW(72)
TILE_WGMMA_FEW(80)
TILE_WGMMA_FEW(88)
TILE_WGMMA_FEW(96)
TILE_WGMMA_FEW(104)
TILE_WGMMA_FEW(112)
TILE_WGMMA_FEW(120)

TILE_WGMMA_WAIT(0)
TILE_WGMMA_WAIT(1)
TILE_WGMMA_WAIT(2)

/* Descriptor of an operand in 128-byte-swizzled shared memory at `at`. Rows along k: `step` unused. Rows along m or n:
   `step` bytes from one panel of 64 to the next. Within a panel of rows along k, 16 positions on are 32 bytes on; of
   rows along m or n, 2048. */
TILE_FN uint64_t tile_wgmma_panel(uint32_t at, int step) {
    return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)(step >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

#endif
