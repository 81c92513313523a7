/* tile_sums.h: `write` and `store` of the form roles on sm_90a: sums of a warpgroup (tile_piece.h), 64 rows, to a slot
   of a ring or to memory. Row 16 w + l / 4 + 8 (r / 2 % 2) and column 8 (r / 4) + 2 (l % 4) + r % 2 are element r of
   lane l of warp w. `thread`: 0 to 127 of the group. */
#ifndef TILE_DEVICE_TILE_SUMS_H
#define TILE_DEVICE_TILE_SUMS_H

/* tile_sums_write_TYPE(to, x, n, thread): n columns, 16 or more, of n / 2 sums a lane, as 16-bit elements to panels of
   64 columns, 8192 bytes apart. tile_sums_write_part_TYPE(to, x, at, n, thread): of those the columns from `at` on. */
#define TILE_SUMS_WRITE(type)                                                                                          \
    TILE_FN void tile_sums_write_part_##type(uint32_t to, const float *x, int at, int n, int thread) {                 \
        const int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);                                          \
        _Pragma("unroll") for (int q = at / 16; q < (at + n) / 16; q++) {                                              \
            const int chunk = 2 * q + (lane >> 4);                                                                     \
            const float *y = x + 8 * q;                                                                                \
            tile_stmatrix4(to + (chunk >> 3) * 8192 + row * 128 + (((chunk ^ row) & 7) << 4),                          \
                           tile_##type##x2(y[0], y[1]), tile_##type##x2(y[2], y[3]), tile_##type##x2(y[4], y[5]),      \
                           tile_##type##x2(y[6], y[7]));                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    TILE_FN void tile_sums_write_##type(uint32_t to, const float *x, int n, int thread) {                              \
        tile_sums_write_part_##type(to, x, 0, n, thread);                                                              \
    }
TILE_SUMS_WRITE(bf16)
TILE_SUMS_WRITE(f16)

/* tile_sums_write_turned_TYPE(to, x, n, thread): each of n columns, 16 to 64, as a row of a panel, which the group's 64
   rows are the columns of. */
#define TILE_SUMS_TURNED(type)                                                                                         \
    TILE_FN void tile_sums_write_turned_##type(uint32_t to, const float *x, int n, int thread) {                       \
        const int lane = thread & 31, chunk = 2 * (thread >> 5) + (lane >> 3 & 1), row = (lane & 7) + (lane >> 4) * 8; \
        _Pragma("unroll") for (int q = 0; q < n / 16; q++) {                                                           \
            const float *y = x + 8 * q;                                                                                \
            tile_stmatrix4_across(to + (16 * q + row) * 128 + (((chunk ^ row) & 7) << 4), tile_##type##x2(y[0], y[1]), \
                                  tile_##type##x2(y[2], y[3]), tile_##type##x2(y[4], y[5]),                            \
                                  tile_##type##x2(y[6], y[7]));                                                        \
        }                                                                                                              \
    }
TILE_SUMS_TURNED(bf16)
TILE_SUMS_TURNED(f16)

/* tile_sums_words_TYPE(w, x, n): n columns as the first operand of products over them (tile_mma_rs_TYPE_B), n / 4 words
   a lane, in which they lie as sums do. */
#define TILE_SUMS_WORDS(type)                                                                                          \
    TILE_FN void tile_sums_words_##type(uint32_t *w, const float *x, int n) {                                          \
        _Pragma("unroll") for (int i = 0; i < n / 4; i++) w[i] = tile_##type##x2(x[2 * i], x[2 * i + 1]);              \
    }
TILE_SUMS_WORDS(bf16)
TILE_SUMS_WORDS(f16)

/* tile_sums_read_TYPE(x, from, step, n, thread): the other way: n columns, 16 or more, of 16-bit elements out of panels
   of 64 columns, `step` bytes apart, as sums lie in registers. */
#define TILE_SUMS_READ(type)                                                                                           \
    TILE_FN void tile_sums_read_##type(float *x, uint32_t from, int step, int n, int thread) {                         \
        const int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);                                          \
        _Pragma("unroll") for (int q = 0; q < n / 16; q++) {                                                           \
            const int chunk = 2 * q + (lane >> 4);                                                                     \
            uint32_t y[4];                                                                                             \
            tile_ldmatrix4(y, from + (chunk >> 3) * step + row * 128 + (((chunk ^ row) & 7) << 4));                    \
            _Pragma("unroll") for (int r = 0; r < 8; r++) x[8 * q + r] =                                               \
                tile_f32_of_##type((tile_##type)(r & 1 ? y[r >> 1] >> 16 : y[r >> 1] & 0xffff));                       \
        }                                                                                                              \
    }
