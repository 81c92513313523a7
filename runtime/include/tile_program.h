/* tile_program.h: the description of a generated program, which the runtime reads. Users include its NAME.h. */
#ifndef TILE_PROGRAM_H
#define TILE_PROGRAM_H

#include "tile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_task tile_task; /* runtime/device/host.h: what a running task sees */

typedef enum { TILE_ROLE_INPUT, TILE_ROLE_STATE, TILE_ROLE_OUTPUT } tile_role;

enum { TILE_MAX_DIMS = 8, TILE_MAP_DIMS = 5 }; /* of a tensor (ir/ir.h); of a tensor map: CUDA driver API */

/* A number, plus a run-time dimension unless sym is -1. */
typedef struct {
    int64_t c;
    int sym;
} tile_bound;

/* One argument of the program: a tensor (dense, row-major, the rank's own part) or a scalar by value. */
typedef struct {
    const char *name, *elem; /* "A", "bf16" */
    tile_role role;
    int ndim;                          /* 0: scalar */
    int64_t dim[TILE_MAX_DIMS];        /* global extents: constant part */
    int sym[TILE_MAX_DIMS];            /* plus this run-time dimension; -1: none */
    int split[TILE_MAX_DIMS]; /* over this mesh axis, in blocks of ceil(n / ranks); -1: not split; a + 4 (b + 1):
                                 over a, and each block of n over b, in blocks of ceil(block / ranks) */
    int checked;                       /* an input of integers whose values are in least .. past - 1, .. */
    tile_bound least, past;            /* .. or the run is TILE_E_RANGE */
} tile_arg;

typedef struct {
    const char *name;
    int64_t bound; /* inclusive */
} tile_dim;

typedef struct {
    const char *name;       /* of a flag family, or of a tensor of packets, for fault records */
    const char *producer, *consumer;
} tile_flag_info;

/* A tensor, dense and row-major, that a kernel copies in boxes, by as many coordinates as it has dimensions. A
   tensor without elements gives zeros. */
typedef struct {
    int arg;                    /* the program's argument that it is in; -1: the workspace */
    int symmetric;              /* 0, or the workspace is that which all ranks address: -1: this rank's, 1 + r: rank r's */
    int64_t first;              /* byte of the workspace */
    int64_t before;             /* tensors of these extents that lie before it there */
    int bytes;                  /* of an element: 1, 2 or 4 */
    int ndim;                   /* 1 .. TILE_MAP_DIMS */
    int64_t dim[TILE_MAP_DIMS]; /* extents, as in tile_arg */
    int sym[TILE_MAP_DIMS], split[TILE_MAP_DIMS];
    int box[TILE_MAP_DIMS]; /* of a box, in elements: at most 256 each */
    int few;                /* 1: .. and of the dimension before the last no more than it has; more: as many as it has
                               where these are at most so many */
    int swizzle;            /* bytes of a row of a box, and over which it is swizzled: 128, 64 or 32; 0: it is not */
    /* 0; or the tensor is images [n, height, width, channels], and a box has so many pixels, one behind the other as
       height and width count them: from `begin` on, `count` of them, with `step` from one to the next. */
    int pixels;
    int begin[TILE_MAP_DIMS], step[TILE_MAP_DIMS], count[TILE_MAP_DIMS];
    int stores; /* 1: boxes go to the tensor, none comes from there */
} tile_map;

/* What launches of one kernel differ in: a place in memory, or a number. */
enum { TILE_FIELD_LOCAL = -1, TILE_FIELD_NUMBER = -2 };
typedef struct {
    int arg;       /* the program's argument that it is in; TILE_FIELD_LOCAL: the workspace; TILE_FIELD_NUMBER */
    int64_t bytes; /* where in it; the number */
    int64_t (*part)(const tile_task *); /* bytes more that the run's sizes and the rank say; NULL: none */
} tile_field;

enum { TILE_READS_EARLY = 2 /* a value of tile_launch.dependent, and no count */ };

