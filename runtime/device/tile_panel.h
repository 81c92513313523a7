/* tile_panel.h: what schedules of sm_90a make of its instructions (tile_tma.h). */
#ifndef TILE_DEVICE_TILE_PANEL_H
#define TILE_DEVICE_TILE_PANEL_H

TILE_FN void tile_cluster_sync(void) {
    tile_cluster_arrive();
    tile_cluster_wait();
}

/* All have come here, and their stores need not have: behind tile_mbar_init_done; or before a workgroup ends, when it
   has waited for all that others send to its memory. */
TILE_FN void tile_cluster_meet(void) {
    tile_cluster_arrive_alone();
    tile_cluster_wait();
}

/* Elements of 16 bits from row `row` of panels of 64 columns as copies swizzle them, 64 rows each: `at` is where the
 * row begins. */
TILE_FN uint32_t tile_panel_at(uint32_t at, int row, int j) {
    return at + (j >> 6) * 8192 + (((j >> 3 ^ row) & 7) << 4);
}
TILE_FN uint16_t tile_panel_load(uint32_t at, int row, int j) {
    return tile_shared_load2(tile_panel_at(at, row, j) + (j & 7) * 2);
}
/* Of two vectors the eight neighbours behind the first `past`; x is used up. */
TILE_FN void tile_panel_shift(uint32_t y[4], uint32_t x[8], int past) {
#pragma unroll
    for (int bit = 4; bit > 1; bit /= 2) /* of 8 words, then 6, then 5, those from past / 2 on */
#pragma unroll
        for (int i = 0; i + bit / 2 < 8; i++) x[i] = past & bit ? x[i + bit / 2] : x[i];
#pragma unroll
    for (int i = 0; i < 4; i++) y[i] = past & 1 ? x[i] >> 16 | x[i + 1] << 16 : x[i];
}

#endif
