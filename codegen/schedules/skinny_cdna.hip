/* $kernel: few rows of a: $ROWS by $WIDE of c$each a workgroup.$parted Of each $WAVES runs of $DEEP positions of k a wave has one:
   it loads its part of a and b straight into registers, $STAGES runs ahead, and meets no other wave before the end, where their sums are
   added. b stands on the left of the products, for which a lane has row lane % 16 and 16 bytes, those number lane / 16, of half a run. */
enum {
    $kernel_M = $M,
    $kernel_N = $N,
    $kernel_ROW = $a_row, /* bytes of a row of a */
?columns     $kernel_ACROSS = $b_row, /* of b, which has $deep rows */
?parts     $kernel_SHARE = $SHARE * $BYTES, /* of a row, in a part of the sums */
    /* workgroup memory: of 16 rows the sums of each wave */
    $kernel_LEFT = 16 * $WIDE * $SIZE,
    $kernel_MATRIX = $WAVES * $kernel_LEFT
};

/* A workgroup's tile, and the bytes of a's rows that it sums over. */
typedef struct {
    const char *a, *b$second_b;
    int part, i0, j0, first, last;
} $kernel_work;

/* The task of a workgroup, in the order of the plan. */
TILE_FN $kernel_work $kernel_find($call call) {
$order    const int i0 = (int)$i_tile * $ROWS, j0 = (int)$j_tile * $WIDE, part = (int)$part_tile;
    const char *const a = (const char *)($a_at) + (int64_t)i0 * $kernel_ROW;
?rows     const char *const b = (const char *)($b_at) + (int64_t)j0 * $kernel_ROW;
?rows_two     const char *const b2 = (const char *)($b2_at) + (int64_t)j0 * $kernel_ROW;
?columns     const char *const b = (const char *)($b_at) + j0 * $BYTES;
?columns_two     const char *const b2 = (const char *)($b2_at) + j0 * $BYTES;
?whole     return ($kernel_work){a, b$give_b, part, i0, j0, 0, $kernel_ROW};
?parts     const int first = part * $kernel_SHARE;
?parts     return ($kernel_work){a, b$give_b, part, i0, j0, first, tile_min_i32(first + $kernel_SHARE, $kernel_ROW)};
}

/* ---- memory ---- */

typedef struct {
    $operand a[$ROWS / 16][2][$CHUNK];
?rows     $operand b[$SUMS][$WIDE / 16][2][$CHUNK];
?columns     $operand b[$SUMS][2][8][$WIDE / 16]; /* of each half eight rows, neighbours in them */
} $kernel_run;

/* Rows behind a descriptor, and none of a tile's that are not there. */
TILE_FN tile_rows $kernel_rows_of(const char *from, int rows, int most) {
    return tile_rows_of(from, tile_min_i32(rows, most) * $kernel_ROW);
}

/* Of 16 n rows a run, from byte `at` of them on. Four lanes have 64 bytes of a row, which memory gives at once. */
TILE_FN void $kernel_fetch_rows($operand *to, tile_rows from, int n, int at, int last) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int byte = at + 64 * half + (tile_lane() & 3) * 16;
        const int place = byte < last ? (tile_lane() >> 2) * $kernel_ROW + byte : TILE_NO_ROW;
#pragma unroll
        for (int u = 0; u < n; u++) tile_rows_load16(from, place, 16 * u * $kernel_ROW, to + (2 * u + half) * $CHUNK);
    }
}
?columns 
?columns /* The rows of b that a run has, of which the lane's are 8 (lane / 16) on, and $piece bytes of each. */
?columns TILE_FN void $kernel_fetch_columns($operand *to, const char *b, int j0, int at, int last) {
?columns     const int first = at / $BYTES, there = tile_min_i32(last / $BYTES, $deep) - first;
?columns     const int bytes = tile_min_i32(there, $DEEP) * $kernel_ACROSS - j0 * $BYTES;
?columns     const tile_rows rows = tile_rows_of(b + (int64_t)(there > 0 ? first : 0) * $kernel_ACROSS, there > 0 ? bytes : 0);
?columns     const int place = (tile_lane() >> 4) * 8 * $kernel_ACROSS + (tile_lane() & 15) * $piece;
?columns #pragma unroll
?columns     for (int e = 0; e < 16; e++)
?columns         tile_rows_load$piece(rows, place, (e / 8 * 32 + e % 8) * $kernel_ACROSS, to + e * ($WIDE / 16));
?columns }

