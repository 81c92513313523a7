/* fake_gpu.c: stands for libcuda.so.1 and libamdhip64.so on a machine without a GPU: the emulator under the drivers'
   names. FAKE_FAIL=NAME:CODE makes one function fail (names of runtime/src/gpu.h), NAME:CODE:N from its call N + 1 on,
   NAME:CODE:N:M in M calls;
   no_peer:1 and no_atomics:1: devices cannot work together. handle 2 is a
   stream of each thread. fake_alive: blocks of memory, streams, events and modules that nobody has given back;
   fake_looks: copies to the host; fake_unordered: launches on streams that are not in order with the legacy one. */
#include "emu/api.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failure(const char *name) {
    static const char *last;
    static _Atomic int calls;
    const char *fail = getenv("FAKE_FAIL");
    size_t n = strlen(name);
    if (fail != last) calls = 0;
    last = fail;
    if (!fail || strncmp(fail, name, n) != 0 || fail[n] != ':') return 0;
    int code = 0, skip = 0, times = INT_MAX, call = calls++;
    sscanf(fail + n, ":%d:%d:%d", &code, &skip, &times);
    return call >= skip && call - skip < times ? code : 0;
}

/* FAKE(name in the emulator, in CUDA, in HIP, parameters, the same as arguments) */
#define tile_emu_ipc_get ipc_get
#define tile_emu_ipc_open ipc_open
#define tile_emu_ipc_close(block) ((block) ? 0 : 1)
#define FAKE(name, cuda, hip, parameters, arguments)                                                                   \
    int cuda parameters;                                                                                               \
    int hip parameters;                                                                                                \
    int cuda parameters {                                                                                              \
        int error = failure(#name);                                                                                    \
        return error ? error : tile_emu_##name arguments;                                                              \
    }                                                                                                                  \
    int hip parameters { return cuda arguments; }

FAKE(init, cuInit, hipInit, (unsigned a), (a))
FAKE(device_count, cuDeviceGetCount, hipGetDeviceCount, (int *a), (a))
extern int fake_version;
int fake_version = INT_MAX;
#define tile_emu_driver_version(to) (*(to) = fake_version, 0)
FAKE(driver_version, cuDriverGetVersion, hipDriverGetVersion, (int *a), (a))
FAKE(device_name, cuDeviceGetName, hipDeviceGetName, (char *a, int b, int c), (a, b, c))
FAKE(device_bus, cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, (char *a, int b, int c), (a, b, c))
FAKE(device_by_bus, cuDeviceGetByPCIBusId, hipDeviceGetByPCIBusId, (int *a, const char *b), (a, b))
/* A yes of the emulator is a no where FAKE_FAIL says so. */
#define FAKE_ANSWER(name, no, cuda, hip, parameters, arguments)                                                        \
    int cuda parameters;                                                                                               \
    int hip parameters;                                                                                                \
    int cuda parameters {                                                                                              \
        int error = failure(#name);                                                                                    \
        if (!error) error = tile_emu_##name arguments;                                                                 \
        if (failure(no)) *a = 0;                                                                                       \
        return error;                                                                                                  \
    }                                                                                                                  \
    int hip parameters { return cuda arguments; }

FAKE_ANSWER(peer_can, "no_peer", cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, (int *a, int b, int c), (a, b, c))
FAKE_ANSWER(peer_attribute, "no_atomics", cuDeviceGetP2PAttribute, hipDeviceGetP2PAttribute,
            (int *a, int b, int c, int d), (a, b, c, d))
FAKE(peer_enable, cuCtxEnablePeerAccess, hipCtxEnablePeerAccess, (void *a, unsigned b), (a, b))
FAKE(context_retain, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain, (void **a, int b), (a, b))
FAKE(context_release, cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (int a), (a))
FAKE(context_set, cuCtxSetCurrent, hipCtxSetCurrent, (void *a), (a))
extern _Atomic int fake_alive, fake_looks;
_Atomic int fake_alive, fake_looks;
static int made(int error) {
    fake_alive += !error;
    return error;
}
static int given_back(int error) {
    fake_alive -= !error;
    return error;
}
/* No bytes are an error, as of the drivers. */
#define tile_emu_alloc(p, bytes) ((bytes) ? made((tile_emu_alloc)(p, bytes)) : 1)
#define tile_emu_release(p) given_back((tile_emu_release)(p))
#define tile_emu_host_alloc(p, bytes, flags) made((tile_emu_host_alloc)(p, bytes, flags))
#define tile_emu_host_release(p) given_back((tile_emu_host_release)(p))
#define tile_emu_module_load(m, image) made((tile_emu_module_load)(m, image))
#define tile_emu_module_unload(m) given_back((tile_emu_module_unload)(m))
#define tile_emu_event_create(e, flags) made((tile_emu_event_create)(e, flags))
#define tile_emu_event_destroy(e) given_back((tile_emu_event_destroy)(e))
FAKE(alloc, cuMemAlloc_v2, hipMalloc, (void **a, size_t b), (a, b))
FAKE(release, cuMemFree_v2, hipFree, (void *a), (a))
FAKE(host_alloc, cuMemHostAlloc, hipHostMalloc, (void **a, size_t b, unsigned c), (a, b, c))
FAKE(host_release, cuMemFreeHost, hipHostFree, (void *a), (a))
/* A handle of another process's memory names a block of this one: ranks of other processes are made up by tests. */
typedef struct {
    void *block;
    char rest[56];
} Handle;
static int ipc_get(Handle *h, void *block) {
    memset(h, 0, sizeof *h);
    h->block = block;
    return 0;
}
static int ipc_open(void **p, Handle h, unsigned flags) {
    void *base;
    size_t bytes;
    (void)flags;
    if (tile_emu_block(&base, &bytes, h.block) || base != h.block) return 1;
    *p = base;
    return 0;
}
FAKE(ipc_get, cuIpcGetMemHandle, hipIpcGetMemHandle, (Handle * a, void *b), (a, b))
FAKE(ipc_open, cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle, (void **a, Handle b, unsigned c), (a, b, c))
FAKE(ipc_close, cuIpcCloseMemHandle, hipIpcCloseMemHandle, (void *a), (a))
FAKE(block, cuMemGetAddressRange_v2, hipMemGetAddressRange, (void **a, size_t *b, void *c), (a, b, c))
FAKE(pointer_attribute, cuPointerGetAttribute, hipPointerGetAttribute, (void *a, int b, void *c), (a, b, c))
FAKE(copy_in, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, (void *a, const void *b, size_t c, void *d), (a, b, c, d))
static int looked(int error) {
    fake_looks++;
    return error;
}
#define tile_emu_copy_out(a, b, c, s) looked((tile_emu_copy_out)(a, b, c, s))
FAKE(copy_out, cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync, (void *a, const void *b, size_t c, void *d), (a, b, c, d))
FAKE(fill, cuMemsetD8Async, hipMemsetD8Async, (void *a, unsigned char b, size_t c, void *d), (a, b, c, d))
FAKE(module_load, cuModuleLoadData, hipModuleLoadData, (void **a, const void *b), (a, b))
FAKE(module_unload, cuModuleUnload, hipModuleUnload, (void *a), (a))
FAKE(function_get, cuModuleGetFunction, hipModuleGetFunction, (void **a, void *b, const char *c), (a, b, c))
FAKE(function_set, cuFuncSetAttribute, hip_has_no_function_set, (void *a, int b, int c), (a, b, c))
/* The stream that was given back last; its address may come back as another stream's. */
static void *gone;
/* Handle 2 is another stream in each thread; they live as long as the process. */
static void *stream_of(void *s) {
    static _Thread_local void *own;
    if (s != (void *)2) return s;
    if (!own && tile_emu_stream_create(&own, 1) == 0 && own == gone) gone = NULL;
    return own;
}
/* Streams that take no notice of the legacy default stream, and launches on them. */
enum { UNORDERED = 1, STREAMS = 64 };
static void *unordered[STREAMS];
extern _Atomic int fake_unordered;
_Atomic int fake_unordered;
static void stream_note(void *s, bool is) {
    for (int i = 0; i < STREAMS; i++)
        if (unordered[i] == s) unordered[i] = NULL;
    for (int i = 0; i < STREAMS && is; i++)
        if (!unordered[i]) {
            unordered[i] = s;
            return;
        }
}
static void *stream_launched(void *s) {
    for (int i = 0; i < STREAMS && s; i++) fake_unordered += unordered[i] == s;
    return stream_of(s);
}
#define tile_emu_launch(f, x, y, z, i, j, k, lds, s, arguments, extra)                                                 \
    (tile_emu_launch)(f, x, y, z, i, j, k, lds, stream_launched(s), arguments, extra)
FAKE(launch, cuLaunchKernel, hipModuleLaunchKernel,
     (void *a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h, void *i, void **j,
      void **k),
     (a, b, c, d, e, f, g, h, i, j, k))
/* CUlaunchConfig, as far as the runtime fills it. */
typedef struct {
    unsigned groups[3], threads[3], lds;
    void *stream, *attribute;
    unsigned nattributes;
} LaunchConfig;
extern _Atomic int fake_dependent;
_Atomic int fake_dependent; /* launches that may begin before the one before has ended */
int cuLaunchKernelEx(const LaunchConfig *, void *, void **, void **);
int cuLaunchKernelEx(const LaunchConfig *c, void *function, void **arguments, void **extra) {
    const int *attribute = c->attribute; /* number, unused, value */
    if (c->nattributes != 1 || attribute[0] != 6 || attribute[2] != 1) return 1;
    fake_dependent++;
    return cuLaunchKernel(function, c->groups[0], c->groups[1], c->groups[2], c->threads[0], c->threads[1], c->threads[2], c->lds,
                          c->stream, arguments, extra);
}
int cuDeviceGetAttribute(int *, int, int);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == 16 ? 4 : 0; /* multiprocessors */
    return failure("device_attribute");
}

int hipExtMallocWithFlags(void **, size_t, unsigned);
int hipExtMallocWithFlags(void **p, size_t bytes, unsigned flags) {
    (void)flags;
    return hipMalloc(p, bytes);
}

/* What the last map was made of. */
typedef struct {
    const void *base;
    uint64_t dim[5], stride[4];
    unsigned rank, box[5];
    int type, swizzle, lower[2], upper[2];
    unsigned step[2];
} FakeMap;
extern FakeMap fake_map;
FakeMap fake_map;
extern _Atomic int fake_maps;
_Atomic int fake_maps; /* made so far */
static int map_made(int error, const FakeMap *m) {
    if (!error) fake_map = *m;
    fake_maps += !error;
    return error;
}
int cuTensorMapEncodeTiled(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *,
                           const unsigned *, int, int, int, int);
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *base, const uint64_t *dim, const uint64_t *stride,
                           const unsigned *box, const unsigned *step, int interleave, int swizzle, int promotion,
                           int fill) {
    FakeMap m = {.base = base, .rank = rank, .type = type, .swizzle = swizzle};
    int error = failure("map_encode");
    memcpy(m.dim, dim, sizeof *dim * rank);
    memcpy(m.stride, stride, sizeof *stride * (rank - 1));
    memcpy(m.box, box, sizeof *box * rank);
    if (!error)
        error =
            tile_emu_map_encode(map, type, rank, base, dim, stride, box, step, interleave, swizzle, promotion, fill);
    return map_made(error, &m);
}

