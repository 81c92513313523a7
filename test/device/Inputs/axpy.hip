/* y = scale x + 1 in two kernels, through the workspace: the program of test/unit/rt_gpu_program.h. */
#include "device/tile_sm_90a.h"

typedef struct {
    struct {
        const float *x;
        float *y;
        float scale;
        int64_t n;
    } args;
    float *local;
} axpy_call;

TILE_KERNEL(scale, axpy_call, 64) {
    const int64_t i = tile_group() * 64 + tile_thread();
    if (i < call.args.n) tile_store_f32(&call.local[i], tile_load_f32(&call.args.x[i]) * call.args.scale);
}

TILE_KERNEL(add, axpy_call, 64) {
    const int64_t i = tile_group() * 64 + tile_thread();
    if (i < call.args.n) tile_store_f32(&call.args.y[i], tile_load_f32(&call.local[i]) + 1);
}
