/* order.hip: a kernel for each way of dealing tasks; `plain` deals none. */
#include "device/tile_gfx942.h"

typedef struct {
    int *to;
} deal_call;

#define DEALT(name, task)                                                                                              \
    TILE_KERNEL(name, deal_call, 64) { call.to[0] = (int)(task); }

DEALT(plain, tile_group())
DEALT(all, tile_deal_all(tile_group(), 1728, 8))
DEALT(odd, tile_deal_all(tile_group(), 1731, 8))
DEALT(even, tile_deal_even(tile_group(), 8, 256))
DEALT(cut, tile_deal(tile_group(), 1731, 8, 256))
