/* Kernels for streams and devices of the emulator: devices.c says what becomes of them. */
#include TARGET

typedef struct {
    uint64_t *word;
    float *x;
} devices_call;

TILE_KERNEL(store, devices_call, 64) { tile_store_f32(&call.x[tile_thread()], (float)tile_thread()); }
TILE_KERNEL(load, devices_call, 64) { tile_load_f32(&call.x[tile_thread()]); }
TILE_KERNEL(outside, devices_call, 64) { tile_load_f32(&call.x[-1 - tile_thread()]); }

static void set(uint64_t *word, int scope) {
    if (tile_thread() == 0) tile_word_store(word, 1, scope);
}

TILE_KERNEL(set_near, devices_call, 64) { set(call.word, TILE_DEVICE); }
TILE_KERNEL(set_far, devices_call, 64) { set(call.word, TILE_SYSTEM); }
TILE_KERNEL(look_near, devices_call, 64) { tile_word_load(call.word, TILE_DEVICE); }

TILE_KERNEL(spin, devices_call, 64) {
    while (!tile_word_load(call.word, TILE_SYSTEM)) tile_pause();
}

/* Two words, stored without anything between. */
TILE_KERNEL(set_both, devices_call, 64) {
    set(call.word + 8, TILE_SYSTEM);
    set(call.word, TILE_SYSTEM);
}

/* x[0]: has the second word of the two come without the first? */
TILE_KERNEL(see_both, devices_call, 64) {
    if (tile_thread() != 0) return;
    while (!tile_word_load(call.word, TILE_SYSTEM)) tile_pause();
    tile_store_f32(call.x, tile_word_load(call.word + 8, TILE_SYSTEM) == 0);
}
