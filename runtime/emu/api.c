/* api.c: the emulator as a driver: what runtime/src/gpu.h finds under the names tile_emu_*. Launches and events are put
   on their stream; everything else happens at once, where it names a stream when that is idle. */
#include "api.h"

#include "emu.h"

#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* CUDA driver API, CUresult. */
enum {
    E_INVALID = 1,
    E_NOMEM = 2,
    E_NOT_FOUND = 500,
    E_NOT_READY = 600,
    E_PEER_ENABLED = 704,
    E_LAUNCH = 719,
    HOST = -1
};

static _Thread_local int current; /* device */

static int leave_with(int error) {
    engine_leave();
    return error;
}

/* ---- devices ---- */

static int device_count(void) {
    const char *text = getenv("TILE_EMU_DEVICES");
    int n = text ? atoi(text) : EMU_DEVICES;
    return n < 0 ? 0 : n < EMU_DEVICES ? n : EMU_DEVICES;
}

static bool is_device(int i) { return i >= 0 && i < device_count(); }

int tile_emu_init(unsigned flags) { return (int)flags; }

int tile_emu_device_count(int *n) {
    *n = device_count();
    return 0;
}

int tile_emu_driver_version(int *version) {
    *version = INT_MAX; /* without the faults of any */
    return 0;
}

int tile_emu_device_name(char *name, int bytes, int device) {
    strncpy(name, "emulator", (size_t)bytes);
    return is_device(device) ? 0 : E_INVALID;
}

int tile_emu_device_bus(char *id, int bytes, int device) {
    snprintf(id, (size_t)bytes, "emu:%d", device);
    return is_device(device) ? 0 : E_INVALID;
}

int tile_emu_device_by_bus(int *device, const char *id) {
    return sscanf(id, "emu:%d", device) == 1 && is_device(*device) ? 0 : E_INVALID;
}

/* Few processors, so that workgroups that stay come to several tasks. */
int tile_emu_device_attribute(int *value, int attribute, int device) {
    enum { MULTIPROCESSORS = 16 }; /* CUDA driver API, CUdevice_attribute */
    *value = EMU_PLACES / 2;
    return is_device(device) && attribute == MULTIPROCESSORS ? 0 : E_INVALID;
}

int tile_emu_context_retain(void **context, int device) {
    *context = is_device(device) ? device_of(device) : NULL;
    return *context ? 0 : E_INVALID;
}

int tile_emu_context_release(int device) { return is_device(device) ? 0 : E_INVALID; }

int tile_emu_context_set(void *context) {
    if (!context) return E_INVALID;
    current = (int)((Device *)context - device_of(0));
    return 0;
}

/* Every device can reach every other, atomic operations included. */
int tile_emu_peer_can(int *can, int device, int peer) {
    *can = device != peer;
    return is_device(device) && is_device(peer) ? 0 : E_INVALID;
}

int tile_emu_peer_attribute(int *value, int attribute, int device, int peer) {
    (void)attribute;
    return tile_emu_peer_can(value, device, peer);
}

int tile_emu_peer_enable(void *context, unsigned flags) {
    if (!context || flags || context == device_of(current)) return E_INVALID;
    engine_enter();
    int *peers = &device_of(current)->peers, bit = 1 << (int)((Device *)context - device_of(0));
    bool was = *peers & bit;
    *peers |= bit;
    return leave_with(was ? E_PEER_ENABLED : 0);
}

/* ---- streams ---- */

/* The stream that is meant by `stream`; NULL: no memory. */
static Stream *stream_of(void *stream) {
    Stream **own = &device_of(current)->stream;
    if (stream) return stream;
    return *own ? *own : (*own = stream_open(current));
}

static int stream_idle(void *stream) {
    Stream *s = stream_of(stream);
    return !s ? E_NOMEM : stream_wait(s) ? 0 : E_LAUNCH;
}

int tile_emu_stream_create(void **stream, unsigned flags) {
    (void)flags;
    engine_enter();
    *stream = stream_open(current);
    return leave_with(*stream ? 0 : E_NOMEM);
}

int tile_emu_stream_destroy(void *stream) {
    if (!stream) return E_INVALID;
    engine_enter();
    stream_close(stream);
    return leave_with(0);
}

