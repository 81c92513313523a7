/* One use of each kind of primitive; TARGET is the header. */
#include TARGET

typedef struct {
    const uint16_t *A;
    float *C;
} probe_call;

TILE_KERNEL(probe, probe_call, 256) {
    TILE_LDS(lds, 4096);
    const int t = tile_thread();
    const int64_t at = tile_group() * 2048 + t * 8;
    tile_bf16 x[8];
    float y[16] = {0};
    tile_load16(&call.A[at], x);
    tile_lds_store16(lds + t * 16, x);
    tile_sync();
    tile_lds_load16(lds + (t ^ 69) * 16, x);
    for (int r = 0; r < 8; r++) y[r] = tile_exp(tile_f32_of_bf16(x[r]));
    y[0] += tile_shuffle_xor_f32(y[0], 1);
    y[1] = tile_f32_of_f8e4m3(tile_f8e4m3_of_f32(y[1])) + tile_f32_of_f16(tile_f16_of_f32(y[2]));
    y[2] = erff(y[2]) + powf(y[3], 2.5f) + (float)exp(y[3]);
#if TILE_LANES == 64
    tile_mfma_f32_32x32x8bf16_1k(y, x, x + 4);
#else
    tile_mma_m16n8k16_f32_bf16_bf16_f32(y, x, x + 4);
#endif
    tile_store16(&call.C[at], y);
    tile_store16(&call.C[at + 4], y + 4);
    tile_atomic_add_f32(&call.C[t], y[3]);
    tile_atomic_add_i32((int32_t *)call.C + t, 1);
    tile_atomic_add_f64((double *)call.C + t, y[3]);
    tile_atomic_add_i64((int64_t *)call.C + t, -1);
    tile_atomic_add_shared_f32(&call.C[t], y[4]);
    tile_atomic_add_shared_f64((double *)call.C + t, y[4]);
    tile_atomic_add_shared_i32((int32_t *)call.C + t, 2);
    tile_atomic_add_shared_i64((int64_t *)call.C + t, -2);
}
