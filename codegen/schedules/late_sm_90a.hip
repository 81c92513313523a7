/* Of 64 rows of rounded sums in workgroup memory every `step`-th $PER from `first` on: results, 8 columns a lane, four times $PER
   rows at a time. */
TILE_FN void $kernel_finish($call call, uint32_t lds, int i0, int j0, int first, int step) {
    $elem *const c = $c;
    int j = j0 + 8 * (tile_lane() % $LANES), down = tile_lane() / $LANES, rows = tile_min_i32(64, $kernel_M - i0);
    if (j >= $kernel_N) return;
#pragma unroll 1
    for (int top = $PER * first + down; top < rows; top += 4 * $PER * step) {
?late_near         uint32_t near[4][4];
?late_near #pragma unroll
?late_near         for (int u = 0; u < 4; u++)
?late_near             if (top + $PER * u * step < rows) tile_load16(&$beside_it[(int64_t)(i0 + top + $PER * u * step) * $kernel_N + j], near[u]);
#pragma unroll
        for (int u = 0; u < 4; u++) {
            int row = top + $PER * u * step, i = i0 + row;
            uint32_t x[4], y[4];
?late_two             uint32_t z[4];
            if (row >= rows) break;
            tile_shared_load16(tile_panel_at(lds + row * 128, row, j - j0), x);
?late_two             tile_shared_load16(tile_panel_at(lds + row * 128, row, $WIDE + j - j0), z);
#pragma unroll
            for (int q = 0; q < 4; q++)
                y[q] = tile_$outx2($kernel_result(call, ($half)x[q], $other_low$near_lowi, j + 2 * q),
                                   $kernel_result(call, ($half)(x[q] >> 16), $other_high$near_highi, j + 2 * q + 1));
            tile_store16(&c[(int64_t)i * $kernel_N + j], y);
        }
    }
}

/* By the three warps that neither copy nor multiply: all tiles but the last, which those who multiplied it finish. */
TILE_FN void $kernel_finish_all($call call, $kernel_place at) {
    int warp = tile_shuffle(tile_wave() - 1, 0), phase[2] = {0, 0};
    for (int pair = $kernel_first(at), after; (after = $kernel_next(at, pair)) < $kernel_PAIRS; pair = after) {
        int i0, j0;
        $kernel_tile(at, pair, &i0, &j0);
#pragma unroll
        for (int group = 0; group < 2; group++) {
            if (i0 + 64 * group >= $kernel_M) continue;
            tile_mbar_wait(at.lds + $kernel_LEFT + 8 * group, phase[group]);
            phase[group] ^= 1;
            $kernel_finish(call, at.lds + $kernel_OUT + group * 128 * $COLUMNS, i0 + 64 * group, j0, warp, 3);
            tile_wave_sync();
            if (tile_lane() == 0) tile_mbar_arrive(at.lds + $kernel_DONE + 8 * group);
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
    $kernel_finish(call, lds, i0, j0, thread >> 5, 4);
}

