/* $kernel: few rows of a, or few tiles: $tall by $ROWS rows of a a tile. A warp copies $DEEP positions of k at a time
   into a ring of $STAGES stages; warpgroups multiply 64 rows of b each, those on the left: sums are those of c, transposed.$together */
enum {
    $kernel_M = $M,
    $kernel_N = $N,
    $kernel_PANELS = $DEEP / 64, /* of 64 positions of k, in a stage */
    $kernel_STEPS = ($K + $DEEP - 1) / $DEEP,
?split     $kernel_EACH = ($kernel_STEPS + $CLUSTER - 1) / $CLUSTER, /* of them for a workgroup */
    $kernel_ACROSS = ($N + $WIDE * $BESIDE - 1) / ($WIDE * $BESIDE) * $BESIDE, /* tiles beside each other */
    $kernel_TILES = $kernel_ACROSS * (($M + $ROWS - 1) / $ROWS),
    $kernel_SUMS = $ROWS / 2, /* of a thread$each */
?split     $kernel_SHARE = ($ROWS / 2 / $TOGETHER + $CLUSTER - 1) / $CLUSTER * $TOGETHER, /* of them, that a workgroup adds up and stores */
?split_two     $kernel_SENT = $CLUSTER * $kernel_SHARE * 2 * $WIDE, /* to a workgroup, of the first product */
    /* workgroup memory, from a multiple of 1024 on */
    $kernel_B_BYTES = $TALL * 128, /* of a panel */
    $kernel_PANEL = $kernel_B_BYTES + $ROWS * 128,
    $kernel_STAGE = $kernel_PANELS * $kernel_PANEL,
?apart     $kernel_FULL = $STAGES * $kernel_STAGE, /* barriers */
?tiled     $kernel_OUT = $STAGES * $kernel_STAGE, /* results of warpgroups, 64 columns each */
?tiled     $kernel_OUT_BYTES = $ROWS * 128,
?tiled     $kernel_FULL = $kernel_OUT + $STORES * $WIDE / 64 * $kernel_OUT_BYTES, /* barriers */
    $kernel_EMPTY = $kernel_FULL + 8 * $STAGES
};

typedef struct {
    uint32_t lds;
    int rank, s, phase; /* stage of the ring, and how often it went round */
    int i0, j0;         /* of the tile */
?early     int begun; /* steps whose panels of b are under way */
} $kernel_place;

TILE_FN void $kernel_turn($kernel_place *at) {
    if (++at->s == $STAGES) at->s = 0, at->phase ^= 1;
}

?split TILE_FN int $kernel_first($kernel_place at) { return at.rank * $kernel_EACH; }
?split TILE_FN int $kernel_last($kernel_place at) { return tile_min_i32($kernel_STEPS, (at.rank + 1) * $kernel_EACH); }
?whole TILE_FN int $kernel_first($kernel_place) { return 0; }
?whole TILE_FN int $kernel_last($kernel_place) { return $kernel_STEPS; }

