/* $kernel: a workgroup makes a tile of $ROWS x $made, eight waves $TALL x $WIDE each, $DEEP positions of k a step. A SIMD has one of the
   first four waves and one of the last four, which take turns (HipKittens, arXiv 2511.08083): while one multiplies, the other reads what
   it multiplies next, and $ahead. */
enum {
    $kernel_M = $M,
    $kernel_N = $N,
    $kernel_ROW = $a_row, /* bytes of a row of a */
?columns     $kernel_ACROSS = $b_row, /* of b, which has $deep rows */
    $kernel_PAIRS = ($kernel_ROW + 127) / 128, /* of steps */
    /* workgroup memory: rows of 64 bytes, of a, then of $each_b */
    $kernel_B = $ROWS * 64,
?direct     $kernel_STAGES = $STAGES,
    $kernel_STAGE = ($ROWS + $COLUMNS) * 64
};

/* The tile of a workgroup, in the order of the plan. */
TILE_FN void $kernel_tile(int *i0, int *j0) {
$order    *i0 = (int)$i_tile * $ROWS;
    *j0 = (int)$j_tile * $SPAN;
}

/* ---- memory: what a thread loads of a pair of steps, and where it puts it ---- */

/* Where 16 bytes of a row are, so that no bank is met twice. */
TILE_FN int $kernel_turned(int row) { return row ^ (row >> 2 & 1); }
TILE_FN int $kernel_chunk(int row, int chunk) { return chunk ^ ((row ^ row >> 1) >> 1 & 3); }
TILE_FN int $kernel_place(int row, int chunk) { return $kernel_turned(row) * 64 + $kernel_chunk(row, chunk) * 16; }
?two 
?two /* The first half of the memory for both b is the first one's: is what a wave brings there for the n-th time the second one's? */
?two TILE_FN bool $kernel_second(int wave, int n) { return wave * 16 + n * 128 >= $SPAN; }

