/* tile_deal.h: tasks dealt to chiplets: from a workgroup's number to that of its task. Workgroup g runs on chiplet
   g mod chiplets, and chiplets get tasks whose numbers follow each other. Bijections, whatever the numbers are. */
#ifndef TILE_DEVICE_TILE_DEAL_H
#define TILE_DEVICE_TILE_DEAL_H

#include "device/tile_scalar.h"

/* Number `in` of n, dealt in equal shares; the first ones have a task more where they do not come out even. */
TILE_FN uint32_t tile_share_of(uint32_t in, uint32_t n, uint32_t chiplets) {
    const uint32_t chiplet = in % chiplets, more = n % chiplets;
    return chiplet * (n / chiplets) + (chiplet < more ? chiplet : more) + in / chiplets;
}

/* All tasks are dealt. */
TILE_FN int64_t tile_deal_all(int64_t group, int64_t tasks, int chiplets) {
    return (int64_t)tile_share_of((uint32_t)group, (uint32_t)tasks, (uint32_t)chiplets);
}

/* Each `block` tasks are, a multiple of the number of chiplets, and those that are left over. */
TILE_FN int64_t tile_deal(int64_t group, int64_t tasks, int chiplets, int block) {
    const uint32_t in = (uint32_t)group % (uint32_t)block, begin = (uint32_t)group - in, left = (uint32_t)tasks - begin;
    return (int64_t)(begin + tile_share_of(in, left < (uint32_t)block ? left : (uint32_t)block, (uint32_t)chiplets));
}

/* Blocks are all whole. */
TILE_FN int64_t tile_deal_even(int64_t group, int chiplets, int block) {
    const uint32_t in = (uint32_t)group % (uint32_t)block;
    return (int64_t)((uint32_t)group - in + tile_share_of(in, (uint32_t)block, (uint32_t)chiplets));
}

#endif
