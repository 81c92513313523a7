/* tile_made.h: first operands of products that the form roles makes on the way, on sm_90a: elements of few bits in a
   slot (tile_ring.h), as boxes wrote them, become words of bf16 or f16 in registers, or numbers to compute with.
   Included behind tile_roles.h where a kernel makes such operands.

   A tile has 64 rows of k elements along what is summed: 16 to 128 bytes a row, whose chunks of 16 bytes are swizzled
   as boxes of such rows are. `at`: where it begins. `thread`: 0 to 127 of the group. Element 2 (4 b + 2 h + r) + e of
   lane l of warp w has row 16 w + l / 4 + 8 r, position 16 b + 8 h + 2 (l % 4) + e. So do sums in registers
   (tile_sums.h) and, two in a word, the first operand of a product (PTX ISA, wgmma, register fragments).

   tile_made_words_FROM_TYPE(w, at, k, thread): k / 4 words of elements of TYPE, bf16 or f16: FROM's, exactly.
   tile_made_f32_FROM(x, at, k, thread), tile_made_bytes_FROM(x, at, k, thread): k / 2 numbers. */
#ifndef TILE_DEVICE_TILE_MADE_H
#define TILE_DEVICE_TILE_MADE_H

TILE_FN uint32_t tile_made_chunk(uint32_t at, int bytes, int row, int chunk) {
    return at + row * bytes + ((chunk ^ (row * bytes / 128 & (bytes / 16 - 1))) << 4);
}

/* ---- two neighbours: in the lowest bits of each half of a word, with others above them ---- */

/* x: the bytes that they lie in. */
TILE_FN uint32_t tile_made_pair_8(uint32_t x) { return tile_bytes(x, 0, 0x1100); }
TILE_FN uint32_t tile_made_pair_4(uint32_t x) { return x | x << 12; }
/* Out of a chunk: of block b of 16 positions, 8 positions on where h is 1. q: lane % 4. */
TILE_FN uint32_t tile_made_pair_2(const uint32_t x[4], int b, int h, int q) {
    const uint32_t y = x[b] >> 4 * (q & 1);
    return tile_bytes(y, y >> 2, 0x4400 + 0x1111 * (2 * h + q / 2));
}

/* ---- such pairs as two floats: the number's bits, with the sign bit turned over, are the lowest ones of the
   significand of a power of 2 ---- */

#define TILE_MADE_BOTH(x) ((x) | (uint32_t)(x) << 16)

/* 128 and 1024 are powers of which a significand's last bit is 1. */
#define TILE_MADE_SMALL(bits)                                                                                          \
    TILE_FN uint32_t tile_made_bf16_i##bits(uint32_t x) {                                                              \
        const uint32_t zero = TILE_MADE_BOTH(0x4300 + (1 << (bits - 1)));                                              \
        return tile_sub2_bf16(tile_and_flip(x, TILE_MADE_BOTH((1 << bits) - 1), zero), zero);                          \
    }
TILE_MADE_SMALL(4)
TILE_MADE_SMALL(2)
#define TILE_MADE_F16(name, bits, sign)                                                                                \
    TILE_FN uint32_t tile_made_f16_##name(uint32_t x) {                                                                \
        const uint32_t zero = TILE_MADE_BOTH(0x6400 + sign);                                                           \
        return tile_sub2_f16(tile_and_flip(x, TILE_MADE_BOTH((1 << bits) - 1), zero), zero);                           \
    }
TILE_MADE_F16(i2, 2, 2)
TILE_MADE_F16(i4, 4, 8)
TILE_MADE_F16(i8, 8, 128)
TILE_MADE_F16(u8, 8, 0)

/* The eighth bit doubles the power: 128 + the others less 128, or 256. */
TILE_FN uint32_t tile_made_bf16_i8(uint32_t x) {
    const uint32_t power = TILE_MADE_BOTH(0x4300);
    return tile_sub2_bf16(tile_and_flip(x, TILE_MADE_BOTH(0x7f), power), tile_and_flip(x, TILE_MADE_BOTH(0x80), power));
}
TILE_FN uint32_t tile_made_bf16_u8(uint32_t x) {
    const uint32_t signs = tile_made_bf16_i8(x ^ TILE_MADE_BOTH(0x80));
    return tile_sub2_bf16(signs, TILE_MADE_BOTH(0xc300)); /* less -128 */
}

/* ---- element e of a pair as a number ---- */

