/* A row of rounded sums in workgroup memory: results, 8 columns of a lane. */
TILE_FN void $kernel_finish_row($call call, uint32_t lds, $late_takeint i0, int row, int j0, int j) {
    $elem *const c = $c;
    int i = i0 + row;
    uint32_t x[4], y[4];
?late_two     uint32_t z[4];
    tile_shared_load16(tile_panel_at(lds + row * 128, row, j - j0), x);
?late_two     tile_shared_load16(tile_panel_at(lds + row * 128, row, $WIDE + j - j0), z);
#pragma unroll
    for (int q = 0; q < 4; q++)
        y[q] = tile_$outx2($kernel_result(call, ($half)x[q], $other_low$near_lowi, j + 2 * q),
                           $kernel_result(call, ($half)(x[q] >> 16), $other_high$near_highi, j + 2 * q + 1));
    tile_store16(&c[(int64_t)i * $kernel_N + j], y);
}

/* The 64 rows of a warpgroup by its four warps, $PER at a time and warp, four times that under way. */
TILE_FN void $kernel_finish($call call, uint32_t lds, int i0, int j0, int warp) {
    int j = j0 + 8 * (tile_lane() % $LANES), down = tile_lane() / $LANES, rows = tile_min_i32(64, $kernel_M - i0);
    if (j >= $kernel_N) return;
#pragma unroll 1
    for (int top = $PER * warp + down; top < rows; top += 16 * $PER) {
?late_near         uint32_t near[4][4];
?late_near #pragma unroll
?late_near         for (int u = 0; u < 4; u++)
?late_near             if (top + 4 * $PER * u < rows) tile_load16(&$beside_it[(int64_t)(i0 + top + 4 * $PER * u) * $kernel_N + j], near[u]);
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (top + 4 * $PER * u < rows) $kernel_finish_row(call, lds, $late_rowi0, top + 4 * $PER * u, j0, j);
    }
}

?late_near /* What a row is made with besides the sums, to where the lane finds it when it comes to that row. */
?late_near TILE_FN void $kernel_fetch($call call, uint32_t to, int i, int j, bool wanted) {
?late_near     if (wanted) tile_copy_once(to, &$beside_it[(int64_t)i * $kernel_N + j], 16);
?late_near     tile_copy_commit();
?late_near }
?late_near
/* By the three warps that neither copy nor multiply: all tiles but the last, which those who multiplied it finish. A row at a time,
   in few instructions: four rows' leave the caches that the others' come from. */
TILE_FN void $kernel_finish_all($call call, $kernel_place at) {
    int warp = tile_shuffle(tile_wave() - 1, 0), lane = tile_lane(), phase[2] = {0, 0};
?late_near     uint32_t ring = at.lds + $kernel_RING + warp * 4 * 512 + lane * 16;
    for (int pair = $kernel_first(at), after; (after = $kernel_next(at, pair)) < $kernel_PAIRS; pair = after) {
        int i0, j0;
        $kernel_tile(at, pair, &i0, &j0);
        int j = j0 + 8 * (lane % $LANES), row = $PER * warp + lane / $LANES, rows = tile_min_i32(128, $kernel_M - i0);
        bool inside = j < $kernel_N;
?late_near         int slot = 0;
?late_near #pragma unroll
?late_near         for (int u = 0; u < 4; u++)
?late_near             $kernel_fetch(call, ring + 512 * u, i0 + row + 3 * $PER * u, j, inside && row + 3 * $PER * u < rows);
#pragma unroll
        for (int group = 0; group < 2; group++) {
            uint32_t lds = at.lds + $kernel_OUT + group * 128 * $COLUMNS;
            if (64 * group >= rows) continue;
            tile_mbar_wait(at.lds + $kernel_LEFT + 8 * group, phase[group]);
            phase[group] ^= 1;
#pragma unroll 1
            for (; row < tile_min_i32(rows, 64 * group + 64); row += 3 * $PER) {
?late_near                 uint32_t near[4];
?late_near                 tile_copy_wait(3);
?late_near                 tile_shared_load16(ring + 512 * slot, near);
                if (inside) $kernel_finish_row(call, lds, $late_givei0 + 64 * group, row - 64 * group, j0, j);
?late_near                 $kernel_fetch(call, ring + 512 * slot, i0 + row + 12 * $PER, j, inside && row + 12 * $PER < rows);
?late_near                 slot = (slot + 1) & 3;
            }
            tile_wave_sync();
            if (lane == 0) tile_mbar_arrive(at.lds + $kernel_DONE + 8 * group);
        }
    }
}
?late_sum
?late_sum /* What is rounded, for a sum x at [i, j]. */
?late_sum $rounded

/* What a thread has of the sums, rounded, to workgroup memory. */
TILE_FN void $kernel_leave($call call, uint32_t lds, const float acc[$COLUMNS / 2], int i0, int j0, int thread) {
    int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
?late_sum     int above = i0 + 16 * (thread >> 5) + lane / 4, i[2] = {$clamp_iabove$end_i, $clamp_iabove + 8$end_i};
#pragma unroll
    for (int q = 0; q < $COLUMNS / 16; q++) {
        int chunk = 2 * q + (lane >> 4);
?late_bare         const float *x = acc + 8 * q;
?late_sum         float x[8];
?late_sum #pragma unroll
?late_sum         for (int r = 0; r < 8; r++) {
?late_sum             int j = j0 + 16 * q + 8 * (r >> 2) + 2 * (lane & 3) + (r & 1);
?late_sum             x[r] = $kernel_sum(call, acc[8 * q + r], i[(r >> 1) & 1], $clamp_jj$end_j);
?late_sum         }
        tile_stmatrix4(tile_panel_at(lds + row * 128, row, 8 * chunk), tile_$outx2(x[0], x[1]), tile_$outx2(x[2], x[3]), tile_$outx2(x[4], x[5]), tile_$outx2(x[6], x[7]));
    }
}

/* A tile's sums to those who finish it; the last are finished here. */
TILE_FN void $kernel_pass_on($call call, $kernel_place at, const float acc[$COLUMNS / 2], int i0, int j0, bool last, int phase, int group, int thread) {
    uint32_t lds = at.lds + $kernel_OUT + group * 128 * $COLUMNS;
    tile_mbar_wait(at.lds + $kernel_DONE + 8 * group, phase);
    $kernel_leave(call, lds, acc, i0, j0, thread);
    tile_wave_sync();
    if (!last && tile_lane() == 0) tile_mbar_arrive(at.lds + $kernel_LEFT + 8 * group);
    if (!last) return;
    tile_bar_sync(1 + group, 128);
    $kernel_finish(call, lds, i0, j0, thread >> 5);
}

