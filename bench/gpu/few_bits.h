/* few_bits.h: products of weights in few bits by mma.m16n8k16, of up to 64 columns of sums: a candidate for tile_made.h
   that no GPU has measured. few_bits.py puts it in the place of wgmma in emitted text.

   A sum over k may take positions in any order. So a lane of a quad takes 16 neighbours of a row of weights, by one load of
   4, 8 or 16 bytes. The same positions of the other operand come by two loads of 16 bytes. For wgmma each lane loads bytes.
   MARLIN (Frantar et al., arXiv 2408.11743) keeps weights in an order of its own instead. Numbers are made by `and`, `xor`
   and a subtraction (Kim et al., arXiv 2211.10017).
   Chunks of boxes are swizzled: few_block lets the lanes of a quad read from different banks. Each warp gives slots back by
   itself. */
#ifndef TILE_FEW_BITS_H
#define TILE_FEW_BITS_H

#ifdef TILE_EMU
TILE_FN void few_load8(uint32_t at, uint32_t x[2]) { x[0] = tile_shared_load4(at), x[1] = tile_shared_load4(at + 4); }
#else
TILE_FN void few_load8(uint32_t at, uint32_t x[2]) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "r"(at) : "memory");
}
#endif

/* Which 64 of k positions the quad's lane q takes as its c-th. */
TILE_FN int few_block(int k, int q, int c) { return c ^ (k >> 7) * ((q ^ q >> 1) & 1); }

/* 16 neighbours, and pair p of them. */
#define FEW_LOAD_8                                                                                                     \
    uint32_t y[4];                                                                                                     \
    tile_shared_load16(from, y);
#define FEW_LOAD_4                                                                                                     \
    uint32_t y[2];                                                                                                     \
    few_load8(from, y);
#define FEW_LOAD_2 const uint32_t y[1] = {tile_shared_load4(from)};
#define FEW_PAIR_8(p) tile_bytes(y[(p) / 2], 0, (p) % 2 ? 0x3322 : 0x1100)
#define FEW_PAIR_4(p) tile_bytes(y[(p) / 4], y[(p) / 4] >> 4, 0x4400 + 0x1111 * ((p) % 4))
#define FEW_PAIR_2(p) tile_bytes(y[0] >> 4 * ((p) % 2), y[0] >> (4 * ((p) % 2) + 2), 0x4400 + 0x1111 * ((p) / 2))

/* As tile_made_words_NAME_TYPE, in the order above. */
#define FEW_WORDS(bits, name, type)                                                                                    \
    TILE_FN void few_words_##name##_##type(uint32_t *w, uint32_t at, int k, int thread) {                              \
        const int lane = thread & 31, q = lane & 3, row = 16 * (thread >> 5) + lane / 4, bytes = k * bits / 8;         \
        _Pragma("unroll") for (int c = 0; c < k / 64; c++) _Pragma("unroll") for (int r = 0; r < 2; r++) {             \
            const int place = (q + 4 * few_block(k, q, c)) * 2 * bits;                                                 \
            const uint32_t from = tile_made_chunk(at, bytes, row + 8 * r, place / 16) + place % 16;                    \
            FEW_LOAD_##bits _Pragma("unroll") for (int p = 0; p < 8; p++) w[16 * c + 4 * (p / 2) + 2 * (p % 2) + r] =  \
                tile_made_##type##_i##bits(FEW_PAIR_##bits(p));                                                        \
        }                                                                                                              \
    }
FEW_WORDS(8, i8, bf16)
FEW_WORDS(4, i4, bf16)
FEW_WORDS(2, t2, bf16)

/* As tile_chain_rs_bf16_0, by each warp: the sums are there behind it. Few sums come in two sets, as each product waits
   for the one before. */
TILE_FN void few_mma_bf16(float *d, int n, int k, const uint32_t *a, uint32_t b, int b_step, int add, int thread) {
    const int lane = thread & 31, q = lane & 3, row = lane / 4;
    const int sets = n <= 16 ? 2 : 1;
    float e[2][32];
    _Pragma("unroll") for (int i = 0; i < n / 2; i++) e[0][i] = add ? d[i] : 0.0f, e[1][i] = 0.0f;
    _Pragma("unroll") for (int c = 0; c < k / 64; c++) _Pragma("unroll") for (int t = 0; t < n / 8; t++) {
        const uint32_t from = b + b_step * few_block(k, q, c) + row * 128 + t * 1024;
        uint32_t x[2][4];
        _Pragma("unroll") for (int j = 0; j < 2; j++) tile_shared_load16(from + (((2 * q + j) ^ row) << 4), x[j]);
        _Pragma("unroll") for (int u = 0; u < 4; u++)
            tile_mma_words_bf16(e[u % sets] + 4 * t, a + 16 * c + 4 * u, x[u / 2] + 2 * (u & 1));
    }
    _Pragma("unroll") for (int i = 0; i < n / 2; i++) d[i] = sets > 1 ? e[0][i] + e[1][i] : e[0][i];
}

/* As tile_ring_free_read, of rings with four times the arrivals. */
TILE_FN void few_free(const tile_ring *r, tile_ring_end *e, int thread) {
    tile_async_fence();
    tile_wave_sync();
    if ((thread & 31) == 0) tile_mbar_arrive(tile_ring_empty(r, e->oldest));
    if (++e->oldest == r->slots) e->oldest = 0;
}

#endif
