/* $kernel: a workgroup makes tiles of 128 x $made; two workgroups of a cluster, $lie, $share by multicast. One
   warp copies $DEEP positions of k at a time into a ring of $STAGES stages, two warpgroups multiply, 64 x $COLUMNS each. Tiles over the edge come
   last, first to clusters that the whole tiles leave idle; warpgroups without rows skip the products$alone.$fringe */
enum {
    $kernel_M = $M,
    $kernel_N = $N,
    $kernel_STEPS = ($K + $DEEP - 1) / $DEEP,    /* along k */
?turns     $kernel_TURN = $kernel_STEPS > $STAGES - 1 ? $kernel_STEPS - $STAGES + 1 : 0, /* the last steps, as many as there are stages but one, are in turns */
?near     $kernel_NEAR = $passes, /* stages of what results are made with besides the sums */
?above     $kernel_ROWS = ($INNER_M + 255) / 256,       /* of pairs of tiles, those over the edge too */
?above     $kernel_COLUMNS = ($INNER_N + $WIDE - 1) / $WIDE,
?above     $kernel_WHOLE_ROWS = $M / 256$but_below,               /* those that lie inside$but_fringe */
?above     $kernel_WHOLE_COLUMNS = $N / $WIDE$but_right,
?above     $kernel_WHOLE = ($M / 256) * ($N / $WIDE),
?beside     $kernel_ROWS = ($M + 127) / 128, /* of pairs of tiles */
?beside     $kernel_COLUMNS = ($N + 2 * $WIDE - 1) / (2 * $WIDE),
    $kernel_PAIRS = $kernel_ROWS * $kernel_COLUMNS,
    /* workgroup memory, from a multiple of 1024 on */
    $kernel_A_BYTES = 128 * 64 * 2,
?above     $kernel_B_BYTES = $HALF * 64, /* of the half that a workgroup copies */
?fringe     $kernel_TILE = (128 + $COLUMNS) * 64 * 2, /* of a stage; behind it lie, where the tile has them beside it, */
?right     $kernel_RIGHT = $kernel_TILE, /* columns of b to the right */
?below     $kernel_BELOW = $kernel_TILE + $RIGHT_BYTES, /* and rows of a below */
?fringe     $kernel_STAGE = $kernel_TILE$fringe_bytes,
?inside     $kernel_STAGE = (128 + $LINES) * 64 * 2,
    $kernel_OUT = $STAGES * $kernel_STAGE,
    $kernel_FULL = $kernel_OUT + 2 * 64 * 128 * 2, /* barriers */
    $kernel_EMPTY = $kernel_FULL + 8 * $STAGES
};

