/* gpu_map.c: descriptions of the tensors that a program's kernels copy by tiles, for CUDA's cuTensorMapEncodeTiled. */
#include "gpu.h"

int gpu_maps_count(const tile_image *image) {
    int n = 0;
    for (int i = 0; i < image->nlaunches; i++) n += image->launch[i].nmaps;
    return n;
}

static int map_fill(const Gpu *gpu, const tile_program *g, const tile_map *m, void *const *arg, char *local,
                    GpuMap *to) {
    enum { BYTES = 2 };
    char *base = m->arg < 0 ? local + m->first : (char *)arg[m->arg] + m->first * BYTES;
    uint64_t dim[2] = {(uint64_t)m->columns, (uint64_t)m->rows}, stride = (uint64_t)m->columns * BYTES;
    unsigned box[2] = {64, (unsigned)m->box}, step[2] = {1, 1};
    int error = gpu->api.map_encode(to, GPU_MAP_UINT16, 2, base, dim, &stride, box, step, 0, GPU_MAP_SWIZZLE_128B,
                                    GPU_MAP_PROMOTE_256B, 0);
    return error ? gpu_fail(gpu, error, m->arg < 0 ? "describing the workspace" : g->arg[m->arg].name) : TILE_OK;
}

int gpu_maps_fill(const Gpu *gpu, const tile_program *g, const tile_image *image, void *const *arg, char *local,
                  GpuMap *to) {
    int code = TILE_OK;
    for (int i = 0; i < image->nlaunches && !code; i++)
        for (int k = 0; k < image->launch[i].nmaps && !code; k++)
            code = map_fill(gpu, g, &image->launch[i].map[k], arg, local, to++);
    return code;
}
