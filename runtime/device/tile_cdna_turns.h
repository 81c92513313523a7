/* tile_cdna_turns.h: functions of CDNA's schedules whose waves take turns: the barrier between turns, a wave's
   priority in its SIMD, values that are the same in all lanes, and a lane's number. */
#ifndef TILE_DEVICE_TILE_CDNA_TURNS_H
#define TILE_DEVICE_TILE_CDNA_TURNS_H

#ifdef TILE_EMU
TILE_FN int tile_same(int x) { return x; }
TILE_FN const char *tile_base(const void *p) { return (const char *)p; }
TILE_FN int tile_lane_anew(void) { return tile_lane(); }
TILE_FN void tile_turn(void) { tile_sync(); }
TILE_FN void tile_hurry(int priority) { (void)priority; }
#else
/* x, which is the same in all lanes, for branches that the whole wave takes. */
TILE_FN int tile_same(int x) { return __builtin_amdgcn_readfirstlane(x); }

/* p, the same in all lanes, in scalar registers: what is loaded from it at 32-bit offsets needs no other address. */
TILE_FN const char *tile_base(const void *p) {
    __asm__("" : "+s"(p));
    return (const char *)p;
}

/* As tile_lane, counted where it stands: no register keeps the thread's number up to there. */
TILE_FN int tile_lane_anew(void) {
    int lane;
    __asm__ volatile("v_mbcnt_lo_u32_b32 %0, -1, 0\n\tv_mbcnt_hi_u32_b32 %0, -1, %0" : "=v"(lane));
    return lane;
}

/* A turn ends: as tile_sync, and the compiler moves nothing from one turn to the other. */
TILE_FN void tile_turn(void) {
    __builtin_amdgcn_sched_barrier(0);
    tile_sync();
    __builtin_amdgcn_sched_barrier(0);
}

/* 0 to 3: of the waves of a SIMD the one with the highest goes first. */
#define tile_hurry(priority) __builtin_amdgcn_s_setprio(priority)
#endif

#endif
