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

/* Of the arguments of launches that have fields. */
static size_t fields_bytes(const tile_image *image, const tile_program *g) {
    size_t bytes = sizeof(uint64_t) * (size_t)image->nfields;
    for (int i = 0; i < image->nlaunches; i++) bytes += image->launch[i].nfields ? g->call_bytes : 0;
    return bytes;
}

/* Behind it the counters of tasks, if no tile_gpu_task has them. */
static int workspace_open(GpuInstance *x, const Gpu *gpu, const tile_program *g) {
    const size_t each = sizeof(uint64_t), local = x->image->local_bytes;
    const size_t counters = g->task_at ? 0 : x->image->tickets * each, at = (local + each - 1) / each * each;
    if (!local && !counters) return 0;
    int error = gpu->api.alloc(&x->local, at + counters);
    if (!error && local) error = gpu->api.fill(x->local, 0xff, local, gpu->stream);
    if (!error && counters) error = gpu->api.fill((char *)x->local + at, 0, counters, gpu->stream);
    return error;
}

static int none_open(GpuInstance *x, const Gpu *gpu) {
    void *none = NULL;
    if (!gpu_maps_count(x->image)) return 0;
    int error = gpu->api.alloc(&none, 2 * GPU_NONE_BYTES);
    x->none = none;
    return error ? error : gpu->api.fill(none, 0, 2 * GPU_NONE_BYTES, gpu->stream);
}

