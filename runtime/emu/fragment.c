/* fragment.c: blocks of 8 x 8 elements of 16 bits between LDS and registers of a wave. Lane 8 i + r says where row r
   of block i is. A register has two neighbours of row lane / 4, or across of column lane / 4. PTX ISA, "ldmatrix",
   "stmatrix". */
#include "cluster.h"

#include <string.h>

enum { ELEMENTS = 64, ROW_BYTES = 16 }; /* of a block of 8 by 8 elements of 16 bits: PTX ISA, ldmatrix */

/* Which element of a block half `h` of a lane's register is. */
static int element_of(int lane, int h, bool across) {
    int pair = 2 * (lane % 4) + h;
    return across ? pair * 8 + lane / 4 : lane / 4 * 8 + pair;
}

/* The row that a lane has given the address of. */
static char *row_at(int lane, int first, bool store) {
    uint32_t at = emu->lane[first + lane].arg.value;
    size_t byte = shared_at(emu, at, ROW_BYTES, store);
    Touch by = order_touch(store ? TOUCH_LDS_STORE : TOUCH_LDS_READ);
    by.lane = (uint8_t)lane;
    if (at % ROW_BYTES) emu_fail("has a row of a block at address %u of LDS: no multiple of %d", at, ROW_BYTES);
    lds_touch(&emu->lds, byte, ROW_BYTES, &by, NULL);
    return emu->lds.base + byte;
}

static void blocks_move(int first, int lanes) {
    const tile_emu_blocks *op = lane_now()->arg.op;
    for (int i = 0; i < op->n; i++) {
        uint16_t block[ELEMENTS];
        for (int r = 0; r < 8 && !op->store; r++) memcpy(block + 8 * r, row_at(8 * i + r, first, false), ROW_BYTES);
        for (int lane = 0; lane < lanes; lane++) {
            uint16_t *x = (uint16_t *)emu->lane[first + lane].arg.d + 2 * i;
            for (int h = 0; h < 2; h++) {
                uint16_t *e = &block[element_of(lane, h, op->across)];
                if (op->store)
                    *e = x[h];
                else
                    x[h] = *e;
            }
        }
        for (int r = 0; r < 8 && op->store; r++) memcpy(row_at(8 * i + r, first, true), block + 8 * r, ROW_BYTES);
    }
}

void tile_emu_blocks_move(const tile_emu_blocks *op, uint32_t at, uint32_t *x) {
    lanes_meet((MeetArg){.work = blocks_move, .size = group_lanes(), .op = op, .value = at, .d = x});
}