?above /* Where this workgroup stands: its cluster, its rank in it; the first pair over the edge that the cluster takes, and the next from there. */
?above typedef struct {
?above     uint32_t lds;
?above     int rank, cluster, clusters, edge, edge_step;
?above } $kernel_place;
?above
?above TILE_FN $kernel_place $kernel_here(const char *lds) {
?above     $kernel_place at = {(tile_shared(lds) + 1023) & ~1023u, tile_cluster_rank(), (int)tile_group() / 2, (int)tile_groups() / 2, 0, 0};
?above     int edges = $kernel_PAIRS - $kernel_WHOLE, busy = $kernel_WHOLE % at.clusters, idle = at.clusters - busy;
?above     bool alone = busy && edges <= 2 * idle; /* two of them take about as long as a whole one */
?above     at.edge = $kernel_WHOLE + (at.cluster - busy + at.clusters) % at.clusters;
?above     at.edge_step = alone ? idle : at.clusters;
?above     if (alone && at.cluster < busy) at.edge = $kernel_PAIRS;
?above     return at;
?above }
?above
?above TILE_FN int $kernel_first($kernel_place at) { return at.cluster < $kernel_WHOLE ? at.cluster : at.edge; }
?above TILE_FN int $kernel_next($kernel_place at, int pair) {
?above     if (pair >= $kernel_WHOLE) return pair + at.edge_step;
?above     return pair + at.clusters < $kernel_WHOLE ? pair + at.clusters : at.edge;
?above }
?above
?beside /* Where this workgroup stands: its cluster, its rank in it. */
?beside typedef struct {
?beside     uint32_t lds;
?beside     int rank, cluster, clusters;
?beside } $kernel_place;
?beside
?beside TILE_FN $kernel_place $kernel_here(const char *lds) {
?beside     return {(tile_shared(lds) + 1023) & ~1023u, tile_cluster_rank(), (int)tile_group() / 2, (int)tile_groups() / 2};
?beside }
?beside
?beside TILE_FN int $kernel_first($kernel_place at) { return at.cluster; }
?beside TILE_FN int $kernel_next($kernel_place at, int pair) { return pair + at.clusters; }
?beside
?fringe /* Of all pairs, behind which are those that make what lies beyond them too: clusters that get one less than others take from the end. */
?fringe TILE_FN int $kernel_pick($kernel_place at, int pair) {
?fringe     int busy = $kernel_WHOLE % at.clusters, round = pair / at.clusters;
?fringe     if (at.cluster < busy) return round * busy + at.cluster;
?fringe     return $kernel_WHOLE - 1 - round * (at.clusters - busy) - (at.cluster - busy);
?fringe }
?fringe
?above /* Whole pairs: 8 rows of pairs at a time, down the columns, so that workgroups at work together share rows and columns in L2. Then
?above    the last column, then the last row. */
?above TILE_FN void $kernel_tile($kernel_place at, int pair, int *i0, int *j0) {
?fringe     pair = $kernel_pick(at, pair);
?above     int edge = pair - $listed, row = $kernel_ROWS - 1, column = edge;
?above     if (edge < 0) {
?above         int first = pair / (8 * $kernel_WHOLE_COLUMNS) * 8, in = pair % (8 * $kernel_WHOLE_COLUMNS);
?above         int rows = tile_min_i32(8, $kernel_WHOLE_ROWS - first);
?above         row = first + in % rows;
?above         column = in / rows;
?above     } else if ($kernel_COLUMNS > $kernel_WHOLE_COLUMNS) {
?above         column = edge < $kernel_ROWS ? $kernel_COLUMNS - 1 : edge - $kernel_ROWS;
?above         row = edge < $kernel_ROWS ? edge : $kernel_ROWS - 1;
?above     }
?above     *i0 = row * 256 + at.rank * 128;
?above     *j0 = column * $WIDE;
?above }
?beside /* 12 rows of pairs at a time, down the columns, so that workgroups at work together share rows and columns in L2. */
?beside TILE_FN void $kernel_tile($kernel_place at, int pair, int *i0, int *j0) {
?beside     int first = pair / (12 * $kernel_COLUMNS) * 12, in = pair % (12 * $kernel_COLUMNS), rows = tile_min_i32(12, $kernel_ROWS - first);
?beside     *i0 = (first + in % rows) * 128;
?beside     *j0 = (in / rows * 2 + at.rank) * $WIDE;
?beside }

/* ---- the copying warp ---- */

