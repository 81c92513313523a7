/* tile.h: the public interface of the tile runtime, version 1.

   A mesh joins the ranks of one job; a program instance (made by a generated NAME_open) runs on it.
   Functions return TILE_OK or a negative TILE_E_* code; tile_last_error() has the sentence.
   Thread-safety: different meshes are independent; one mesh and its instances are driven by one caller per rank at a
   time. */
#ifndef TILE_H
#define TILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the description that compiled programs hand over (tile_program.h). */
#define TILE_ABI 12

enum {
    TILE_OK = 0,
    TILE_E_ARG = -1,      /* an argument is wrong; nothing was done */
    TILE_E_NOMEM = -2,    /* out of memory */
    TILE_E_SYS = -3,      /* the operating system refused; tile_last_error() says what */
    TILE_E_TIMEOUT = -4,  /* a wait passed its deadline; the mesh is poisoned; see tile_mesh_status() */
    TILE_E_POISONED = -5, /* the mesh is poisoned: only tile_mesh_recover() or tile_mesh_close() */
    TILE_E_BUSY = -6,     /* too many runs are queued: 16 of an instance, 64 of a mesh; nothing was done. On a GPU:
                             a replayed run began before its instance's last one had ended; the mesh is poisoned */
    TILE_E_MISMATCH = -7, /* the ranks disagree: another program, version or size */
    TILE_E_UNSUPPORTED = -8,
    TILE_E_ASSERT = -10,  /* an assertion about values did not hold; the run went on to its end, and results are written */
    TILE_E_RANGE = -9     /* an input's value is outside its declared range: nothing was written; or a kernel's starts of groups are
                             wrong: it wrote nothing */
};

/* The sentence for the last error of this thread; never NULL. */
const char *tile_last_error(void);
const char *tile_error_name(int code); /* "TILE_E_TIMEOUT" */

typedef struct tile_mesh tile_mesh;
/* An in-order queue: CUDA's or HIP's stream. On the host NULL is the mesh's own stream, the only one. On a GPU NULL is
   a stream in order with the legacy default stream: a run follows what was enqueued there before, and what is enqueued
   there later follows the run. Callers compiled for default streams per thread pass the handle of theirs, 2. */
typedef struct tile_stream_s *tile_stream;

enum { TILE_DEVICE_OF_RANK = -1 };

typedef struct {
    size_t size;       /* sizeof(tile_mesh_config), for versions to come */
    int rank, nranks;  /* nranks 0: from RANK/WORLD_SIZE, or Open MPI's variables; else 1 rank */
    int device;        /* on GPUs, another for each rank; TILE_DEVICE_OF_RANK: the rank modulo the number of devices */
    /* Collective exchange of `each` bytes a rank (out: in rank order), called once at open; returns 0. NULL: ranks are
       threads of this process that pass the same `group`. If nranks came from the environment, ranks are processes of
       this host. */
    int (*allgather)(void *ctx, const void *in, void *out, size_t each);
    void *ctx;
    int workers;       /* worker threads of this rank, at most 1,024; 0: cores divided by the ranks of this host */
    int timeout_ms;    /* deadline of every wait from its start; 0: 30,000 */
    const char *group; /* name under which ranks of one host meet; NULL: TILE_GROUP from the environment, else "tile" */
    /* Where programs run: "host", "gpu" (device number `device`, CUDA's if there are any, else HIP's) or "emu" (the
       emulator, in a program that is linked with it). NULL: TILE_TARGET from the environment, else "host". Programs on
       a GPU take tensors in its memory, 16-byte aligned, that do not overlap. */
    const char *target;
} tile_mesh_config;

/* The wait that gave up first, on any rank. */
typedef struct {
    int rank;          /* the rank that gave up; -1: no fault */
    int missing;       /* the rank whose signal did not come; -1: unknown */
    int64_t task;      /* ticket of the task that waited */
    int flag;          /* flag family in the manifest */
    char name[64];     /* of that flag */
    uint64_t expected, seen;
} tile_fault;

/* Collective over the ranks. The mesh is owned by the caller until tile_mesh_close(), which runs what is still queued;
   its instances must be closed before. Closing is not collective: a rank may close while others still run. (A process
   on a GPU waits for the others for up to a second: they have its memory mapped.) */
int tile_mesh_open(const tile_mesh_config *, tile_mesh **);
void tile_mesh_close(tile_mesh *);
int tile_mesh_rank(const tile_mesh *);
int tile_mesh_size(const tile_mesh *);
/* Copies the fault record without blocking: TILE_OK (no fault) or TILE_E_TIMEOUT. */
int tile_mesh_status(tile_mesh *, tile_fault *);
/* Collective: drains, meets the others, clears flags and poison, starts a new incarnation. If it fails the mesh can
   only be closed. */
int tile_mesh_recover(tile_mesh *);
/* Collective: callers meet; what is queued goes on meanwhile. TILE_E_TIMEOUT past the deadline. */
int tile_mesh_barrier(tile_mesh *);

/* Waits until everything enqueued on the stream has run, and meanwhile works on these runs. Returns their first error:
   TILE_E_TIMEOUT when one of their waits, here or on another rank, gave up. TILE_E_ASSERT: with the first element whose
   assertion fails. */
int tile_stream_sync(tile_mesh *, tile_stream);

/* Lines of `print` statements, and of elements whose assertions fail. tile_stream_sync hands over the lines of all runs
   that have ended on this rank, sorted by instance, call, statement and element. An instance keeps 16,384 elements, or
   TILE_PRINTS of the environment as it is opened. The last line tells how many more there were. Assertions that fail
   also make that call TILE_E_ASSERT. line NULL: to stderr. */
typedef void tile_print_line(void *context, const char *line);
void tile_mesh_print(tile_mesh *, tile_print_line *line, void *context);

/* Memory where the mesh's programs run: plain memory on the host. Copies are enqueued on the stream (on the host they
   wait for the runs before them); `from` and `to` on the host's side must live until it is synchronised. */
int tile_alloc(tile_mesh *, size_t bytes, void **);
void tile_free(tile_mesh *, void *);
int tile_copy_in(tile_mesh *, void *to, const void *from_host, size_t bytes, tile_stream);
int tile_copy_out(tile_mesh *, void *to_host, const void *from, size_t bytes, tile_stream);

/* Trace of all runs since the last call (65,536 tasks a worker), as Chrome/Perfetto JSON; enabled by TILE_TRACE=1 or
   `on`. Allocates: not to be called between runs that are being measured. On a GPU the trace has launches (16,384),
   each between two events, so that launches do not overlap. */
int tile_trace(tile_mesh *, int on);
int tile_trace_write(tile_mesh *, const char *path);

#ifdef __cplusplus
}
#endif
#endif
