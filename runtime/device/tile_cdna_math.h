/* tile_cdna_math.h: what schedules on CDNA use besides the vocabulary: floats as the machine computes them fastest, and
   hints of where values are computed, and which way is rare. */
#ifndef TILE_DEVICE_TILE_CDNA_MATH_H
#define TILE_DEVICE_TILE_CDNA_MATH_H

/* The lower, or the upper, halves of both. */
TILE_FN uint32_t tile_halves(uint32_t x, uint32_t y, int upper) {
    return upper ? x >> 16 | (y & 0xffff0000u) : (x & 0xffffu) | y << 16;
}

/* All lanes of the wave together: is x true in any? */
TILE_FN bool tile_wave_any(bool x) {
#if defined(__has_builtin) && __has_builtin(__builtin_amdgcn_ballot_w64) && !defined(TILE_EMU)
    return __builtin_amdgcn_ballot_w64(x) != 0;
#else
    uint32_t any = x;
    for (int mask = TILE_LANES / 2; mask > 0; mask /= 2) any |= tile_shuffle_xor(any, mask);
    return any != 0;
#endif
}

#ifdef TILE_EMU
TILE_FN bool tile_rarely(bool x) { return x; }
TILE_FN int tile_wave_number(void) { return tile_thread() / TILE_LANES; }
TILE_FN void tile_in_order(void) {}
TILE_FN void tile_settle16(void *x) { (void)x; }
TILE_FN int tile_afresh(int x) { return x; }
TILE_FN float tile_exp2_fast(float x) { return exp2f(x); }
TILE_FN float tile_max_fast(float x, float y) { return fmaxf(x, y); }
TILE_FN void tile_fma2(float *x, float by, float plus) { x[0] = fmaf(x[0], by, plus), x[1] = fmaf(x[1], by, plus); }
TILE_FN void tile_add2(float *to, const float *x) { to[0] += x[0], to[1] += x[1]; }
TILE_FN uint32_t tile_pack_f16(float low, float high) {
    return tile_f16_of_f32(low) | (uint32_t)tile_f16_of_f32(high) << 16;
}
TILE_FN uint32_t tile_pack_bf16(float low, float high) {
    return tile_bf16_of_f32(low) | (uint32_t)tile_bf16_of_f32(high) << 16;
}
#else
typedef float tile_f32x2 __attribute__((ext_vector_type(2)));

TILE_FN bool tile_rarely(bool x) { return __builtin_expect(x, false); }

/* What is loaded before comes before what is loaded behind. */
TILE_FN void tile_in_order(void) { __asm__ volatile("" ::: "memory"); }

/* 16 bytes of x are computed before what is loaded behind: registers of their operands are free for that. */
TILE_FN void tile_settle16(void *x) {
    tile_v16 y;
    __builtin_memcpy(&y, x, sizeof y);
    __asm__ volatile("" : "+v"(y)::"memory");
    __builtin_memcpy(x, &y, sizeof y);
}

/* Of the workgroup's, in a scalar register. */
TILE_FN int tile_wave_number(void) { return __builtin_amdgcn_readfirstlane(tile_thread() / TILE_LANES); }

/* x, in a register that nothing before has computed from: what follows from it is computed behind this place. */
TILE_FN int tile_afresh(int x) {
    __asm__ volatile("" : "+v"(x));
    return x;
}

/* 2^x by the machine's instruction: 1 ulp, results below the normal range are 0. */
TILE_FN float tile_exp2_fast(float x) {
#if __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else
    return __builtin_exp2f(x);
#endif
}

/* The larger one; of a number and a NaN the number. */
TILE_FN float tile_max_fast(float x, float y) { return __builtin_fmaxf(x, y); }

/* Two neighbours as one instruction: x by + plus, to + x; rounded once. */
TILE_FN void tile_fma2(float *x, float by, float plus) {
    tile_f32x2 y = (tile_f32x2){x[0], x[1]} * by + plus;
    x[0] = y.x, x[1] = y.y;
}

TILE_FN void tile_add2(float *to, const float *x) {
    tile_f32x2 sum = (tile_f32x2){to[0], to[1]} + (tile_f32x2){x[0], x[1]};
    to[0] = sum.x, to[1] = sum.y;
}

/* Two neighbours in f16, in bf16, to nearest, ties to even. */
TILE_FN uint32_t tile_pack_f16(float low, float high) {
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    return __builtin_bit_cast(uint32_t, __builtin_convertvector(((tile_f32x2){low, high}), pair));
}
TILE_FN uint32_t tile_pack_bf16(float low, float high) {
#ifdef TILE_OWN_BF16
    typedef __bf16 pair __attribute__((ext_vector_type(2)));
    return __builtin_bit_cast(uint32_t, __builtin_convertvector(((tile_f32x2){low, high}), pair));
#else /* a NaN as the machine makes it stays one */
    uint32_t x = tile_bits_of_f32(low), y = tile_bits_of_f32(high);
    x += 0x7fffu + (x >> 16 & 1u), y += 0x7fffu + (y >> 16 & 1u);
    return __builtin_amdgcn_perm(y, x, 0x07060302u);
#endif
}
#endif

#endif
