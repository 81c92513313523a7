/* tile_rows.h: rows of a tensor behind a descriptor (AMD Instinct MI300 Instruction Set Architecture, "Memory buffer
   instructions", raw buffers): 32-bit places, with no 64-bit additions in loops, and zeros behind the last row. */
#ifndef TILE_DEVICE_TILE_ROWS_H
#define TILE_DEVICE_TILE_ROWS_H

enum { TILE_NO_ROW = 1 << 30 }; /* a place that is behind the rows, of at most as many bytes */

#ifdef __has_builtin
#if __has_builtin(__builtin_amdgcn_make_buffer_rsrc)
#define TILE_DESCRIPTORS /* clang of before 2024 has none */
#endif
#endif

#ifndef TILE_DESCRIPTORS
typedef struct {
    const char *at;
    int bytes;
} tile_rows;

TILE_FN tile_rows tile_rows_of(const void *at, int bytes) {
    tile_rows rows = {(const char *)at, bytes};
    return rows;
}

#define TILE_ROWS_SIZED(size, bits)                                                                                    \
    TILE_FN void tile_rows_load##size(tile_rows rows, int place, int more, void *regs) {                               \
        if (place + more <= rows.bytes - (size))                                                                       \
            tile_load##size(rows.at + place + more, regs);                                                             \
        else                                                                                                           \
            tile_zero##size(regs);                                                                                     \
    }
#else
typedef __amdgpu_buffer_rsrc_t tile_rows;

/* `at` and `bytes` are the same in all lanes of the wave. */
TILE_FN tile_rows tile_rows_of(const void *at, int bytes) {
    const int FORMAT = 0x27000; /* words of 32 bits, as they are */
    return __builtin_amdgcn_make_buffer_rsrc((void *)at, 0, bytes, FORMAT);
}

/* Regs are what is at `place` + `more`. All of it stands in a lane's own place: a scalar one is checked against the
   number of bytes otherwise. */
#define TILE_ROWS_SIZED(size, bits)                                                                                    \
    TILE_FN void tile_rows_load##size(tile_rows rows, int place, int more, void *regs) {                               \
        tile_v##size x = __builtin_amdgcn_raw_buffer_load_b##bits(rows, place + more, 0, 0);                           \
        __builtin_memcpy(regs, &x, size);                                                                              \
    }
#endif

TILE_ROWS_SIZED(8, 64)
TILE_ROWS_SIZED(16, 128)

#endif
