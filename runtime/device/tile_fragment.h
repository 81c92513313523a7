/* tile_fragment.h: products of sm_90a by a warp whose operands lie in swizzled shared memory, as schedules use them. PTX
   ISA, "ldmatrix", "movmatrix", "mma.m16n8k16". A register has two 16-bit elements. */
#ifndef TILE_DEVICE_TILE_FRAGMENT_H
#define TILE_DEVICE_TILE_FRAGMENT_H

/* Four 8 x 8 blocks; lanes 8 i .. 8 i + 7 say where the rows of block i are. */
TILE_FN void tile_ldmatrix4(uint32_t r[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
/* The same, each block transposed. */
TILE_FN void tile_ldmatrix4_across(uint32_t r[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
/* An 8 x 8 block, transposed. */
TILE_FN uint32_t tile_movmatrix(uint32_t x) {
    uint32_t y;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

/* d += a b, 16 x 8, over 16. */
#define TILE_MMA_WORDS(type)                                                                                           \
    TILE_FN void tile_mma_words_##type(float d[4], const uint32_t a[4], const uint32_t b[2]) {                         \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." #type "." #type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, "   \
                     "%7}, {%8, %9}, {%0, %1, %2, %3};"                                                                \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                              \
    }
TILE_MMA_WORDS(bf16)
TILE_MMA_WORDS(f16)

#endif
