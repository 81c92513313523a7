/* gpu.h: GPUs through the libraries that their drivers bring, found at run time: nothing is linked, so that a program
   starts everywhere. One table maps the names; what is behind them takes the same arguments in all three. */
#ifndef TILE_SRC_GPU_H
#define TILE_SRC_GPU_H

#include "runtime.h"

#include "device/tile_gpu_task.h"
#include "src/gpu_launch.h"

#pragma GCC visibility push(hidden)

/* Memory of a device as another process can map it. */
typedef struct {
    char bytes[64];
} GpuHandle;

/* Stands where CUDA or HIP has nothing like it; the emulator need not have it either. */
#define GPU_NONE ""

/* GPU(name here, in libcuda, in libamdhip64, arguments); in the emulator it is tile_emu_NAME. Devices, contexts,
   streams, events, modules and functions are opaque; all return 0 or an error number. */
#define GPU_FUNCTIONS                                                                                                  \
    GPU(init, "cuInit", "hipInit", (unsigned flags))                                                                   \
    GPU(device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int *))                                                \
    GPU(device_name, "cuDeviceGetName", "hipDeviceGetName", (char *, int bytes, int device))                           \
    GPU(driver_version, "cuDriverGetVersion", "hipDriverGetVersion", (int *))                                          \
    GPU(device_attribute, "cuDeviceGetAttribute", GPU_NONE, (int *, int attribute, int device))                        \
    GPU(device_bus, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", (char *, int bytes, int device))                    \
    GPU(device_by_bus, "cuDeviceGetByPCIBusId", "hipDeviceGetByPCIBusId", (int *, const char *))                       \
    GPU(peer_can, "cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer", (int *, int device, int peer))                    \
    GPU(peer_attribute, "cuDeviceGetP2PAttribute", "hipDeviceGetP2PAttribute",                                         \
        (int *, int attribute, int device, int peer))                                                                  \
    GPU(peer_enable, "cuCtxEnablePeerAccess", "hipCtxEnablePeerAccess", (void *context, unsigned flags))               \
    GPU(context_retain, "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain", (void **, int device))                \
    GPU(context_release, "cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease", (int device))                   \
    GPU(context_set, "cuCtxSetCurrent", "hipCtxSetCurrent", (void *))                                                  \
    GPU(alloc, "cuMemAlloc_v2", "hipMalloc", (void **, size_t))                                                        \
    GPU(alloc_fine, GPU_NONE, "hipExtMallocWithFlags", (void **, size_t, unsigned flags))                              \
    GPU(release, "cuMemFree_v2", "hipFree", (void *))                                                                  \
    GPU(block, "cuMemGetAddressRange_v2", "hipMemGetAddressRange", (void **base, size_t *bytes, void *))               \
    GPU(pointer_attribute, "cuPointerGetAttribute", "hipPointerGetAttribute", (void *, int attribute, void *))         \
    GPU(host_alloc, "cuMemHostAlloc", "hipHostMalloc", (void **, size_t, unsigned flags))                              \
    GPU(host_release, "cuMemFreeHost", "hipHostFree", (void *))                                                        \
    GPU(ipc_get, "cuIpcGetMemHandle", "hipIpcGetMemHandle", (GpuHandle *, void *))                                     \
    GPU(ipc_open, "cuIpcOpenMemHandle_v2", "hipIpcOpenMemHandle", (void **, GpuHandle, unsigned flags))                \
    GPU(ipc_close, "cuIpcCloseMemHandle", "hipIpcCloseMemHandle", (void *))                                            \
    GPU(copy_in, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", (void *, const void *, size_t, void *stream))           \
    GPU(copy_out, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", (void *, const void *, size_t, void *stream))          \
    GPU(fill, "cuMemsetD8Async", "hipMemsetD8Async", (void *, unsigned char, size_t, void *stream))                    \
    GPU(module_load, "cuModuleLoadData", "hipModuleLoadData", (void **, const void *image))                            \
    GPU(module_unload, "cuModuleUnload", "hipModuleUnload", (void *))                                                  \
    GPU(function_get, "cuModuleGetFunction", "hipModuleGetFunction", (void **, void *module, const char *))            \
    GPU(function_set, "cuFuncSetAttribute", GPU_NONE, (void *, int attribute, int value))                              \
    GPU(map_encode, "cuTensorMapEncodeTiled", GPU_NONE,                                                                \
        (void *map, int type, unsigned rank, void *base, const uint64_t *dim, const uint64_t *stride,                  \
         const unsigned *box, const unsigned *step, int interleave, int swizzle, int promotion, int fill))             \
    GPU(map_encode_pixels, "cuTensorMapEncodeIm2col", GPU_NONE,                                                        \
        (void *map, int type, unsigned rank, void *base, const uint64_t *dim, const uint64_t *stride,                  \
         const int *lower, const int *upper, unsigned channels, unsigned pixels, const unsigned *step, int interleave, \
         int swizzle, int promotion, int fill))                                                                        \
    GPU(launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                                             \
        (void *, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned lds,              \
         void *stream, void **arguments, void **extra))                                                                \
    GPU(launch_ex, "cuLaunchKernelEx", GPU_NONE, (const GpuLaunchConfig *, void *, void **arguments, void **extra))    \
    GPU(stream_create, "cuStreamCreate", "hipStreamCreateWithFlags", (void **, unsigned flags))                        \
    GPU(stream_destroy, "cuStreamDestroy_v2", "hipStreamDestroy", (void *))                                            \
    GPU(stream_sync, "cuStreamSynchronize", "hipStreamSynchronize", (void *))                                          \
    GPU(stream_capturing, "cuStreamIsCapturing", "hipStreamIsCapturing", (void *, int *))                              \
    GPU(stream_follow, "cuStreamWaitEvent", "hipStreamWaitEvent", (void *, void *event, unsigned flags))               \
    GPU(event_create, "cuEventCreate", "hipEventCreateWithFlags", (void **, unsigned flags))                           \
    GPU(event_destroy, "cuEventDestroy_v2", "hipEventDestroy", (void *))                                               \
    GPU(event_record, "cuEventRecord", "hipEventRecord", (void *, void *stream))                                       \
    GPU(event_query, "cuEventQuery", "hipEventQuery", (void *))                                                        \
    GPU(event_elapsed, "cuEventElapsedTime", "hipEventElapsedTime", (float *ms, void *begin, void *end))               \
    GPU(error_text, "cuGetErrorString", "hipDrvGetErrorString", (int, const char **))

/* Numbers that CUDA and HIP have in common. */
enum {
    GPU_E_INVALID = 1,     /* results of calls */
    GPU_E_NOMEM = 2,       /* likewise */
    GPU_E_NO_BINARY = 209, /* the code is for another machine */
    GPU_E_NOT_READY = 600,
    GPU_E_PEER_ENABLED = 704,  /* already */
    GPU_HOST_PORTABLE = 1,     /* memory of the host, for all devices */
    GPU_HOST_MAPPED = 2,       /* at the same address there */
    GPU_FINE_GRAINED = 1,      /* memory that other devices see at once, HIP */
    GPU_PEER_ATOMICS_CUDA = 3, /* attributes of two devices */
    GPU_PEER_ATOMICS_HIP = 2,
    GPU_STREAM_LEGACY_ORDER = 0, /* waits for the legacy default stream, which waits for it */
    GPU_STREAM_NON_BLOCKING = 1,
    GPU_STREAM_OF_THREAD = 2, /* a handle: another stream in each thread */
    GPU_EVENT_NO_TIMING = 2,
    GPU_POINTER_DEVICE = 9,   /* attribute of memory: the device's number */
    GPU_MAX_DYNAMIC_LDS = 8,  /* attribute of a function, CUDA */
    GPU_MULTIPROCESSORS = 16, /* attribute of a device, CUDA */
    GPU_MAP_UINT8 = 0,        /* of tensor maps, CUDA: elements, */
    GPU_MAP_UINT16 = 1,
    GPU_MAP_UINT32 = 2,       /* likewise */
    GPU_MAP_SWIZZLE_NONE = 0, /* order in workgroup memory, */
    GPU_MAP_SWIZZLE_32B = 1,  /* likewise */
    GPU_MAP_SWIZZLE_64B = 2,  /* likewise */
    GPU_MAP_SWIZZLE_128B = 3, /* likewise */
    GPU_MAP_PROMOTE_128B = 2  /* and bytes that L2 fetches */
};

typedef struct {
#define GPU(name, cuda, hip, arguments) int(*name) arguments;
    GPU_FUNCTIONS
#undef GPU
} GpuApi;

typedef enum { GPU_CUDA, GPU_HIP, GPU_EMU } GpuKind;

/* Memory of equal parts, one a rank. */
typedef struct {
    char **base;  /* [nranks] as this rank's device addresses them */
    void *own;    /* this rank's */
    size_t bytes; /* of a part */
    Share host;   /* who has left */
} GpuShare;

typedef struct {
    int device;
    void *context; /* retained: it outlives the rank that made it */
} GpuPeer;

/* tile_gpu_notice, as the host reads it. */
typedef struct {
    _Atomic uint64_t fault, refusal;
} GpuNotice;

typedef struct Gpu {
    GpuApi api;
    GpuKind kind;
    int device;
    int multiprocessors;      /* CUDA, the emulator */
    void *context, *stream;   /* stream: the mesh's own, in order with the legacy default stream */
    void *aside, *done;       /* a stream for looks at the device while it runs; an event: all enqueued has ended */
    GpuShare control;         /* a tile_gpu_fault each */
    GpuNotice *notice;        /* tile_gpu_task.notice */
    struct GpuTrace *trace;   /* NULL: none is wanted */
    struct GpuInstance *last; /* whose run was given last */
    GpuPeer *peer;            /* [nranks] of ranks that are threads; NULL: processes, or one rank */
    int npeers;
    bool kept;                /* other processes may still use memory of the context */
    bool told;                /* the device knows of the host's fault */
    char name[64];            /* of the device */
} Gpu;

/* ---- gpu_load.c ---- */

/* Fills api from the first library that is there and has devices; target: "gpu" or "emu". */
int gpu_load(const char *target, GpuApi *, GpuKind *, int *devices);

/* ---- gpu.c ---- */

/* device -1: that of the rank's number. */
int gpu_open(const char *target, int device, int rank, Gpu **);
void gpu_close(Gpu *);
int gpu_enter(const Gpu *);                              /* makes its context this thread's */
int gpu_fail(const Gpu *, int error, const char *doing); /* TILE_E_NOMEM or TILE_E_SYS, with the driver's words */

static inline void nap(uint64_t ns) { nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL); }