?near /* What results are made with besides the sums, behind the operands: a stage for each $PASS columns. */
?near TILE_FN void $kernel_copy_near(const $kernel_maps *maps, $kernel_place at, int *s, int *phase, int i0, int j0) {
?near     for (int half = 0; half < $kernel_NEAR; half++) {
?near         uint32_t to = at.lds + *s * $kernel_STAGE, full = at.lds + $kernel_FULL + 8 * *s;
?near         tile_mbar_wait(at.lds + $kernel_EMPTY + 8 * *s, *phase);
?near         tile_mbar_expect(full, 128 * $PASS * 2);
?near         for (int u = 0; u < $PASS / 64; u++) tile_tma_load2(to + 16384 * u, &maps->map[$NEAR_MAP], j0 + $begin + 64 * u, i0, full);
?near         if (++*s == $STAGES) *s = 0, *phase ^= 1;
?near     }
?near }
?near
TILE_FN void $kernel_copy(const $kernel_maps *maps, $kernel_place at) {
    int s = 0, phase = 1;
    for (int pair = $kernel_first(at); pair < $kernel_PAIRS; pair = $kernel_next(at, pair)) {
        int i0, j0;
        $kernel_tile(at, pair, &i0, &j0);
?below         bool below = $is_below;
?right         bool right = $is_right;
#pragma unroll 1 /* unrolled it spills */
        for (int p0 = 0; p0 < $kernel_STEPS * $DEEP; p0 += $DEEP) {
            uint32_t a = at.lds + s * $kernel_STAGE, b = a + $kernel_A_BYTES$own, full = at.lds + $kernel_FULL + 8 * s;
            tile_mbar_wait(at.lds + $kernel_EMPTY + 8 * s, phase);
            tile_mbar_expect(full, $copied);
?above             tile_tma_load2(a, &maps->map[0], p0, i0, full);
?beside             tile_tma_load2_all(a + 8192 * at.rank, &maps->map[0], p0, i0 + 64 * at.rank, full, 3);
?rows_above             tile_tma_load2_all(b, $operand, p0, j0$beside, full, 3);
?rows_beside             tile_tma_load2(b, &maps->map[1], p0, j0, full);
?columns_beside             for (int u = 0; u < $LINES / 64; u++) tile_tma_load2(b + 8192 * u, &maps->map[1], j0 + 64 * u, p0, full);
?panels             for (int u = 0; u < $COLUMNS / 128; u++)
?panels                 tile_tma_load2_all(b + 8192 * u, $operand, j0$beside + 64 * u, p0, full, 3);
?panel             for (int u = 0; u < $LINES / 64; u++)
?panel                 tile_tma_load2_all(b + 8192 * u, &maps->map[1], j0 + 64 * u, p0 + 32 * at.rank, full, 3);
?right_rows             if (right) tile_tma_load2(a + $kernel_RIGHT, &maps->map[$RIGHT_MAP], p0, $INNER_N, full);
?right_columns             if (right) tile_tma_load2(a + $kernel_RIGHT, $operand, $INNER_N, p0, full);
?below             if (below) tile_tma_load2(a + $kernel_BELOW, &maps->map[$BELOW_MAP], p0, $INNER_M, full);
            if (++s == $STAGES) s = 0, phase ^= 1;
        }
?near         $kernel_copy_near(maps, at, &s, &phase, i0, j0);
    }
    for (int i = 0; i < $STAGES; i++) { /* nobody leaves while the other workgroup may still copy to it or arrive here */
        tile_mbar_wait(at.lds + $kernel_EMPTY + 8 * s, phase);
        if (++s == $STAGES) s = 0, phase ^= 1;
    }
}

/* ---- the multiplying warpgroups ---- */

TILE_FN void $kernel_give_back($kernel_place at, int s, int thread) {
    if (thread < 2) tile_mbar_arrive_at(at.lds + $kernel_EMPTY + 8 * s, thread);
}

/* A warpgroup without rows only gives the stages back. */
TILE_FN void $kernel_skip($kernel_place at, int *s, int *phase, int thread) {
    for (int step = 0; step < $steps$near_steps; step++) {
        tile_mbar_wait(at.lds + $kernel_FULL + 8 * *s, *phase);
        $kernel_give_back(at, *s, thread);
        if (++*s == $STAGES) *s = 0, *phase ^= 1;
    }
}