?late /* A panel, from position p0 of k on. */
?late TILE_FN void $kernel_copy_panel(const $kernel_maps *maps, $kernel_place at, uint32_t to, int p0, uint32_t full) {
?early /* A panel's part of b, from position p0 of k on; the panel without it. */
?early TILE_FN void $kernel_copy_b(const $kernel_maps *maps, $kernel_place at, uint32_t to, int p0, uint32_t full) {
?rows_one     tile_tma_load2$once(to, &maps->map[1], p0, at.j0, full);
?rows_two     for (int u = 0; u < 2; u++) tile_tma_load2$once(to + 8192 * u, &maps->map[1 + u], p0, at.j0, full);
?columns_one     for (int u = 0; u < $TALL / 64; u++) tile_tma_load2$once(to + 8192 * u, &maps->map[1], at.j0 + 64 * u, p0, full);
?columns_two     for (int u = 0; u < 2; u++) tile_tma_load2$once(to + 8192 * u, &maps->map[1 + u], at.j0, p0, full);
?early }
?early
?early TILE_FN void $kernel_copy_a(const $kernel_maps *maps, $kernel_place at, uint32_t to, int p0, uint32_t full) {
    uint32_t a = to + $kernel_B_BYTES;
?single     tile_tma_load2(a, &maps->map[0], p0, at.i0, full);
?beside     tile_tma_load2_all(a + at.rank * $PIECE * 128, &maps->map[0], p0, at.i0 + at.rank * $PIECE, full, (1 << $CLUSTER) - 1);
}

?early /* By one thread, while launches before this one end: b's panels of the first steps, which no launch of the run writes. */
?early TILE_FN void $kernel_copy_ahead(const $kernel_maps *maps, $kernel_place *at) {
?early     int first = $kernel_first(*at), n = tile_min_i32($STAGES, $kernel_last(*at) - first);
?early     for (; at->begun < n; at->begun++) {
?early         uint32_t to = at->lds + at->begun * $kernel_STAGE, full = at->lds + $kernel_FULL + 8 * at->begun;
?early         tile_mbar_expect(full, $kernel_PANELS * ($kernel_B_BYTES + $COPIED * 128));
?early         for (int v = 0; v < $kernel_PANELS; v++)
?early             $kernel_copy_b(maps, *at, to + v * $kernel_PANEL, $DEEP * (first + at->begun) + 64 * v, full);
?early     }
?early }
?early
/* By one thread: the copies of a tile. */
TILE_FN void $kernel_copy(const $kernel_maps *maps, $kernel_place *at) {
    for (int step = $kernel_first(*at); step < $kernel_last(*at); step++) {
        uint32_t to = at->lds + at->s * $kernel_STAGE, full = at->lds + $kernel_FULL + 8 * at->s;
?late         tile_mbar_wait(at->lds + $kernel_EMPTY + 8 * at->s, at->phase ^ 1);
?late         tile_mbar_expect(full, $kernel_PANELS * ($kernel_B_BYTES + $COPIED * 128));
?late         for (int v = 0; v < $kernel_PANELS; v++)
?late             $kernel_copy_panel(maps, *at, to + v * $kernel_PANEL, $DEEP * step + 64 * v, full);
?early         if (at->begun == 0) {
?early             tile_mbar_wait(at->lds + $kernel_EMPTY + 8 * at->s, at->phase ^ 1);
?early             tile_mbar_expect(full, $kernel_PANELS * ($kernel_B_BYTES + $COPIED * 128));
?early             for (int v = 0; v < $kernel_PANELS; v++)
?early                 $kernel_copy_b(maps, *at, to + v * $kernel_PANEL, $DEEP * step + 64 * v, full);
?early         } else {
?early             at->begun--;
?early         }
?early         for (int v = 0; v < $kernel_PANELS; v++)
?early             $kernel_copy_a(maps, *at, to + v * $kernel_PANEL, $DEEP * step + 64 * v, full);
        $kernel_turn(at);
    }
}

TILE_FN void $kernel_give_back($kernel_place at, int s, int thread) {
?single     if (thread == 0) tile_mbar_arrive(at.lds + $kernel_EMPTY + 8 * s);
?beside     if (thread < $CLUSTER) tile_mbar_arrive_at(at.lds + $kernel_EMPTY + 8 * s, thread); /* all copy to here */
}

/* 64 rows of $b by all of a. A stage is given back while the products of the next one run. */
TILE_FN void $kernel_multiply($kernel_place *at, float acc[$sums], int group, int thread) {
    int before = -1, first = $kernel_first(*at);
    for (int step = first; step < $kernel_last(*at); step++) {
        uint32_t at_step = at->lds + at->s * $kernel_STAGE;
        tile_mbar_wait(at->lds + $kernel_FULL + 8 * at->s, at->phase);
        tile_wgmma_fence();
#pragma unroll
        for (int u = 0; u < 4 * $kernel_PANELS; u++) {
            uint32_t b = at_step + u / 4 * $kernel_PANEL + group * 8192, a = at_step + u / 4 * $kernel_PANEL + $kernel_B_BYTES + u % 4 * 32;
?rows             uint64_t x = tile_wgmma_panel(b + u % 4 * 32, 0), y = tile_wgmma_panel(a, 0);
?columns             uint64_t x = tile_wgmma_panel(b + u % 4 * 2048, 8192), y = tile_wgmma_panel(a, 0);
            tile_wgmma_ss_n$ROWS_$type_$across0(acc, x, y, (step - first) | u);
?rows_two             x = tile_wgmma_panel(b + 8192 + u % 4 * 32, 0);
?columns_two             x = tile_wgmma_panel(b + 8192 + u % 4 * 2048, 8192);
?two             tile_wgmma_ss_n$ROWS_$type_$across0(acc + $kernel_SUMS, x, y, (step - first) | u);
        }
        tile_wgmma_commit();
        tile_wgmma_wait1(acc, 0);
        if (before >= 0) $kernel_give_back(*at, before, thread);
        before = at->s;
        $kernel_turn(at);
    }
    tile_wgmma_wait0(acc, $sums);
    if (before >= 0) $kernel_give_back(*at, before, thread);
?split     if (before < 0)
?split         for (int i = 0; i < $sums; i++) acc[i] = 0; /* there is no part of k left for this workgroup */
}
?result
?result /* What is stored for $sum at [i, j]. */
?result $epilogue
?apart
?apart TILE_FN void $kernel_store($call call, $kernel_place at, $given, int r, int group, int thread) {
?apart     $elem *const c = $c;
?apart_both     $elem *const c2 = $second;
?apart     int i = at.i0 + 8 * (r >> 2) + 2 * (thread & 3) + (r & 1);
?apart     int j = at.j0 + 64 * group + 16 * (thread >> 5) + (thread & 31) / 4 + 8 * ((r >> 1) & 1);
?apart     if (i >= $kernel_M || j >= $kernel_N) return;
?apart     tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow($value));
?apart_both     tile_store_$out(&c2[(int64_t)i * $kernel_N + j], $narrow($other));
?apart }
?tiled
?tiled /* What is stored for four sums of a thread, 8 rows of c from i0 on, the u-th of this workgroup: to workgroup memory, c's rows along it. */
?tiled TILE_FN void $kernel_put($take$kernel_place at, $given, int i0, int u, int group, int thread) {
?tiled     int lane = thread & 31, row = lane & 7, chunk = 2 * (thread >> 5) + (lane >> 3 & 1);
?tiled     uint32_t to = at.lds + $kernel_OUT + group * $kernel_OUT_BYTES + 1024 * u + row * 128 + ((chunk ^ row) << 4);
?tiled     float z[4];
?result_tiled     int above = i0 + 2 * (lane & 3), left = at.j0 + 64 * group + 16 * (thread >> 5) + lane / 4;
?result_tiled     int i[2] = {$clamp_iabove$end_i, $clamp_iabove + 1$end_i}, j[2] = {$clamp_jleft$end_j, $clamp_jleft + 8$end_j};
?tiled #pragma unroll
?tiled     for (int q = 0; q < 4; q++) z[q] = $value;
?tiled     tile_stmatrix2_across(to, tile_$outx2(z[0], z[1]), tile_$outx2(z[2], z[3]));
?tiled_both #pragma unroll
?tiled_both     for (int q = 0; q < 4; q++) z[q] = $other;
?tiled_both     tile_stmatrix2_across(to + $WIDE / 64 * $kernel_OUT_BYTES, tile_$outx2(z[0], z[1]), tile_$outx2(z[2], z[3]));
?tiled }
?tiled
?tiled /* Until what was stored before has been read from there. */
?tiled TILE_FN void $kernel_put_begin(int group, int thread) {
?tiled     if (thread < $ROWS / 8) tile_tma_wait_read();
?tiled     tile_bar_sync(1 + group, 128);
?tiled }
?tiled
?tiled /* n blocks of 8 rows, from row i0 on, from there to c, by as many threads. */
?tiled TILE_FN void $kernel_put_end(const $kernel_maps *maps, $kernel_place at, int i0, int n, int group, int thread) {
?tiled     uint32_t from = at.lds + $kernel_OUT + group * $kernel_OUT_BYTES + 1024 * thread;
?tiled     tile_async_fence();
?tiled     tile_bar_sync(1 + group, 128);
?tiled     if (thread >= n) return;
?tiled     tile_tma_store2(&maps->map[$FIRST], at.j0 + 64 * group, i0 + 8 * thread, from);
?tiled_both     tile_tma_store2(&maps->map[$FIRST + 1], at.j0 + 64 * group, i0 + 8 * thread, from + $WIDE / 64 * $kernel_OUT_BYTES);
?tiled     tile_tma_commit();
?tiled }
?whole_tiled
?whole_tiled TILE_FN void $kernel_finish($takeconst $kernel_maps *maps, $kernel_place at, const float acc[$sums], int group, int thread) {
?whole_tiled     $kernel_put_begin(group, thread);
?whole_tiled #pragma unroll
?whole_tiled     for (int r = 0; r < $kernel_SUMS; r += 4) $kernel_put($giveat, $held, at.i0 + 2 * r, r / 4, group, thread);
?whole_tiled     $kernel_put_end(maps, at, at.i0, $kernel_SUMS / 4, group, thread);
?whole_tiled }
?split
?split /* Each workgroup gets its share of the sums, from all, and adds them in the order of k. They come to where the ring was. */
?split TILE_FN void $kernel_send($kernel_place at, const float acc[$sums], int thread) {
?split #pragma unroll
?split     for (int r = 0; r < $kernel_SUMS; r++) {
?split         int to = r / $kernel_SHARE, place = (at.rank * $kernel_SHARE + r % $kernel_SHARE) * 2 * $WIDE + thread;
?split         tile_cluster_store(at.lds + 4 * place, to, acc[r]);
?split_two         tile_cluster_store(at.lds + 4 * (place + $kernel_SENT), to, acc[$kernel_SUMS + r]);
?split     }
?split }
?split
?split TILE_FN float $kernel_total(const float *sent, int r) {
?split     float sum = tile_lds_load_f32(&sent[r * 2 * $WIDE]);
?split     for (int part = 1; part < $CLUSTER; part++) sum += tile_lds_load_f32(&sent[(part * $kernel_SHARE + r) * 2 * $WIDE]);
?split     return sum;
?split }
?split
?split TILE_FN void $kernel_collect($take$mapped$kernel_place at, const char *lds, int group, int thread) {
?split     const float *sent = (const float *)(lds + (at.lds - tile_shared(lds))) + group * 128 + thread;
?split     int first = at.rank * $kernel_SHARE, n = tile_min_i32($kernel_SHARE, $kernel_SUMS - first);
?split_apart     for (int r = 0; r < n; r++) $kernel_store(call, at, $totals, first + r, group, thread);
?split_tiled     $kernel_put_begin(group, thread);
?split_tiled     for (int r = 0; r < n; r += 4) {
?split_tiled         float x[4];
?split_tiled_two         float y[4];
?split_tiled #pragma unroll
?split_tiled         for (int q = 0; q < 4; q++) x[q] = $kernel_total(sent, r + q);
?split_tiled_two #pragma unroll
?split_tiled_two         for (int q = 0; q < 4; q++) y[q] = $kernel_total(sent + $kernel_SENT, r + q);
?split_tiled         $kernel_put($giveat, $args, at.i0 + 2 * (first + r), r / 4, group, thread);
?split_tiled     }
?split_tiled     $kernel_put_end(maps, at, at.i0 + 2 * first, n / 4, group, thread);
?split }