#define TILE_MADE_NUMBER(name, bits, sign, number)                                                                     \
    TILE_FN float tile_made_f32_of_##name(uint32_t x, int e) {                                                         \
        const uint32_t zero = 0x4b000000u + sign; /* 2^23 */                                                           \
        return tile_f32_of_bits((x >> 16 * e & ((1u << bits) - 1)) ^ zero) - tile_f32_of_bits(zero);                   \
    }                                                                                                                  \
    TILE_FN number tile_made_byte_of_##name(uint32_t x, int e) {                                                       \
        return (number)((int)((x >> 16 * e & ((1u << bits) - 1)) ^ sign) - sign);                                      \
    }
TILE_MADE_NUMBER(i2, 2, 2, int8_t)
TILE_MADE_NUMBER(i4, 4, 8, int8_t)
TILE_MADE_NUMBER(i8, 8, 128, int8_t)
TILE_MADE_NUMBER(u8, 8, 0, uint8_t)

/* ---- tiles ---- */

/* Of the chunk at `from`: pairs of a byte and of two are loaded alone, smaller ones with the chunk [measured on an
   H200: 16 rows by 14336 x 4096 take 22.4 us by chunks of i8 and i4, 20.2 by pairs; t2 4096^3 234 and 249]. */
#define TILE_MADE_CHUNK_8
#define TILE_MADE_CHUNK_4
#define TILE_MADE_CHUNK_2                                                                                              \
    uint32_t chunk[4];                                                                                                 \
    tile_shared_load16(from, chunk);
#define TILE_MADE_PAIR_8 tile_made_pair_8(tile_shared_load2(from + 8 * h + 2 * (lane & 3)))
#define TILE_MADE_PAIR_4 tile_made_pair_4(tile_shared_load1(from + 8 * b + 4 * h + (lane & 3)))
#define TILE_MADE_PAIR_2 tile_made_pair_2(chunk, b, h, lane & 3)

/* `each` of word i, from the pair x. */
#define TILE_MADE_TILE(bits, each)                                                                                     \
    const int lane = thread & 31, row = 16 * (thread >> 5) + lane / 4, bytes = k * bits / 8;                           \
    _Pragma("unroll") for (int c = 0; c < bytes / 16; c++) _Pragma("unroll") for (int r = 0; r < 2; r++) {             \
        const uint32_t from = tile_made_chunk(at, bytes, row + 8 * r, c);                                              \
        TILE_MADE_CHUNK_##bits _Pragma("unroll") for (int b = 0; b < 8 / bits; b++)                                    \
            _Pragma("unroll") for (int h = 0; h < 2; h++) {                                                            \
            const uint32_t x = TILE_MADE_PAIR_##bits;                                                                  \
            const int i = 4 * (8 / bits * c + b) + 2 * h + r;                                                          \
            each;                                                                                                      \
        }                                                                                                              \
    }
