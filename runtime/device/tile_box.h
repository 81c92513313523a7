/* tile_box.h: `copy` and `store` of the form roles by boxes (tile_tma.h): between a tensor and a ring's slot
   (tile_ring.h). A row of a box has 128 bytes, whose chunks of 16 bytes are swizzled. Positions outside of the tensor
   arrive as zeros and are not stored, but count among the bytes that a slot expects. A tensor of fewer rows than a box
   has boxes of its rows (tile_map.few, or a box so small), which bring fewer bytes.

   | panel | row of 128 bytes along        | box of the map                         | a tile is                 |
   |-------|-------------------------------|----------------------------------------|---------------------------|
   | K     | the contracted range          | {128 bytes, rows / sharers, or piece}  | one panel                 |
   | MN    | the other range, 16-bit types | {64, 64}, or {64, 64 / sharers} where  | a panel for 64 columns,   |
   |       |                               | sharers do not divide the panels       | TILE_PANEL_MN bytes apart | */
#ifndef TILE_DEVICE_TILE_BOX_H
#define TILE_DEVICE_TILE_BOX_H

enum { TILE_PANEL_MN = 64 * 128 }; /* bytes of a panel MN: 64 positions of the contracted range */

/* A tensor of a task: its map, of 2 or 3 dimensions, and the third coordinate. */
struct tile_boxes {
    const tile_tensor_map *map;
    int dims, plane;
    bool once = false; /* of 2 dimensions: nobody else reads what a copy brings, and the L2 forgets it first */
};

enum { TILE_OUTSIDE = -(1 << 30) }; /* a coordinate outside of every tensor: what is copied from there is zero */

/* A place, which boxes take in 32 bits: beyond them it lies outside of every tensor. */
TILE_FN int tile_coordinate(int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int)x; }

/* ---- copies ---- */

/* To byte `to` of the slot. sharers: the workgroups of the cluster that all get the box; 1: this one. */

TILE_FN void tile_box_load(tile_slot slot, int to, tile_boxes x, int c0, int c1, int sharers) {
    const uint32_t at = slot.at + (uint32_t)to;
    const uint16_t all = (uint16_t)((1 << sharers) - 1);
    if (x.dims == 3 && sharers > 1) tile_tma_load3_all(at, x.map, c0, c1, x.plane, slot.full, all);
    if (x.dims == 3 && sharers == 1) tile_tma_load3(at, x.map, c0, c1, x.plane, slot.full);
    if (x.dims == 2 && sharers > 1) tile_tma_load2_all(at, x.map, c0, c1, slot.full, all);
    if (x.dims == 2 && sharers == 1 && x.once) tile_tma_load2_once(at, x.map, c0, c1, slot.full);
    if (x.dims == 2 && sharers == 1 && !x.once) tile_tma_load2(at, x.map, c0, c1, slot.full);
}

/* One that lies outside is left out: the slot keeps what it had. (Zeros come at 19.5 bytes a clock, other boxes at 46:
   measured on an H200.) */
TILE_FN void tile_box_leave(tile_slot slot, int bytes, int rank, int sharers) {
    for (int i = 0; i < sharers; i++) tile_mbar_complete(slot.full, sharers > 1 ? i : rank, bytes);
}

/* A tile of `rows` rows from `row` on, 128 bytes of k; of a shared tile the part that is this workgroup's to copy. */
TILE_FN void tile_box_k(tile_slot slot, int to, tile_boxes x, int k, int row, int rows, int rank, int sharers) {
    const int own = sharers > 1 ? rank * (rows / sharers) : 0;
    tile_box_load(slot, to + 128 * own, x, k, row + own, sharers);
}
/* The same by boxes of `piece` rows, of a tensor of `end` rows: those behind them are left out. */
TILE_FN void tile_box_k_to(tile_slot slot, int to, tile_boxes x, int k, int row, int rows, int piece, int64_t end,
                           int rank, int sharers) {
    const int own = sharers > 1 ? rank * (rows / sharers) : 0;
#pragma unroll
    for (int u = own; u < own + rows / sharers; u += piece)
        if (row + u < end)
            tile_box_load(slot, to + 128 * u, x, k, row + u, sharers);
        else
            tile_box_leave(slot, 128 * piece, rank, sharers);
}
/* The same where a tensor of at most `rows` rows has a single box of as many. */
TILE_FN void tile_box_k_few(tile_slot slot, int to, tile_boxes x, int k, int row, int rows, int piece, int64_t end,
                            int rank, int sharers) {
    if (end <= rows)
        tile_box_load(slot, to, x, k, row, sharers);
    else
        tile_box_k_to(slot, to, x, k, row, rows, piece, end, rank, sharers);
}

