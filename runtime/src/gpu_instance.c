/* gpu_instance.c: a program on a GPU: its code for this machine, its workspace, its launches in order on one stream. */
#include "gpu.h"

#include <stdlib.h>

/* ---- open ---- */

static int targets_refused(const tile_program *g, const Gpu *gpu) {
    char list[256] = "";
    for (int i = 0; i < g->nimages; i++)
        if (strlen(list) + strlen(g->image[i].target) + 3 < sizeof list)
            strcat(strcat(list, i ? ", " : ""), g->image[i].target);
    return tile_fail(TILE_E_UNSUPPORTED, "program '%s' has no code for this device (%s): it was compiled for %s",
                     g->name, gpu->name, g->nimages ? list : "the host only");
}

/* CUDA's and HIP's code cannot be told apart by a driver in every case: a name does it. */
static bool image_fits(const Gpu *g, const tile_image *i) {
    bool nvidia = strncmp(i->target, "sm_", 3) == 0, emu = strncmp(i->target, "emu:", 4) == 0;
    return g->kind == GPU_EMU ? emu : g->kind == GPU_CUDA ? nvidia : !nvidia && !emu;
}

/* The first image that the driver takes. */
static int image_load(GpuInstance *x, const Gpu *gpu, const tile_program *g) {
    for (int i = 0; i < g->nimages; i++) {
        if (!image_fits(gpu, &g->image[i])) continue;
        int error = gpu->api.module_load(&x->module, g->image[i].code);
        x->image = &g->image[i];
        if (!error) return TILE_OK;
        if (error != GPU_E_NO_BINARY) return gpu_fail(gpu, error, "loading the program's code");
    }
    return targets_refused(g, gpu);
}

static int function_load(const Gpu *gpu, const tile_launch *l, void *module, void **function) {
    int error = gpu->api.function_get(function, module, l->kernel);
    if (!error && gpu->api.function_set && l->lds_bytes > 48 * 1024)
        error = gpu->api.function_set(*function, GPU_MAX_DYNAMIC_LDS, (int)l->lds_bytes);
    return error ? gpu_fail(gpu, error, l->kernel) : TILE_OK;
}

static int functions_load(GpuInstance *x, const Gpu *gpu) {
    int n = x->image->nlaunches, code = TILE_OK;
    x->function = calloc((size_t)n + 1, sizeof *x->function);
    if (!x->function) return tile_fail(TILE_E_NOMEM, "out of memory");
    for (int i = 0; i < n && !code; i++) code = function_load(gpu, &x->image->launch[i], x->module, &x->function[i]);
    return code;
}

static int memory_open(GpuInstance *x, const Gpu *gpu, const tile_program *g) {
    x->call = calloc(2, g->call_bytes);
    if (!x->call) return tile_fail(TILE_E_NOMEM, "out of memory");
    x->checked = x->call + g->call_bytes;
    x->recent = gpu_recent_new(g);
    if (!x->recent) return tile_fail(TILE_E_NOMEM, "out of memory");
    x->map = aligned_alloc(_Alignof(GpuMap), sizeof(GpuMap) * (size_t)(gpu_maps_count(x->image) + 1));
    if (!x->map) return tile_fail(TILE_E_NOMEM, "out of memory");
    int error = gpu->api.event_create(&x->event, GPU_EVENT_NO_TIMING);
    if (error) return gpu_fail(gpu, error, "making an event");
    if (x->image->local_bytes) error = gpu->api.alloc(&x->local, x->image->local_bytes);
    if (!error && x->local) error = gpu->api.fill(x->local, 0xff, x->image->local_bytes, gpu->stream);
    return error ? gpu_fail(gpu, error, "taking the program's workspace") : TILE_OK;
}

static int own_open(tile_instance *p) {
    GpuInstance *x = p->gpu = calloc(1, sizeof *x);
    const Gpu *gpu = p->mesh->gpu;
    if (!x) return tile_fail(TILE_E_NOMEM, "out of memory");
    int code = gpu_enter(gpu);
    if (!code) code = image_load(x, gpu, p->program);
    if (!code) code = functions_load(x, gpu);
    return code ? code : memory_open(x, gpu, p->program);
}

/* All ranks took code for the same target. */
static int images_compare(const tile_instance *p) {
    const tile_program *g = p->program;
    int n = p->mesh->nranks, mine = (int)(p->gpu->image - g->image), *all = calloc((size_t)n, sizeof *all);
    int code = all ? p->mesh->group->allgather(p->mesh->group, &mine, all, sizeof mine)
                   : tile_fail(TILE_E_NOMEM, "out of memory");
    for (int r = 1; r < n && !code; r++)
        if (all[r] != all[0])
            code = tile_fail(TILE_E_MISMATCH, "program '%s': rank %d takes its code for %s, rank 0 for %s", g->name, r,
                             g->image[all[r]].target, g->image[all[0]].target);
    free(all);
    return code;
}

