/* tile_gather.h: `copy` of kind `rows` of the form roles on sm_90a: rows of a tensor that lie anywhere, to the panels
   that boxes write (tile_box.h), 16, 8 or 4 bytes a lane. A line has 128 bytes: a row of a panel K; of panels MN, line
   64 u + k is row k of panel u. Lanes of whole warps copy; arrivals at `full`: these lanes. */
#ifndef TILE_DEVICE_TILE_GATHER_H
#define TILE_DEVICE_TILE_GATHER_H

/* Where byte `byte` of a line lies, of a piece of 16 bytes; in the line 8 further on 1024 bytes further. */
TILE_FN uint32_t tile_line_at(uint32_t tile, int line, int byte) {
    return tile + (uint32_t)(128 * line + (byte ^ (line & 7) << 4));
}

/* To byte `byte` of a line, a multiple of `size`: so many of `size` bytes, behind them zeros; 0 or less: zeros alone,
   `from` is not read. */
TILE_FN void tile_line_copy(uint32_t tile, int line, int byte, const void *from, int size, int bytes) {
    tile_copy_some(tile_line_at(tile, line, byte), from, size, tile_max_i32(0, tile_min_i32(bytes, size)));
}

/* The lane's pieces of a row in panels `step` bytes apart, of which all but the last certainly exist: 16 bytes each, from
   `at` times 16 bytes behind `from` on; zeros, where `at` is below 0. */
TILE_FN void tile_row_panels(uint32_t to, const void *from, int at, int panels, int step, bool last) {
    const char *row = (const char *)from + (int64_t)at * 16;
    const int here = at < 0 ? 0 : 16;
#pragma unroll
    for (int p = 0; p < panels; p++)
        tile_copy_some(to + step * p, row + 128 * p, 16, p + 1 < panels || last ? here : 0);
}

/* End of a `put` of rows, which began with tile_ring_open, by each lane: the slot is full when its copies have come. */
TILE_FN void tile_ring_copied(const tile_ring *r, tile_ring_end *e) {
    tile_mbar_arrive_copied(tile_ring_full(r, e->s));
    tile_ring_step(r, e);
}

/* `get` of a slot that a product reads, by each thread of the group: who copied could not fence what was still coming.
 */
TILE_FN uint32_t tile_ring_get_copied(const tile_ring *r, tile_ring_end *e) {
    const uint32_t at = tile_ring_get(r, e);
    tile_async_fence();
    return at;
}

#endif
