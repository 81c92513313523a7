/* gpu_map.c: descriptions of the tensors that a program's kernels copy by tiles, for CUDA's cuTensorMapEncodeTiled. */
#include "gpu.h"

int gpu_maps_count(const tile_image *image) {
    int n = 0;
    for (int i = 0; i < image->nlaunches; i++) n += image->launch[i].nmaps;
    return n;
}

static int map_type(int bytes) {
    return bytes == 1 ? GPU_MAP_UINT8 : bytes == 2 ? GPU_MAP_UINT16 : GPU_MAP_UINT32;
}

static int map_fill(const Gpu *gpu, const tile_program *g, const tile_map *m, void *const *arg, const int64_t *size,
                    char *local, GpuMap *to) {
    int64_t rows = m->rows.c + (m->rows.sym < 0 ? 0 : size[m->rows.sym]);
    char *base = (m->arg < 0 ? local + m->first : (char *)arg[m->arg]) + m->before * rows * m->columns * m->bytes;
    /* of no rows nothing is copied */
    uint64_t dim[3] = {(uint64_t)m->columns, rows > 0 ? (uint64_t)rows : 1, (uint64_t)m->planes};
    uint64_t stride[2] = {dim[0] * (uint64_t)m->bytes, dim[0] * dim[1] * (uint64_t)m->bytes};
    unsigned box[3] = {128u / (unsigned)m->bytes, (unsigned)m->box, 1}, step[3] = {1, 1, 1};
    int error = gpu->api.map_encode(to, map_type(m->bytes), m->planes ? 3 : 2, base, dim, stride, box, step, 0,
                                    GPU_MAP_SWIZZLE_128B, GPU_MAP_PROMOTE_128B, 0);
    return error ? gpu_fail(gpu, error, m->arg < 0 ? "describing the workspace" : g->arg[m->arg].name) : TILE_OK;
}

int gpu_maps_fill(const Gpu *gpu, const tile_program *g, const tile_image *image, void *const *arg, const int64_t *dim,
                  char *local, GpuMap *to) {
    int code = TILE_OK;
    for (int i = 0; i < image->nlaunches && !code; i++)
        for (int k = 0; k < image->launch[i].nmaps && !code; k++)
            code = map_fill(gpu, g, &image->launch[i].map[k], arg, dim, local, to++);
    return code;
}
