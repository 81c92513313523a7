/* tile_emu_sm_90a.h: what schedules of sm_90a are written in (tile_tma.h, tile_wgmma.h, tile_fragment.h), in the
   emulator: runtime/emu/barriers.c, copies.c, wgmma.c. */
#ifndef TILE_DEVICE_TILE_EMU_SM_90A_H
#define TILE_DEVICE_TILE_EMU_SM_90A_H

#include "device/tile_emu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A product of a warpgroup, 64 x n over k. whole: of integers, whose sums are int32_t in place of floats. */
typedef struct {
    tile_emu_elem a, b;
    int n, k;
    bool whole;
    bool in_registers, a_across, b_across; /* across: the operand's rows run along m or n */
} tile_emu_wgmma;

/* So many blocks of 8 x 8 elements of 16 bits, between LDS and registers of a wave. */
typedef struct {
    int n;
    bool across, store;
} tile_emu_blocks;

uint32_t tile_emu_shared(const void *);
void *tile_emu_shared_at(uint32_t, int bytes); /* of this workgroup */
int tile_emu_cluster_rank(void);
void tile_emu_cluster_store(uint32_t, int rank, const void *value, int bytes);
void tile_emu_cluster_send(uint32_t, uint32_t bar, int rank, const void *value, int bytes); /* announced elsewhere */
void tile_emu_cluster_pass(uint32_t, uint32_t bar, int rank, int32_t);
void tile_emu_cluster_arrive(void);
void tile_emu_cluster_wait(void);
void tile_emu_wave_sync(void);
bool tile_emu_wave_any(bool);
void tile_emu_bar(int bar, int threads, bool waits);
void tile_emu_mbar_init(uint32_t, int count);
void tile_emu_mbar_init_done(void);
void tile_emu_mbar_arrive(uint32_t, int rank); /* rank -1: this workgroup's */
void tile_emu_mbar_expect(uint32_t, int bytes);
void tile_emu_mbar_complete(uint32_t, int rank, int bytes);
void tile_emu_mbar_wait(uint32_t, int parity);
void tile_emu_tma_load(uint32_t to, const void *map, const int *at, int n, uint32_t bar, int mask); /* mask 0: here */
void tile_emu_tma_load_pixels(uint32_t to, const void *map, const int *at, const int *away, uint32_t bar, int mask);
void tile_emu_tma_store(const void *map, const int *at, int n, uint32_t from);
void tile_emu_tma_commit(void);
void tile_emu_tma_wait(int but); /* groups; stores have read LDS */
void tile_emu_tma_wait_written(void);
void tile_emu_async_fence(void);
void tile_emu_async_fence_all(void);
void tile_emu_copy(uint32_t to, const void *from, int size, int bytes);
void tile_emu_copy_arrive(uint32_t bar);
void tile_emu_copy_commit(void);
void tile_emu_copy_wait(int but);
void tile_emu_blocks_move(const tile_emu_blocks *, uint32_t at, uint32_t *x);
void tile_emu_wgmma_begin(const tile_emu_wgmma *, void *d, const uint32_t *a_registers, uint64_t a, uint64_t b,
                          int add);
void tile_emu_wgmma_fence(void);
void tile_emu_wgmma_commit(void);
void tile_emu_wgmma_wait(int pending);

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus

#pragma clang diagnostic ignored "-Wunused-parameter" /* schedules have functions with parameters of all their kinds   \
                                                       */
#pragma clang diagnostic ignored "-Wpass-failed"      /* and loops that only nvcc unrolls */

