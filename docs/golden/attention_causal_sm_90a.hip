/* attention_causal_sm_90a.hip: the program attention_causal for sm_90a, made by tilec. */
#include "device/tile_sm_90a.h"
#include "device/tile_roles.h"

#include "attention_causal.h"

typedef struct {
    attention_causal_args args;
    char *local; /* workspace */
} attention_causal_call;

/* kernel attention, attention.tile:5, in roles */
typedef struct {
    tile_tensor_map map[4]; /* q, k, v, o */
} attention_maps;

enum { /* bytes of workgroup memory, from a multiple of 1024 on */
    attention_q = 0, attention_q_bytes = 32768, /* 2 slots, and a slot's bytes */
    attention_q_q = 0,
    attention_q_full = 229376,
    attention_k = 65536, attention_k_bytes = 32768, /* 2 slots, and a slot's bytes */
    attention_k_k = 0,
    attention_k_full = 229408,
    attention_v = 131072, attention_v_bytes = 32768, /* 2 slots, and a slot's bytes */
    attention_v_v = 0,
    attention_v_full = 229440,
    attention_o = 196608, attention_o_bytes = 16384, /* 1 slots for each of 2 groups, and a slot's bytes */
    attention_take_full = 229472, attention_take = 229488, /* numbers of tasks */
};

/* What the roles of a workgroup share: its place in the cluster, tiles along each range, tasks, rings. */
typedef struct {
    int rank, cluster, clusters, bi_tiles, hi_tiles, i_tiles, tasks;
    tile_ring q, k, v, o;
    tile_ring take;
} attention_all;

/* The task's number, and that of its tile along each range. */
typedef struct {
    int number, bi, hi, i;
} attention_task;

TILE_FN attention_all attention_begin(const attention_causal_call call, const char *lds) {
    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;
    attention_all all = {};
    all.cluster = (int)tile_group();
    all.clusters = (int)tile_groups();
    all.bi_tiles = 1;
    all.hi_tiles = 32;
    all.i_tiles = 32;
    all.tasks = all.bi_tiles * all.hi_tiles * all.i_tiles;
    all.q = {at + attention_q, at + attention_q_full, 2, attention_q_bytes};
    all.k = {at + attention_k, at + attention_k_full, 2, attention_k_bytes};
    all.v = {at + attention_v, at + attention_v_full, 2, attention_v_bytes};
    all.o = {at + attention_o, 0, 1, attention_o_bytes};
    all.take = {at + attention_take, at + attention_take_full, 1, 8};
    return all;
}

TILE_FN attention_task attention_place(const attention_all *all, int number) {
    attention_task task = {};
    task.number = number;
    const int group = number;
    const int bi = 0;
    const int hi_band = group / 128;
    const int hi_first = hi_band * 4;
    const int task_2 = group % 128;
    const int i_digit = task_2 / 4;
    const int i = 32 - 1 - i_digit;
    const int hi_digit = task_2 % 4;
    const int hi = hi_first + hi_digit;
    task.bi = bi;
    task.hi = hi;
    task.i = i;
    return task;
}

/* role copy */
TILE_FN void attention_copy(const attention_causal_call call, const attention_maps *maps, const attention_all *all) {
    tile_ring_end q_end = tile_ring_writer();
    tile_ring_end k_end = tile_ring_writer();
    tile_ring_end v_end = tile_ring_writer();
    tile_ring_end take_end = tile_ring_reader();
    for (int number; (number = tile_ticket_look(&all->take, &take_end, false)) >= 0; tile_ticket_done(&all->take, &take_end, false)) {
        const attention_task task = attention_place(all, number);
        const int64_t bi = task.bi;
        const int64_t hi = task.hi;
        const int64_t i_tile = task.i;
        const int64_t i0 = 128 * i_tile;
        // attention.tile:13
        const int64_t min = tile_min_i64(4096, i0 + 128);
        // attention.tile:5
        const tile_slot q_2 = tile_ring_put(&all->q, &q_end, 32768);
        // attention.tile:14
        tile_box_panels(q_2, attention_q_q, {&maps->map[0], 3, ((int)bi) * 32 + (int)hi}, 0, i0, 128, 128);
        // attention.tile:13
        #pragma unroll 1
        for (int64_t j0 = 0; j0 < min; j0 += 128) {
            // attention.tile:14
            const tile_slot k_2 = tile_ring_put(&all->k, &k_end, 32768);
            tile_box_panels(k_2, attention_k_k, {&maps->map[1], 3, ((int)bi) * 32 + (int)hi}, 0, j0, 128, 128);
            // attention.tile:20
            const tile_slot v_2 = tile_ring_put(&all->v, &v_end, 32768);
            tile_box_panels(v_2, attention_v_v, {&maps->map[2], 3, ((int)bi) * 32 + (int)hi}, 0, j0, 128, 128);
        }
    }
    tile_let_go();
}

