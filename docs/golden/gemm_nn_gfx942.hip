/* gemm_nn_gfx942.hip: the program gemm_nn for gfx942, made by tilec. */
#include "device/tile_gfx942.h"

#include "gemm_nn.h"

typedef struct {
    gemm_nn_args args;
    char *local; /* workspace */
} gemm_nn_call;

/* kernel matmul, matmul.tile:4 */
TILE_KERNEL(matmul, gemm_nn_call, 256) {
    TILE_LDS(lds, 24576);
    const int thread = tile_thread_of(256);
    const int64_t group = tile_group();
    const int64_t i_tile = group / 16;
    const int64_t j_tile = group % 16;
    const int64_t i0 = 128 * i_tile;
    const int64_t j0 = 256 * j_tile;
    const int i_t = (thread & 15) + (thread & 64);
    const int j_t = (thread >> 4 & 3) * 4 + (thread & 128);
    const int i_t_2 = thread >> 2;
    const int p_t = (thread & 3) * 8;
    const int j_t_2 = (thread & 31) * 8;
    const int p_t_2 = (thread >> 5) * 4;
    const int b_tile_to = thread * 64 + (thread >> 1 & 3) * 16;
    const int a_tile_to = ((thread & 3) * 32 + (thread & 3) * 2048 + (thread >> 2 & 1) * 16 + (thread & 8) + (thread >> 3 & 1) * 1024) ^ ((thread >> 4) * 32);
    const int b_frag_from = (thread & 15) * 8 + (thread >> 4 & 3) * 2048 + (thread >> 7) * 1024;
    const int a_frag_from = ((((thread & 1) * 16 + (thread >> 1 & 1) * 8 + (thread >> 1 & 1) * 1024 + (thread >> 2 & 3) * 32) ^ ((thread >> 4 & 1) * 8)) ^ (thread & 32)) + (thread >> 5 & 1) * 2048 + (thread >> 6 & 1) * 512;
    const tile_bf16 *const a = call.args.A;
    const tile_bf16 *const b = call.args.B;
    tile_bf16 *const c = call.args.C;
    // matmul.tile:7
    float acc[128];
    #pragma unroll
    for (int reg = 0; reg < 128; reg++) {
        acc[reg] = 0.0f;
    }
    tile_bf16 a_tile[16];
    tile_bf16 b_tile[32];
    #pragma unroll
    for (int reg = 0; reg < 16; reg += 8) {
        tile_load16(&a[(i0 + (i_t_2 + (reg >> 3) * 64)) * 4096 + p_t], &a_tile[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 32; reg += 8) {
        tile_load16(&b[(p_t_2 + (reg >> 3)) * 4096 + j0 + j_t_2], &b_tile[reg]);
    }
    for (int64_t p0 = 0; p0 < 4096; p0 += 32) {
        // b_tile to the layout of b_frag
        #pragma unroll
        for (int reg = 0; reg < 4; reg++) {
            tile_bf16 run[8];
            #pragma unroll
            for (int elem = 0; elem < 8; elem++) {
                run[elem] = b_tile[reg * 2 + (elem & 3) * 8 + (elem >> 2)];
            }
            tile_lds_store16(lds + (b_tile_to ^ (reg * 16)), run);
        }
        // a_tile to the layout of a_frag
        #pragma unroll
        for (int reg = 0; reg < 16; reg += 4) {
            tile_lds_store8(lds + 16384 + (a_tile_to ^ ((reg >> 2 & 1) * 8 + (reg >> 3) * 512)), &a_tile[reg]);
        }
        tile_bf16 b_frag[64];
        tile_bf16 a_frag[32];
        tile_sync();
        #pragma unroll
        for (int reg = 0; reg < 64; reg += 4) {
            tile_lds_load8(lds + (b_frag_from ^ ((reg >> 2 & 1) * 8192 + (reg >> 3 & 3) * 16 + (reg >> 3) * 128)), &b_frag[reg]);
        }
        #pragma unroll
        for (int reg = 0; reg < 32; reg += 4) {
            tile_lds_load8(lds + 16384 + (a_frag_from ^ ((reg >> 2) * 64 + (reg >> 2 & 1) * 4096)), &a_frag[reg]);
        }
        if (p0 + 32 < 4096) {
            #pragma unroll
            for (int reg = 0; reg < 16; reg += 8) {
                tile_load16(&a[(i0 + (i_t_2 + (reg >> 3) * 64)) * 4096 + (p0 + 32) + p_t], &a_tile[reg]);
            }
            #pragma unroll
            for (int reg = 0; reg < 32; reg += 8) {
                tile_load16(&b[((p0 + 32) + (p_t_2 + (reg >> 3))) * 4096 + j0 + j_t_2], &b_tile[reg]);
            }
        }
        #pragma unroll
        for (int fk = 0; fk < 2; fk++) {
            #pragma unroll
            for (int fm = 0; fm < 8; fm++) {
                #pragma unroll
                for (int fn = 0; fn < 4; fn++) {
                    tile_mfma_f32_16x16x16bf16_1k(&acc[(fm * 4 + fn) * 4], &b_frag[(fm * 2 + fk) * 4], &a_frag[(fn * 2 + fk) * 4]);
                }
            }
        }
        tile_sync();
    }
    // matmul.tile:8
    tile_bf16 c_out[128];
    #pragma unroll
    for (int reg = 0; reg < 128; reg++) {
        c_out[reg] = tile_bf16_of_f32(acc[reg]);
    }
    #pragma unroll
    for (int reg = 0; reg < 128; reg += 4) {
        tile_store8(&c[(i0 + (i_t + (reg >> 2 & 3) * 16)) * 4096 + j0 + (j_t + (reg & 112))], &c_out[reg]);
    }
}