int gpu_instance_open(tile_instance *p) {
    int code = group_agree(p->mesh->group, own_open(p));
    if (code) return code;
    p->gpu->number = p->mesh->opened++;
    code = images_compare(p);
    return code ? code : gpu_task_open(p);
}

void gpu_instance_wait(tile_instance *p) {
    if (p->gpu->stream && !gpu_enter(p->mesh->gpu)) p->mesh->gpu->api.stream_sync(p->gpu->stream);
}

void gpu_instance_close(tile_instance *p) {
    GpuInstance *x = p->gpu;
    const GpuApi *api = &p->mesh->gpu->api;
    if (!x || gpu_enter(p->mesh->gpu)) return;
    gpu_instance_wait(p);
    gpu_task_close(p);
    if (x->local) api->release(x->local);
    if (x->event) api->event_destroy(x->event);
    if (x->module) api->module_unload(x->module);
    free(x->function);
    free(x->map);
    free(x->call);
    free(x->recent);
    free(x);
}

/* ---- arguments ---- */

enum { ALIGNMENT = 16 };

typedef struct {
    const char *begin, *end;
} Extent;

static Extent extent_of(const tile_instance *p, int i, void *const *arg, const int64_t *dim) {
    const tile_arg *a = &p->program->arg[i];
    size_t bytes = a->ndim ? ((size_t)arg_elements(p, a, dim) * tile_elem_bits(a->elem) + 7) / 8 : 0;
    return (Extent){arg[i], (const char *)arg[i] + bytes};
}

static int tensor_check(const tile_instance *p, const tile_arg *a, Extent e) {
    const char *name = p->program->name;
    void *base = NULL;
    size_t bytes = 0, need = (size_t)(e.end - e.begin);
    if ((uintptr_t)e.begin % ALIGNMENT)
        return tile_fail(TILE_E_ARG, "program '%s': the address of '%s' is no multiple of %d", name, a->name,
                         ALIGNMENT);
    if (p->mesh->gpu->api.block(&base, &bytes, (void *)e.begin))
        return tile_fail(TILE_E_ARG, "program '%s': '%s' is not in memory of the device", name, a->name);
    size_t have = bytes - (size_t)(e.begin - (const char *)base);
    if (need > have)
        return tile_fail(TILE_E_ARG, "program '%s': '%s' takes %zu bytes, its memory has %zu", name, a->name, need,
                         have);
    return TILE_OK;
}

static bool overlaps(Extent a, Extent b) { return a.begin < b.end && b.begin < a.end; }

static int overlap_check(const tile_instance *p, int i, void *const *arg, const int64_t *dim) {
    const tile_program *g = p->program;
    Extent mine = extent_of(p, i, arg, dim);
    for (int k = 0; k < g->nargs; k++) {
        if (k == i || (k < i && g->arg[k].role != TILE_ROLE_INPUT) || !overlaps(mine, extent_of(p, k, arg, dim)))
            continue;
        return tile_fail(TILE_E_ARG, "program '%s': '%s' and '%s' overlap", g->name, g->arg[i].name, g->arg[k].name);
    }
    return TILE_OK;
}

static int tensors_check(const tile_instance *p, void *const *arg, const int64_t *dim) {
    const tile_program *g = p->program;
    int code = TILE_OK;
    for (int i = 0; i < g->nargs && !code; i++) {
        Extent e = extent_of(p, i, arg, dim);
        if (e.begin < e.end) code = tensor_check(p, &g->arg[i], e);
        if (!code && g->arg[i].role != TILE_ROLE_INPUT) code = overlap_check(p, i, arg, dim);
    }
    return code;
}

/* ---- run ---- */

static void call_fill(const tile_instance *p, void *const *arg, const int64_t *dim) {
    const tile_program *g = p->program;
    GpuInstance *x = p->gpu;
    for (int i = 0; i < g->nargs; i++) {
        const tile_arg *a = &g->arg[i];
        if (a->ndim)
            memcpy(x->call + g->arg_at[i], &arg[i], sizeof arg[i]);
        else
            memcpy(x->call + g->arg_at[i], arg[i], (tile_elem_bits(a->elem) + 7) / 8);
    }
    for (int i = 0; i < g->ndims; i++) memcpy(x->call + g->dim_at[i], &dim[i], sizeof dim[i]);
    memcpy(x->call + g->local_at, &x->local, sizeof x->local);
    if (g->task_at) memcpy(x->call + g->task_at, &x->task, sizeof x->task);
}