/* role multiply */
TILE_FN void attention_multiply(const attention_causal_call call, const attention_maps *maps, const attention_all *all, int group, int thread) {
    tile_ring_end q_end = tile_ring_reader();
    tile_ring_end k_end = tile_ring_reader();
    tile_ring_end v_end = tile_ring_reader();
    tile_ring own_o = all->o; /* of this group */
    own_o.slot += 1 * attention_o_bytes * group;
    tile_ring_end o_end = tile_ring_writer();
    if (group == 1) tile_bar_arrive(5, 256); /* group 0 begins */
    const int i_t = (thread >> 2 & 7) + (thread >> 5) * 16;
    const int j_t = (thread & 3) * 2;
    tile_ring_end take_end = tile_ring_reader();
    for (int number; (number = tile_ticket_next(&all->take, &take_end, true)) >= 0;) {
        const attention_task task = attention_place(all, number);
        const int64_t bi = task.bi;
        const int64_t hi = task.hi;
        const int64_t i_tile = task.i;
        const int64_t i0 = 128 * i_tile;
        // attention.tile:13
        const int64_t min = tile_min_i64(4096, i0 + 128);
        const uint32_t q_2 = tile_ring_get(&all->q, &q_end);
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
        int64_t j0 = 0;
        if (j0 < min) {
            tile_bar_sync(5 + group, 256);
            // attention.tile:14
            const uint32_t k_2 = tile_ring_get(&all->k, &k_end);
            float mma[64];
            tile_chain_ss_bf16_0(mma, 128, 128, q_2 + 8192 * group, 16384, k_2, 16384, 0);
            tile_wgmma_commit();
            tile_bar_arrive(6 - group, 256);
            tile_wgmma_wait0(mma, 64);
            tile_ring_free(&all->k, &k_end, 1, thread);
            // attention.tile:15
            const int64_t sub = tile_sub_i64(j0 + 128, 1);
            const uint8_t le = sub <= i0;
            float chosen[64];
            if (le) {
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    chosen[reg] = mma[reg];
                }
            } else {
                float select[64];
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    const uint8_t le_2 = ((int32_t)(j0 + (j_t + (reg & 1) + (reg >> 2) * 8))) <= ((int32_t)(i0 + (64 * group + i_t + (reg >> 1 & 1) * 8)));
                    select[reg] = le_2 ? mma[reg] : (-INFINITY);
                }
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    chosen[reg] = select[reg];
                }
            }
            // attention.tile:16
            float rmax[2];
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                rmax[reg] = -INFINITY;
            }
            float rmax_half[4];
            #pragma unroll
            for (int reg = 0; reg < 4; reg++) rmax_half[reg] = -INFINITY;
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                rmax_half[2 * (reg >> 1 & 1) + (reg & 1)] = tile_max_f32(rmax_half[2 * (reg >> 1 & 1) + (reg & 1)], chosen[reg]);
            }
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                rmax[reg] = tile_max_f32(rmax[reg], rmax_half[2 * reg + 0]);
                rmax[reg] = tile_max_f32(rmax[reg], rmax_half[2 * reg + 1]);
            }
            bool small = true;
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                small = small && fabsf(tile_max_f32(m[reg], rmax[reg] * 8.838834765e-02f)) < 1024.0f; /* its rounding is 2^-13 of the result */
            }
            small = !tile_wave_any(!small);
            #pragma unroll
            for (int apart = 1; apart < 4; apart *= 2) {
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    rmax[reg] = tile_max_f32(rmax[reg], tile_shuffle_xor_f32(rmax[reg], apart));
                }
            }
            float mx[2];
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                mx[reg] = tile_max_f32(m[reg], rmax[reg] * 0.088388348f);
            }
            // attention.tile:17
            float p[64];
            const float p_slope = small ? 1.275174308e-01f : 1.442695041e+00f;
            float p_base[2];
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                p_base[reg] = small ? mx[reg] * 1.442695041e+00f : 0.0f;
            }
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                p[reg] = chosen[reg];
            }
            if (!small) {
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    p[reg] = tile_sub_apart(p[reg] * 8.838834765e-02f, mx[reg >> 1 & 1]);
                }
            }
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                p[reg] = tile_exp2_fast(fmaf(p[reg], p_slope, -p_base[reg >> 1 & 1]));
            }
            // attention.tile:18
            float r[2];
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                r[reg] = tile_exp_near(m[reg] - mx[reg]);
            }
            // attention.tile:19
            float sum[2];
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                sum[reg] = 0;
            }
            float sum_half[4];
            #pragma unroll
            for (int reg = 0; reg < 4; reg++) sum_half[reg] = 0;
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                sum_half[2 * (reg >> 1 & 1) + (reg & 1)] += p[reg];
            }
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                sum[reg] += sum_half[2 * reg + 0];
                sum[reg] += sum_half[2 * reg + 1];
            }
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                l[reg] = (l[reg] * r[reg]) + sum[reg];
            }
            // attention.tile:20
            float mul[64];
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                mul[reg] = acc[reg] * r[reg >> 1 & 1];
            }
            uint32_t exp_words[32];
            tile_sums_words_bf16(exp_words, p, 128);
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                m[reg] = mx[reg];
            }
            #pragma unroll 1
            for (j0 += 128; j0 < min; j0 += 128) {
                tile_bar_sync(5 + group, 256);
                // attention.tile:14
                const uint32_t k_3 = tile_ring_get(&all->k, &k_end);
                float mma_2[64];
                tile_chain_ss_bf16_0(mma_2, 128, 128, q_2 + 8192 * group, 16384, k_3, 16384, 0);
                tile_wgmma_commit();
                // attention.tile:20
                const uint32_t v_2 = tile_ring_get(&all->v, &v_end);
                float acc_2[64];
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    acc_2[reg] = mul[reg];
                }
                tile_chain_rs_bf16_1(acc_2, 128, 128, exp_words, v_2, 16384, 1);
                tile_wgmma_commit();
                tile_bar_arrive(6 - group, 256);
                // attention.tile:14
                tile_wgmma_wait1(mma_2, 64);
                tile_ring_free(&all->k, &k_end, 1, thread);
                // attention.tile:15
                const int64_t sub_2 = tile_sub_i64(j0 + 128, 1);
                const uint8_t le_3 = sub_2 <= i0;
                float chosen_2[64];
                if (le_3) {
                    #pragma unroll
                    for (int reg = 0; reg < 64; reg++) {
                        chosen_2[reg] = mma_2[reg];
                    }
                } else {
                    float select_2[64];
                    #pragma unroll
                    for (int reg = 0; reg < 64; reg++) {
                        const uint8_t le_2 = ((int32_t)(j0 + (j_t + (reg & 1) + (reg >> 2) * 8))) <= ((int32_t)(i0 + (64 * group + i_t + (reg >> 1 & 1) * 8)));
                        select_2[reg] = le_2 ? mma_2[reg] : (-INFINITY);
                    }
                    #pragma unroll
                    for (int reg = 0; reg < 64; reg++) {
                        chosen_2[reg] = select_2[reg];
                    }
                }
                // attention.tile:16
                float rmax_2[2];
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    rmax_2[reg] = -INFINITY;
                }
                float rmax_2_half[4];
                #pragma unroll
                for (int reg = 0; reg < 4; reg++) rmax_2_half[reg] = -INFINITY;
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    rmax_2_half[2 * (reg >> 1 & 1) + (reg & 1)] = tile_max_f32(rmax_2_half[2 * (reg >> 1 & 1) + (reg & 1)], chosen_2[reg]);
                }
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    rmax_2[reg] = tile_max_f32(rmax_2[reg], rmax_2_half[2 * reg + 0]);
                    rmax_2[reg] = tile_max_f32(rmax_2[reg], rmax_2_half[2 * reg + 1]);
                }
                bool small_2 = true;
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    small_2 = small_2 && fabsf(tile_max_f32(m[reg], rmax_2[reg] * 8.838834765e-02f)) < 1024.0f; /* its rounding is 2^-13 of the result */
                }
                small_2 = !tile_wave_any(!small_2);
                #pragma unroll
                for (int apart = 1; apart < 4; apart *= 2) {
                    #pragma unroll
                    for (int reg = 0; reg < 2; reg++) {
                        rmax_2[reg] = tile_max_f32(rmax_2[reg], tile_shuffle_xor_f32(rmax_2[reg], apart));
                    }
                }
                float mx_2[2];
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    mx_2[reg] = tile_max_f32(m[reg], rmax_2[reg] * 0.088388348f);
                }
                // attention.tile:17
                float p_2[64];
                const float p_2_slope = small_2 ? 1.275174308e-01f : 1.442695041e+00f;
                float p_2_base[2];
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    p_2_base[reg] = small_2 ? mx_2[reg] * 1.442695041e+00f : 0.0f;
                }
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    p_2[reg] = chosen_2[reg];
                }
                if (!small_2) {
                    #pragma unroll
                    for (int reg = 0; reg < 64; reg++) {
                        p_2[reg] = tile_sub_apart(p_2[reg] * 8.838834765e-02f, mx_2[reg >> 1 & 1]);
                    }
                }
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    p_2[reg] = tile_exp2_fast(fmaf(p_2[reg], p_2_slope, -p_2_base[reg >> 1 & 1]));
                }
                // attention.tile:18
                float r_2[2];
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    r_2[reg] = tile_exp_near(m[reg] - mx_2[reg]);
                }
                // attention.tile:19
                float sum_2[2];
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    sum_2[reg] = 0;
                }
                float sum_2_half[4];
                #pragma unroll
                for (int reg = 0; reg < 4; reg++) sum_2_half[reg] = 0;
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    sum_2_half[2 * (reg >> 1 & 1) + (reg & 1)] += p_2[reg];
                }
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    sum_2[reg] += sum_2_half[2 * reg + 0];
                    sum_2[reg] += sum_2_half[2 * reg + 1];
                }
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    l[reg] = (l[reg] * r_2[reg]) + sum_2[reg];
                }
                // attention.tile:20
                tile_wgmma_wait0(acc_2, 64);
                tile_ring_free(&all->v, &v_end, 1, thread);
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    acc[reg] = acc_2[reg];
                }
                float mul_2[64];
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) {
                    mul_2[reg] = acc[reg] * r_2[reg >> 1 & 1];
                }
                uint32_t exp_words_2[32];
                tile_sums_words_bf16(exp_words_2, p_2, 128);
                #pragma unroll
                for (int reg = 0; reg < 2; reg++) {
                    m[reg] = mx_2[reg];
                }
                #pragma unroll
                for (int reg = 0; reg < 64; reg++) mul[reg] = mul_2[reg];
                #pragma unroll
                for (int reg = 0; reg < 32; reg++) exp_words[reg] = exp_words_2[reg];
            }
            const uint32_t v_3 = tile_ring_get(&all->v, &v_end);
            float acc_3[64];
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                acc_3[reg] = mul[reg];
            }
            tile_chain_rs_bf16_1(acc_3, 128, 128, exp_words, v_3, 16384, 1);
            tile_wgmma_commit();
            tile_wgmma_wait0(acc_3, 64);
            tile_ring_free(&all->v, &v_end, 1, thread);
            #pragma unroll
            for (int reg = 0; reg < 64; reg++) {
                acc[reg] = acc_3[reg];
            }
        }
        #pragma unroll
        for (int apart = 1; apart < 4; apart *= 2) {
            #pragma unroll
            for (int reg = 0; reg < 2; reg++) {
                l[reg] += tile_shuffle_xor_f32(l[reg], apart);
            }
        }
        // attention.tile:13
        tile_ring_free_read(&all->q, &q_end, 1, 2 + group, thread);
        // attention.tile:30
        const uint32_t o_2 = tile_own_open(&own_o, &o_end, 0, 2 + group, thread);
        float div[64];
        #pragma unroll
        for (int reg = 0; reg < 64; reg++) {
            div[reg] = tile_div_f32(acc[reg], l[reg >> 1 & 1]);
        }
        tile_sums_write_bf16(o_2, div, 128, thread);
        tile_own_filled(&own_o, &o_end, 2 + group);
        if (thread == 0) tile_box_store({&maps->map[3], 3, ((int)bi) * 32 + (int)hi}, i0 + 64 * group, 0, 128, o_2);
    }
    if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS(attention, attention_causal_call, 384, 1) {
    TILE_LDS(lds, 0);
    const attention_all all = attention_begin(call, lds);
    const int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        tile_ring_make(&all.q, 1, 2);
        tile_ring_make(&all.k, 1, 2);
        tile_ring_make(&all.v, 1, 2);
        tile_ring_make(&all.take, 1, 9);
        tile_mbar_init_done();
    }
    tile_sync();
    tile_follow();
    if (group < 1) {
        tile_regs_give(40);
        if (thread / 32 == 0 && tile_elect()) attention_copy(call, &maps, &all);
        if (thread == 32)
            tile_ticket_take(&all.take, (uint64_t *)(call.local + 0) + 0, all.tasks, all.clusters, 1);
    } else {
        tile_regs_take(232);
        attention_multiply(call, &maps, &all, group - 1, thread);
    }
}

