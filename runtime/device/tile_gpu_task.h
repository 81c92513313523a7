/* tile_gpu_task.h: facts of a run for kernels of a program with flags: where flag words, counters and peers' memory
   are. Plain C: the runtime fills the struct, device text reads it. Meaning: docs/design/synchronisation.md. */
#ifndef TILE_DEVICE_TILE_GPU_TASK_H
#define TILE_DEVICE_TILE_GPU_TASK_H

#include "device/tile_print.h"

#include <stdint.h>

/* A flag word in a cache line of its own; at multiples of 64 bytes. */
typedef struct {
    uint64_t value; /* generation of the last completion */
    uint64_t pad[7];
} tile_gpu_word;

/* What happened; the first of several writes it. */
typedef struct {
    uint64_t claim, pad0[7]; /* how many there are */
    int32_t rank, missing, flag;
    int32_t code;          /* TILE_E_TIMEOUT; TILE_E_BUSY: a run began before the one before had ended;
                              TILE_E_RANGE: element `task` of argument `missing` is `seen` */
    int32_t instance, pad; /* whose flag it is */
    int64_t task;
    uint64_t expected, seen;
} tile_gpu_record;

/* One per rank, in memory of its device that all ranks address, zero at first. */
typedef struct {
    uint64_t poison, pad[7]; /* 1 + the rank whose record says why; 0: healthy */
    tile_gpu_record record;  /* why this rank gave up; written before any poison word names the rank */
    tile_gpu_record refusal; /* of a run that all ranks refused; its host takes it away */
} tile_gpu_fault;

/* Of a rank, in the host's memory: what it has to learn of from its device. */
typedef struct {
    uint64_t fault, refusal; /* 0: nothing */
} tile_gpu_notice;

/* One per rank and instance, in memory of its device; constant once the instance is open. */
typedef struct tile_gpu_task {
    int32_t rank, nranks;
    int32_t coord[3];             /* along each mesh axis */
    int32_t instance;             /* the runtime's number of it, for fault records */
    uint64_t timeout_ns;          /* of a wait */
    uint64_t *generation;         /* runs that this rank has completed */
    uint64_t *busy;               /* not 0 while a run is in flight */
    uint64_t *count;              /* arrival counters, zero between completions */
    uint64_t *ticket;             /* tasks taken, of each launch that takes tickets; zero between launches */
    char *const *symmetric;       /* [nranks] peer-visible workspace of each rank */
    tile_gpu_word *const *word;   /* [nranks] flag words of each rank */
    tile_gpu_fault *const *fault; /* [nranks] */
    tile_gpu_notice *notice;      /* of this rank */
    tile_prints *prints;          /* NULL: the program leaves none */
} tile_gpu_task;

#endif
