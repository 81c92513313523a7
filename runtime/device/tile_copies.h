/* tile_copies.h: copies from rows of a tensor (tile_rows.h) straight to workgroup memory, gfx950: 16 bytes a lane, which lie
   side by side there. They arrive in the order in which they began; a turn ends when all but the last few of a wave have. */
#ifndef TILE_DEVICE_TILE_COPIES_H
#define TILE_DEVICE_TILE_COPIES_H

#ifdef TILE_EMU
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
typedef struct {
    int n; /* the machine counts them */
} tile_copies;

/* `to`, the same in all lanes: where the first lane's bytes go. */
TILE_FN void tile_copy16(tile_copies *on_way, tile_rows rows, int place, int more, char *to) {
    (void)on_way;
    __builtin_amdgcn_raw_ptr_buffer_load_lds(rows, (__attribute__((address_space(3))) void *)to, 16, place + more, 0, 0, 0);
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
        __builtin_amdgcn_s_waitcnt(((left) & 15) | (left) >> 4 << 14 | 7 << 4);                                        \
        __builtin_amdgcn_s_barrier();                                                                                  \
        TILE_NOTHING_MOVES();                                                                                          \
    } while (0)
#endif

#endif