?parts /* Products of 8-bit types are summed in less than f32: by $DEEP positions of k at a time, and those in f32. */
?parts TILE_FN void $kernel_products($kernel_place at, int s, int group, float part[$COLUMNS / 2]) {
?parts     uint32_t a = at.lds + s * $kernel_STAGE + group * 8192, b = at.lds + s * $kernel_STAGE + $kernel_A_BYTES;
?parts     tile_wgmma_fence();
?parts #pragma unroll
?parts     for (int u = 0; u < 4; u++) tile_wgmma_ss_n$COLUMNS_$type(part, tile_wgmma_panel(a + 32 * u, 0), tile_wgmma_panel(b + 32 * u, 0), u);
?parts     tile_wgmma_commit();
?parts }
?parts /* `steps` of them, a number that is known here: one is added while the next is multiplied, at the end none is under way (else the
?parts    assembler would let all products wait for each other). */
?parts TILE_FN void $kernel_run($kernel_place at, int *s, int *phase, float acc[$COLUMNS / 2], int steps, int group, int thread) {
?parts     float part[2][$COLUMNS / 2];
?parts     int before = 0;
?parts #pragma unroll
?parts     for (int step = 0; step < steps + (steps > 0); step++) {
?parts         int stage = *s;
?parts         if (step < steps) {
?parts             tile_mbar_wait(at.lds + $kernel_FULL + 8 * stage, *phase);
?parts             $kernel_products(at, stage, group, part[step & 1]);
?parts             if (++*s == $STAGES) *s = 0, *phase ^= 1;
?parts         }
?parts         if (step) {
?parts             float *done = part[(step + 1) & 1];
?parts             if (step < steps) tile_wgmma_wait1(done, $COLUMNS / 2);
?parts             else tile_wgmma_wait0(done, $COLUMNS / 2);
?parts             $kernel_give_back(at, before, thread);
?parts #pragma unroll
?parts             for (int i = 0; i < $COLUMNS / 2; i++) acc[i] += done[i];
?parts             tile_wgmma_keep(acc, $COLUMNS / 2);
?parts         }
?parts         before = stage;
?parts     }
?parts }
?parts /* 64 rows and $COLUMNS columns of sums over all of k. */
?parts TILE_FN void $kernel_sums($kernel_place at, int *s, int *phase, float acc[$COLUMNS / 2], int group, int thread) {
?parts #pragma unroll
?parts     for (int i = 0; i < $COLUMNS / 2; i++) acc[i] = 0;
?parts     for (int step = 0; step + $RUN <= $kernel_STEPS; step += $RUN) $kernel_run(at, s, phase, acc, $RUN, group, thread);
?parts     $kernel_run(at, s, phase, acc, $kernel_STEPS % $RUN, group, thread);
?parts }
?fringe /* Sums beyond the last tiles, that a tile beside them makes with its own. Rows below are multiplied from the right, so that their
?fringe    sums are those of c, transposed. */
?fringe typedef struct {
?below     float below[$BELOW / 2];
?right     float right[$RIGHT / 2];
?corner     float corner[$RIGHT / 2];
?fringe } $kernel_fringe;
?fringe
?below /* Of the 64 columns of a tile that a warpgroup multiplies with the rows below. */
?below TILE_FN int $kernel_block($kernel_place at, int group) { return at.rank * $BLOCKS + group % $BLOCKS; }
?below
?fringe /* 16 positions of k, the u-th of a stage. */
?fringe TILE_FN void $kernel_beyond($kernel_place at, $kernel_fringe *f, uint32_t stage, int u, int add, bool below, bool right, int group) {
?below_rows     uint64_t b = tile_wgmma_panel(stage + $kernel_A_BYTES + $kernel_block(at, group) * 8192 + 32 * u, 0);
?below_columns     uint64_t b = tile_wgmma_panel(stage + $kernel_A_BYTES + $kernel_block(at, group) * 8192 + 2048 * u, 8192);
?below     uint64_t a = tile_wgmma_panel(stage + $kernel_BELOW + 32 * u, 0);
?below     if (below) tile_wgmma_ss_n$BELOW_$type_$across0(f->below, b, a, add);
?right_rows     uint64_t y = tile_wgmma_panel(stage + $kernel_RIGHT + 32 * u, 0);
?right_columns     uint64_t y = tile_wgmma_panel(stage + $kernel_RIGHT + 2048 * u, 8192);
?right     if (right) tile_wgmma_ss_n$RIGHT_$type_0$across(f->right, tile_wgmma_panel(stage + group * 8192 + 32 * u, 0), y, add);
?corner     if (below && right) {
?corner         tile_wgmma_rows($BELOW); /* of 64 from where they are */
?corner         tile_wgmma_ss_n$RIGHT_$type_0$across(f->corner, a, y, add);
?corner     }
?fringe }
?fringe
?whole /* 64 rows and `width` columns ($widths) of sums over all of k.$turns */
?whole TILE_FN void $kernel_sums($kernel_place at, int *s, int *phase, float acc[$COLUMNS / 2], $fringe_takeint width, int group, int thread) {
?whole     int before = -1; /* a stage is given back while the products of the next one run */
?whole     for (int step = 0; step < $steps; step++) {
?whole         uint32_t a = at.lds + *s * $kernel_STAGE + group * 8192, b = at.lds + *s * $kernel_STAGE + $kernel_A_BYTES;
?turns         if (group && step == $kernel_TURN) tile_bar_sync(3, 256); /* behind the other's last products */
?whole         tile_mbar_wait(at.lds + $kernel_FULL + 8 * *s, *phase);
?whole         tile_wgmma_fence();
?whole #pragma unroll
?whole         for (int u = 0; u < 4; u++) {
?rows_whole             uint64_t x = tile_wgmma_panel(a + 32 * u, 0), y = tile_wgmma_panel(b + 32 * u, 0);
?columns_whole             uint64_t x = tile_wgmma_panel(a + 32 * u, 0), y = tile_wgmma_panel(b + 2048 * u, 8192);
?broad_whole             if (width == $COLUMNS) tile_wgmma_ss_n$COLUMNS_$type_0$across(acc, x, y, step | u);
?broad_whole             else tile_wgmma_ss_n64_$type_0$across(acc, x, y, step | u);
?even_whole             tile_wgmma_ss_n$COLUMNS_$type_0$across(acc, x, y, step | u);
?fringe             $kernel_beyond(at, f, at.lds + *s * $kernel_STAGE, u, step | u, below, right, group);
?whole         }
?whole         tile_wgmma_commit();
?whole         tile_wgmma_wait1(acc, 0);
?whole         if (before >= 0) $kernel_give_back(at, before, thread);
?whole         before = *s;
?whole         if (++*s == $STAGES) *s = 0, *phase ^= 1;
?whole     }
?turns     if (!group) tile_bar_arrive(3, 256);
?whole     tile_wgmma_wait0(acc, width / 2);
?below     if (below) tile_wgmma_keep(f->below, $BELOW / 2);
?right     if (right) tile_wgmma_keep(f->right, $RIGHT / 2);
?corner     if (below && right) tile_wgmma_keep(f->corner, $RIGHT / 2);
?whole     $kernel_give_back(at, before, thread);
?whole }