TILE_KERNEL_MAPS($kernel, $call, $threads, $CLUSTER) {
    TILE_LDS(lds, 0);$refuse
    $kernel_place at = {(tile_shared(lds) + 1023) & ~1023u, tile_cluster_rank(), 0, 0, 0, 0$begun};
    int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        for (int s = 0; s < $STAGES; s++) {
            tile_mbar_init(at.lds + $kernel_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + $kernel_EMPTY + 8 * s, $WIDE / 64 * $BESIDE);
        }
        tile_mbar_init_done();
    }
?single     tile_sync();
?beside     tile_cluster_sync();
?early_split     const int own = (int)tile_group() / $CLUSTER;
?early_whole     const int own = (int)tile_group();
?early     at.i0 = own / $kernel_ACROSS * $ROWS;
?early     at.j0 = own % $kernel_ACROSS * $WIDE;
?early     if (group == $WIDE / 64 && thread == 0 && own < $kernel_TILES) $kernel_copy_ahead(&maps, &at);
?dependent     tile_follow();
?split     for (int tile = (int)tile_group() / $CLUSTER; tile < $kernel_TILES; tile += (int)tile_groups() / $CLUSTER) {
?whole     for (int tile = (int)tile_group(); tile < $kernel_TILES; tile += (int)tile_groups()) {
        float acc[$sums];
        at.i0 = tile / $kernel_ACROSS * $ROWS;
        at.j0 = tile % $kernel_ACROSS * $WIDE;
        if (group == $WIDE / 64 && thread == 0) $kernel_copy(&maps, &at);
        if (group < $WIDE / 64) $kernel_multiply(&at, acc, group, thread);
?whole_apart         for (int r = 0; r < $kernel_SUMS && group < $WIDE / 64; r++) $kernel_store(call, at, $held, r, group, thread);
?whole_tiled         if (group < $WIDE / 64) $kernel_finish($give&maps, at, acc, group, thread);
?split         tile_wave_sync();
?split         tile_cluster_sync(); /* all rings are empty */
?split         if (group < $WIDE / 64) $kernel_send(at, acc, tile_thread());
?split         tile_cluster_sync();
?split         if (group < $WIDE / 64) $kernel_collect($give$mapsat, lds, group, thread);
?split         tile_async_fence();
?split         tile_sync(); /* the ring is one again */
    }
?tiled     tile_tma_wait();
?beside     tile_wave_sync();
?beside     tile_cluster_sync(); /* nobody leaves while others may copy to it or arrive here */
}