/* ---- gpu_peers.c ---- */

/* Collective. TILE_E_UNSUPPORTED, with both devices, where one cannot reach the other. */
int gpu_peers_open(Gpu *, Group *);
void gpu_peers_close(Gpu *);

/* ---- gpu_share.c: collective; zero at first ---- */

int gpu_share_open(tile_mesh *, size_t bytes, GpuShare *);
void gpu_share_close(tile_mesh *, GpuShare *); /* not collective; nothing of this rank is in flight */

/* ---- gpu_fault.c ---- */

int gpu_control_open(tile_mesh *); /* collective */
void gpu_control_close(tile_mesh *);
void gpu_notice_look(tile_mesh *); /* has a kernel of this rank told of a fault? */
/* TILE_E_RANGE, with the sentence, of a run since the last call that all ranks refused. */
int gpu_refusal_take(tile_mesh *);
void gpu_fault_learn(tile_mesh *); /* from the device: then fault_poisoned() tells */
int gpu_fault_clear(tile_mesh *);
void gpu_fault_give_up(tile_mesh *, const char *why);
int gpu_stream_wait(tile_mesh *, tile_stream); /* also ends when a peer is lost: then fault_poisoned() tells */
int gpu_event_wait(tile_mesh *, void *event);  /* likewise; an error of the driver */

