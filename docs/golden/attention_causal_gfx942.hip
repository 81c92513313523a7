/* attention_causal_gfx942.hip: the program attention_causal for gfx942, made by tilec. */
#include "device/tile_gfx942.h"

#include "attention_causal.h"

typedef struct {
    attention_causal_args args;
    char *local; /* workspace */
} attention_causal_call;

/* kernel attention, attention.tile:5 */
TILE_KERNEL(attention, attention_causal_call, 128) {
    TILE_LDS(lds, 16384);
    const int thread = tile_thread();
    const int64_t group = tile_group();
    const int64_t bi = 0;
    const int64_t hi = group / 64;
    const int64_t i_tile = group % 64;
    const int64_t i0 = 64 * i_tile;
    const int i_t = thread >> 4;
    const int c_t = (thread & 15) * 8;
    const int q_tile_to = (((thread & 7) * 16 + (thread & 15) * 1024) ^ (thread & 48)) + (thread >> 6) * 128;
    const int i_t_2 = (thread & 15) + (thread >> 6) * 32;
    const int c_t_2 = (thread >> 4 & 3) * 4;
    const int q_frag_from = (((thread & 3) * 16 + (thread >> 2 & 3) * 128 + (thread >> 4 & 1) * 64) ^ ((thread >> 5 & 1) * 16)) + (thread >> 5 & 1) * 1024 + (thread >> 6) * 512;
    const int j_t = thread >> 4;
    const int j_t_2 = (thread >> 4) * 4;
    const int k_tile_to = ((thread & 7) * 16 + (thread >> 3) * 256) ^ (thread & 112);
    const int k_frag_from = ((thread & 7) * 16 + (thread & 15) * 512 + (thread >> 4 & 1) * 128) ^ ((thread >> 5 & 1) * 16);
    const int j_t_4 = (thread >> 4 & 3) * 4;
    const int v_tile_to = thread * 64 + (thread >> 1 & 3) * 16;
    const int v_frag_from = (thread & 15) * 8 + (thread >> 4 & 3) * 1024;
    const tile_bf16 *const q = call.args.Q;
    const tile_bf16 *const k = call.args.K;
    const tile_bf16 *const v = call.args.V;
    tile_bf16 *const o = call.args.O;
    // attention.tile:12
    const int64_t min = tile_min_i64(4096, i0 + 64);
    // attention.tile:13
    tile_bf16 q_tile[64];
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 8) {
        tile_load16(&q[((bi * 32 + hi) * 4096 + i0 + (i_t + (reg & 56))) * 128 + c_t], &q_tile[reg]);
    }
    // q_tile to the layout of q_frag
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        tile_bf16 run[8];
        #pragma unroll
        for (int elem = 0; elem < 8; elem++) {
            run[elem] = q_tile[(reg & 3) * 4 + (reg >> 2) * 32 + (elem & 3) + (elem >> 2) * 16];
        }
        tile_lds_store16(lds + (q_tile_to ^ ((reg & 1) * 64 + (reg >> 1) * 256)), run);
    }
    tile_bf16 q_frag[64];
    tile_sync();
    #pragma unroll
    for (int reg = 0; reg < 8; reg++) {
        tile_bf16 run[8];
        tile_lds_load16(lds + (q_frag_from ^ ((reg & 3) * 32 + reg * 2048)), run);
        #pragma unroll
        for (int elem = 0; elem < 8; elem++) {
            q_frag[reg * 4 + (elem & 3) + (elem >> 2) * 32] = run[elem];
        }
    }
    // attention.tile:12
    float m[2];
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        m[reg] = -3e+38f;
    }
    float l[2];
    #pragma unroll
    for (int reg = 0; reg < 2; reg++) {
        l[reg] = 0.0f;
    }
    float acc[64];
    #pragma unroll
    for (int reg = 0; reg < 64; reg++) {
        acc[reg] = 0.0f;
    }
    tile_sync();
    tile_bf16 k_tile[32];
    tile_bf16 v_tile[32];
    if (0 < min) {
        // attention.tile:13
        #pragma unroll
        for (int reg = 0; reg < 32; reg += 8) {
            if ((j_t + (reg & 24)) < tile_least(32, min))
                tile_load16(&k[((bi * 32 + hi) * 4096 + (j_t + (reg & 24))) * 128 + c_t], &k_tile[reg]);
            else
                tile_zero16(&k_tile[reg]);
        }
        // attention.tile:19
        #pragma unroll
        for (int reg = 0; reg < 32; reg += 8) {
            if ((j_t_2 + (reg >> 3)) < tile_least(32, min))
                tile_load16(&v[((bi * 32 + hi) * 4096 + (j_t_2 + (reg >> 3))) * 128 + c_t], &v_tile[reg]);
            else
                tile_zero16(&v_tile[reg]);
        }
    }
    for (int64_t j0 = 0; j0 < min; j0 += 32) {
        const int64_t nj = tile_least(32, min - j0);
        // attention.tile:13
        // k_tile to the layout of k_frag
        #pragma unroll
        for (int reg = 0; reg < 4; reg++) {
            tile_bf16 run[8];
            #pragma unroll
            for (int elem = 0; elem < 8; elem++) {
                run[elem] = k_tile[reg * 4 + (elem & 3) + (elem >> 2) * 16];
            }
            tile_lds_store16(lds + k_tile_to + (reg & 1) * 128 + (reg >> 1) * 4096, run);
        }
        tile_bf16 k_frag[64];
        tile_sync();
        #pragma unroll
        for (int reg = 0; reg < 8; reg++) {
            tile_bf16 run[8];
            tile_lds_load16(lds + (k_frag_from ^ ((reg & 3) * 32 + (reg >> 2) * 256)), run);
            #pragma unroll
            for (int elem = 0; elem < 8; elem++) {
                k_frag[reg * 4 + (elem & 3) + (elem >> 2) * 32] = run[elem];
            }
        }
        if (j0 + 32 < min) {
            #pragma unroll
            for (int reg = 0; reg < 32; reg += 8) {
                if ((j_t + (reg & 24)) < tile_least(32, min - (j0 + 32)))
                    tile_load16(&k[((bi * 32 + hi) * 4096 + (j0 + 32) + (j_t + (reg & 24))) * 128 + c_t], &k_tile[reg]);
                else
                    tile_zero16(&k_tile[reg]);
            }
        }
        float product[16];
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            product[reg] = 0;
        }
        #pragma unroll
        for (int fk = 0; fk < 8; fk++) {
            #pragma unroll
            for (int fm = 0; fm < 2; fm++) {
                #pragma unroll
                for (int fn = 0; fn < 2; fn++) {
                    tile_mfma_f32_16x16x16bf16_1k(&product[(fm * 2 + fn) * 4], &k_frag[(fm * 8 + fk) * 4], &q_frag[(fn * 8 + fk) * 4]);
                }
            }
        }
        // attention.tile:14
        float x[16];
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            const uint8_t le = (j0 + (j_t_4 + (reg & 3) + (reg >> 3) * 16)) <= (i0 + (i_t_2 + (reg >> 2 & 1) * 16));
            const float x_2 = product[reg] * 0.088388348f;
            x[reg] = le ? x_2 : (-INFINITY);
        }
        // attention.tile:15
        float rmax[2];
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            rmax[reg] = -INFINITY;
        }
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            const float select = ((j0 + (j_t_4 + (reg & 3) + (reg >> 3) * 16)) < (j0 + nj)) ? x[reg] : (-INFINITY);
            rmax[reg >> 2 & 1] = tile_max_f32(rmax[reg >> 2 & 1], select);
        }
        #pragma unroll
        for (int apart = 16; apart < 64; apart *= 2) {
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                rmax[reg] = tile_max_f32(rmax[reg], tile_shuffle_xor_f32(rmax[reg], apart));
            }
        }
        float mx[2];
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            mx[reg] = tile_max_f32(m[reg], rmax[reg]);
        }
        // attention.tile:16
        float p[16];
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            p[reg] = tile_exp(x[reg] - mx[reg >> 2 & 1]);
        }
        // attention.tile:17
        float r[2];
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            r[reg] = tile_exp(m[reg] - mx[reg]);
        }
        // attention.tile:18
        float sum[2];
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            sum[reg] = 0;
        }
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            const float select_2 = ((j0 + (j_t_4 + (reg & 3) + (reg >> 3) * 16)) < (j0 + nj)) ? p[reg] : 0.0f;
            sum[reg >> 2 & 1] += select_2;
        }
        #pragma unroll
        for (int apart = 16; apart < 64; apart *= 2) {
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                sum[reg] += tile_shuffle_xor_f32(sum[reg], apart);
            }
        }
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            l[reg] = (l[reg] * r[reg]) + sum[reg];
        }
        // attention.tile:19
        tile_sync();
        // v_tile to the layout of v_frag
        #pragma unroll
        for (int reg = 0; reg < 4; reg++) {
            tile_bf16 run[8];
            #pragma unroll
            for (int elem = 0; elem < 8; elem++) {
                run[elem] = v_tile[reg * 2 + (elem & 3) * 8 + (elem >> 2)];
            }
            tile_lds_store16(lds + (v_tile_to ^ (reg * 16)), run);
        }
        tile_bf16 v_frag[64];
        tile_sync();
        #pragma unroll
        for (int reg = 0; reg < 64; reg += 4) {
            tile_lds_load8(lds + (v_frag_from ^ ((reg >> 2 & 1) * 4096 + (reg >> 3 & 3) * 16 + (reg >> 3) * 128)), &v_frag[reg]);
        }
        if (j0 + 32 < min) {
            #pragma unroll
            for (int reg = 0; reg < 32; reg += 8) {
                if ((j_t_2 + (reg >> 3)) < tile_least(32, min - (j0 + 32)))
                    tile_load16(&v[((bi * 32 + hi) * 4096 + (j0 + 32) + (j_t_2 + (reg >> 3))) * 128 + c_t], &v_tile[reg]);
                else
                    tile_zero16(&v_tile[reg]);
            }
        }
        tile_bf16 select_3[16];
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            const float select_4 = ((j0 + (j_t_4 + (reg & 3) + (reg >> 3) * 16)) < (j0 + nj)) ? p[reg] : 0.0f;
            select_3[reg] = tile_bf16_of_f32(select_4);
        }
        tile_bf16 p_frag[16];
        #pragma unroll
        for (int reg = 0; reg < 16; reg++) {
            p_frag[reg] = select_3[(reg & 3) + (reg >> 2 & 1) * 8 + (reg >> 3) * 4];
        }
        #pragma unroll
        for (int reg = 0; reg < 64; reg++) {
            acc[reg] = acc[reg] * r[reg >> 2 & 1];
        }
        #pragma unroll
        for (int fk = 0; fk < 2; fk++) {
            #pragma unroll
            for (int fm = 0; fm < 8; fm++) {
                #pragma unroll
                for (int fn = 0; fn < 2; fn++) {
                    tile_mfma_f32_16x16x16bf16_1k(&acc[(fm * 2 + fn) * 4], &v_frag[(fm * 2 + fk) * 4], &p_frag[(fn * 2 + fk) * 4]);
                }
            }
        }
        #pragma unroll
        for (int reg = 0; reg < 2; reg++) {
            m[reg] = mx[reg];
        }
        tile_sync();
    }
    // attention.tile:29
    tile_bf16 o_out[64];
    #pragma unroll
    for (int reg = 0; reg < 64; reg++) {
        o_out[reg] = tile_bf16_of_f32(tile_div_f32(acc[reg], l[reg >> 2 & 1]));
    }
    #pragma unroll
    for (int reg = 0; reg < 64; reg += 4) {
        tile_store8(&o[((bi * 32 + hi) * 4096 + i0 + (i_t_2 + (reg >> 2 & 1) * 16)) * 128 + (c_t_2 + (reg >> 3) * 16)], &o_out[reg]);
    }
}

