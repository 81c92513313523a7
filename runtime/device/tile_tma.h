/* tile_tma.h: asynchronous copies of sm_90a between global and shared memory, and the barriers that they complete.
   PTX ISA, "mbarrier", "cp.async.bulk.tensor". Addresses of shared memory are 32-bit (tile_shared). A CUtensorMap in
   the kernel's parameters describes a tensor, coordinates fastest first. Positions outside a tensor are read as 0 and
   not written. */
#ifndef TILE_DEVICE_TILE_TMA_H
#define TILE_DEVICE_TILE_TMA_H

typedef struct __attribute__((aligned(64))) {
    uint64_t word[16];
} tile_tensor_map; /* CUtensorMap, as the driver writes it */

TILE_FN uint32_t tile_shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
TILE_FN int tile_cluster_rank(void) {
    uint32_t r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return (int)r;
}

/* ---- barriers in shared memory: a phase ends when `count` arrivals and all expected bytes have come ---- */

TILE_FN void tile_mbar_init(uint32_t bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
TILE_FN void tile_mbar_init_done(void) { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
TILE_FN void tile_mbar_arrive(uint32_t bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
/* The barrier at the same place of another workgroup of the cluster. Orders nothing but the arrival itself beyond this
   workgroup: what follows is a copy, which the barrier orders. (With .release.cluster a matrix product took 25 %
   longer.) */
TILE_FN void tile_mbar_arrive_at(uint32_t bar, int rank) {
    asm volatile(
        "{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [r];}" ::"r"(bar),
        "r"(rank)
        : "memory");
}
/* To shared memory at the same place of another workgroup of the cluster. */
TILE_FN void tile_cluster_store(uint32_t at, int rank, float x) {
    asm volatile("{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; st.shared::cluster.f32 [r], %2;}" ::"r"(at),
                 "r"(rank), "f"(x)
                 : "memory");
}
/* Two of them, at a multiple of 8. */
TILE_FN void tile_cluster_store2(uint32_t at, int rank, float x, float y) {
    asm volatile("{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; st.shared::cluster.v2.f32 [r], {%2, %3};}" ::"r"(at),
                 "r"(rank), "f"(x), "f"(y)
                 : "memory");
}
/* Four of them, at a multiple of 16. */
TILE_FN void tile_cluster_store4(uint32_t at, int rank, const float x[4]) {
    asm volatile("{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; st.shared::cluster.v4.f32 [r], {%2, %3, %4, "
                 "%5};}" ::"r"(at),
                 "r"(rank), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
                 : "memory");
}
/* 16 bytes to a multiple of 16 there. The barrier `bar` there counts them among those that are announced to it; who
   waits for it sees them. PTX ISA, "st.async". */
TILE_FN void tile_cluster_send16(uint32_t at, uint32_t bar, int rank, const uint32_t x[4]) {
    asm volatile("{.reg .b32 s, b;\n mapa.shared::cluster.u32 s, %0, %2;\n mapa.shared::cluster.u32 b, %1, %2;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [s], {%3, %4, %5, %6}, [b];}" ::"r"(at),
                 "r"(bar), "r"(rank), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
}
/* A number to a multiple of 4 there, and the barrier `bar` there is told: an arrival that announces 4 bytes, and then that
   they have come. PTX ISA, "st.async". */
TILE_FN void tile_cluster_pass(uint32_t at, uint32_t bar, int rank, int32_t x) {
    asm volatile("{.reg .b32 s, b;\n mapa.shared::cluster.u32 s, %0, %2;\n mapa.shared::cluster.u32 b, %1, %2;\n"
                 "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [b], 4;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [s], %3, [b];}" ::"r"(at),
                 "r"(bar), "r"(rank), "r"(x)
                 : "memory");
}
/* An arrival that announces `bytes` of copies. */
TILE_FN void tile_mbar_expect(uint32_t bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
/* As if so many announced bytes had come to the barrier at the same place of a workgroup of the cluster. */
TILE_FN void tile_mbar_complete(uint32_t bar, int rank, int bytes) {
    asm volatile("{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1;\n"
                 "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [r], %2;}" ::"r"(bar),
                 "r"(rank), "r"(bytes)
                 : "memory");
}
/* Until the phase of this parity has ended: 0 the first, 1 the second, ..; parity 1 passes at a new barrier. */
TILE_FN void tile_mbar_wait(uint32_t bar, int parity) {
    asm volatile("{.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra "
                 "AGAIN;\nDONE: }" ::"r"(bar),
                 "r"(parity)
                 : "memory");
}

/* The same, in front of what workgroups of the cluster did before they arrived. */
TILE_FN void tile_mbar_wait_after(uint32_t bar, int parity) {
    asm volatile("{.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra DONE;\nbra AGAIN;\nDONE: }" ::"r"(bar),
                 "r"(parity)
                 : "memory");
}

/* ---- copies ---- */

/* Of memory that is not read again: L2 forgets it first. */
TILE_FN uint64_t tile_once(void) {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
TILE_FN void tile_tma_load2(uint32_t to, const tile_tensor_map *map, int c0, int c1, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
                 "%3}], [%4];" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c1), "r"(bar)
                 : "memory");
}
TILE_FN void tile_tma_load3(uint32_t to, const tile_tensor_map *map, int c0, int c1, int c2, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4}], [%5];" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(bar)
                 : "memory");
}
/* The same of what is not read again. */
TILE_FN void tile_tma_load2_once(uint32_t to, const tile_tensor_map *map, int c0, int c1, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c1), "r"(bar), "l"(tile_once())
                 : "memory");
}
/* To the same place of every workgroup of the cluster in `mask`, completing the barrier of each. */
TILE_FN void tile_tma_load2_all(uint32_t to, const tile_tensor_map *map, int c0, int c1, uint32_t bar, uint16_t mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], "
                 "[%4], %5;" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c1), "r"(bar), "h"(mask)
                 : "memory");
}
TILE_FN void tile_tma_load3_all(uint32_t to, const tile_tensor_map *map, int c0, int c1, int c2, uint32_t bar,
                                uint16_t mask) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4}], "
                 "[%5], %6;" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(bar), "h"(mask)
                 : "memory");
}
/* Pixels of images [n, y, x, c], by a map of such: from the one at x, y on, each read so many places to the right and
   further down. PTX ISA, "im2col mode". */