#define TILE_MADE(from, name, bits, number)                                                                            \
    TILE_FN void tile_made_words_##from##_bf16(uint32_t *w, uint32_t at, int k, int thread){TILE_MADE_TILE(            \
        bits, w[i] = tile_made_bf16_##name(x))} TILE_FN void tile_made_words_##from##_f16(uint32_t *w, uint32_t at,    \
                                                                                          int k,                       \
                                                                                          int thread){TILE_MADE_TILE(  \
        bits, w[i] = tile_made_f16_##name(x))} TILE_FN void tile_made_f32_##from(float *y, uint32_t at, int k,         \
                                                                                 int thread){TILE_MADE_TILE(           \
        bits, (y[2 * i] = tile_made_f32_of_##name(x, 0),                                                               \
               y[2 * i + 1] = tile_made_f32_of_##name(x, 1)))} TILE_FN void tile_made_bytes_##from(number *y,          \
                                                                                                   uint32_t at, int k, \
                                                                                                   int thread) {       \
        TILE_MADE_TILE(bits,                                                                                           \
                       (y[2 * i] = tile_made_byte_of_##name(x, 0), y[2 * i + 1] = tile_made_byte_of_##name(x, 1)))     \
    }
TILE_MADE(t2, i2, 2, int8_t)
TILE_MADE(i4, i4, 4, int8_t)
TILE_MADE(i8, i8, 8, int8_t)
TILE_MADE(u8, u8, 8, uint8_t)

/* ---- products of few columns, by warps (mma.m16n8k16) ----

   A sum may take its positions in any order. Here a lane of a quad takes 16 neighbours of a row at a time, by one load,
   and the same positions of the other operand by two loads of 16 bytes. (MARLIN, Frantar et al., arXiv 2408.11743,
   stores weights in an order of its own to the same end.) Chunks of boxes are swizzled: tile_quad_block lets the lanes
   of a quad read from different banks.

   tile_quad_words_FROM_TYPE(w, at, k, thread): as tile_made_words_FROM_TYPE, in that order; k: a multiple of 64.
   tile_quad_mma_TYPE(d, n, k, a, b, b_step, add, thread): as tile_chain_rs_TYPE_0 (tile_chain.h) of such words, by each
   warp: the sums are there behind it. */

/* Which 64 of k positions the quad's lane q takes as its c-th. */
TILE_FN int tile_quad_block(int k, int q, int c) { return c ^ (k >> 7) * ((q ^ q >> 1) & 1); }

/* 16 neighbours, and pair p of them. */
#define TILE_QUAD_LOAD_8                                                                                               \
    uint32_t y[4];                                                                                                     \
    tile_shared_load16(from, y);
#define TILE_QUAD_LOAD_4                                                                                               \
    uint32_t y[2];                                                                                                     \
    tile_shared_load8(from, y);
#define TILE_QUAD_LOAD_2 const uint32_t y[1] = {tile_shared_load4(from)};
#define TILE_QUAD_PAIR_8(p) tile_bytes(y[(p) / 2], 0, (p) % 2 ? 0x3322 : 0x1100)
#define TILE_QUAD_PAIR_4(p) tile_bytes(y[(p) / 4], y[(p) / 4] >> 4, 0x4400 + 0x1111 * ((p) % 4))
#define TILE_QUAD_PAIR_2(p) tile_bytes(y[0] >> 4 * ((p) % 2), y[0] >> (4 * ((p) % 2) + 2), 0x4400 + 0x1111 * ((p) / 2))

#define TILE_QUAD_WORDS(from_type, name, bits, type)                                                                   \
    TILE_FN void tile_quad_words_##from_type##_##type(uint32_t *w, uint32_t at, int k, int thread) {                   \
        const int lane = thread & 31, q = lane & 3, row = 16 * (thread >> 5) + lane / 4, bytes = k * bits / 8;         \
        _Pragma("unroll") for (int c = 0; c < k / 64; c++) _Pragma("unroll") for (int r = 0; r < 2; r++) {             \
            const int place = (q + 4 * tile_quad_block(k, q, c)) * 2 * bits;                                           \
            const uint32_t from = tile_made_chunk(at, bytes, row + 8 * r, place / 16) + place % 16;                    \
            TILE_QUAD_LOAD_##bits _Pragma("unroll") for (int p = 0; p < 8; p++)                                        \
                w[16 * c + 4 * (p / 2) + 2 * (p % 2) + r] = tile_made_##type##_##name(TILE_QUAD_PAIR_##bits(p));       \
        }                                                                                                              \
    }
/* Few sums come in two sets, as each product waits for the one before. */
#define TILE_QUAD_MMA(type)                                                                                            \
    TILE_FN void tile_quad_mma_##type(float *d, int n, int k, const uint32_t *a, uint32_t b, int b_step, int add,      \
                                      int thread) {                                                                    \
        const int lane = thread & 31, q = lane & 3, row = lane / 4, sets = n <= 16 ? 2 : 1;                            \
        float e[2][32];                                                                                                \
        _Pragma("unroll") for (int i = 0; i < n / 2; i++) e[0][i] = add ? d[i] : 0.0f, e[1][i] = 0.0f;                 \
        _Pragma("unroll") for (int c = 0; c < k / 64; c++) _Pragma("unroll") for (int t = 0; t < n / 8; t++) {         \
            const uint32_t from = b + b_step * tile_quad_block(k, q, c) + row * 128 + t * 1024;                        \
            uint32_t x[2][4];                                                                                          \
            _Pragma("unroll") for (int j = 0; j < 2; j++) tile_shared_load16(from + (((2 * q + j) ^ row) << 4), x[j]); \
            _Pragma("unroll") for (int u = 0; u < 4; u++)                                                              \
                tile_mma_words_##type(e[u % sets] + 4 * t, a + 16 * c + 4 * u, x[u / 2] + 2 * (u & 1));                \
        }                                                                                                              \
        _Pragma("unroll") for (int i = 0; i < n / 2; i++) d[i] = sets > 1 ? e[0][i] + e[1][i] : e[0][i];               \
    }
#define TILE_QUAD(type)                                                                                                \
    TILE_QUAD_WORDS(t2, i2, 2, type)                                                                                   \
    TILE_QUAD_WORDS(i4, i4, 4, type)                                                                                   \
    TILE_QUAD_WORDS(i8, i8, 8, type)                                                                                   \
    TILE_QUAD_WORDS(u8, u8, 8, type)                                                                                   \
    TILE_QUAD_MMA(type)
TILE_QUAD(bf16)
TILE_QUAD(f16)

#endif