#define TILE_KERNEL_MAPS(name, type, threads, cluster)                                                                 \
    static void name##_body(const type call, const name##_maps &maps);                                                 \
    TILE_EMU_KERNEL(name, type, sizeof(name##_maps), threads, cluster, *(const type *)argument,                        \
                    *(const name##_maps *)((const char *)argument + sizeof(type)))                                     \
    static void name##_body(const type call, const name##_maps &maps)
#define TILE_KERNEL_RESIDENT(name, type, threads, cluster, resident) TILE_KERNEL_MAPS(name, type, threads, cluster)

typedef struct {
    uint64_t word[16];
} tile_tensor_map;

/* ---- the workgroup and its cluster ---- */

TILE_FN void tile_behind(void) { tile_emu_follow(); }
TILE_FN void tile_beside(void) { tile_emu_beside(); }
TILE_FN void tile_end_behind(void) { tile_emu_end_behind(); } /* launches of a stream run in order */
TILE_FN void tile_let_go(void) {}
TILE_FN void tile_prefetch_line(const void *from) { (void)from; }
TILE_FN int32_t tile_look_i32(const int32_t *from) {
    tile_check(from, 4, TILE_LOOKS, 0);
    return *from;
}
TILE_FN uint32_t tile_shared(const void *p) { return tile_emu_shared(p); }
TILE_FN int tile_cluster_rank(void) { return tile_emu_cluster_rank(); }
TILE_FN void tile_cluster_store(uint32_t at, int rank, float x) { tile_emu_cluster_store(at, rank, &x, 4); }
TILE_FN void tile_cluster_store2(uint32_t at, int rank, float x, float y) {
    const float both[2] = {x, y};
    tile_emu_cluster_store(at, rank, both, 8);
}
TILE_FN void tile_cluster_store4(uint32_t at, int rank, const float x[4]) { tile_emu_cluster_store(at, rank, x, 16); }
TILE_FN void tile_cluster_send16(uint32_t at, uint32_t bar, int rank, const uint32_t x[4]) {
    tile_emu_cluster_send(at, bar, rank, x, 16);
}
TILE_FN void tile_cluster_pass(uint32_t at, uint32_t bar, int rank, int32_t x) {
    tile_emu_cluster_pass(at, bar, rank, x);
}
TILE_FN void tile_cluster_arrive(void) { tile_emu_cluster_arrive(); }
TILE_FN void tile_cluster_arrive_alone(void) { tile_emu_cluster_arrive(); }
TILE_FN void tile_cluster_wait(void) { tile_emu_cluster_wait(); }
TILE_FN void tile_wave_sync(void) { tile_emu_wave_sync(); }
TILE_FN bool tile_wave_any(bool x) { return tile_emu_wave_any(x); }
TILE_FN bool tile_elect(void) { return tile_emu_wave_any(true) && tile_lane() == TILE_LANES - 1; } /* any lane may be it */
TILE_FN void tile_bar_sync(int bar, int threads) { tile_emu_bar(bar, threads, true); }
TILE_FN void tile_bar_arrive(int bar, int threads) { tile_emu_bar(bar, threads, false); }
#define tile_regs_give(n) ((void)0)
#define tile_regs_take(n) ((void)0)

/* ---- barriers in shared memory, and copies ---- */

TILE_FN void tile_mbar_init(uint32_t bar, int count) { tile_emu_mbar_init(bar, count); }
TILE_FN void tile_mbar_init_done(void) { tile_emu_mbar_init_done(); }
TILE_FN void tile_mbar_arrive(uint32_t bar) { tile_emu_mbar_arrive(bar, -1); }
TILE_FN void tile_mbar_arrive_at(uint32_t bar, int rank) { tile_emu_mbar_arrive(bar, rank); }
TILE_FN void tile_mbar_expect(uint32_t bar, int bytes) { tile_emu_mbar_expect(bar, bytes); }
TILE_FN void tile_mbar_complete(uint32_t bar, int rank, int bytes) { tile_emu_mbar_complete(bar, rank, bytes); }
TILE_FN void tile_mbar_wait(uint32_t bar, int parity) { tile_emu_mbar_wait(bar, parity); }
TILE_FN void tile_mbar_wait_after(uint32_t bar, int parity) { tile_emu_mbar_wait(bar, parity); }

TILE_FN void tile_tma_load2(uint32_t to, const tile_tensor_map *map, int c0, int c1, uint32_t bar) {
    const int at[] = {c0, c1};
    tile_emu_tma_load(to, map, at, 2, bar, 0);
}
TILE_FN void tile_tma_load2_once(uint32_t to, const tile_tensor_map *map, int c0, int c1, uint32_t bar) {
    tile_tma_load2(to, map, c0, c1, bar);
}
TILE_FN void tile_tma_load3(uint32_t to, const tile_tensor_map *map, int c0, int c1, int c2, uint32_t bar) {
    const int at[] = {c0, c1, c2};
    tile_emu_tma_load(to, map, at, 3, bar, 0);
}
TILE_FN void tile_tma_load2_all(uint32_t to, const tile_tensor_map *map, int c0, int c1, uint32_t bar, uint16_t mask) {
    const int at[] = {c0, c1};
    tile_emu_tma_load(to, map, at, 2, bar, mask);
}
TILE_FN void tile_tma_load3_all(uint32_t to, const tile_tensor_map *map, int c0, int c1, int c2, uint32_t bar,
                                uint16_t mask) {
    const int at[] = {c0, c1, c2};
    tile_emu_tma_load(to, map, at, 3, bar, mask);
}
TILE_FN void tile_tma_load_pixels(uint32_t to, const tile_tensor_map *map, int c, int x, int y, int n, int right,
                                  int down, uint32_t bar) {
    const int at[] = {c, x, y, n}, away[] = {right, down};
    tile_emu_tma_load_pixels(to, map, at, away, bar, 0);
}
TILE_FN void tile_tma_load_pixels_all(uint32_t to, const tile_tensor_map *map, int c, int x, int y, int n, int right,
                                      int down, uint32_t bar, uint16_t mask) {
    const int at[] = {c, x, y, n}, away[] = {right, down};
    tile_emu_tma_load_pixels(to, map, at, away, bar, mask);
}
TILE_FN void tile_tma_store2(const tile_tensor_map *map, int c0, int c1, uint32_t from) {
    const int at[] = {c0, c1};
    tile_emu_tma_store(map, at, 2, from);
}
TILE_FN void tile_tma_store3(const tile_tensor_map *map, int c0, int c1, int c2, uint32_t from) {
    const int at[] = {c0, c1, c2};
    tile_emu_tma_store(map, at, 3, from);
}
TILE_FN void tile_tma_commit(void) { tile_emu_tma_commit(); }
TILE_FN void tile_tma_wait_read(void) { tile_emu_tma_wait(0); }
TILE_FN void tile_tma_wait_reads(int but) {
    if (but >= 0) tile_emu_tma_wait(but < 3 ? but : 3);
}
TILE_FN void tile_tma_wait_read_but(int n) { tile_emu_tma_wait(n); }
TILE_FN void tile_tma_wait(void) { tile_emu_tma_wait_written(); }
TILE_FN void tile_async_fence(void) { tile_emu_async_fence(); }
TILE_FN void tile_async_fence_all(void) { tile_emu_async_fence_all(); }
TILE_FN void tile_copy_once(uint32_t to, const void *from, int bytes) { tile_emu_copy(to, from, 16, bytes); }
TILE_FN void tile_copy_some(uint32_t to, const void *from, int size, int bytes) {
    tile_emu_copy(to, from, size, bytes);
}
TILE_FN void tile_copy_piece(uint32_t to, const void *from, int at, int width) {
    tile_emu_copy(to, at < 0 ? from : (const char *)from + (int64_t)at * width, 16, at < 0 ? 0 : 16);
}
TILE_FN void tile_mbar_arrive_copied(uint32_t bar) { tile_emu_copy_arrive(bar); }
TILE_FN void tile_copy_commit(void) { tile_emu_copy_commit(); }
TILE_FN void tile_copy_wait(int but) { tile_emu_copy_wait(but); }

/* ---- shared memory by its address ---- */

TILE_FN uint32_t tile_shared_load1(uint32_t at) { return tile_lds_load_u8(tile_emu_shared_at(at, 1)); }
TILE_FN uint16_t tile_shared_load2(uint32_t at) { return tile_lds_load_bf16(tile_emu_shared_at(at, 2)); }
TILE_FN uint32_t tile_shared_load4(uint32_t at) {
    uint32_t x;
    tile_lds_load4(tile_emu_shared_at(at, 4), &x);
    return x;
}
TILE_FN void tile_shared_load8(uint32_t at, uint32_t x[2]) { tile_lds_load8(tile_emu_shared_at(at, 8), x); }
TILE_FN void tile_shared_load16(uint32_t at, uint32_t x[4]) { tile_lds_load16(tile_emu_shared_at(at, 16), x); }

TILE_FN void tile_shared_store_f32(uint32_t at, float x) { tile_lds_store_f32((float *)tile_emu_shared_at(at, 4), x); }
TILE_FN float tile_shared_load_f32(uint32_t at) { return tile_lds_load_f32((const float *)tile_emu_shared_at(at, 4)); }
TILE_FN void tile_shared_store16(uint32_t at, const uint32_t x[4]) {
    tile_lds_store16(tile_emu_shared_at(at, 16), x);
}
TILE_FN void tile_shared_zero16(uint32_t at) {
    const uint32_t x[4] = {};
    tile_lds_store16(tile_emu_shared_at(at, 16), x);
}

#define TILE_EMU_BLOCKS(n, across, store, at, x)                                                                       \
    static const tile_emu_blocks op = {n, across, store};                                                              \
    tile_emu_blocks_move(&op, at, x)
TILE_FN void tile_ldmatrix4(uint32_t r[4], uint32_t at) { TILE_EMU_BLOCKS(4, false, false, at, r); }
TILE_FN void tile_ldmatrix4_across(uint32_t r[4], uint32_t at) { TILE_EMU_BLOCKS(4, true, false, at, r); }
TILE_FN void tile_stmatrix4(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t x[] = {a, b, c, d};
    TILE_EMU_BLOCKS(4, false, true, at, x);
}
TILE_FN void tile_stmatrix4_across(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t x[] = {a, b, c, d};
    TILE_EMU_BLOCKS(4, true, true, at, x);
}
TILE_FN void tile_stmatrix2_across(uint32_t at, uint32_t a, uint32_t b) {
    uint32_t x[] = {a, b};
    TILE_EMU_BLOCKS(2, true, true, at, x);
}
TILE_FN uint32_t tile_movmatrix(uint32_t x) {
    const int from = 8 * (tile_lane() % 4) + tile_lane() / 8, half = 16 * (tile_lane() / 4 % 2);
    const uint32_t low = tile_shuffle(x, from) >> half, high = tile_shuffle(x, from + 4) >> half;
    return (low & 0xffff) | high << 16;
}

/* What instructions with .ftz take and give: 0 in place of numbers below the normal range (PTX ISA). */
TILE_FN float tile_emu_normal(float x) { return fabsf(x) < 1.17549435e-38f ? 0.0f * x : x; }
TILE_FN float tile_exp2_fast(float x) { return tile_emu_normal(exp2f(x)); }
TILE_FN float tile_sub_apart(float x, float y) { return x - y; }
TILE_FN float tile_rcp_fast(float x) { return tile_emu_normal(1.0f / tile_emu_normal(x)); }
TILE_FN uint32_t tile_bf16x2(float low, float high) {
    return tile_bf16_of_f32(low) | (uint32_t)tile_bf16_of_f32(high) << 16;
}
TILE_FN uint32_t tile_f16x2(float low, float high) {
    return tile_f16_of_f32(low) | (uint32_t)tile_f16_of_f32(high) << 16;
}
TILE_FN uint32_t tile_bytes(uint32_t x, uint32_t y, uint32_t which) {
    const uint64_t all = (uint64_t)y << 32 | x;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) r |= (uint32_t)(all >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
    return r;
}
TILE_FN uint32_t tile_and_flip(uint32_t x, uint32_t mask, uint32_t flip) { return (x & mask) ^ flip; }
TILE_FN uint32_t tile_sub2_bf16(uint32_t x, uint32_t y) {
    return tile_bf16x2(tile_f32_of_bf16((tile_bf16)x) - tile_f32_of_bf16((tile_bf16)y),
                       tile_f32_of_bf16((tile_bf16)(x >> 16)) - tile_f32_of_bf16((tile_bf16)(y >> 16)));
}
TILE_FN uint32_t tile_sub2_f16(uint32_t x, uint32_t y) {
    return tile_f16x2(tile_f32_of_f16((tile_f16)x) - tile_f32_of_f16((tile_f16)y),
                      tile_f32_of_f16((tile_f16)(x >> 16)) - tile_f32_of_f16((tile_f16)(y >> 16)));
}

/* ---- products of a warpgroup ---- */

#define TILE_EMU_e4m3 TILE_EMU_F8E4M3
#define TILE_EMU_e5m2 TILE_EMU_F8E5M2
#define TILE_EMU_s8 TILE_EMU_I8
#define TILE_EMU_u8 TILE_EMU_U8

#define TILE_WGMMA_SS(n, k, type, ta, tb)                                                                              \
    TILE_FN void tile_wgmma_ss_n##n##_##type##_##ta##tb(float *d, uint64_t a, uint64_t b, int add) {                   \
        static const tile_emu_wgmma op = {TILE_EMU_##type, TILE_EMU_##type, n, k, false, false, ta, tb};               \
        tile_emu_wgmma_begin(&op, d, 0, a, b, add);                                                                    \
    }
/* As two products: the other half of the columns lies `half` rows of 128 bytes behind, in both kinds of panels. */
#define TILE_WGMMA_PAIR(half, n, k, type, ta, tb)                                                                      \
    TILE_FN void tile_wgmma_pair_n##half##_##type##_##ta##tb(float *d, float *e, uint64_t a, uint64_t b, int add) {    \
        static const tile_emu_wgmma op = {TILE_EMU_##type, TILE_EMU_##type, half, k, false, false, ta, tb};            \
        tile_emu_wgmma_begin(&op, d, 0, a, b, add);                                                                    \
        tile_emu_wgmma_begin(&op, e, 0, a, b + half * 128 / 16, add);                                                  \
    }
#define TILE_WGMMA_PAIR8(half, n, type)                                                                                \
    TILE_FN void tile_wgmma_pair_n##half##_##type(float *d, float *e, uint64_t a, uint64_t b, int add) {               \
        static const tile_emu_wgmma op = {TILE_EMU_##type, TILE_EMU_##type, half, 32, false, false, false, false};     \
        tile_emu_wgmma_begin(&op, d, 0, a, b, add);                                                                    \
        tile_emu_wgmma_begin(&op, e, 0, a, b + half * 128 / 16, add);                                                  \
    }
#define TILE_WGMMA_SS8(n, name, a_type, b_type)                                                                        \
    TILE_FN void tile_wgmma_ss_n##n##_##name(float *d, uint64_t a, uint64_t b, int add) {                              \
        static const tile_emu_wgmma op = {TILE_EMU_##a_type, TILE_EMU_##b_type, n, 32, false, false, false, false};    \
        tile_emu_wgmma_begin(&op, d, 0, a, b, add);                                                                    \
    }
#define TILE_WGMMA_SSI(n, name, a_type, b_type)                                                                        \
    TILE_FN void tile_wgmma_ss_n##n##_##name(int32_t *d, uint64_t a, uint64_t b, int add) {                            \
        static const tile_emu_wgmma op = {TILE_EMU_##a_type, TILE_EMU_##b_type, n, 32, true, false, false, false};     \
        tile_emu_wgmma_begin(&op, d, 0, a, b, add);                                                                    \
    }
#define TILE_WGMMA_RS(n, k, type, tb)                                                                                  \
    TILE_FN void tile_wgmma_rs_n##n##_##type##_##tb(float *d, const uint32_t *a, uint64_t b, int add) {                \
        static const tile_emu_wgmma op = {TILE_EMU_##type, TILE_EMU_##type, n, k, false, true, false, tb};             \
        tile_emu_wgmma_begin(&op, d, a, 0, b, add);                                                                    \
    }

TILE_FN void tile_wgmma_fence(void) { tile_emu_wgmma_fence(); }
TILE_FN void tile_wgmma_commit(void) { tile_emu_wgmma_commit(); }
TILE_FN void tile_wgmma_keep(const void *d, int n) { (void)d, (void)n; }
TILE_FN int tile_unknown(int x) { return x; }
#define TILE_WGMMA_WAIT(pending)                                                                                       \
    TILE_FN void tile_wgmma_wait##pending(const void *d, int n) { (void)d, (void)n, tile_emu_wgmma_wait(pending); }

#endif
#endif