TILE_SUMS_READ(bf16)
TILE_SUMS_READ(f16)

/* Two halves of a word that tile_sums_words has packed; the words behind the first `by` come first. */
TILE_FN uint16_t tile_half(const uint32_t *w, int i) { return (uint16_t)(w[i >> 1] >> 16 * (i & 1)); }
TILE_FN void tile_words_up(uint32_t *w, int n, int by) {
#pragma unroll
    for (int i = 0; i < n - by; i++) w[i] = w[i + by];
}

/* tile_sums_take: as tile_sums_read, as they are. tile_sums_take_part: of those the columns from `at` on. */
TILE_FN void tile_sums_take_part(uint16_t *x, uint32_t from, int step, int at, int n, int thread) {
    const int lane = thread & 31, row = 16 * (thread >> 5) + (lane & 15);
#pragma unroll
    for (int q = at / 16; q < (at + n) / 16; q++) {
        const int chunk = 2 * q + (lane >> 4);
        uint32_t y[4];
        tile_ldmatrix4(y, from + (chunk >> 3) * step + row * 128 + (((chunk ^ row) & 7) << 4));
#pragma unroll
        for (int r = 0; r < 8; r++) x[8 * q + r] = (uint16_t)(y[r >> 1] >> 16 * (r & 1));
    }
}
TILE_FN void tile_sums_take(uint16_t *x, uint32_t from, int step, int n, int thread) {
    tile_sums_take_part(x, from, step, 0, n, thread);
}

/* A number of each row of sums: two a lane, which four lanes have; 4 bytes a row in a slot. */
TILE_FN void tile_rows_write(uint32_t to, const float *x, int thread) {
    const uint32_t at = to + 64 * (thread >> 5) + (thread & 28);
    if (thread & 3) return;
    tile_shared_store_f32(at, x[0]);
    tile_shared_store_f32(at + 32, x[1]);
}
TILE_FN void tile_rows_take(float *x, uint32_t from, int thread) {
    const uint32_t at = from + 64 * (thread >> 5) + (thread & 28);
    x[0] = tile_shared_load_f32(at);
    x[1] = tile_shared_load_f32(at + 32);
}

/* Of a row of n elements of 32 bits at `from` those of the lane's columns. */
TILE_FN void tile_sums_take_line(void *x, uint32_t from, int n, int thread) {
    uint32_t y[2];
#pragma unroll
    for (int q = 0; q < n / 8; q++) {
        tile_shared_load8(from + 32 * q + 8 * (thread & 3), y);
        __builtin_memcpy((char *)x + 8 * q, y, 8);
    }
}

/* All numbers of such a row are. By whole warps. */
TILE_FN bool tile_sums_line_below(uint32_t from, int n, float most, int thread) {
    bool below = true;
#pragma unroll
    for (int at = 2 * (thread & 31); at < n; at += 64) {
        uint32_t y[2];
        float x[2];
        tile_shared_load8(from + 4 * at, y);
        __builtin_memcpy(x, y, 8);
        below = below && fabsf(x[0]) < most && fabsf(x[1]) < most;
    }
    return !tile_wave_any(!below);
}

/* Element j of a row of a panel at `from`; below 0: of the panel `before`, which has 64 columns. */
TILE_FN uint32_t tile_sums_line(uint32_t from, uint32_t before, int row, int j) {
    return (j < 0 ? before : from) + row * 128;
}
TILE_FN uint16_t tile_sums_element(uint32_t from, uint32_t before, int row, int j) {
    return tile_panel_load(tile_sums_line(from, before, row, j), row, j & 63);
}
/* Eight from there on. */
TILE_FN void tile_sums_eight(uint32_t y[4], uint32_t from, uint32_t before, int row, int j) {
    const int past = j & 7, next = past ? j + 8 : j;
    uint32_t x[8];
    tile_shared_load16(tile_panel_at(tile_sums_line(from, before, row, j), row, j & 63), x);
    tile_shared_load16(tile_panel_at(tile_sums_line(from, before, row, next), row, next & 63), x + 4);
    tile_panel_shift(y, x, past);
}