/* ---- gpu_map.c: descriptions of tensors that kernels copy by boxes ---- */

typedef struct {
    _Alignas(64) char bytes[128];
} GpuMap;

/* What a map was made of. */
typedef struct {
    const char *base;
    int64_t dim[TILE_MAP_DIMS];
    bool made, refused; /* refused: no map can say that */
} GpuMapped;

int gpu_maps_fill(const tile_instance *, void *const *arg, const int64_t *dim);   /* those that have changed */
int gpu_maps_count(const tile_image *);                                           /* of all launches */
int gpu_map_refused(const tile_program *, const tile_launch *, const tile_map *); /* TILE_E_ARG, with the words */

/* ---- gpu_instance.c: a program on a GPU ---- */

enum { GPU_NONE_BYTES = 128 /* or more: those of an element */ };

typedef struct GpuInstance {
    const tile_image *image;
    int number;      /* on the mesh: the same on all ranks */
    GpuShare shared; /* symmetric tensors, then flag words */
    void *task;      /* a tile_gpu_task on the device, and what it points to; NULL: the program needs none */
    tile_prints *prints; /* on the device; NULL: the program leaves none */
    size_t task_bytes;
    void *module, **function; /* function of each launch */
    void *local;              /* workspace */
    char *none;               /* GPU_NONE_BYTES zeros, and as many to write to, in place of tensors without elements */
    char *call, *checked;     /* the kernels' argument; the last one whose tensors were looked at */
    char *with_fields; /* arguments of launches that have fields: `checked`, then the fields, one behind the other */
    uint64_t *field;   /* of all launches */
    bool ready;        /* maps, fields and numbers of workgroups are those for `checked` */
    unsigned *groups;  /* [nlaunches] workgroups; 0: the launch is left out */
    GpuMap *map;              /* of all launches, for `checked` */
    GpuMapped *mapped;        /* what each is made of */
    const tile_map **refused; /* [nlaunches] the first that cannot be made; NULL: they are whole */
    void *stream, *event;     /* of the last run; event: it has ended */
} GpuInstance;

int gpu_instance_open(tile_instance *);
void gpu_instance_close(tile_instance *);
void gpu_instance_wait(tile_instance *); /* for its last run */
int gpu_instance_run(tile_instance *, void *const *arg, const int64_t *dim, tile_stream);

/* ---- gpu_trace.c ---- */

int gpu_trace_open(tile_mesh *);
void gpu_trace_close(tile_mesh *);
/* Before a launch: the event that is to be recorded after it, or NULL. */
void *gpu_trace_begin(const Gpu *, const char *name, uint64_t run, int number, void *stream);
void gpu_trace_collect(tile_mesh *); /* to worker 0; all launches have ended */

/* ---- gpu_task.c ---- */

int gpu_task_open(tile_instance *); /* collective */
void gpu_task_close(tile_instance *);
int gpu_task_clear(tile_instance *);
int gpu_prints_open(tile_instance *);
/* Records of runs that have ended, in memory of the caller, which frees it; NULL: there are none, or after an error. */
int gpu_prints_take(tile_instance *, tile_prints **);

#pragma GCC visibility pop
#endif