int tile_emu_stream_sync(void *stream) {
    engine_enter();
    return leave_with(stream_idle(stream));
}

int tile_emu_stream_capturing(void *stream, int *capturing) {
    (void)stream;
    *capturing = 0;
    return 0;
}

/* ---- events ---- */

int tile_emu_event_create(void **event, unsigned flags) {
    (void)flags;
    return (*event = calloc(1, sizeof(Event))) ? 0 : E_NOMEM;
}

int tile_emu_event_destroy(void *event) {
    if (!event) return E_INVALID;
    engine_enter();
    for (Event *e = event; e->pending || e->followers;) engine_wait();
    free(event);
    return leave_with(0);
}

int tile_emu_event_record(void *event, void *stream) {
    if (!event) return E_INVALID;
    engine_enter();
    Event *e = event;
    Stream *s = stream_of(stream);
    e->pending++;
    bool good = s && stream_put(s, &(Command){.event = e});
    if (!good) e->pending--;
    return leave_with(good ? 0 : E_NOMEM);
}

/* What is put on the stream from now on follows the event's last record. */
int tile_emu_stream_follow(void *stream, void *event, unsigned flags) {
    if (!event || flags) return E_INVALID;
    engine_enter();
    Event *e = event;
    Stream *s = stream_of(stream);
    uint64_t records = e->done + (uint64_t)e->pending;
    bool good = s && (!records || stream_put(s, &(Command){.event = e, .after = records}));
    e->followers += good && records;
    return leave_with(good ? 0 : E_NOMEM);
}

int tile_emu_event_query(void *event) {
    if (!event) return E_INVALID;
    engine_enter();
    Event *e = event;
    if (e->pending) return leave_with(E_NOT_READY);
    known_join(&host_clock, &e->clock);
    return leave_with(e->failed ? E_LAUNCH : 0);
}

int tile_emu_event_elapsed(float *ms, void *from, void *to) {
    *ms = (float)(((Event *)to)->ns - ((Event *)from)->ns) * 1e-6f;
    return 0;
}

/* ---- memory ---- */

static int alloc(void **p, size_t bytes, int device, bool shared) {
    engine_enter();
    *p = memory_alloc(bytes, device, shared);
    return leave_with(*p ? 0 : E_NOMEM);
}

int tile_emu_alloc(void **p, size_t bytes) { return alloc(p, bytes, current, false); }

int tile_emu_alloc_fine(void **p, size_t bytes, unsigned flags) {
    (void)flags;
    return alloc(p, bytes, current, true);
}

int tile_emu_host_alloc(void **p, size_t bytes, unsigned flags) {
    (void)flags;
    int error = alloc(p, bytes, HOST, true);
    if (!error) memory_by_host(*p, bytes, HISTORY_HOST);
    return error;
}

int tile_emu_release(void *p) {
    engine_enter();
    return leave_with(memory_free(p) ? 0 : E_INVALID);
}

int tile_emu_host_release(void *p) { return tile_emu_release(p); }

int tile_emu_block(void **base, size_t *bytes, void *p) {
    engine_enter();
    Block *b = memory_find(p);
    if (!b || (char *)p >= b->base + b->bytes) return leave_with(E_INVALID);
    *base = b->base;
    *bytes = b->bytes;
    return leave_with(0);
}

/* The number of the device that memory is of, of all that drivers tell. */
int tile_emu_pointer_attribute(void *value, int attribute, void *p) {
    enum { DEVICE_ORDINAL = 9 }; /* CUDA driver API, CUpointer_attribute */
    engine_enter();
    Block *b = memory_find(p);
    if (!b || b->device == HOST || attribute != DEVICE_ORDINAL) return leave_with(E_INVALID);
    *(int *)value = b->device;
    return leave_with(0);
}

int tile_emu_copy_in(void *to, const void *from, size_t bytes, void *stream) {
    engine_enter();
    int error = stream_idle(stream);
    if (error) return leave_with(error);
    memcpy(to, from, bytes);
    memory_by_host(to, bytes, HISTORY_HOST);
    return leave_with(0);
}