?result /* What is stored for $sum at [i, j]. */
?result $epilogue
?staged /* What the warpgroup has put into workgroup memory, 64 rows from i0 and `columns` columns from j0, to rows of c that begin anywhere:
?staged    16 bytes a thread from the first multiple of 16 bytes on, before and behind them single elements. */
?staged TILE_FN void $kernel_store_rows($call call, $pickuint32_t lds, int i0, int j0, int columns, int thread) {
?staged     $elem *const c = $target;
?staged     int lane = thread & 31;
?staged     for (int row = thread >> 5; row < 64 && i0 + row < $kernel_M; row += 4) {
?staged         $elem *to = &c[(int64_t)(i0 + row) * $kernel_N + j0];
?staged         int before = tile_min_i32((int)(-((uintptr_t)to >> 1) & 7), columns), chunks = (columns - before) / 8, behind = before + 8 * chunks;
?staged         uint32_t from = lds + row * 128;
?staged         if (lane < chunks) {
?staged             uint32_t x[4];
?staged             tile_panel_load8(x, from, row, 8 * lane + before);
?staged             tile_store16(to + 8 * lane + before, x);
?staged         } else if (lane >= 16) {
?staged             int j = lane < 24 ? lane - 16 : lane - 24 + behind;
?staged             if (j < (lane < 24 ? before : columns)) tile_store_$out(to + j, tile_panel_load(from, row, j));
?staged         }
?staged     }
?staged }
?through /* 64 x $WIDE $results to global memory through workgroup memory, $PASS columns at a time. */
?tiled TILE_FN void $kernel_store($take$near_takeconst tile_tensor_map *c, uint32_t lds, const float acc[$COLUMNS / 2], int i0, int j0, int bar, int thread) {
?staged TILE_FN void $kernel_store($call call, uint32_t lds, const float acc[$COLUMNS / 2], int i0, int j0, int bar, int thread) {
?through     int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
?result_through     int above = i0 + 16 * (thread >> 5) + lane / 4, i[2] = {$clamp_iabove$end_i, $clamp_iabove + 8$end_i};
?through #pragma unroll
?through     for (int half = 0; half < $passes; half++) {
?uneven_through         const int start = $begin; /* what two passes have in common is stored twice */
?tiled         if (thread == 0) tile_tma_wait_read();
?through         tile_bar_sync(bar, 128);
?near         uint32_t beside = at.lds + *s * $kernel_STAGE + (bar - 1) * 8192;
?near         tile_mbar_wait(at.lds + $kernel_FULL + 8 * *s, *phase);
?through #pragma unroll
?through         for (int q = 0; q < $PASS / 16; q++) {
?through             int chunk = 2 * q + (lane >> 4);
?near             uint32_t near[4];
?near             tile_ldmatrix4(near, beside + (chunk >> 3) * 16384 + row * 128 + (((chunk ^ row) & 7) << 4));
?plain_through             const float *x = acc + $of_pass + 8 * q;
?result_through             float x[8];
?result_through #pragma unroll
?result_through             for (int r = 0; r < 8; r++) {
?result_through                 int j = j0$pass + 16 * q + 8 * (r >> 2) + 2 * (lane & 3) + (r & 1);
?one_through                 x[r] = $kernel_result(call, $whichacc[$from8 * q + r], $giveni[(r >> 1) & 1], $clamp_jj$end_j);
?two_through                 x[r] = $kernel_result(call, $whichacc[8 * q + r], acc[$EACH + 8 * q + r], $giveni[(r >> 1) & 1], $clamp_jj$end_j);
?result_through             }
?through             tile_stmatrix4(lds + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4), tile_$outx2(x[0], x[1]), tile_$outx2(x[2], x[3]),
?through                            tile_$outx2(x[4], x[5]), tile_$outx2(x[6], x[7]));
?through         }
?tiled         tile_async_fence();
?through         tile_bar_sync(bar, 128);
?near         $kernel_give_back(at, *s, thread);
?near         if (++*s == $STAGES) *s = 0, *phase ^= 1;
?staged         if (j0$pass < $kernel_N) $kernel_store_rows(call, $whichlds, i0, j0$pass, tile_min_i32($PASS, $kernel_N - j0$less), thread);
?tiled         if (thread == 0) {
?tiled             for (int u = 0; u < $PASS / 64; u++) tile_tma_store2(c$map, j0$pass + 64 * u, i0, lds + 8192 * u);
?tiled             tile_tma_commit();
?tiled         }
?through     }
?through }
?straight /* 64 x $WIDE $results from registers to global memory, two neighbours at a time. */
?straight TILE_FN void $kernel_store($call call, const float acc[$COLUMNS / 2], int i0, int j0, int thread) {
?straight_one     $elem *const c = $c;
?straight     int lane = thread & 31, above = i0 + 16 * (thread >> 5) + lane / 4;
?straight #pragma unroll
?straight     for (int r = 0; r < $STORED / 2; r += 2) {
?straight_both         $elem *const c = $target;
?straight         int i = above + 8 * ((r >> 1) & 1), j = j0 + 8 * ($in >> 2) + 2 * (lane & 3);
?straight         if (i >= $kernel_M || j >= $kernel_N) continue;
?plain_straight         float x[2] = {acc[r], acc[r + 1]};
?plain_straight         tile_wgmma_keep(x, 2); /* else the sums are taken for the words that are stored, and products wait for each other */
?one_straight         const float x[2] = {$kernel_result(call, $whichacc[$in], i, j), $kernel_result(call, $whichacc[$in + 1], i, $clamp_jj + 1$end_j)};
?two_straight         const float x[2] = {$kernel_result(call, $whichacc[$in], acc[$EACH + $in], i, j), $kernel_result(call, $whichacc[$in + 1], acc[$EACH + $in + 1], i, $clamp_jj + 1$end_j)};
?wide         tile_store8(&c[(int64_t)i * $kernel_N + j], x);
?bytes         const $elem y[2] = {$narrow(x[0]), $narrow(x[1])};
?bytes         tile_store2(&c[(int64_t)i * $kernel_N + j], y);
?single         tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow(x[0]));
?single         if (j + 1 < $kernel_N) tile_store_$out(&c[(int64_t)i * $kernel_N + j + 1], $narrow(x[1]));
?straight     }
?straight }

