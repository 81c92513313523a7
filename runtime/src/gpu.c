/* gpu.c: a GPU that a mesh runs on: its context, its own stream, its memory. */
#include "gpu.h"

#include <stdlib.h>

int gpu_fail(const Gpu *g, int error, const char *doing) {
    const char *text = NULL;
    if (g->api.error_text && g->api.error_text(error, &text)) text = NULL;
    return tile_fail(error == GPU_E_NOMEM ? TILE_E_NOMEM : TILE_E_SYS, "%s: %s (error %d of the driver)", doing,
                     text ? text : "failed", error);
}

int gpu_enter(const Gpu *g) {
    int error = g->api.context_set(g->context);
    return error ? gpu_fail(g, error, "choosing the device") : TILE_OK;
}

static int context_open(Gpu *g, int devices, int rank) {
    if (g->device == TILE_DEVICE_OF_RANK) g->device = rank % devices;
    if (g->device < 0 || g->device >= devices)
        return tile_fail(TILE_E_ARG, "there is no device %d: this machine has %d", g->device, devices);
    g->api.device_name(g->name, sizeof g->name, g->device);
    int error = g->api.context_retain(&g->context, g->device);
    if (error) return gpu_fail(g, error, "opening the device");
    int code = gpu_enter(g);
    if (code) return code;
    if (g->api.device_attribute) g->api.device_attribute(&g->multiprocessors, GPU_MULTIPROCESSORS, g->device);
    /* what callers enqueue on the legacy default stream before and after a run stays before and after it */
    error = g->api.stream_create(&g->stream, GPU_STREAM_LEGACY_ORDER);
    return error ? gpu_fail(g, error, "making a stream") : TILE_OK;
}

int gpu_open(const char *target, int device, int rank, Gpu **out) {
    int devices = 0;
    Gpu *g = calloc(1, sizeof *g);
    if (!g) return tile_fail(TILE_E_NOMEM, "out of memory");
    g->device = device;
    int error = gpu_load(target, &g->api, &g->kind, &devices);
    if (!error) error = context_open(g, devices, rank);
    if (error)
        gpu_close(g);
    else
        *out = g;
    return error;
}

void gpu_close(Gpu *g) {
    if (!g) return;
    if (g->stream) g->api.stream_destroy(g->stream);
    gpu_peers_close(g);
    if (g->context && !g->kept) g->api.context_release(g->device);
    free(g);
}

/* ---- memory, on the host or on the device ---- */

int tile_alloc(tile_mesh *m, size_t bytes, void **p) {
    *p = NULL;
    if (!m->gpu) {
        *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
        return *p ? TILE_OK : tile_fail(TILE_E_NOMEM, "no memory for %zu bytes", bytes);
    }
    int code = gpu_enter(m->gpu);
    if (code) return code;
    int error = m->gpu->api.alloc(p, bytes ? bytes : 1);
    return error ? gpu_fail(m->gpu, error, "taking memory of the device") : TILE_OK;
}

void tile_free(tile_mesh *m, void *p) {
    if (!m->gpu)
        free(p);
    else if (p && !gpu_enter(m->gpu))
        m->gpu->api.release(p);
}

static int copy(tile_mesh *m, void *to, const void *from, size_t bytes, tile_stream stream, bool in) {
    if (!m->gpu) {
        queue_wait(m);
        memcpy(to, from, bytes);
        return TILE_OK;
    }
    int code = gpu_enter(m->gpu);
    if (code || bytes == 0) return code;
    void *s = stream ? (void *)stream : m->gpu->stream;
    int error = (in ? m->gpu->api.copy_in : m->gpu->api.copy_out)(to, from, bytes, s);
    return error ? gpu_fail(m->gpu, error, in ? "copying to the device" : "copying from the device") : TILE_OK;
}

int tile_copy_in(tile_mesh *m, void *to, const void *from, size_t bytes, tile_stream stream) {
    return copy(m, to, from, bytes, stream, true);
}

int tile_copy_out(tile_mesh *m, void *to, const void *from, size_t bytes, tile_stream stream) {
    return copy(m, to, from, bytes, stream, false);
}
