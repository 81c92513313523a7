/* gpu_load.c: finds the library of a GPU's driver and its functions. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>

/* Of the table below. */
enum { KINDS = 3, LIBRARIES = 4 };

static const char *const libraries[KINDS][LIBRARIES] = {
    [GPU_CUDA] = {"libcuda.so.1"},
    [GPU_HIP] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
    [GPU_EMU] = {NULL}, /* the program itself, if it was linked with the emulator */
};

static const struct {
    size_t at;
    const char *name[KINDS];
} functions[] = {
#define GPU(name, cuda, hip, arguments) {offsetof(GpuApi, name), {cuda, hip, "tile_emu_" #name}},
    GPU_FUNCTIONS
#undef GPU
};

static void *library_open(GpuKind kind) {
    if (kind == GPU_EMU) return dlopen(NULL, RTLD_NOW);
    void *library = NULL;
    for (int i = 0; i < LIBRARIES && libraries[kind][i] && !library; i++)
        library = dlopen(libraries[kind][i], RTLD_NOW);
    return library;
}

/* What only makes messages better may be missing; in the emulator what one of the drivers has not, and what serves
   processes. */
static bool is_optional(size_t i, GpuKind kind) {
    size_t at = functions[i].at;
    bool processes = at >= offsetof(GpuApi, ipc_get) && at <= offsetof(GpuApi, ipc_close);
    bool special = !*functions[i].name[GPU_CUDA] || !*functions[i].name[GPU_HIP];
    return at == offsetof(GpuApi, error_text) || (kind == GPU_EMU && (processes || special));
}

/* The name that is missing, or NULL. */
static const char *functions_find(void *library, GpuKind kind, GpuApi *api) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *name = functions[i].name[kind];
        void *f = *name ? dlsym(library, name) : NULL;
        if (!f && *name && !is_optional(i, kind)) return name;
        memcpy((char *)api + functions[i].at, &f, sizeof f);
    }
    return NULL;
}

static bool kind_load(GpuKind kind, GpuApi *api, int *devices, char *why, size_t size) {
    const char *name = kind == GPU_EMU ? "the emulator" : libraries[kind][0];
    void *library = library_open(kind);
    const char *missing = library ? functions_find(library, kind, api) : NULL;
    int error = library && !missing ? api->init(0) : 0;
    *devices = 0;
    if (library && !missing && !error) error = api->device_count(devices);
    if (!library)
        snprintf(why, size, "%s is not installed", name);
    else if (missing)
        snprintf(why, size, kind == GPU_EMU ? "this program is not linked with %s" : "%s has no %s", name, missing);
    else if (error)
        snprintf(why, size, "%s reports error %d", name, error);
    else if (*devices == 0)
        snprintf(why, size, "%s finds no device", name);
    return *devices > 0; /* the library stays loaded: drivers do not like to be unloaded */
}

int gpu_load(const char *target, GpuApi *api, GpuKind *kind, int *devices) {
    char why[2][96] = {"", ""};
    bool emu = strcmp(target, "emu") == 0;
    if (!emu && strcmp(target, "gpu") != 0)
        return tile_fail(TILE_E_ARG, "there is no target '%s': host, gpu or emu", target);
    int first = emu ? GPU_EMU : GPU_CUDA, last = emu ? GPU_EMU : GPU_HIP;
    for (int k = first; k <= last; k++) {
        *kind = (GpuKind)k;
        if (kind_load(*kind, api, devices, why[k - first], sizeof why[0])) return TILE_OK;
    }
    return tile_fail(TILE_E_UNSUPPORTED, emu ? "no emulator: %s" : "no GPU: %s, %s", why[0], why[1]);
}
