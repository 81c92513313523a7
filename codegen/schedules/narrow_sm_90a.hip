/* $kernel: few rows of a, on the left of the products, and $WIDE columns a tile: about as many tiles as there are processors.
   A warp copies $DEEP positions of k at a time into a ring of $STAGES stages; a warpgroup multiplies 64 rows of a, or what there are.$together */
enum {
    $kernel_M = $M,
    $kernel_N = $N,
    $kernel_PANELS = $DEEP / 64, /* of 64 positions of k, in a stage */
    $kernel_STEPS = ($K + $DEEP - 1) / $DEEP,
?split     $kernel_EACH = ($kernel_STEPS + $CLUSTER - 1) / $CLUSTER, /* of them for a workgroup */
    $kernel_TILES = ($N + $WIDE * $BESIDE - 1) / ($WIDE * $BESIDE) * $BESIDE,
    $kernel_BLOCKS = $WIDE / 8, /* of 8 columns: four sums of a thread */
?split     $kernel_SHARE = ($WIDE / 8 + $CLUSTER - 1) / $CLUSTER, /* of them, that a workgroup adds up and stores */
?tiled     $kernel_PITCH = 16 * (($WIDE / 8 + 1) | 1), /* bytes from row to row of the results in workgroup memory */
    /* workgroup memory, from a multiple of 1024 on */
    $kernel_A_BYTES = $ROWS * 128, /* of a panel */
    $kernel_PANEL = $LINES * 128, /* a's rows, then b's; products read 64 rows of a, or 128 */
    $kernel_STAGE = $kernel_PANELS * $kernel_PANEL,
    $kernel_FULL = $STAGES * $kernel_STAGE, /* barriers */
    $kernel_EMPTY = $kernel_FULL + 8 * $STAGES,
?beside     $kernel_OUT = ($kernel_EMPTY + 8 * $STAGES + 127) / 128 * 128, /* results */
?split     $kernel_SENT = ($kernel_EMPTY + 8 * $STAGES + 127) / 128 * 128, /* sums of all parts */
    $kernel_GROUPS = ($ROWS + 63) / 64 /* that multiply */
};