static int memory_open(GpuInstance *x, const Gpu *gpu, const tile_program *g) {
    x->call = calloc(2, g->call_bytes);
    if (!x->call) return tile_fail(TILE_E_NOMEM, "out of memory");
    x->checked = x->call + g->call_bytes;
    size_t maps = (size_t)gpu_maps_count(x->image) + 1;
    x->map = aligned_alloc(_Alignof(GpuMap), sizeof *x->map * maps);
    x->mapped = calloc(maps, sizeof *x->mapped);
    x->refused = calloc((size_t)x->image->nlaunches + 1, sizeof *x->refused);
    x->groups = calloc((size_t)x->image->nlaunches + 1, sizeof *x->groups);
    x->field = calloc((size_t)x->image->nfields + 1, sizeof *x->field);
    x->with_fields = calloc(1, fields_bytes(x->image, g) + 1);
    if (!x->map || !x->mapped || !x->refused || !x->groups || !x->field || !x->with_fields)
        return tile_fail(TILE_E_NOMEM, "out of memory");
    int error = gpu->api.event_create(&x->event, GPU_EVENT_NO_TIMING);
    if (error) return gpu_fail(gpu, error, "making an event");
    if (!error) error = workspace_open(x, gpu, g);
    if (!error) error = none_open(x, gpu);
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
    for (int r = 0; r < n && !code; r++)
        if (all[r] < 0 || all[r] >= g->nimages)
            code = tile_fail(TILE_E_MISMATCH, "program '%s': rank %d takes its code number %d, it has %d", g->name, r,
                             all[r], g->nimages);
        else if (all[r] != all[0])
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

/* The stream may be no more: the event lives as long as the instance. */
void gpu_instance_wait(tile_instance *p) {
    if (p->gpu->stream && !gpu_enter(p->mesh->gpu)) gpu_event_wait(p->mesh, p->gpu->event);
}

void gpu_instance_close(tile_instance *p) {
    GpuInstance *x = p->gpu;
    const GpuApi *api = &p->mesh->gpu->api;
    if (!x || gpu_enter(p->mesh->gpu)) return;
    gpu_instance_wait(p);
    if (p->mesh->gpu->last == x) p->mesh->gpu->last = NULL;
    gpu_task_close(p);
    if (x->local) api->release(x->local);
    if (x->none) api->release(x->none);
    if (x->event) api->event_destroy(x->event);
    if (x->module) api->module_unload(x->module);
    free(x->function);
    free(x->map);
    free(x->mapped);
    free(x->refused);
    free(x->groups);
    free(x->field);
    free(x->with_fields);
    free(x->call);
    free(x);
}

/* ---- arguments ---- */

/* Bytes: the longest access of a thread. */
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
    const Gpu *gpu = p->mesh->gpu;
    int device = gpu->device;
    if ((uintptr_t)e.begin % ALIGNMENT)
        return tile_fail(TILE_E_ARG, "program '%s': the address of '%s' is no multiple of %d", name, a->name,
                         ALIGNMENT);
    if (gpu->api.block(&base, &bytes, (void *)e.begin))
        return tile_fail(TILE_E_ARG, "program '%s': '%s' is not in memory of the device", name, a->name);
    if (!gpu->api.pointer_attribute(&device, GPU_POINTER_DEVICE, (void *)e.begin) && device != gpu->device)
        return tile_fail(TILE_E_ARG, "program '%s': '%s' is in memory of device %d, the rank runs on device %d", name,
                         a->name, device, gpu->device);
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

static uint64_t field_value(const GpuInstance *x, const tile_field *f, const tile_task *task) {
    uint64_t first =
        f->arg == TILE_FIELD_NUMBER ? 0 : (uintptr_t)(f->arg == TILE_FIELD_LOCAL ? x->local : task->arg[f->arg]);
    return first + (uint64_t)f->bytes + (f->part ? (uint64_t)f->part(task) : 0);
}

static void fields_fill(const tile_instance *p, const tile_task *task) {
    const GpuInstance *x = p->gpu;
    const uint64_t *field = x->field;
    char *to = x->with_fields;
    for (int i = 0; i < x->image->nfields; i++) x->field[i] = field_value(x, &x->image->field[i], task);
    for (const tile_launch *l = x->image->launch; l < x->image->launch + x->image->nlaunches; l++) {
        if (!l->nfields) continue;
        memcpy(to, x->call, p->program->call_bytes);
        memcpy(to + p->program->call_bytes, field, sizeof *field * (size_t)l->nfields);
        to += p->program->call_bytes + sizeof *field * (size_t)l->nfields;
        field += l->nfields;
    }
}

/* Ranks that meet run with the same sizes: the one that comes later sees that they differ. */
static int sizes_check(tile_instance *p, const int64_t *dim) {
    Frame f = {.dim = (int64_t *)dim, .generation = ++p->generation};
    if (!p->sizes) return TILE_OK;
    sizes_show(p, &f);
    atomic_thread_fence(memory_order_seq_cst);
    return sizes_agree(p, f.generation) ? TILE_OK : fault_report(p->mesh);
}

/* Runs are executed in the order in which they were given, whatever their streams: those of an instance, whose
   workspace is one, and where ranks wait for each other those of a mesh. */
static int order_keep(const tile_instance *p, void *stream) {
    const Gpu *g = p->mesh->gpu;
    const GpuInstance *before = p->mesh->nranks > 1 ? g->last : p->gpu;
    bool same = before && before->stream == stream && stream != (void *)GPU_STREAM_OF_THREAD;
    if (!before || !before->stream || same) return TILE_OK;
    int error = g->api.stream_follow(stream, before->event, 0);
    return error ? gpu_fail(g, error, "putting a run behind another stream's") : TILE_OK;
}

static int order_note(const tile_instance *p, void *stream) {
    Gpu *g = p->mesh->gpu;
    int error = g->api.event_record(p->gpu->event, stream);
    p->gpu->stream = stream;
    g->last = p->gpu;
    return error ? gpu_fail(g, error, "recording the end of a run") : TILE_OK;
}

/* Workgroups that stay and take one task after the other: one a multiprocessor, also where it has room for those of the
   next launch. */
static int64_t groups_staying(const Gpu *gpu, int64_t tasks, int cluster) {
    int64_t most = gpu->multiprocessors > cluster ? gpu->multiprocessors : cluster;
    int64_t n = tasks < most ? tasks + cluster - 1 : most;
    return n / cluster * cluster;
}

/* One run of a program. */
typedef struct {
    tile_instance *p;
    void *stream;
    int capturing, launched, made; /* launches: looked at, and those of them that have workgroups */
    GpuMap *map;       /* of the next launch */
    char *with_fields; /* likewise */
} Run;

/* One whose tensors cannot be copied by boxes has none, if another launch does its work. */
static int64_t groups_own(const GpuInstance *x, const tile_task *task, int i) {
    const tile_launch *l = &x->image->launch[i];
    return l->otherwise && x->refused[i] ? 0 : l->groups(task);
}

/* The first of launches that stand for each other has workgroups, no other. */
static bool launch_left_out(const GpuInstance *x, const tile_task *task, int i) {
    const tile_launch *l = x->image->launch;
    for (; i && l[i - 1].otherwise; i--)
        if (groups_own(x, task, i - 1) > 0) return true;
    return false;
}

static int64_t groups_count(const tile_instance *p, const tile_task *task, int i) {
    const tile_launch *l = &p->gpu->image->launch[i];
    int64_t groups = launch_left_out(p->gpu, task, i) ? 0 : groups_own(p->gpu, task, i);
    if (l->parts) groups *= l->parts;
    return l->cluster ? groups_staying(p->mesh->gpu, groups, l->cluster) : groups;
}

/* Before the first launch. Numbers of workgroups hang on nothing but what the kernels' argument has. */
static int groups_fill(tile_instance *p, const tile_task *task) {
    GpuInstance *x = p->gpu;
    for (int i = 0; i < x->image->nlaunches; i++) {
        const tile_launch *l = &x->image->launch[i];
        int64_t groups = groups_count(p, task, i);
        if (groups > 0 && x->refused[i]) return gpu_map_refused(p->program, l, x->refused[i]);
        if (groups > INT32_MAX || groups * l->threads > UINT32_MAX)
            return tile_fail(TILE_E_ARG, "program '%s': %lld tasks of '%s' are too many for a launch", p->program->name,
                             (long long)groups, l->node ? l->node : l->kernel);
        x->groups[i] = groups > 0 ? (unsigned)groups : 0;
    }
    return TILE_OK;
}

/* It waits for those before it by itself. What it reads before then, a run's own launches do not write; others may:
   the runs before, and whatever else comes before on the stream. */
static bool launch_may_overlap(const tile_launch *l, int made) {
    return l->dependent && (made || l->dependent != TILE_READS_EARLY);
}

/* One that may begin while those before it end does so. */
static int launch_enqueue(const Gpu *gpu, const tile_launch *l, void *function, unsigned groups, void **arguments,
                          const Run *r) {
    void *stream = r->stream;
    unsigned lds = gpu->kind == GPU_HIP ? 0 : (unsigned)l->lds_bytes; /* HIP's is in the code */
    if (!launch_may_overlap(l, r->made) || !gpu->api.launch_ex)
        return gpu->api.launch(function, groups, 1, 1, (unsigned)l->threads, 1, 1, lds, stream, arguments, NULL);
    GpuLaunchAttribute early = {.id = GPU_LAUNCH_DEPENDENT, .value = 1};
    GpuLaunchConfig config = {.groups = {groups, 1, 1},
                              .threads = {(unsigned)l->threads, 1, 1},
                              .lds = lds,
                              .stream = stream,
                              .attribute = &early,
                              .nattributes = 1};
    return gpu->api.launch_ex(&config, function, arguments, NULL);
}

static int launch_one(Run *r, int i) {
    const tile_instance *p = r->p;
    const Gpu *gpu = p->mesh->gpu;
    const tile_launch *l = &p->gpu->image->launch[i];
    unsigned groups = p->gpu->groups[i];
    const char *node = l->node ? l->node : l->kernel;
    void *arguments[] = {l->nfields ? r->with_fields : p->gpu->call, r->map};
    if (groups == 0) return TILE_OK;
    void *traced = r->capturing ? NULL : gpu_trace_begin(gpu, node, p->generation, i, r->stream);
    int error = launch_enqueue(gpu, l, p->gpu->function[i], groups, arguments, r);
    r->made++;
    if (traced) gpu->api.event_record(traced, r->stream);
    return error ? gpu_fail(gpu, error, node) : TILE_OK;
}

/* A run that has begun must end: its other launches do nothing any more, and the ranks that wait for it are told. */
static void run_abandon(Run *r) {
    tile_mesh *m = r->p->mesh;
    GpuInstance *x = r->p->gpu;
    const int last = x->image->nlaunches - 1;
    if (!r->launched) r->p->generation--;
    if (!r->launched || !x->image->ends || r->capturing) return;
    gpu_fault_give_up(m, "a launch failed");
    x->groups[last] = 1; /* none where the launch before ends runs, too */
    x->ready = false;
    launch_one(r, last); /* has neither maps nor fields */
}

static int launch_all(Run *r) {
    const tile_image *image = r->p->gpu->image;
    int code = TILE_OK;
    r->map = r->p->gpu->map;
    r->with_fields = r->p->gpu->with_fields;
    while (r->launched < image->nlaunches && !(code = launch_one(r, r->launched))) {
        const tile_launch *l = &image->launch[r->launched++];
        r->map += l->nmaps;
        if (l->nfields) r->with_fields += r->p->program->call_bytes + sizeof(uint64_t) * (size_t)l->nfields;
    }
    if (code) run_abandon(r);
    return code;
}

/* Tensors are looked at, and launches made ready, when the arguments are not those of the run before. */
static int arguments_take(tile_instance *p, const tile_task *task) {
    void *const *arg = task->arg;
    const int64_t *dim = task->dim;
    GpuInstance *x = p->gpu;
    size_t bytes = p->program->call_bytes;
    call_fill(p, arg, dim);
    if (x->ready && memcmp(x->call, x->checked, bytes) == 0) return TILE_OK;
    int code = tensors_check(p, arg, dim);
    if (code) return code;
    x->ready = false;
    fields_fill(p, task);
    code = gpu_maps_fill(p, arg, dim);
    if (!code) code = groups_fill(p, task);
    x->ready = !code;
    memcpy(x->checked, x->call, bytes);
    return code;
}

int gpu_instance_run(tile_instance *p, void *const *arg, const int64_t *dim, tile_stream given) {
    const Gpu *g = p->mesh->gpu;
    Run r = {.p = p, .stream = given ? (void *)given : g->stream};
    tile_task task = {.rank = p->mesh->rank, .nranks = p->mesh->nranks, .arg = arg, .dim = dim};
    memcpy(task.coord, p->coord, sizeof p->coord);
    int code = gpu_enter(g);
    if (!code) code = arguments_take(p, &task);
    if (code) return code;
    g->api.stream_capturing(r.stream, &r.capturing);
    if ((!r.capturing && (code = order_keep(p, r.stream))) || (code = sizes_check(p, dim))) return code;
    code = launch_all(&r);
    int noted = r.capturing ? TILE_OK : order_note(p, r.stream);
    return code ? code : noted;
}
