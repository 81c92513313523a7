/* emu.h: the emulator of a GPU: a launch runs its workgroups one after the other in an order drawn from a seed, the
   threads of a workgroup as fibers in an order drawn likewise. The first error ends the launch. */
#ifndef TILE_EMU_EMU_H
#define TILE_EMU_EMU_H

#include "device/tile_emu.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum { EMU_THREADS = 1024, EMU_LANES = 64 };

/* ---- fiber.c ---- */

typedef struct {
    void *context; /* where it goes on */
    char *stack;
} Fiber;

bool fiber_open(Fiber *); /* its stack; false: no memory */
void fiber_close(Fiber *);
void fiber_begin(Fiber *, void (*run)(void)); /* the next switch to it calls run, which does not return */
void fiber_switch(Fiber *from, Fiber *to);

/* ---- memory.c: allocations and LDS, each byte with who touched it last ---- */

/* Since the last barrier (LDS), in this launch (global). */
typedef struct {
    uint32_t epoch;
    int32_t writer; /* thread or workgroup; -1: none */
    int32_t reader; /* -1: none, -2: several */
} Touch;

typedef struct Block {
    struct Block *next;
    char *base;
    size_t bytes;
    Touch *touch;  /* of each byte */
    bool *written; /* ever */
} Block;

typedef struct {
    char *base;
    size_t bytes;
    Touch *touch;
    uint32_t epoch;
} Lds;

void *memory_alloc(size_t bytes); /* poisoned; NULL: no memory */
bool memory_free(void *base);
Block *memory_find(const void *p);          /* the block that begins nearest at or before p; NULL: none */
void memory_written(void *p, size_t bytes); /* by the host */
void global_check(const char *p, size_t bytes, int how, const char *value);
void lds_check(const char *p, size_t bytes, int how, const char *value);

/* ---- group.c: the workgroup that runs ---- */

typedef enum { LANE_READY, LANE_SYNC, LANE_WAVE, LANE_DONE } LaneState;
typedef enum { WAVE_SHUFFLE, WAVE_MULTIPLY } WaveKind;

/* What a lane brings to an operation of its wave. */
typedef struct {
    WaveKind kind;
    uint32_t value;
    int from;
    const tile_emu_matrix *op;
    void *d;
    const void *a, *b;
} WaveArg;

typedef struct {
    Fiber fiber;
    LaneState state;
    WaveArg arg;
} Lane;

typedef struct {
    const char *kernel;
    void (*run)(const void *call);
    const void *call;
    int64_t ngroups;
    int threads;
    size_t lds_bytes;
} Launch;

typedef struct {
    const Launch *launch;
    int64_t group;
    uint32_t number; /* of the launch */
    int lanes;       /* of a wave; known when the kernel begins */
    int thread;      /* that runs */
    int waiting;     /* at the barrier */
    int64_t shared;  /* of tile_emu_broadcast, tile_emu_any */
    Lane lane[EMU_THREADS];
    int ready[EMU_THREADS], nready;
    Lds lds;
    Fiber main;
    uint64_t random;
    bool failed;
    char text[512];
} Group;

extern _Thread_local Group *emu; /* the group of this thread's launch; NULL outside of launches */

bool emu_launch(const Launch *); /* false: emu_text() says why */
const char *emu_text(void);
void emu_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* of the thread that runs: does not return */
uint64_t emu_random(void);

/* ---- matrix.c ---- */

void matrix_multiply(const tile_emu_matrix *, const WaveArg *arg[], int lanes);

#pragma GCC visibility pop
#endif