TILE_FN void $kernel_fetch($kernel_run *to, const $kernel_work *w, int at) {
?rows     $kernel_fetch_rows(&to->b[0][0][0][0], $kernel_rows_of(w->b, $kernel_N - w->j0, $WIDE), $WIDE / 16, at, w->last);
?rows_two     $kernel_fetch_rows(&to->b[1][0][0][0], $kernel_rows_of(w->b2, $kernel_N - w->j0, $WIDE), $WIDE / 16, at, w->last);
?columns     $kernel_fetch_columns(&to->b[0][0][0][0], w->b, w->j0, at, w->last);
?columns_two     $kernel_fetch_columns(&to->b[1][0][0][0], w->b2, w->j0, at, w->last);
    $kernel_fetch_rows(&to->a[0][0][0], $kernel_rows_of(w->a, $kernel_M - w->i0, $ROWS), $ROWS / 16, at, w->last);
    tile_in_order();
}

/* ---- products ---- */

typedef $total $kernel_totals[$SUMS][$ROWS / 16][$WIDE / 16][4];

/* What four lanes had of a row goes to those 16 apart. */
TILE_FN void $kernel_turn($operand to[$CHUNK], const $operand from[$CHUNK]) {
    const int lane = (tile_lane() & 15) * 4 + (tile_lane() >> 4);
    uint32_t x[4];
    __builtin_memcpy(x, from, 16);
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = tile_shuffle(x[i], lane);
    __builtin_memcpy(to, x, 16);
}

TILE_FN void $kernel_multiply($kernel_totals acc, const $kernel_run *x) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        $operand a[$ROWS / 16][$CHUNK], b[$CHUNK];
#pragma unroll
        for (int u = 0; u < $ROWS / 16; u++) $kernel_turn(a[u], x->a[u][half]);
#pragma unroll
        for (int n = 0; n < $SUMS * ($WIDE / 16); n++) {
            const int sum = n / ($WIDE / 16), v = n % ($WIDE / 16);
?rows             $kernel_turn(b, x->b[sum][v][half]);
?columns #pragma unroll
?columns             for (int e = 0; e < 8; e++) b[e] = x->b[sum][half][e][v];
#pragma unroll
            for (int e = 0; e < $CHUNK; e += $per)
#pragma unroll
                for (int u = 0; u < $ROWS / 16; u++) tile_mfma_$mfma(acc[sum][u][v], &b[e], &a[u][e]);
        }
    }
}

/* Nothing before takes from a run, which would wait for it. */
TILE_FN void $kernel_begin($kernel_run *x) {
#pragma unroll
    for (int i = 0; i < ($ROWS + $SUMS * $WIDE) / 8; i++) tile_settle16((char *)x + 16 * i);
}

/* Nothing behind it is needed for the products so far: registers of their operands are free. */
TILE_FN void $kernel_end($kernel_totals acc) {
#pragma unroll
    for (int i = 0; i < $SUMS * $ROWS * $WIDE / 64; i += 4) tile_settle16(&acc[0][0][0][i]);
}

/* A run takes the place of the one that has been multiplied; those behind the last are empty. */
TILE_FN void $kernel_sums($kernel_totals acc, const $kernel_work *w, int wave) {
    const int far = $WAVES * 128; /* bytes, from a wave's run to its next */
    $kernel_run x[$STAGES];
    int at = w->first + wave * 128;
#pragma unroll
    for (int s = 0; s < $STAGES; s++) $kernel_fetch(&x[s], w, at + s * far);
#pragma unroll
    for (int i = 0; i < $SUMS * $ROWS * $WIDE / 64; i++) acc[0][0][0][i] = 0;
#pragma clang loop unroll(disable)
    for (; at < w->last; at += $STAGES * far)
#pragma unroll
        for (int s = 0; s < $STAGES; s++) {
            $kernel_begin(&x[s]);
            $kernel_multiply(acc, &x[s]);
            $kernel_end(acc);
            $kernel_fetch(&x[s], w, at + ($STAGES + s) * far);
        }
}

