/* Kernels for the emulator: right ones, and one for each mistake that it must find. */
#include TARGET

typedef struct {
    const float *in;
    float *out;
    int64_t n;
} emu_call;

/* Every thread stores the value of its neighbour, through LDS. */
TILE_KERNEL(rotate, emu_call, 128) {
    TILE_LDS(lds, 512);
    const int t = tile_thread();
    const int64_t base = tile_group() * 128;
    tile_lds_store_f32(lds + 4 * t, tile_load_f32(&call.in[base + t]));
    tile_sync();
    tile_store_f32(&call.out[base + t], tile_lds_load_f32(lds + 4 * ((t + 1) % 128)));
}

TILE_KERNEL(rotate_without_barrier, emu_call, 128) {
    TILE_LDS(lds, 512);
    const int t = tile_thread();
    tile_lds_store_f32(lds + 4 * t, tile_load_f32(&call.in[t]));
    tile_store_f32(&call.out[t], tile_lds_load_f32(lds + 4 * ((t + 1) % 128)));
}

TILE_KERNEL(reuse_without_barrier, emu_call, 128) {
    TILE_LDS(lds, 512);
    const int t = tile_thread();
    tile_lds_store_f32(lds + 4 * t, tile_load_f32(&call.in[t]));
    tile_sync();
    float x = tile_lds_load_f32(lds + 4 * ((t + 1) % 128));
    tile_lds_store_f32(lds + 4 * t, x + 1);
    tile_store_f32(&call.out[t], x);
}

TILE_KERNEL(followed, emu_call, 128) {
    tile_follow();
    tile_store_f32(&call.out[tile_thread()], tile_load_f32(&call.in[tile_thread()]));
}

TILE_KERNEL(followed_late, emu_call, 128) {
    float x = tile_load_f32(&call.in[tile_thread()]);
    tile_follow();
    tile_store_f32(&call.out[tile_thread()], x);
}

/* What the launch before wrote. */
TILE_KERNEL(followed_too_late, emu_call, 128) {
    float x = tile_load_f32(&call.out[tile_thread()]);
    tile_follow();
    tile_store_f32(&call.out[tile_thread() + 128], x);
}

TILE_KERNEL(stored_before_it_follows, emu_call, 128) {
    tile_store_f32(&call.out[tile_thread() + 256], 1);
    tile_follow();
}

TILE_KERNEL(followed_by_one, emu_call, 128) {
    if (tile_thread() == 0) tile_follow();
    tile_sync();
    tile_store_f32(&call.out[tile_thread()], 1);
}

/* Its second workgroup has nothing to do. */
TILE_KERNEL(empty, emu_call, 128) {
    if (tile_group() == 0 && call.n) tile_follow();
}

TILE_KERNEL(empty_but_follows, emu_call, 128) {
    if (call.n) tile_follow();
}

TILE_KERNEL(store_outside, emu_call, 128) { tile_store_f32(&call.out[tile_thread() + 1], 1); }
TILE_KERNEL(load_outside, emu_call, 128) { tile_store_f32(&call.out[tile_thread()], tile_load_f32(&call.in[tile_thread() - 1])); }

TILE_KERNEL(load_misaligned, emu_call, 64) {
    float x[4];
    tile_load16(call.in + 1, x);
    tile_store_f32(&call.out[tile_thread()], x[0]);
}

TILE_KERNEL(load_unwritten, emu_call, 64) {
    float x = tile_load_f32(&call.out[tile_thread()]);
    tile_store_f32(&call.out[tile_thread()], x);
}

TILE_KERNEL(groups_collide, emu_call, 64) {
    tile_store_f32(&call.out[tile_thread()], (float)tile_group());
}

TILE_KERNEL(groups_add, emu_call, 64) { tile_atomic_add_f32(&call.out[tile_thread()], 1); }

TILE_KERNEL(groups_add_and_read, emu_call, 64) {
    if (tile_group()) tile_atomic_add_f32(&call.out[tile_thread()], 1);
    else tile_load_f32(&call.out[tile_thread()]);
}

TILE_KERNEL(barrier_divergent, emu_call, 128) {
    if (tile_thread() < 100) tile_sync();
    tile_store_f32(&call.out[tile_thread()], 1);
}

TILE_KERNEL(shuffle_divergent, emu_call, 64) {
    float x = (float)tile_lane();
    if (tile_lane() != 5) x += tile_shuffle_xor_f32(x, 1);
    tile_store_f32(&call.out[tile_thread()], x);
}

TILE_KERNEL(lds_outside, emu_call, 64) {
    TILE_LDS(lds, 512);
    tile_lds_store_f32(lds + 4 * (tile_thread() + 100), (float)call.n);
}

/* Sums of all shuffles: lane l gets the values of lanes l ^ 1, .., and of lane (l + 3) of its wave. */
TILE_KERNEL(shuffles, emu_call, 128) {
    const int t = tile_thread();
    float x = tile_load_f32(&call.in[t]), y = 0;
    for (int m = 1; m < TILE_LANES; m *= 2) y += tile_shuffle_xor_f32(x, m);
    double z = tile_shuffle_f64(x, (tile_lane() + 3) % TILE_LANES);
    y += (float)z;
    y += (float)tile_shuffle_i8((int8_t)tile_lane(), 0) + (float)tile_shuffle_xor_i64((int64_t)1 << 40 | t, 0) * 0;
    tile_store_f32(&call.out[t], y);
}