int cuTensorMapEncodeIm2col(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *, const int *,
                            unsigned, unsigned, const unsigned *, int, int, int, int);
int cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *base, const uint64_t *dim, const uint64_t *stride,
                            const int *lower, const int *upper, unsigned channels, unsigned pixels,
                            const unsigned *step, int interleave, int swizzle, int promotion, int fill) {
    FakeMap m = {.base = base,
                 .rank = rank,
                 .type = type,
                 .swizzle = swizzle,
                 .box = {channels, pixels},
                 .lower = {lower[0], lower[1]},
                 .upper = {upper[0], upper[1]},
                 .step = {step[1], step[2]}};
    int error = failure("map_encode");
    memcpy(m.dim, dim, sizeof *dim * rank);
    memcpy(m.stride, stride, sizeof *stride * (rank - 1));
    if (!error)
        error = tile_emu_map_encode_pixels(map, type, rank, base, dim, stride, lower, upper, channels, pixels, step,
                                           interleave, swizzle, promotion, fill);
    if (!error && fake_version <= 13010) ((uint64_t *)map)[1] |= 1 << 21; /* as these do */
    return map_made(error, &m);
}

/* Ends the program when it asks a stream that is no more. */
static int make_stream(void **s, unsigned flags) {
    int error = made(tile_emu_stream_create(s, flags));
    if (!error) stream_note(*s, flags & UNORDERED);
    if (*s == gone) gone = NULL;
    return error;
}
static int wait_for_stream(void *s) {
    if (s && s == gone) abort();
    return tile_emu_stream_sync(s);
}
#define tile_emu_stream_create make_stream
#define tile_emu_stream_destroy(s) given_back((tile_emu_stream_destroy)(gone = (s)))
#define tile_emu_stream_sync(s) wait_for_stream(stream_of(s))
#define tile_emu_stream_follow(s, e, flags) (tile_emu_stream_follow)(stream_of(s), e, flags)
#define tile_emu_event_record(e, s) (tile_emu_event_record)(e, stream_of(s))
FAKE(stream_create, cuStreamCreate, hipStreamCreateWithFlags, (void **a, unsigned b), (a, b))
FAKE(stream_destroy, cuStreamDestroy_v2, hipStreamDestroy, (void *a), (a))
FAKE(stream_sync, cuStreamSynchronize, hipStreamSynchronize, (void *a), (a))
FAKE(stream_capturing, cuStreamIsCapturing, hipStreamIsCapturing, (void *a, int *b), (a, b))
FAKE(stream_follow, cuStreamWaitEvent, hipStreamWaitEvent, (void *a, void *b, unsigned c), (a, b, c))
FAKE(event_create, cuEventCreate, hipEventCreateWithFlags, (void **a, unsigned b), (a, b))
FAKE(event_destroy, cuEventDestroy_v2, hipEventDestroy, (void *a), (a))
FAKE(event_record, cuEventRecord, hipEventRecord, (void *a, void *b), (a, b))
FAKE(event_query, cuEventQuery, hipEventQuery, (void *a), (a))
FAKE(event_elapsed, cuEventElapsedTime, hipEventElapsedTime, (float *a, void *b, void *c), (a, b, c))
FAKE(error_text, cuGetErrorString, hipDrvGetErrorString, (int a, const char **b), (a, b))