?loaded typedef struct {
?loaded     $operand a[2][$ROWS / 128][$CHUNK];
?loaded_rows_one     $operand b[2][$COLUMNS / 128][$CHUNK];
?loaded_rows_two     $operand b[$COLUMNS / 128][2][$CHUNK];
?loaded_columns     uint32_t b[$COLUMNS / 128][4][2]; /* of four rows four columns */
?loaded } $kernel_fetched;
?loaded 
?loaded /* 16 bytes of each 128th row, of both steps. Behind the last row there is that again, and the sums of that row are not looked at. */
?loaded TILE_FN void $kernel_fetch_rows($operand *to, const char *from, int row, int rows, int last$left_in) {
?loaded     const int at = (tile_thread() & 3) * 16;
?loaded #pragma unroll
?loaded     for (int n = 0; n < rows; n++) {
?loaded         const int begin = tile_min_i32(row + n * 128, last) * $kernel_ROW;
?loaded_even         const char *const x = from + (uint32_t)tile_afresh(begin + at);
?loaded #pragma unroll
?loaded         for (int half = 0; half < 2; half++)
?loaded_even             tile_load16(x + 64 * half, to + $CHUNK * (half * rows + n));
?cut             tile_load16(from + (uint32_t)(begin + (64 * half + at < left ? 64 * half + at : 0)), to + $CHUNK * (half * rows + n));
?loaded     }
?loaded }
?loaded 
?loaded TILE_FN void $kernel_keep_rows(char *lds, $operand *from, int rows, int half$left_in) {
?loaded     const int row = tile_thread() >> 2, chunk = tile_thread() & 3;
?loaded #pragma unroll
?loaded     for (int n = 0; n < rows; n++) {
?loaded         $operand *const x = from + (half * rows + n) * $CHUNK;
?cut         if (64 * half + 16 * chunk >= left) tile_zero16(x);
?recoded         tile_fnuz16(x);
?loaded         tile_lds_store16(lds + $kernel_place(row, chunk) + n * 8192, x);
?loaded     }
?loaded }
?loaded 
?loaded_columns /* A thread's rows of b are 4 q .. 4 q + 3 of a pair of steps, and those $DEEP further where it has more. */
?loaded_columns TILE_FN int $kernel_quad(void) { return (tile_thread() & 3) | (tile_thread() / $COLUMNS << 2 & 2048 / $COLUMNS - 4); }
?loaded_columns TILE_FN int $kernel_column(void) { return tile_thread() & ($COLUMNS - 4); }
?loaded_columns 
?loaded_columns TILE_FN void $kernel_fetch_columns(uint32_t to[][4][2], const char *from, int last$left_in) {
?loaded_columns     const int at = tile_min_i32($kernel_column()$of_span, last) * 2, above = 4 * $kernel_quad();
?columns_even     const uint32_t place = (uint32_t)tile_afresh(above * $kernel_ACROSS + at);
?loaded_columns #pragma unroll
?loaded_columns     for (int n = 0; n < $COLUMNS / 32; n++) {
?loaded_columns         const int below = n / 4 * $DEEP + n % 4;
?columns_even         tile_load8(tile_base(from + below * $kernel_ACROSS) + place, to[n / 4][n % 4]);
?columns_cut         tile_load8(from + (uint32_t)(tile_min_i32(above + below, left - 1) * $kernel_ACROSS + at), to[n / 4][n % 4]);
?loaded_columns     }
?loaded_columns }
?loaded_columns 
?loaded_columns /* Turned: a column is a row of workgroup memory. */
?loaded_columns TILE_FN void $kernel_keep_columns(char *lds, uint32_t from[][4][2], int half$left_in) {
?loaded_columns     const int quad = $kernel_quad();
?loaded_columns #pragma unroll
?loaded_columns     for (int n = 0; n < $COLUMNS / 128; n++) {
?loaded_columns         if (quad / 8 + n != half) continue;
?columns_cut #pragma unroll
?columns_cut         for (int e = 0; e < 4; e++)
?columns_cut             if (half * $DEEP + quad % 8 * 4 + e >= left) tile_zero8(from[n][e]);
?loaded_columns #pragma unroll
?loaded_columns         for (int i = 0; i < 4; i++) {
?loaded_columns             const uint32_t x[2] = {tile_halves(from[n][0][i / 2], from[n][1][i / 2], i & 1), tile_halves(from[n][2][i / 2], from[n][3][i / 2], i & 1)};
?loaded_columns             tile_lds_store8(lds + $kernel_place($kernel_column() + i, quad >> 1 & 3) + (quad & 1) * 8, x);
?loaded_columns         }
?loaded_columns     }
?loaded_columns }
?loaded_columns 
/* A workgroup's tile and its part of both matrices. */
typedef struct {
?one     const char *a, *b;
?two     const char *a, *b, *b2;
    char *lds;
    int i0, j0;
} $kernel_work;

