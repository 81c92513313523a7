/* $kernel: few rows of a against many of b: b is what is streamed, $TALL of its rows (or columns) a tile. $PARTS workgroups of a cluster
   share a tile, each a part of k; their sums meet in each other's memory, each makes a part of the result. A warp copies 64 positions
   of k at a time into a ring of $STAGES stages; warpgroups multiply 64 rows of b each, those on the left: sums are those of c, transposed. */
enum {
    $kernel_M = $M,
    $kernel_N = $N,
    $kernel_STEPS = ($K + 63) / 64, /* along k */
    $kernel_EACH = (($K + 63) / 64 + $PARTS - 1) / $PARTS, /* of them for a workgroup */
    $kernel_TILES = ($N + $TALL - 1) / $TALL,
    $kernel_SUMS = $ROWS / 2, /* of a thread */
    $kernel_SHARE = ($ROWS / 2 + $PARTS - 1) / $PARTS, /* of them, that a workgroup adds up and stores */
    /* workgroup memory, from a multiple of 1024 on */
    $kernel_B_BYTES = $TALL * 128,
    $kernel_STAGE = $TALL * 128 + $ROWS * 128,
    $kernel_SENT = $STAGES * $kernel_STAGE, /* sums from the workgroups of the cluster */
    $kernel_FULL = $kernel_SENT + $PARTS * $kernel_SHARE * $TALL * 8, /* barriers */
    $kernel_EMPTY = $kernel_FULL + 8 * $STAGES
};

typedef struct {
    uint32_t lds;
    int rank, s, phase; /* stage of the ring, and how often it went round */
} $kernel_place;

TILE_FN void $kernel_turn($kernel_place *at) {
    if (++at->s == $STAGES) at->s = 0, at->phase ^= 1;
}

TILE_FN int $kernel_first($kernel_place at) { return at.rank * $kernel_EACH; }
TILE_FN int $kernel_last($kernel_place at) { return tile_min_i32($kernel_STEPS, (at.rank + 1) * $kernel_EACH); }

/* By one thread: the copies of a tile. */
TILE_FN void $kernel_copy(const $kernel_maps *maps, $kernel_place *at, int j0) {
    for (int step = $kernel_first(*at); step < $kernel_last(*at); step++) {
        uint32_t b = at->lds + at->s * $kernel_STAGE, full = at->lds + $kernel_FULL + 8 * at->s;
        tile_mbar_wait(at->lds + $kernel_EMPTY + 8 * at->s, at->phase ^ 1);
        tile_mbar_expect(full, $kernel_STAGE);
?rows         tile_tma_load2(b, &maps->map[1], 64 * step, j0, full);
?columns         for (int u = 0; u < $TALL / 64; u++) tile_tma_load2(b + 8192 * u, &maps->map[1], j0 + 64 * u, 64 * step, full);
        tile_tma_load2(b + $kernel_B_BYTES, &maps->map[0], 64 * step, 0, full);
        $kernel_turn(at);
    }
}

/* 64 rows of b by all of a. A stage is given back while the products of the next one run. */
TILE_FN void $kernel_multiply($kernel_place *at, float acc[$kernel_SUMS], int group, int thread) {
    int before = -1, first = $kernel_first(*at);
    for (int step = first; step < $kernel_last(*at); step++) {
        uint32_t b = at->lds + at->s * $kernel_STAGE + group * 8192, a = at->lds + at->s * $kernel_STAGE + $kernel_B_BYTES;
        tile_mbar_wait(at->lds + $kernel_FULL + 8 * at->s, at->phase);
        tile_wgmma_fence();
#pragma unroll
        for (int u = 0; u < 4; u++)
?rows             tile_wgmma_ss_n$ROWS_$type_00(acc, tile_wgmma_panel(b + 32 * u, 0), tile_wgmma_panel(a + 32 * u, 0), (step - first) | u);
?columns             tile_wgmma_ss_n$ROWS_$type_10(acc, tile_wgmma_panel(b + 2048 * u, 8192), tile_wgmma_panel(a + 32 * u, 0), (step - first) | u);
        tile_wgmma_commit();
        tile_wgmma_wait1(acc, 0);
        if (before >= 0 && thread == 0) tile_mbar_arrive(at->lds + $kernel_EMPTY + 8 * before);
        before = at->s;
        $kernel_turn(at);
    }
    tile_wgmma_wait0(acc, $kernel_SUMS);
    if (before >= 0 && thread == 0) tile_mbar_arrive(at->lds + $kernel_EMPTY + 8 * before);
?split     if (before < 0)
?split         for (int i = 0; i < $kernel_SUMS; i++) acc[i] = 0; /* there is no part of k left for this workgroup */
}

