/* simulate.h: caches of chiplets, simulated line by line for a kernel's tasks (tilec explain --cache-sim). */
#ifndef TILEC_PASSES_REMAP_SIMULATE_H
#define TILEC_PASSES_REMAP_SIMULATE_H

#include "passes/remap/reuse.h"

typedef struct {
    double tasks, all;           /* that began, and of the grid */
    double requests, hits;       /* of the L2: reads of a line, writes of half a line */
    double fetched, last_hits;   /* bytes from beyond the L2, and the share of them that the last level had */
    double memory;               /* bytes from and to memory */
    bool unknown;                /* places, loops or conditions follow from data: they are left out */
} CacheSim;

/* Of the order, or row-major where it is NULL. Run-time sizes at their bounds; the same result each time. */
CacheSim cache_simulate(const Module *, const Kernel *, const RemapMachine *, const Order *, Arena *);

#endif
