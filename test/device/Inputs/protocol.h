/* protocol.h: what the kernels of protocol.hip and their driver share. */
#ifndef TEST_PROTOCOL_H
#define TEST_PROTOCOL_H

#include "device/tile_gpu_task.h"

enum {
    RANKS = 3,
    THREADS = 128,
    TILES = 3, /* tasks of a launch */
    /* areas of symmetric memory, each of two copies of TILES tiles */
    PULL = 0,
    PUSH, /* one of each rank */
    COPY = PUSH + RANKS,
    AREAS,
    /* flag words */
    WORD_PULL = 0,
    WORD_PUSH = WORD_PULL + RANKS * TILES,
    WORD_COPY = WORD_PUSH + RANKS,
    WORD_CHAIN,
    WORD_GATHER = WORD_CHAIN + TILES,
    WORD_VAIN,
    WORDS,
    THANKS = 2 * RANKS * THREADS, /* packets behind those of the exchange */
    PACKETS = THANKS + THREADS
};

typedef struct {
    const tile_gpu_task *task;
    float *out;
    uint64_t *packets[RANKS]; /* of each rank */
} protocol_call;

#endif