?result /* What is stored for a sum x at [i, j]. */
?result $epilogue
TILE_FN void $kernel_store($call call, float x, int r, int j0, int group, int thread) {
    $elem *const c = $c;
    int i = 8 * (r >> 2) + 2 * (thread & 3) + (r & 1), j = j0 + 64 * group + 16 * (thread >> 5) + (thread & 31) / 4 + 8 * ((r >> 1) & 1);
    if (i >= $kernel_M || j >= $kernel_N) return;
?plain     tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow(x));
?result     tile_store_$out(&c[(int64_t)i * $kernel_N + j], $narrow($kernel_result(call, x, i, j)));
}

?split /* Each workgroup gets its share of the sums, from all, and adds them in the order of k. */
?split TILE_FN void $kernel_send($kernel_place at, const float acc[$kernel_SUMS], int thread) {
?split #pragma unroll
?split     for (int r = 0; r < $kernel_SUMS; r++) {
?split         int to = r / $kernel_SHARE, place = (at.rank * $kernel_SHARE + r % $kernel_SHARE) * 2 * $TALL + thread;
?split         tile_cluster_store(at.lds + $kernel_SENT + 4 * place, to, acc[r]);
?split     }
?split }

?split TILE_FN void $kernel_collect($call call, $kernel_place at, const char *lds, int j0, int group, int thread) {
?split     const float *sent = (const float *)(lds + (at.lds - tile_shared(lds)) + $kernel_SENT) + group * 128 + thread;
?split     for (int r = 0; r < $kernel_SHARE && at.rank * $kernel_SHARE + r < $kernel_SUMS; r++) {
?split         float sum = sent[r * 2 * $TALL];
?split         for (int part = 1; part < $PARTS; part++) sum += sent[(part * $kernel_SHARE + r) * 2 * $TALL];
?split         $kernel_store(call, sum, at.rank * $kernel_SHARE + r, j0, group, thread);
?split     }
?split }

TILE_KERNEL_MAPS($kernel, $call, $threads, $PARTS) {
    TILE_LDS(lds, 0);
    $kernel_place at = {(tile_shared(lds) + 1023) & ~1023u, tile_cluster_rank(), 0, 0};
    int group = tile_shuffle(tile_thread() / 128, 0), thread = tile_thread() & 127;
    if (tile_thread() == 0) {
        for (int s = 0; s < $STAGES; s++) {
            tile_mbar_init(at.lds + $kernel_FULL + 8 * s, 1);
            tile_mbar_init(at.lds + $kernel_EMPTY + 8 * s, $TALL / 64);
        }
        tile_mbar_init_done();
    }
    tile_sync();
?dependent     tile_follow();
    for (int tile = (int)tile_group() / $PARTS; tile < $kernel_TILES; tile += (int)tile_groups() / $PARTS) {
        float acc[$kernel_SUMS];
        if (group == $TALL / 64 && thread == 0) $kernel_copy(&maps, &at, tile * $TALL);
        if (group < $TALL / 64) $kernel_multiply(&at, acc, group, thread);
?whole         for (int r = 0; r < $kernel_SUMS && group < $TALL / 64; r++) $kernel_store(call, acc[r], r, tile * $TALL, group, thread);
?split         tile_wave_sync();
?split         tile_cluster_sync(); /* all are there, and have read what came for the tile before */
?split         if (group < $TALL / 64) $kernel_send(at, acc, tile_thread());
?split         tile_cluster_sync();
?split         if (group < $TALL / 64) $kernel_collect(call, at, lds, tile * $TALL, group, thread);
    }
}