?fringe TILE_FN void $kernel_store_one($call call, float x, int i, int j) {
?fringe     $elem *const c = $c;
?fringe     if (i >= $kernel_M || j >= $kernel_N) return;
?fringe_plain     tile_wgmma_keep(&x, 1);
?fringe_plain     tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow(x));
?fringe_result     tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow($kernel_result(call, x, i, j)));
?fringe }
?fringe /* Sums of 64 rows and `columns` from [i0, j0] on; `turned`: of columns and rows. */
?fringe TILE_FN void $kernel_store_beyond($call call, const float *x, int columns, int i0, int j0, bool turned, int thread) {
?fringe #pragma unroll
?fringe     for (int r = 0; r < columns / 2; r++) {
?fringe         int row = 16 * (thread >> 5) + (thread & 31) / 4 + 8 * ((r >> 1) & 1), column = 8 * (r >> 2) + 2 * (thread & 3) + (r & 1);
?fringe         $kernel_store_one(call, x[r], i0 + (turned ? column : row), j0 + (turned ? row : column));
?fringe     }
?fringe }
?fringe
TILE_FN void $kernel_multiply($take_allconst $kernel_maps *maps, $kernel_place at) {
    int group = tile_shuffle(tile_thread() / 128 - 1, 0), thread = tile_thread() & 127, s = 0, phase = 0;
    float acc[$COLUMNS / 2];
?fringe     $kernel_fringe f;
    for (int pair = $kernel_first(at); pair < $kernel_PAIRS; pair = $kernel_next(at, pair)) {
        int i0, j0;
        $kernel_tile(at, pair, &i0, &j0);
?below         bool below = $is_below;
?right         bool right = $is_right;
        i0 += 64 * group;
        if ($outside) {
            $kernel_skip(at, &s, &phase, thread);
?turns             if (i0 - 64 * group < $kernel_M$inside) tile_bar_sync(3, 256);
            continue;
        }
?broad_whole         if ($kernel_N - j0 > 64) $kernel_sums(at, &s, &phase, acc, $COLUMNS, group, thread);
?broad_whole         else $kernel_sums(at, &s, &phase, acc, 64, group, thread);
?corner         if (below && right) $kernel_sums(at, &s, &phase, acc, &f, true, true, $COLUMNS, group, thread);
?corner         else if (below) $kernel_sums(at, &s, &phase, acc, &f, true, false, $COLUMNS, group, thread);
?below_alone         if (below) $kernel_sums(at, &s, &phase, acc, &f, true, false, $COLUMNS, group, thread);
?corner         else if (right) $kernel_sums(at, &s, &phase, acc, &f, false, true, $COLUMNS, group, thread);
?right_alone         if (right) $kernel_sums(at, &s, &phase, acc, &f, false, true, $COLUMNS, group, thread);
?fringe         else $kernel_sums(at, &s, &phase, acc, &f, false, false, $COLUMNS, group, thread);
?even_whole_alone         $kernel_sums(at, &s, &phase, acc, $COLUMNS, group, thread);
?parts         $kernel_sums(at, &s, &phase, acc, group, thread);
?parts         tile_bar_sync(1 + group, 128); /* keeps what follows out of the products, which would run one by one */
?result_whole         tile_bar_sync(1 + group, 128); /* keeps what follows out of the products, which would run one by one */
?tiled         $kernel_store($give$near_give&maps->map[$OUT], at.lds + $kernel_OUT + group * 16384, acc, i0, j0, 1 + group, thread);
?staged         $kernel_store(call, at.lds + $kernel_OUT + group * 16384, acc, i0, j0, 1 + group, thread);
?straight         $kernel_store(call, acc, i0, j0, thread);
?below         if (below && group < $BLOCKS) $kernel_store_beyond(call, f.below, $BELOW, $INNER_M, j0 + 64 * $kernel_block(at, group), true, thread);
?right         if (right) $kernel_store_beyond(call, f.right, $RIGHT, i0, $INNER_N, false, thread);
?corner         if (below && right && at.rank + group == 0) $kernel_store_beyond(call, f.corner, $RIGHT, $INNER_M, $INNER_N, false, thread);
    }
?tiled     if (thread == 0) tile_tma_wait();
}

TILE_KERNEL_MAPS($kernel, $call, $threads, $cluster) {
    TILE_LDS(lds, 0);$refuse
    $kernel_place at = $kernel_here(lds);
    if (tile_thread() == 0) {
        for (int s = 0; s < $STAGES; s++) {
            tile_mbar_init(at.lds + $kernel_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + $kernel_EMPTY + 8 * s, 4);
        }
        tile_mbar_init_done();
    }
    tile_cluster_sync();
?dependent     tile_follow();
    if (tile_thread() < 128) {
        tile_regs_give(40);
        if (tile_thread() == 0) $kernel_copy(&maps, at);
    } else {
        tile_regs_take(232);
        $kernel_multiply($give_all&maps, at);
    }
    tile_wave_sync();
    tile_cluster_sync();
}