/* One kernel launch on a GPU; a program's run is its launches in order. */
typedef struct {
    const char *kernel;                    /* name in the code */
    const char *node;                      /* what the program calls it; NULL: the same */
    int threads;                           /* of a workgroup */
    size_t lds_bytes;                      /* of its memory */
    int64_t (*groups)(const tile_task *);  /* number of workgroups, 0: it is left out of this run;
                                              only rank, coord, arg and dim are set */
    int cluster;                           /* 0, or workgroups that meet: then the launch has as many workgroups as
                                              the device has multiprocessors, in multiples of this, at most `groups` */
    int parts;                             /* 0, or workgroups that share a task of `groups` */
    int nmaps;
    const tile_map *map;                   /* their descriptions are the kernel's second argument */
    int dependent;                         /* 1: the kernel itself waits for launches before, and may begin early;
                                              TILE_READS_EARLY: likewise, but for the first launch of a run: the kernel
                                              reads what no launch of the run writes before it waits */
    int nfields;                           /* of the kernel's argument, behind the call: 64 bits each, of tile_image.field */
    int otherwise;                         /* 1: the next launch runs instead where this one has no workgroups, or a map
                                              of it cannot be made: rows that are no multiples of 16 bytes, which are
                                              TILE_E_ARG where it is 0 */
} tile_launch;

/* A program for one kind of GPU. */
typedef struct {
    const char *target;     /* "gfx942", "sm_90a", "emu:gfx942" */
    const void *code;       /* hsaco, cubin, or the emulator's table */
    size_t local_bytes;     /* workspace */
    size_t symmetric_bytes; /* workspace in memory that all ranks address */
    size_t words;           /* flag words of one rank, peer-visible (tile_gpu_word) */
    /* Counters of one rank, private, 0 before the first run: arrivals, tasks of launches that take tickets. Those of
       tasks lie behind the workspace, at a multiple of 8 bytes, if the program has no tile_gpu_task. */
    size_t counts, tickets;
    int nflags;
    int ends; /* 1: the last launch ends what the first began: a run that has begun ends with it */
    const tile_flag_info *flag;
    int nfields; /* of all launches, in their order */
    const tile_field *field;
    int nlaunches;
    const tile_launch *launch;
} tile_image;

typedef struct {
    int abi;                /* TILE_ABI of the tilec that wrote the program; this and the name are first in every ABI */
    const char *name;
    uint64_t hash;          /* of the source, the target and the options: equal on all ranks */
    int naxes;
    int axis[3];            /* ranks along each mesh axis; their product is the mesh size */
    int nargs;
    const tile_arg *arg;
    int ndims;
    const tile_dim *dim;
    int nflags;
    const tile_flag_info *flag;
    size_t local_bytes;     /* workspace in private memory, for the largest sizes */
    size_t symmetric_bytes; /* workspace in peer-visible memory */
    size_t words;           /* flag words of one rank, each TILE_WORD_STRIDE bytes, peer-visible */
    size_t counts;          /* arrival counters of one rank, private */
    size_t scratch_bytes;   /* per worker */
    int workers;            /* number of workers that are worth using; 0: all of the rank */
    /* On the host; NULL: the program has no code for it. */
    int64_t (*tasks)(const tile_task *);         /* number of tickets of a run of these sizes */
    int (*task)(const tile_task *, int64_t ticket); /* 0, or a TILE_E_ code: the run stops */
    const char *(*task_name)(const tile_task *, int64_t ticket); /* the kernel of a ticket, for traces; may be NULL */
    /* On GPUs: the kernels' argument is a struct of call_bytes with arguments, sizes and the workspace's address. */
    int nimages;
    const tile_image *image;
    size_t call_bytes, local_at;
    size_t task_at;         /* offset in it of a pointer to a tile_gpu_task; 0: the program needs none */
    const size_t *arg_at, *dim_at; /* offsets in it */
    /* Texts of records: one for each statement in each of its calls (runtime/device/tile_print.h). */
    int nprints;
    const char *const *print;
} tile_program;

typedef struct tile_instance tile_instance;

/* Collective; TILE_E_MISMATCH when the ranks open different programs. `program` must outlive the instance.
   Each run is given `nargs` pointers in manifest order; scalars are passed by pointer too and copied at enqueue.
   Ranks are numbered along the mesh axes with the last one fastest. */
int tile_instance_open(tile_mesh *, const tile_program *, tile_instance **);
/* Only enqueues. arg: nargs pointers; dim: run-time sizes (within their bounds, the same on all ranks). Runs of an
   instance are executed in the order of these calls, whatever their streams. Where there are several ranks, the same
   holds for all instances of a mesh, and all ranks must make the calls in the same order. */
int tile_instance_run(tile_instance *, void *const *arg, const int64_t *dim, tile_stream);
void tile_instance_close(tile_instance *);

#ifdef __cplusplus
}
#endif
#endif
