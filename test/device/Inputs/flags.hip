/* A workgroup that takes a ticket, waits for a word of every rank, and signals: what tile_flags.h becomes. */
#include TARGET

#include "device/tile_flags.h"

typedef struct {
    const tile_gpu_task *task;
    float *x;
} waits_call;

TILE_KERNEL(waits, waits_call, 256) {
    TILE_LDS(lds, 8);
    const int64_t group = tile_take(lds, &call.task->ticket[0]);
    const uint64_t g = tile_generation(call.task);
    bool late = false;
    for (int source = tile_thread(); source < 8; source += 256)
        late |= tile_poll(call.task, &call.task->word[call.task->rank][source], g, TILE_SYSTEM, 0, source, group);
    if (tile_any(lds, late)) return;
    tile_store_f32(&call.x[1 + tile_thread()], tile_load_f32(&call.x[0]));
    if (tile_arrive(lds, &call.task->count[3], 4, TILE_SYSTEM)) {
        tile_release(TILE_SYSTEM);
        if (tile_thread() == 0) tile_publish(&call.task->word[1][7], g, TILE_SYSTEM);
    }
}

TILE_KERNEL(waits_begin, waits_call, 64) { if (tile_thread() == 0) tile_run_begin(call.task); }
TILE_KERNEL(waits_end, waits_call, 64) {
    const tile_ending ending = tile_run_ending(call.task);
    tile_run_end(call.task, &ending);
}