typedef struct {
    uint32_t lds;
    int rank, s, phase; /* stage of the ring, and how often it went round */
    int j0;             /* of the tile */
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
?late TILE_FN void $kernel_copy_panel(const $kernel_maps *maps, $kernel_place at, uint32_t a, int p0, uint32_t full) {
?early /* A panel's part of b, from position p0 of k on; the panel without it. */
?early TILE_FN void $kernel_copy_b(const $kernel_maps *maps, $kernel_place at, uint32_t a, int p0, uint32_t full) {
    uint32_t b = a + $kernel_A_BYTES;
?rows     tile_tma_load2_once(b, &maps->map[1], p0, at.j0, full);
?columns     for (int u = 0; u < $HELD / 64; u++) tile_tma_load2$once(b + 8192 * u, &maps->map[1], at.j0 + 64 * u, p0, full);
?early }
?early
?early TILE_FN void $kernel_copy_a(const $kernel_maps *maps, $kernel_place at, uint32_t a, int p0, uint32_t full) {
?single     tile_tma_load2(a, &maps->map[0], p0, 0, full);
?beside     tile_tma_load2_all(a + at.rank * $PIECE * 128, &maps->map[0], p0, at.rank * $PIECE, full, (1 << $CLUSTER) - 1);
}

?early /* By one thread, while launches before this one end: b's panels of the first steps, which no launch of the run writes. */
?early TILE_FN void $kernel_copy_ahead(const $kernel_maps *maps, $kernel_place *at) {
?early     int first = $kernel_first(*at), n = tile_min_i32($STAGES, $kernel_last(*at) - first);
?early     for (; at->begun < n; at->begun++) {
?early         uint32_t to = at->lds + at->begun * $kernel_STAGE, full = at->lds + $kernel_FULL + 8 * at->begun;
?early         tile_mbar_expect(full, $kernel_PANELS * $BYTES);
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
?late         tile_mbar_expect(full, $kernel_PANELS * $BYTES);
?late         for (int v = 0; v < $kernel_PANELS; v++)
?late             $kernel_copy_panel(maps, *at, to + v * $kernel_PANEL, $DEEP * step + 64 * v, full);
?early         if (at->begun == 0) {
?early             tile_mbar_wait(at->lds + $kernel_EMPTY + 8 * at->s, at->phase ^ 1);
?early             tile_mbar_expect(full, $kernel_PANELS * $BYTES);
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

/* A stage is given back while the products of the next one run. */
TILE_FN void $kernel_multiply($kernel_place *at, float acc[$WIDE / 2], int group, int thread) {
    int before = -1, first = $kernel_first(*at);
    for (int step = first; step < $kernel_last(*at); step++) {
        uint32_t a = at->lds + at->s * $kernel_STAGE + group * 8192, b = at->lds + at->s * $kernel_STAGE + $kernel_A_BYTES;
        tile_mbar_wait(at->lds + $kernel_FULL + 8 * at->s, at->phase);
        tile_wgmma_fence();
#pragma unroll
        for (int u = 0; u < 4 * $kernel_PANELS; u++) {
            uint64_t x = tile_wgmma_panel(a + u / 4 * $kernel_PANEL + u % 4 * 32, 0);
?rows             uint64_t y = tile_wgmma_panel(b + u / 4 * $kernel_PANEL + u % 4 * 32, 0);
?columns             uint64_t y = tile_wgmma_panel(b + u / 4 * $kernel_PANEL + u % 4 * 2048, 8192);
            tile_wgmma_ss_n$WIDE_$type_0$across(acc, x, y, (step - first) | u);
        }
        tile_wgmma_commit();
        tile_wgmma_wait1(acc, 0);
        if (before >= 0) $kernel_give_back(*at, before, thread);
        before = at->s;
        $kernel_turn(at);
    }
    tile_wgmma_wait0(acc, $WIDE / 2);
    if (before >= 0) $kernel_give_back(*at, before, thread);
?split     if (before < 0)
?split         for (int i = 0; i < $WIDE / 2; i++) acc[i] = 0; /* there is no part of k left for this workgroup */
}
?result
?result /* What is stored for a sum x at [i, j]. */
?result $epilogue
?apart
?apart /* Four sums of a thread. */
?apart TILE_FN void $kernel_store($call call, $kernel_place at, const float x[4], int block, int group, int thread) {
?apart     $elem *const c = $c;
?apart     for (int q = 0; q < 4; q++) {
?apart         int i = 64 * group + 16 * (thread >> 5) + (thread & 31) / 4 + 8 * (q >> 1), j = at.j0 + 8 * block + 2 * (thread & 3) + (q & 1);
?apart         if (i < $kernel_M && j < $kernel_N) tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow($value));
?apart     }
?apart }
?tiled
?tiled /* What is stored for four sums of a thread, to workgroup memory, the u-th block of this workgroup. */
?tiled TILE_FN void $kernel_put($take$kernel_place at, char *out, const float x[4], int block, int u, int group, int thread) {
?tiled     int lane = thread & 31, row = 64 * group + 16 * (thread >> 5) + lane / 4;
?tiled     char *to = out + row * $kernel_PITCH + 16 * u + 4 * (lane & 3);
?tiled     float z[4];
?result_tiled     int left = at.j0 + 8 * block + 2 * (lane & 3);
?result_tiled     int i[2] = {$clamp_irow$end_i, $clamp_irow + 8$end_i}, j[2] = {$clamp_jleft$end_j, $clamp_jleft + 1$end_j};
?tiled #pragma unroll
?tiled     for (int q = 0; q < 4; q++) z[q] = $value;
?tiled     uint32_t y[2] = {tile_$outx2(z[0], z[1]), tile_$outx2(z[2], z[3])};
?tiled     tile_lds_store4(to, &y[0]);
?tiled     tile_lds_store4(to + 8 * $kernel_PITCH, &y[1]);
?tiled }
?tiled
?tiled /* The rows of a warp, n blocks from there to c. */
?tiled TILE_FN void $kernel_leave($call call, $kernel_place at, const char *out, int block, int n, int group, int thread) {
?tiled     $elem *const c = $c;
?tiled     tile_wave_sync();
?tiled     for (int e = thread & 31; e < 16 * n; e += 32) {
?tiled         int i = 64 * group + 16 * (thread >> 5) + e / n, j = at.j0 + 8 * (block + e % n);
?tiled         uint32_t y[4];
?tiled         if (i >= $kernel_M || j >= $kernel_N) continue;
?tiled         tile_lds_load16(out + i * $kernel_PITCH + 16 * (e % n), y);
?tiled         tile_store16(&c[(int64_t)i * $kernel_N + j], y);
?tiled     }
?tiled }
?split
?split /* Each workgroup gets its share of the sums, from all, and adds them in the order of k. */
?split TILE_FN void $kernel_send($kernel_place at, const float acc[$WIDE / 2], int thread) {
?split     uint32_t to = at.lds + $kernel_SENT + (at.rank * $kernel_SHARE * 128 * $kernel_GROUPS + thread) * 16;
?split #pragma unroll
?split     for (int u = 0; u < $kernel_BLOCKS; u++)
?split         tile_cluster_store4(to + u % $kernel_SHARE * 2048 * $kernel_GROUPS, u / $kernel_SHARE, acc + 4 * u);
?split }
?split
?split TILE_FN void $kernel_total(float x[4], const char *sent, int u, int thread) {
?split     for (int part = 0; part < $CLUSTER; part++) {
?split         float y[4];
?split         tile_lds_load16(sent + ((part * $kernel_SHARE + u) * 128 * $kernel_GROUPS + thread) * 16, y);
?split         for (int q = 0; q < 4; q++) x[q] = part ? x[q] + y[q] : y[q];
?split     }
?split }

/* The results of a tile, where all products of this workgroup have been made. */
TILE_FN void $kernel_finish($call call, $kernel_place at, char *ring, const float acc[$WIDE / 2], int group, int thread) {
?split     int first = at.rank * $kernel_SHARE, n = tile_min_i32($kernel_SHARE, $kernel_BLOCKS - first);
?whole     int first = 0, n = $kernel_BLOCKS;
#pragma unroll
?split     for (int u = 0; u < $kernel_SHARE; u++) {
?split         float x[4];
?split         if (u >= n) continue;
?split         $kernel_total(x, ring + $kernel_SENT, u, 128 * group + thread);
?whole     for (int u = 0; u < n; u++) {
?whole         const float *x = acc + 4 * u;
?apart         $kernel_store(call, at, x, first + u, group, thread);
?tiled         $kernel_put($giveat, ring, x, first + u, u, group, thread);
    }
?tiled     $kernel_leave(call, at, ring, first, n, group, thread);
}

TILE_KERNEL_MAPS($kernel, $call, $threads, $CLUSTER) {
    TILE_LDS(lds, 0);$refuse
    $kernel_place at = {(tile_shared(lds) + 1023) & ~1023u, tile_cluster_rank(), 0, 0, 0$begun};
    int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        for (int s = 0; s < $STAGES; s++) {
            tile_mbar_init(at.lds + $kernel_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + $kernel_EMPTY + 8 * s, $kernel_GROUPS * $BESIDE);
        }
        tile_mbar_init_done();
    }
?alone     tile_sync();
?meeting     tile_cluster_sync();
?early     at.j0 = (int)tile_group() / $PARTS * $WIDE;
?early     if (group == $kernel_GROUPS && thread == 0 && at.j0 < $kernel_N) $kernel_copy_ahead(&maps, &at);
?dependent     tile_follow();
    for (int tile = (int)tile_group() / $PARTS; tile < $kernel_TILES; tile += (int)tile_groups() / $PARTS) {
        float acc[$WIDE / 2];
        at.j0 = tile * $WIDE;
        if (group == $kernel_GROUPS && thread == 0) $kernel_copy(&maps, &at);
        if (group < $kernel_GROUPS) $kernel_multiply(&at, acc, group, thread);
?split         if (group < $kernel_GROUPS) $kernel_send(at, acc, tile_thread());
        tile_wave_sync();
?split         tile_cluster_sync();
?whole         tile_sync(); /* the ring is free for results */
        if (group < $kernel_GROUPS) $kernel_finish(call, at, lds + (at.lds - tile_shared(lds))$results, acc, group, thread);
        tile_async_fence();
?whole         tile_sync();
?split         if (tile + (int)tile_groups() / $PARTS < $kernel_TILES) tile_cluster_sync(); /* all have read what was sent */
?split         else tile_sync();
    }
?beside     tile_wave_sync();
?beside     tile_cluster_sync(); /* nobody leaves while others may copy to it or arrive here */
}