?result /* What is stored for $sum at [i, j]. */
?result $epilogue
/* ---- the waves' sums become one: 16 rows at a time, through workgroup memory ---- */

TILE_FN int $kernel_place(int row, int chunk) { return (row * $WIDE + ((chunk ^ row) & ($WIDE / 4 - 1)) * 4) * $SIZE; }

/* Four neighbours of a lane's row at a time. */
TILE_FN void $kernel_leave(char *to, const $total acc[$WIDE / 16][4]) {
    const int row = tile_lane() & 15, g = tile_lane() >> 4;
?rows #pragma unroll
?rows     for (int v = 0; v < $WIDE / 16; v++) tile_lds_store16(to + $kernel_place(row, 4 * v + g), acc[v]);
?columns #pragma unroll
?columns     for (int n = 0; n < $WIDE / 16; n++) {
?columns         const int r = n / ($WIDE / 64), v = n % ($WIDE / 64) * 4;
?columns         const $total x[4] = {acc[v][r], acc[v + 1][r], acc[v + 2][r], acc[v + 3][r]};
?columns         tile_lds_store16(to + $kernel_place(row, $WIDE / 64 * (4 * g + r) + v / 4), x);
?columns     }
}

/* Of all waves, in the order of their numbers. */
TILE_FN void $kernel_add($total to[4], const char *from) {
    $total x[$WAVES][4];
#pragma unroll
    for (int wave = 0; wave < $WAVES; wave++) tile_lds_load16(from + wave * $kernel_LEFT, x[wave]);
#pragma unroll
    for (int r = 0; r < 4; r++) {
        to[r] = x[0][r];
#pragma unroll
        for (int wave = 1; wave < $WAVES; wave++) to[r] += x[wave][r];
    }
}

TILE_FN void $kernel_put($elem *c, const $elem x[4]$columns_left) {
?wide     tile_store$bytes(c, x);
?single #pragma unroll
?single     for (int r = 0; r < 4; r++)
?single         if (r < left) tile_store_$out(c + r, x[r]);
}

TILE_FN void $kernel_store($call call, const $total sums[$SUMS][4], int part, int i, int j) {
    const int64_t place = ((int64_t)part * $kernel_M + i) * $kernel_N + j;
    $elem x[4];
    if (i >= $kernel_M || j >= $kernel_N) return;
#pragma unroll
    for (int r = 0; r < 4; r++) x[r] = $narrow($value);
    $kernel_put($c + place, x$give_left);
?both #pragma unroll
?both     for (int r = 0; r < 4; r++) x[r] = $narrow($other);
?both     $kernel_put($second + place, x$give_left);
}

TILE_FN void $kernel_finish($call call, char *lds, $kernel_totals acc, const $kernel_work *w, int wave) {
#pragma unroll
    for (int u = 0; u < $ROWS / 16; u++) {
        if (u > 0) tile_sync();
#pragma unroll
        for (int sum = 0; sum < $SUMS; sum++) $kernel_leave(lds + sum * $kernel_MATRIX + wave * $kernel_LEFT, acc[sum][u]);
        tile_sync();
        for (int n = tile_thread(); n < 4 * $WIDE; n += $threads) {
            const int row = n / ($WIDE / 4), chunk = n % ($WIDE / 4);
            $total sums[$SUMS][4];
#pragma unroll
            for (int sum = 0; sum < $SUMS; sum++) $kernel_add(sums[sum], lds + sum * $kernel_MATRIX + $kernel_place(row, chunk));
            $kernel_store(call, sums, w->part, w->i0 + 16 * u + row, w->j0 + 4 * chunk);
        }
    }
}

TILE_KERNEL_WAVES($kernel, $call, $threads, $simd) {
    TILE_LDS(lds, $lds);$refuse
    const int wave = tile_wave_number();
    const $kernel_work w = $kernel_find(call);
    $kernel_totals acc;
    $kernel_sums(acc, &w, wave);
    $kernel_finish(call, lds, acc, &w, wave);
}