/* A tile of `columns` columns from `column` on, 64 positions of k. Its sharers copy some of its panels each, or some
   positions of k where the panels cannot be dealt out. */
TILE_FN void tile_box_mn(tile_slot slot, int to, tile_boxes x, int k, int column, int columns, int rank, int sharers) {
    const int panels = (columns + 63) / 64, own = sharers > 1 ? rank : 0;
    const bool dealt = panels % sharers == 0;
    const int part = dealt ? panels / sharers : panels, first = dealt ? own * part : 0;
    const int depth = dealt ? 0 : own * (64 / sharers);
#pragma unroll
    for (int u = 0; u < part; u++)
        tile_box_load(slot, to + TILE_PANEL_MN * (first + u) + 128 * depth, x, column + 64 * (first + u), k + depth,
                      sharers);
}
/* The same of a tensor of `end` columns: panels behind them are left out. */
TILE_FN void tile_box_mn_to(tile_slot slot, int to, tile_boxes x, int k, int column, int columns, int64_t end, int rank,
                            int sharers) {
    const int panels = (columns + 63) / 64, own = sharers > 1 ? rank : 0;
    const bool dealt = panels % sharers == 0;
    const int part = dealt ? panels / sharers : panels, first = dealt ? own * part : 0;
    const int rows = dealt ? 64 : 64 / sharers, depth = dealt ? 0 : own * rows;
#pragma unroll
    for (int u = first; u < first + part; u++)
        if (column + 64 * u < end)
            tile_box_load(slot, to + TILE_PANEL_MN * u + 128 * depth, x, column + 64 * u, k + depth, sharers);
        else
            tile_box_leave(slot, 128 * rows, rank, sharers);
}

/* ---- pixels ---- */

/* Where a tile begins: a channel, and a pixel of those that the map counts; how far from there all are read. */
typedef struct {
    const tile_tensor_map *map;
    int channel, image, y, x, down, right;
} tile_pixels;

/* A tile of so many pixels, 128 bytes of channels; of a shared tile the part that is this workgroup's to copy, which
   begins at that pixel. */
TILE_FN void tile_box_pixels(tile_slot slot, int to, tile_pixels p, int pixels, int rank, int sharers) {
    const uint32_t at = slot.at + (uint32_t)(to + (sharers > 1 ? 128 * rank * (pixels / sharers) : 0));
    if (sharers > 1)
        tile_tma_load_pixels_all(at, p.map, p.channel, p.x, p.y, p.image, p.right, p.down, slot.full,
                                 (uint16_t)((1 << sharers) - 1));
    else
        tile_tma_load_pixels(at, p.map, p.channel, p.x, p.y, p.image, p.right, p.down, slot.full);
}

/* ---- stores: by one thread, behind the fence and the barrier of those that wrote the slot ---- */

/* `columns` columns, in panels of 64 and 64 rows, from [row, column] on; the last panel may have fewer. */
TILE_FN void tile_box_store(tile_boxes x, int row, int column, int columns, uint32_t from) {
#pragma unroll
    for (int u = 0; u < (columns + 63) / 64; u++) {
        if (x.dims == 3) tile_tma_store3(x.map, column + 64 * u, row, x.plane, from + 8192 * u);
        if (x.dims == 2) tile_tma_store2(x.map, column + 64 * u, row, from + 8192 * u);
    }
    tile_tma_commit();
}

#endif
