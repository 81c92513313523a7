/* api.c: the emulator as a driver: what runtime/src/gpu.h finds under the names tile_emu_*. Everything happens at once;
   streams and events are names only. */
#include "api.h"

#include "emu.h"

#include <string.h>

enum { E_NOMEM = 2, E_INVALID = 1, E_NOT_FOUND = 500, E_LAUNCH = 719 };

int tile_emu_init(unsigned flags) { return (int)flags; }

int tile_emu_device_count(int *n) {
    *n = 1;
    return 0;
}

int tile_emu_device_name(char *name, int bytes, int device) {
    (void)device;
    strncpy(name, "emulator", (size_t)bytes);
    return 0;
}

int tile_emu_context_retain(void **context, int device) {
    (void)device;
    *context = (void *)tile_emu_context_retain; /* anything but NULL */
    return 0;
}

int tile_emu_context_release(int device) { return device; }
int tile_emu_context_set(void *context) { return context ? 0 : E_INVALID; }

/* ---- memory ---- */

int tile_emu_alloc(void **p, size_t bytes) { return (*p = memory_alloc(bytes)) ? 0 : E_NOMEM; }
int tile_emu_release(void *p) { return memory_free(p) ? 0 : E_INVALID; }

int tile_emu_block(void **base, size_t *bytes, void *p) {
    Block *b = memory_find(p);
    if (!b || (char *)p >= b->base + b->bytes) return E_INVALID;
    *base = b->base;
    *bytes = b->bytes;
    return 0;
}

int tile_emu_copy_in(void *to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    memcpy(to, from, bytes);
    memory_written(to, bytes);
    return 0;
}

int tile_emu_copy_out(void *to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    memcpy(to, from, bytes);
    return 0;
}

/* What is filled counts as poison still: the runtime fills workspaces so. */
int tile_emu_fill(void *to, unsigned char value, size_t bytes, void *stream) {
    (void)stream;
    memset(to, value, bytes);
    return 0;
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

int tile_emu_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z,
                    unsigned lds, void *stream, void **arguments, void **extra) {
    const tile_emu_symbol *s = function;
    Launch l = {s->name, s->run, arguments[0], (int64_t)gx * gy * gz, (int)(x * y * z), lds};
    (void)stream;
    if (extra || l.threads < 1 || l.threads > EMU_THREADS) return E_INVALID;
    return emu_launch(&l) ? 0 : E_LAUNCH;
}

/* ---- streams and events ---- */

int tile_emu_stream_create(void **stream, unsigned flags) {
    (void)flags;
    *stream = (void *)tile_emu_stream_create; /* anything but NULL */
    return 0;
}

int tile_emu_stream_destroy(void *stream) { return stream ? 0 : E_INVALID; }
int tile_emu_stream_sync(void *stream) { return stream ? 0 : E_INVALID; }

int tile_emu_stream_capturing(void *stream, int *capturing) {
    *capturing = 0;
    return stream ? 0 : E_INVALID;
}

int tile_emu_event_create(void **event, unsigned flags) {
    (void)flags;
    *event = (void *)tile_emu_event_create; /* anything but NULL */
    return 0;
}

int tile_emu_event_destroy(void *event) { return event ? 0 : E_INVALID; }
int tile_emu_event_record(void *event, void *stream) { return event && stream ? 0 : E_INVALID; }
int tile_emu_event_query(void *event) { return event ? 0 : E_INVALID; }

int tile_emu_error_text(int error, const char **text) {
    *text = error == E_LAUNCH      ? emu_text()
            : error == E_NOMEM     ? "out of memory"
            : error == E_NOT_FOUND ? "the program's text has no such kernel"
                                   : "an argument is wrong";
    return 0;
}
