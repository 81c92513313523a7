/* tile_copies.h: gfx950's functions for workgroup memory: reads of columns, and copies from rows of a tensor
   (tile_rows.h) straight to there, 16 bytes a lane, side by side. Copies arrive in the order in which they began. A
   turn ends when all but the last few copies of a wave have arrived. */
#ifndef TILE_DEVICE_TILE_COPIES_H
#define TILE_DEVICE_TILE_COPIES_H

/* tile_lds_turnedN: N times, of four rows of 16 elements of 16 bits in 16 lanes, a column each. From: of lane 4 e + q
   four elements of row e, 4 q on. */
#ifdef TILE_EMU
TILE_FN void tile_lds_turned(const char *from, uint16_t *regs) {
    const int lane = tile_lane(), first = (lane & ~15) + (lane >> 2 & 3);
    uint32_t x[2];
    tile_lds_load8(from, x);
    for (int e = 0; e < 4; e++) {
        const uint32_t low = tile_shuffle(x[0], first + 4 * e), high = tile_shuffle(x[1], first + 4 * e);
        regs[e] = (uint16_t)((lane & 2 ? high : low) >> 16 * (lane & 1));
    }
}

TILE_FN void tile_lds_turned4(const char *const from[4], uint16_t *regs) {
    for (int n = 0; n < 4; n++) tile_lds_turned(from[n], regs + 4 * n);
}

TILE_FN void tile_lds_turned8(const char *const from[8], uint16_t *regs) {
    for (int n = 0; n < 8; n++) tile_lds_turned(from[n], regs + 4 * n);
}

/* Those of a thread that have not arrived; they do when that is waited for, not before. */
typedef struct {
    struct {
        char *to;
        tile_v16 x;
    } copy[32];
    int n;
} tile_copies;

TILE_FN void tile_copy16(tile_copies *on_way, tile_rows rows, int place, int more, char *to) {
    const int last = on_way->n++;
    to += tile_lane() * 16;
    tile_check(to, 16, TILE_LDS_STORES, 0); /* from now on it may arrive */
    on_way->copy[last].to = to;
    tile_rows_load16(rows, place, more, &on_way->copy[last].x);
}

TILE_FN void tile_turn_but(tile_copies *on_way, int left) {
    const int come = on_way->n - left;
    for (int i = 0; i < on_way->n; i++)
        if (i < come)
            tile_lds_store16(on_way->copy[i].to, &on_way->copy[i].x);
        else if (come > 0)
            on_way->copy[i - come] = on_way->copy[i];
    if (come > 0) on_way->n = left;
    tile_turn();
}
#else
typedef uint64_t tile_turned;

TILE_FN uint32_t tile_lds_place(const char *p) {
    return (uint32_t)(uintptr_t)(__attribute__((address_space(3))) const char *)p;
}

/* As instructions, with their wait: of the builtin the compiler thinks that it may read what is still being copied, and
   waits for all copies. */
TILE_FN void tile_lds_turned4(const char *const from[4], uint16_t *regs) {
    tile_turned x[4];
    __asm__ volatile("ds_read_b64_tr_b16 %0, %4\n\tds_read_b64_tr_b16 %1, %5\n\tds_read_b64_tr_b16 %2, %6\n\t"
                     "ds_read_b64_tr_b16 %3, %7\n\ts_waitcnt lgkmcnt(0)"
                     : "=&v"(x[0]), "=&v"(x[1]), "=&v"(x[2]), "=&v"(x[3])
                     : "v"(tile_lds_place(from[0])), "v"(tile_lds_place(from[1])), "v"(tile_lds_place(from[2])),
                       "v"(tile_lds_place(from[3]))
                     : "memory");
    __builtin_memcpy(regs, x, sizeof x);
}

TILE_FN void tile_lds_turned8(const char *const from[8], uint16_t *regs) {
    tile_turned x[8];
    __asm__ volatile("ds_read_b64_tr_b16 %0, %8\n\tds_read_b64_tr_b16 %1, %9\n\tds_read_b64_tr_b16 %2, %10\n\t"
                     "ds_read_b64_tr_b16 %3, %11\n\tds_read_b64_tr_b16 %4, %12\n\tds_read_b64_tr_b16 %5, %13\n\t"
                     "ds_read_b64_tr_b16 %6, %14\n\tds_read_b64_tr_b16 %7, %15\n\ts_waitcnt lgkmcnt(0)"
                     : "=&v"(x[0]), "=&v"(x[1]), "=&v"(x[2]), "=&v"(x[3]), "=&v"(x[4]), "=&v"(x[5]), "=&v"(x[6]),
                       "=&v"(x[7])
                     : "v"(tile_lds_place(from[0])), "v"(tile_lds_place(from[1])), "v"(tile_lds_place(from[2])),
                       "v"(tile_lds_place(from[3])), "v"(tile_lds_place(from[4])), "v"(tile_lds_place(from[5])),
                       "v"(tile_lds_place(from[6])), "v"(tile_lds_place(from[7]))
                     : "memory");
    __builtin_memcpy(regs, x, sizeof x);
}

typedef struct {
    int n; /* the machine counts them */
} tile_copies;

/* `to`, the same in all lanes: where the first lane's bytes go. */
TILE_FN void tile_copy16(tile_copies *on_way, tile_rows rows, int place, int more, char *to) {
    (void)on_way;
    __builtin_amdgcn_raw_ptr_buffer_load_lds(rows, (__attribute__((address_space(3))) void *)to, 16, place + more, 0, 0,
                                             0);
}

#define TILE_NOTHING_MOVES()                                                                                           \
    __asm__ volatile("" ::: "memory");                                                                                 \
    __builtin_amdgcn_sched_barrier(0)

/* As tile_turn, but only with what this wave itself has read and stored, and `left` of its copies may still be on their
   way: s_waitcnt vmcnt(left) lgkmcnt(0). A fence would wait for all of them. */
#define tile_turn_but(on_way, left)                                                                                    \
    do {                                                                                                               \
        (void)(on_way);                                                                                                \
        TILE_NOTHING_MOVES();                                                                                          \
        __builtin_amdgcn_s_waitcnt(((left)&15) | (left) >> 4 << 14 | 7 << 4);                                          \
        __builtin_amdgcn_s_barrier();                                                                                  \
        TILE_NOTHING_MOVES();                                                                                          \
    } while (0)
#endif

#endif