?loaded TILE_FN void $kernel_fetch($kernel_fetched *to, const $kernel_work *w, $wave_inint pair) {
?cut     const int left = $kernel_ROW - pair * 128;
?loaded     const int row = tile_thread() >> 2;
?loaded     $kernel_fetch_rows(&to->a[0][0][0], tile_base(w->a + pair * 128), row, $ROWS / 128, $kernel_M - 1 - w->i0$left);
?loaded_rows_one     $kernel_fetch_rows(&to->b[0][0][0], tile_base(w->b + pair * 128), row, $COLUMNS / 128, $kernel_N - 1 - w->j0$left);
?loaded_rows_two #pragma unroll
?loaded_rows_two     for (int n = 0; n < $COLUMNS / 128; n++) {
?loaded_rows_two         const char *const b = $kernel_second(wave, n) ? w->b2 : w->b;
?loaded_rows_two         $kernel_fetch_rows(&to->b[n][0][0], tile_base(b + pair * 128), row & ($SPAN - 1), 1, $kernel_N - 1 - w->j0$left);
?loaded_rows_two     }
?loaded_columns     const int above = pair * 2 * $DEEP;
?loaded_columns_one     const char *const b = w->b;
?loaded_columns_two     const char *const b = wave & $COLUMNS / 128 ? w->b2 : w->b; /* of its columns */
?loaded_columns     $kernel_fetch_columns(to->b, tile_base(b + (int64_t)above * $kernel_ACROSS), $kernel_ACROSS / 2 - 4 - w->j0$left_above);
?loaded }
?loaded 
?loaded /* One of the pair's steps. */
?loaded TILE_FN void $kernel_keep(const $kernel_work *w, $kernel_fetched *from, int pair, int half) {
?loaded     char *const lds = w->lds + half * $kernel_STAGE;
?cut     const int left = $kernel_ROW - pair * 128;
?loaded_even     (void)pair;
?loaded     $kernel_keep_rows(lds, &from->a[0][0][0], $ROWS / 128, half$left);
?loaded_rows_one     $kernel_keep_rows(lds + $kernel_B, &from->b[0][0][0], $COLUMNS / 128, half$left);
?loaded_rows_two #pragma unroll
?loaded_rows_two     for (int n = 0; n < $COLUMNS / 128; n++) $kernel_keep_rows(lds + $kernel_B + n * 8192, &from->b[n][0][0], 1, half$left);
?columns_even     $kernel_keep_columns(lds + $kernel_B, from->b, half);
?columns_cut     $kernel_keep_columns(lds + $kernel_B, from->b, half, $deep - pair * 2 * $DEEP);
?loaded }
?loaded 
?direct /* Rows of both steps of a pair, straight to workgroup memory: 16 of a wave, whose lanes take what comes to lie there. Behind the last row
?direct    there is that again, and the sums of that row are not looked at. */
?direct TILE_FN void $kernel_copy_rows(tile_copies *on_way, tile_rows from, int more, char *to, int place, int rows, int last) {
?direct     const int row = $kernel_turned(place), at = $kernel_chunk(row, tile_thread() & 3) * 16;
?direct #pragma unroll
?direct     for (int n = 0; n < rows; n++) tile_copy16(on_way, from, tile_min_i32(row + 128 * n, last) * $kernel_ROW + at, more, to + n * 8192);
?direct }
?direct 
?direct_columns /* Rows of b that run across stay rows; what a wave reads of columns side by side meets no bank twice either. Behind the last columns there
?direct_columns    are those again. */
?direct_columns TILE_FN int $kernel_across(int row, int chunk) { return chunk ^ ($apart) << 1; }
?direct_columns TILE_FN void $kernel_copy_across(tile_copies *on_way, tile_rows from, int more, char *to, int row, int last) {
?direct_columns     const int column = tile_min_i32(8 * $kernel_across(row, tile_thread() % ($SPAN / 8)), last);
?direct_columns     tile_copy16(on_way, from, row * $kernel_ACROSS + 2 * column, more, to);
?direct_columns }
?direct_columns 
?direct TILE_FN int $kernel_behind(int stage, int steps) { return (stage + steps) % $kernel_STAGES; }
?direct 
?direct TILE_FN void $kernel_copy(tile_copies *on_way, const $kernel_work *w, int wave, int pair, int stage) {
?direct     const int real = tile_min_i32(pair, $kernel_PAIRS - 1), from = real * 128, last_i = $kernel_M - 1 - w->i0;
?direct     const tile_rows a = tile_rows_of(w->a + from, (tile_min_i32(last_i, $ROWS - 1) + 1) * $kernel_ROW - from);
?direct_rows     const int last_j = $kernel_N - 1 - w->j0;
?direct_rows     const int bytes = (tile_min_i32(last_j, $SPAN - 1) + 1) * $kernel_ROW - from;
?direct_columns     const int last_j = $kernel_ACROSS / 2 - 8 - w->j0, bytes = 2 * $DEEP * $kernel_ACROSS - 2 * w->j0;
?direct_columns     const int64_t from_b = (int64_t)real * 2 * $DEEP * $kernel_ACROSS;
?direct_one     const tile_rows b = tile_rows_of(w->b + $from_b, bytes);
?direct #pragma unroll
?direct     for (int half = 0; half < 2; half++) {
?direct         char *const to = w->lds + $kernel_behind(stage, half) * $kernel_STAGE + wave * 1024;
?direct         $kernel_copy_rows(on_way, a, 64 * half, to, tile_thread() >> 2, $ROWS / 128, last_i);
?direct_rows_one         $kernel_copy_rows(on_way, b, 64 * half, to + $kernel_B, tile_thread() >> 2, $COLUMNS / 128, last_j);
?direct_again #pragma unroll
?direct_again         for (int n = 0; n < $COLUMNS / 128; n++) {
?direct_two             const tile_rows b = tile_rows_of(($kernel_second(wave, n) ? w->b2 : w->b) + $from_b, bytes);
?direct_rows_two             $kernel_copy_rows(on_way, b, 64 * half, to + $kernel_B + n * 8192, tile_thread() >> 2 & ($SPAN - 1), 1, last_j);
?direct_columns             const int row = (tile_thread() / ($SPAN / 8) + n * (4096 / $SPAN)) % $DEEP;
?direct_columns             $kernel_copy_across(on_way, b, half * $DEEP * $kernel_ACROSS, to + $kernel_B + n * 8192, row, last_j);
?direct_again         }
?direct     }
?direct }
?direct 
?of16 /* ---- products: a lane has 16 bytes of a row, those number lane / 16 ---- */
?of32 /* ---- products: a lane has the 16 bytes number lane / 32 of a row, and those two further ---- */