/* Ranks that meet run with the same sizes: the one that comes later sees that they differ. */
static int sizes_check(tile_instance *p, const int64_t *dim) {
    Frame f = {.dim = (int64_t *)dim, .generation = ++p->generation};
    if (!p->sizes) return TILE_OK;
    sizes_show(p, &f);
    atomic_thread_fence(memory_order_seq_cst);
    return sizes_agree(p, f.generation) ? TILE_OK : fault_report(p->mesh);
}

/* The workspace is one: runs follow each other on a stream; another stream may follow when all has ended. */
static int stream_take(const tile_instance *p, void *stream, bool capturing) {
    GpuInstance *x = p->gpu;
    if (x->stream && x->stream != stream && !capturing && p->mesh->gpu->api.event_query(x->event) == GPU_E_NOT_READY)
        return tile_fail(TILE_E_BUSY, "program '%s' still runs on another stream", p->program->name);
    x->stream = stream;
    return TILE_OK;
}

/* Workgroups that stay and take one task after the other: as many as the device holds. */
static int64_t groups_staying(const Gpu *gpu, int64_t tasks, int cluster) {
    int64_t most = gpu->multiprocessors > cluster ? gpu->multiprocessors : cluster;
    int64_t n = tasks < most ? tasks + cluster - 1 : most;
    return n / cluster * cluster;
}

/* map: descriptions of what this launch copies by tiles. */
static int launch_one(const tile_instance *p, int i, const tile_task *t, GpuMap *map, void *stream, bool capturing) {
    const Gpu *gpu = p->mesh->gpu;
    const tile_launch *l = &p->gpu->image->launch[i];
    int64_t groups = l->groups(t);
    void *arguments[] = {p->gpu->call, map};
    if (l->parts) groups *= l->parts;
    if (l->cluster) groups = groups_staying(gpu, groups, l->cluster);
    if (groups <= 0) return TILE_OK;
    if (groups > INT32_MAX || groups * l->threads > UINT32_MAX)
        return tile_fail(TILE_E_ARG, "program '%s': %lld tasks of '%s' are too many for a launch", p->program->name,
                         (long long)groups, l->kernel);
    unsigned lds = gpu->kind == GPU_HIP ? 0 : (unsigned)l->lds_bytes; /* HIP's is in the code */
    void *traced = capturing ? NULL : gpu_trace_begin(gpu, l->kernel, p->generation, i, stream);
    int error = gpu->api.launch(p->gpu->function[i], (unsigned)groups, 1, 1, (unsigned)l->threads, 1, 1, lds, stream,
                                arguments, NULL);
    if (traced) gpu->api.event_record(traced, stream);
    return error ? gpu_fail(gpu, error, l->kernel) : TILE_OK;
}

static int launch_all(const tile_instance *p, void *const *arg, const int64_t *dim, void *stream, bool capturing) {
    tile_task t = {.rank = p->mesh->rank, .nranks = p->mesh->nranks, .arg = arg, .dim = dim};
    int code = TILE_OK;
    memcpy(t.coord, p->coord, sizeof t.coord);
    const tile_image *image = p->gpu->image;
    GpuMap *map = p->gpu->map;
    for (int i = 0; i < image->nlaunches && !code; map += image->launch[i++].nmaps)
        code = launch_one(p, i, &t, map, stream, capturing);
    return code;
}

int gpu_instance_run(tile_instance *p, void *const *arg, const int64_t *dim, tile_stream given) {
    GpuInstance *x = p->gpu;
    const GpuApi *api = &p->mesh->gpu->api;
    void *stream = given ? (void *)given : p->mesh->gpu->stream;
    int capturing = 0, code = gpu_enter(p->mesh->gpu);
    if (code) return code;
    call_fill(p, arg, dim);
    if (memcmp(x->call, x->checked, p->program->call_bytes) != 0) {
        if ((code = tensors_check(p, arg, dim))) return code;
        memset(x->checked, 0, p->program->call_bytes); /* until all maps are filled */
        code = gpu_maps_fill(p->mesh->gpu, p->program, x->image, arg, dim, x->local, x->map);
        if (code) return code;
        memcpy(x->checked, x->call, p->program->call_bytes);
    }
    api->stream_capturing(stream, &capturing);
    if ((code = stream_take(p, stream, capturing)) || (code = sizes_check(p, dim)) ||
        (code = launch_all(p, arg, dim, stream, capturing)))
        return code;
    gpu_recent_add(p, arg, dim);
    int error = capturing ? 0 : api->event_record(x->event, stream);
    return error ? gpu_fail(p->mesh->gpu, error, "recording the end of a run") : TILE_OK;
}