TILE_FN void tile_tma_load_pixels(uint32_t to, const tile_tensor_map *map, int c, int x, int y, int n, int right,
                                  int down, uint32_t bar) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
        "%4, %5}], [%6], {%7, %8};" ::"r"(to),
        "l"(map), "r"(c), "r"(x), "r"(y), "r"(n), "r"(bar), "h"((uint16_t)right), "h"((uint16_t)down)
        : "memory");
}
TILE_FN void tile_tma_load_pixels_all(uint32_t to, const tile_tensor_map *map, int c, int x, int y, int n, int right,
                                      int down, uint32_t bar, uint16_t mask) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(to),
        "l"(map), "r"(c), "r"(x), "r"(y), "r"(n), "r"(bar), "h"((uint16_t)right), "h"((uint16_t)down), "h"(mask)
        : "memory");
}
TILE_FN void tile_tma_store2(const tile_tensor_map *map, int c0, int c1, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(c0),
                 "r"(c1), "r"(from)
                 : "memory");
}
TILE_FN void tile_tma_store3(const tile_tensor_map *map, int c0, int c1, int c2, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                 "r"(c0), "r"(c1), "r"(c2), "r"(from)
                 : "memory");
}
/* 16 bytes by a thread, of which so many are read; the others are 0. They are not read again. */
TILE_FN void tile_copy_once(uint32_t to, const void *from, int bytes) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to), "l"(from), "r"(bytes),
                 "l"(tile_once())
                 : "memory");
}
/* 16, 8 or 4 bytes by a thread, `size` of them at multiples of it, of which so many are read; the others are 0. */
TILE_FN void tile_copy_some(uint32_t to, const void *from, int size, int bytes) {
    if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
/* 16 bytes of element number `at`, of `width` bytes each, behind `from`; of one below 0 zeros, and nothing is read. (As
   arithmetic of 64 bits it is made ahead of loops, in three registers a piece.) */
TILE_FN void tile_copy_piece(uint32_t to, const void *from, int at, int width) {
    asm volatile("{.reg .pred p;\n.reg .b64 a;\nsetp.lt.s32 p, %2, 0;\nmad.wide.s32 a, %2, %3, %1;\n"
                 "cp.async.cg.shared.global [%0], [a], 16, p;}" ::"r"(to),
                 "l"(from), "r"(at), "r"(width)
                 : "memory");
}
/* An arrival when all copies that this thread has begun have come. */
TILE_FN void tile_mbar_arrive_copied(uint32_t bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}
/* A group of this thread's copies; until all but the last n groups have come. */
TILE_FN void tile_copy_commit(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define tile_copy_wait(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
TILE_FN void tile_tma_commit(void) { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/* Until this thread's stores have read their shared memory; all but the last group of them; until they are written. */
TILE_FN void tile_tma_wait_read(void) { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
/* By all but the `but` last groups, or fewer: a number that is known here. */
TILE_FN void tile_tma_wait_reads(int but) {
    if (but == 0) tile_tma_wait_read();
    if (but == 1) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    if (but == 2) asm volatile("cp.async.bulk.wait_group.read 2;" ::: "memory");
    if (but > 2) asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
}
/* By all but so many, a number. */
#define tile_tma_wait_read_but(n) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
TILE_FN void tile_tma_wait(void) { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/* By every thread that wrote shared memory, before the barrier behind which a copy or wgmma reads it. */
TILE_FN void tile_async_fence(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/* The same of all memory: behind the acquire of what copies read that other workgroups or devices have stored. */
TILE_FN void tile_async_fence_all(void) { asm volatile("fence.proxy.async;" ::: "memory"); }

/* ---- threads: roles, and barriers of some of them (1 to 15) ---- */

TILE_FN void tile_cluster_arrive(void) { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
TILE_FN void tile_cluster_wait(void) { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/* As tile_cluster_arrive, and orders nothing: it waits for no store. */
TILE_FN void tile_cluster_arrive_alone(void) { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
TILE_FN void tile_wave_sync(void) { __syncwarp(); }
/* True in one lane of the warp, the same one each time, whose threads all ask: the compiler knows that what follows is done
   by one thread. (Behind a comparison of thread numbers it repeats each copy for every thread that might be there.) */
TILE_FN bool tile_elect(void) {
    uint32_t is;
    asm volatile("{.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;}" : "=r"(is));
    return is;
}
TILE_FN bool tile_wave_any(bool x) { return __any_sync(0xffffffffu, x); }
TILE_FN void tile_bar_sync(int bar, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(bar), "r"(threads) : "memory");
}
TILE_FN void tile_bar_arrive(int bar, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(bar), "r"(threads) : "memory");
}
/* The warpgroup gives back registers, or takes some: a multiple of 8; all roles together at most what the kernel began
 * with. */
#define tile_regs_give(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")
#define tile_regs_take(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")

/* 2^x by the machine's instruction: 2 ulp, small results are 0. */
TILE_FN float tile_exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* x - y, which is not fused with what makes them. */
TILE_FN float tile_sub_apart(float x, float y) { return __fsub_rn(x, y); }

/* 1 / x by the machine's instruction: 1 ulp. */
TILE_FN float tile_rcp_fast(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* ---- registers to swizzled shared memory: four 8 x 8 blocks of 16-bit elements by a warp ---- */

TILE_FN void tile_stmatrix4(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b), "r"(c),
                 "r"(d)
                 : "memory");
}
/* Four of them, or two, each with its columns where rows would go. */
TILE_FN void tile_stmatrix4_across(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b),
                 "r"(c), "r"(d)
                 : "memory");
}
TILE_FN void tile_stmatrix2_across(uint32_t at, uint32_t a, uint32_t b) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
}
TILE_FN uint32_t tile_shared_load1(uint32_t at) {
    uint32_t x;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
TILE_FN uint16_t tile_shared_load2(uint32_t at) {
    uint16_t x;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(at) : "memory");
    return x;
}
TILE_FN uint32_t tile_shared_load4(uint32_t at) {
    uint32_t x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
TILE_FN void tile_shared_load8(uint32_t at, uint32_t x[2]) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "r"(at) : "memory");
}
TILE_FN void tile_shared_load16(uint32_t at, uint32_t x[4]) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at)
                 : "memory");
}
TILE_FN void tile_shared_store_f32(uint32_t at, float x) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory");
}
TILE_FN float tile_shared_load_f32(uint32_t at) {
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at) : "memory");
    return x;
}
TILE_FN void tile_shared_store16(uint32_t at, const uint32_t x[4]) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
}
TILE_FN void tile_shared_zero16(uint32_t at) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
}
/* Bytes of y x, by a number of four bits each; x - y of two floats each, in words. */
TILE_FN uint32_t tile_bytes(uint32_t x, uint32_t y, uint32_t which) { return __byte_perm(x, y, which); }
/* x & mask ^ flip, in one instruction: with two constants the compiler makes two of it. */
TILE_FN uint32_t tile_and_flip(uint32_t x, uint32_t mask, uint32_t flip) {
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(x), "r"(mask), "r"(flip));
    return r;
}
TILE_FN uint32_t tile_sub2_bf16(uint32_t x, uint32_t y) {
    uint32_t r;
    asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    return r;
}
TILE_FN uint32_t tile_sub2_f16(uint32_t x, uint32_t y) {
    uint32_t r;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    return r;
}
TILE_FN uint32_t tile_bf16x2(float low, float high) {
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
TILE_FN uint32_t tile_f16x2(float low, float high) {
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

#endif
