/* gpu_launch.h: a launch with attributes, as the CUDA driver and the emulator take it. */
#ifndef TILE_SRC_GPU_LAUNCH_H
#define TILE_SRC_GPU_LAUNCH_H

#include <stdint.h>

enum { GPU_LAUNCH_DEPENDENT = 6 /* attribute, CUDA: it may begin before the one before it has ended */ };

/* CUlaunchAttribute and CUlaunchConfig. */
typedef struct {
    int id, unused;
    union {
        int value;
        uint64_t bytes[8];
    };
} GpuLaunchAttribute;

typedef struct {
    unsigned groups[3], threads[3], lds;
    void *stream;
    GpuLaunchAttribute *attribute;
    unsigned nattributes;
} GpuLaunchConfig;

#endif