/* 16-bit elements of 64 rows in a panel of 64 columns at `from`, to rows of a tensor from `to` on, `stride` elements
   apart. `rows` of them exist, and `columns`, also of panels behind this one. Elements go as vectors of 16 bytes that
   lie in the tensor as such, 8 lanes a row; those in front of a row's first one and behind its last one go one by one.
   A vector that two panels have in common is stored with the second one: `before` is the first one then; 0: there is
   none. */
TILE_FN void tile_sums_rows(uint16_t *to, int64_t stride, uint32_t from, uint32_t before, int rows, int columns,
                            int thread) {
    const int lane = thread & 31, part = lane & 7, end = tile_min_i32(columns, 64);
#pragma unroll 1 /* else the loop over a tile's panels may stay one, and sums lie in memory (compiled) */
    for (int t = 0; t < 4; t++) {
        const int row = 16 * (thread >> 5) + 4 * t + (lane >> 3);
        uint16_t *const at = to + row * stride;
        const int first = (int)(-((uintptr_t)at >> 1) & 7), j = first + 8 * part - (first ? 8 : 0);
        if (row >= rows || columns <= 0) continue;
        if (j + 8 <= end && (j >= 0 || before)) {
            uint32_t x[4];
            tile_sums_eight(x, from, before, row, j);
            tile_store16(at + j, x);
        }
        if (!before && part < tile_min_i32(first, columns))
            tile_store_bf16(at + part, tile_sums_element(from, before, row, part));
        const int rest = (columns - first) & 7, i = columns - rest + part; /* behind the last vector */
        if (columns <= 64 && part < rest && (columns >= first || before))
            tile_store_bf16(at + i, tile_sums_element(from, before, row, i));
    }
}

/* n columns of sums as f32 from registers to a tensor from `to` on, two neighbours at a time; `rows` and `columns` of
   them exist. `to` and stride: even. */
TILE_FN void tile_sums_pairs(float *to, int64_t stride, const float *x, int n, int rows, int columns, int thread) {
    const int lane = thread & 31, above = 16 * (thread >> 5) + lane / 4;
#pragma unroll
    for (int r = 0; r < n / 2; r += 2) {
        const int i = above + 8 * ((r >> 1) & 1), j = 8 * (r >> 2) + 2 * (lane & 3);
        float y[2] = {x[r], x[r + 1]};
        tile_wgmma_keep(
            y, 2); /* else the sums are taken for the words that are stored, and products wait for each other */
        if (i < rows && j + 1 < columns) tile_store8(to + i * stride + j, y);
        if (i < rows && j + 1 == columns) tile_store_f32(to + i * stride + j, y[0]);
    }
}

/* The same where rows begin anywhere: pairs from the first multiple of 8 bytes on. An element more is needed of the
   next lane then, or of the first lane's next columns. */
TILE_FN void tile_sums_odd(float *to, int64_t stride, const float *x, int n, int rows, int columns, int thread) {
    const int lane = thread & 31, above = 16 * (thread >> 5) + lane / 4, from = (lane & ~3) | ((lane + 1) & 3);
    float *const row[2] = {to + above * stride, to + (above + 8) * stride};
    const int odd[2] = {(int)((uintptr_t)row[0] >> 2 & 1), (int)((uintptr_t)row[1] >> 2 & 1)};
    const int end[2] = {above < rows ? columns : 0, above + 8 < rows ? columns : 0};
    float first[2] = {x[0], x[2]};
    tile_wgmma_keep(first, 2); /* as above */
    if (odd[0] && (lane & 3) == 0 && end[0] > 0) tile_store_f32(row[0], first[0]);
    if (odd[1] && (lane & 3) == 0 && end[1] > 0) tile_store_f32(row[1], first[1]);
#pragma unroll
    for (int r = 0; r < n / 2; r += 2) {
        const int h = (r >> 1) & 1, j = 8 * (r >> 2) + 2 * (lane & 3) + odd[h];
        float own[3] = {x[r], x[r + 1], r + 4 < n / 2 ? x[r + 4] : 0};
        tile_wgmma_keep(own, 3);
        const float next = tile_shuffle_f32(lane & 3 ? own[0] : own[2], from);
        const float y[2] = {odd[h] ? own[1] : own[0], odd[h] ? next : own[1]};
        if (j + 1 < end[h]) tile_store8(row[h] + j, y);
        if (j + 1 == end[h]) tile_store_f32(row[h] + j, y[0]);
    }
}

#endif