typedef struct {
    $operand a[$TALL / $SIDE][$HELD], b[$WIDE / $SIDE][$HELD];
} $kernel_parts;

TILE_FN void $kernel_read_rows($operand to[][$HELD], const char *lds, int n) {
?of16     const char *const from = lds + $kernel_place(tile_lane() & 15, tile_lane() >> 4);
?of32     const int row = tile_lane() & 31, chunk = tile_lane() >> 5;
?of32     const char *const from = lds + $kernel_place(row, chunk), *const more = lds + $kernel_place(row, chunk + 2);
#pragma unroll
?of16     for (int u = 0; u < n; u++) tile_lds_load16(from + u * 1024, to[u]);
?of32     for (int u = 0; u < n; u++) {
?of32         tile_lds_load16(from + u * 2048, to[u]);
?of32         tile_lds_load16(more + u * 2048, to[u] + $CHUNK);
?of32     }
}

TILE_FN void $kernel_read($kernel_parts *to, const char *lds, int wave) {
?direct_columns     const int row = (tile_lane() >> 4) * 8 + (tile_lane() >> 2 & 3), chunk = $kernel_across(row, (wave & 3) * ($PART / 8) + (tile_lane() >> 1 & 1));
?direct_columns     const int b = $kernel_B + row * ($SPAN * 2) + chunk * 16 + (tile_lane() & 1) * 8;
?lying     const char *const b = lds + $kernel_B + (wave & 3) * ($PART * 64);
?lying     $kernel_read_rows(to->b, b, $PART / $SIDE);
?lying_two     $kernel_read_rows(to->b + $PART / $SIDE, b + $SPAN * 64, $PART / $SIDE);
    $kernel_read_rows(to->a, lds + (wave >> 2) * ($TALL * 64), $TALL / $SIDE);
?direct_columns     const char *from[$WIDE / 8];
?direct_columns #pragma unroll
?direct_columns     for (int n = 0; n < $WIDE / 8; n++) from[n] = lds + (b ^ n / 2$of_part << 5) + n % 2 * ($SPAN * 8)$second_panel;
?direct_columns     tile_lds_turned$TURNS(from, to->b[0]);
}