int tile_emu_copy_out(void *to, const void *from, size_t bytes, void *stream) {
    engine_enter();
    int error = stream_idle(stream);
    if (!error) memcpy(to, from, bytes);
    return leave_with(error);
}

/* What is filled with the poison counts as poison still: the runtime fills workspaces so. */
int tile_emu_fill(void *to, unsigned char value, size_t bytes, void *stream) {
    engine_enter();
    int error = stream_idle(stream);
    if (error) return leave_with(error);
    memset(to, value, bytes);
    memory_by_host(to, bytes, value == 0xff ? HISTORY_NONE : HISTORY_HOST);
    return leave_with(0);
}

/* ---- code: a table of the kernels, ended by a NULL ---- */

int tile_emu_module_load(void **module, const void *image) {
    *module = (void *)image;
    return 0;
}

int tile_emu_module_unload(void *module) { return module ? 0 : E_INVALID; }

int tile_emu_function_get(void **function, void *module, const char *name) {
    for (const tile_emu_symbol *s = module; s->name; s++)
        if (strcmp(s->name, name) == 0) return *function = (void *)s, 0;
    return E_NOT_FOUND;
}

int tile_emu_function_set(void *function, int attribute, int value) {
    (void)attribute;
    return function && value >= 0 ? 0 : E_INVALID;
}

/* ---- launches ---- */

static const tile_emu_kernel *described;

/* Called with NULL a kernel describes itself. */
bool tile_emu_begin(const void *argument, const tile_emu_kernel *k) {
    if (!argument)
        described = k;
    else if (k->threads != emu->launch->threads)
        emu_fail("belongs to a workgroup of %d, the launch has %d", k->threads, emu->launch->threads);
    return argument;
}

/* A copy of the kernel's arguments, the second one behind the first; NULL: no memory. */
static void *call_copy(const tile_emu_kernel *k, void **arguments) {
    char *call = malloc(k->bytes + k->maps_bytes + 1);
    if (!call) return NULL;
    memcpy(call, arguments[0], k->bytes);
    if (k->maps_bytes) memcpy(call + k->bytes, arguments[1], k->maps_bytes);
    return call;
}

static int launch_put(const tile_emu_symbol *s, Launch l, void **arguments, void *stream) {
    Stream *to = stream_of(stream);
    s->run(NULL);
    l.facts = described;
    if (l.facts->cluster > EMU_PLACES || l.ngroups % l.facts->cluster) return E_INVALID;
    l.call = call_copy(l.facts, arguments);
    l.device = to ? to->device : 0;
    if (to && l.call && stream_put(to, &(Command){.launch = l})) return 0;
    free(l.call);
    return E_NOMEM;
}

int tile_emu_launch_ex(const GpuLaunchConfig *c, void *function, void **arguments, void **extra) {
    const tile_emu_symbol *s = function;
    Launch l = {.kernel = s->name,
                .run = s->run,
                .ngroups = (int64_t)c->groups[0] * c->groups[1] * c->groups[2],
                .threads = (int)(c->threads[0] * c->threads[1] * c->threads[2]),
                .lds_bytes = c->lds};
    for (unsigned i = 0; i < c->nattributes; i++)
        if (c->attribute[i].id == GPU_LAUNCH_DEPENDENT) l.dependent = c->attribute[i].value;
    if (extra || l.threads < 1 || l.threads > EMU_THREADS) return E_INVALID;
    engine_enter();
    return leave_with(launch_put(s, l, arguments, c->stream));
}

int tile_emu_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z,
                    unsigned lds, void *stream, void **arguments, void **extra) {
    const GpuLaunchConfig c = {.groups = {gx, gy, gz}, .threads = {x, y, z}, .lds = lds, .stream = stream};
    return tile_emu_launch_ex(&c, function, arguments, extra);
}

int tile_emu_error_text(int error, const char **text) {
    *text = error == E_LAUNCH         ? engine_text()
            : error == E_NOMEM        ? "out of memory"
            : error == E_NOT_FOUND    ? "the program's text has no such kernel"
            : error == E_PEER_ENABLED ? "peer access is enabled already"
            : error == E_NOT_READY    ? "not ready"
                                      : "an argument is wrong";
    return 0;
}