/* Transposed, b on the left: a lane has four columns of a row, side by side. */
TILE_FN void $kernel_multiply($total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS], const $kernel_parts *x) {
    tile_hurry(1);
#pragma unroll
    for (int e = 0; e < $HELD; e += $each)
#pragma unroll
        for (int u = 0; u < $TALL / $SIDE; u++)
#pragma unroll
            for (int v = 0; v < $WIDE / $SIDE; v++) tile_mfma_$mfma(acc[u][v], &x->b[v][e], &x->a[u][e]);
    tile_hurry(0);
}

?loaded /* A step: a turn at memory, a turn at the products. Behind the first of a pair the next pair is loaded; that behind the last is not there. */
?loaded TILE_FN void $kernel_step($total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS], $kernel_fetched *next, const $kernel_work *w, int wave, int pair, int half) {
?loaded     $kernel_parts x;
?loaded     $kernel_read(&x, w->lds + half * $kernel_STAGE, wave);
?loaded     $kernel_keep(w, next, pair + half, !half);
?loaded     if (!half) $kernel_fetch(next, w, $wavetile_min_i32(pair + 1, $kernel_PAIRS - 1));
?loaded     tile_turn();
?loaded     $kernel_multiply(acc, &x);
?loaded     tile_turn();
?loaded }
?loaded 
?loaded TILE_FN void $kernel_sums($total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS], const $kernel_work *w, int wave) {
?loaded     $kernel_fetched next;
?loaded     $kernel_fetch(&next, w, $wave0);
?loaded #pragma unroll
?loaded     for (int i = 0; i < $TALL * $WIDE / 64; i++) acc[0][0][i] = 0;
?loaded     $kernel_keep(w, &next, 0, 0);
?loaded     tile_turn();
?loaded     if (wave >= 4) tile_turn(); /* a turn behind the others */
?loaded #pragma clang loop unroll(disable)
?loaded     for (int pair = 0; pair < $kernel_PAIRS; pair++) {
?loaded         $kernel_step(acc, &next, w, wave, pair, 0);
?loaded         $kernel_step(acc, &next, w, wave, pair, 1);
?loaded     }
?loaded     if (wave < 4) tile_turn();
?recoded #pragma unroll
?recoded     for (int i = 0; i < $TALL * $WIDE / 64; i++) acc[0][0][i] *= 4; /* each factor is half of OCP's */
?loaded }
?loaded 
?direct /* A step: a turn at memory, a turn at the products. Behind the second of a pair the pair after the next is copied, where the steps of before were
?direct    read; that behind the last is not there. The step that comes next has arrived. */
?direct TILE_FN void $kernel_step($total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS], tile_copies *on_way, const $kernel_work *w, int wave, int pair, int half, int stage) {
?direct     $kernel_parts x;
?direct     if (half) $kernel_copy(on_way, w, wave, pair + 2, $kernel_behind(stage, 3));
?direct     $kernel_read(&x, w->lds + stage * $kernel_STAGE, wave);
?direct     if (half) tile_turn_but(on_way, 3 * $COPIES);
?direct     else tile_turn_but(on_way, 2 * $COPIES);
?direct     $kernel_multiply(acc, &x);
?direct     tile_turn_but(on_way, 63);
?direct }
?direct 
?direct TILE_FN void $kernel_sums($total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS], const $kernel_work *w, int wave) {
?direct     tile_copies on_way;
?direct     on_way.n = 0;
?direct     $kernel_copy(&on_way, w, wave, 0, 0);
?direct     $kernel_copy(&on_way, w, wave, 1, 2);
?direct #pragma unroll
?direct     for (int i = 0; i < $TALL * $WIDE / 64; i++) acc[0][0][i] = 0;
?direct     tile_turn_but(&on_way, 3 * $COPIES);
?direct     if (wave >= 4) tile_turn_but(&on_way, 63); /* a turn behind the others */
?direct     int stage = 0;
?direct #pragma clang loop unroll(disable)
?direct     for (int pair = 0; pair < $kernel_PAIRS; pair++) {
?direct         $kernel_step(acc, &on_way, w, wave, pair, 0, stage);
?direct         $kernel_step(acc, &on_way, w, wave, pair, 1, $kernel_behind(stage, 1));
?direct         stage = $kernel_behind(stage, 2);
?direct     }
?direct     if (wave < 4) tile_turn_but(&on_way, 63);
?direct     tile_turn_but(&on_way, 0); /* what follows uses that memory */
?direct }
?direct 
?result /* What is stored for $sum at [i, j]. */
?result $epilogue
/* ---- sums to global memory, 16 rows of a wave at a time: through workgroup memory, so that whole lines of the caches are stored ---- */

TILE_FN int $kernel_place_sums(int row, int chunk) { return row * ($WIDE * 4) + ((chunk ^ row) & ($WIDE / 4 - 1)) * 16; }

/* Four neighbours. */
TILE_FN void $kernel_store($call call, $pickconst $total x[4], $more_inint i, int j) {
    $elem *const c = $target;
    $elem z[4];
    if (i >= $kernel_M || j >= $kernel_N) return;
#pragma unroll
    for (int r = 0; r < 4; r++)
?plain         z[r] = $narrow($chosen);
?result         z[r] = $narrow($kernel_result(call, $which$given, i, $clamp_jj + r$end_j));
?wide     tile_store$bytes(&c[(int64_t)i * $kernel_N + j], z);
?single #pragma unroll
?single     for (int r = 0; r < 4; r++)
?single         if (j + r < $kernel_N) tile_store_$out(&c[(int64_t)i * $kernel_N + j + r], z[r]);
}

TILE_FN void $kernel_finish($call call, char *lds, const $total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS], int i0, int j0) {
    const int lane = tile_lane_anew();
#pragma unroll
    for (int u = 0; u < $TALL / 16; u++) {
        char *const rows = lds + (u & 1) * ($WIDE * 64);
?of16 #pragma unroll
?of16         for (int v = 0; v < $WIDE / 16; v++) tile_lds_store16(rows + $kernel_place_sums(lane & 15, 4 * v + (lane >> 4)), acc[u][v]);
?of32 #pragma unroll
?of32         for (int v = 0; v < $WIDE / 8; v++)
?of32             if ((lane >> 4 & 1) == (u & 1)) tile_lds_store16(rows + $kernel_place_sums(lane & 15, 2 * v + (lane >> 5)), acc[u / 2][v / 4] + v % 4 * 4);
        tile_sync();
        for (int n = lane; n < 4 * $PART; n += 64) {
            const int row = n / ($PART / 4), chunk = n % ($PART / 4), i = i0 + 16 * u + row, j = j0 + 4 * chunk;
            $total x[4];
            tile_lds_load16(rows + $kernel_place_sums(row, chunk), x);
?two             $total y[4];
?two             tile_lds_load16(rows + $kernel_place_sums(row, chunk + $PART / 4), y);
            $kernel_store(call, $first$sums_in, i, j);
?both             $kernel_store(call, 1, $sums_in, i, j);
        }
    }
}

TILE_KERNEL_WAVES($kernel, $call, 512, 2) {
    TILE_LDS(lds, $lds);$refuse
    const int wave = tile_same(tile_thread() >> 6);
    int i0, j0;
    $kernel_tile(&i0, &j0);
    const char *const a = (const char *)($a_at), *const b = (const char *)($b_at);
?two     const char *const b2 = (const char *)($b2_at);
?rows     const int64_t first = (int64_t)j0 * $kernel_ROW; /* of b */
?columns     const int64_t first = 2 * j0; /* of b */
?one     const $kernel_work w = {a + (int64_t)i0 * $kernel_ROW, b + first, lds, i0, j0};
?two     const $kernel_work w = {a + (int64_t)i0 * $kernel_ROW, b + first, b2 + first, lds, i0, j0};
    $total acc[$TALL / $SIDE][$WIDE / $SIDE][$SUMS];
    $kernel_sums(acc, &w, wave);
    $kernel_finish(call, lds + wave * ($WIDE * 128), acc, i0 + (wave >> 2) * $TALL, j0 + (wave & 3) * $PART);
}
