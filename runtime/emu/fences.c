/* fences.c: what fences release and acquire. A release takes along
   * everything of its own wave;
   * of other waves of the workgroup, what is behind the last barrier. Where the barrier does not wait for loads and
     stores (machine->holds), these must have been drained before;
   * for other devices, of other workgroups' stores on this device only those that these workgroups released for other
     devices themselves, unless all share one L2 (machine->chiplets).
   An acquire makes known what was released with the words that the wave has loaded before. */
#include "emu.h"

#include <stdlib.h>

Talk *talk_now(void) {
    Wave *w = &emu->waves[emu->wave];
    if (!w->talk && !(w->talk = calloc(1, sizeof *w->talk))) emu_fail("finds no memory in the emulator");
    return w->talk;
}

Clock *talk_acquired(int wave) { return emu->waves[wave].talk ? &emu->waves[wave].talk->acquired : NULL; }

void talk_end(Talk *t) {
    if (!t) return;
    words_send(t);
    snapshot_drop(t->released);
    snapshot_drop(t->released_far);
    free(t);
}

void tile_emu_drain(void) {
    Wave *w = &emu->waves[emu->wave];
    w->undrained = 0;
    if (w->talk) words_send(w->talk);
}

/* The last tick up to which the accesses of the workgroup are over, for a fence of the wave that runs. */
static uint64_t tick_drained(uint64_t upto) {
    for (int i = 0; i < group_waves(); i++)
        if (i != emu->wave && emu->waves[i].held && emu->waves[i].held <= upto) upto = emu->waves[i].held - 1;
    return upto;
}

bool known_raise(uint64_t *known, uint64_t to) {
    bool raises = *known < to;
    if (raises) *known = to;
    return raises;
}

static bool is_same_l2(int place) {
    int chiplets = emu->launch->facts->machine.chiplets;
    return place / EMU_PLACES == emu->place / EMU_PLACES && place % chiplets == emu->place % chiplets;
}

/* What a release of the wave that runs publishes. The first wave's accesses since the barrier have the tick before the
   other waves'. */
static Clock clock_to_release(int scope) {
    Clock c = emu->known;
    uint64_t upto = tick_drained(emu->wave == 0 || group_waves() == 1 ? emu->tick : emu->synced);
    known_join(&c, &talk_now()->acquired);
    Known *own = &c.place[emu->place];
    known_raise(&own->read, upto);
    known_raise(&own->near, upto);
    for (int i = 0; i < EMU_DEVICES * EMU_PLACES && scope == TILE_SYSTEM; i++)
        if (is_same_l2(i)) known_raise(&c.place[i].far, c.place[i].near);
    return c;
}

void tile_emu_fence_release(int scope) {
    Talk *t = talk_now();
    if (lane_now()->unwritten) emu_fail("releases what stores by tiles may still be writing (tile_tma_wait)");
    tile_emu_drain();
    Clock c = clock_to_release(scope);
    emu->known.place[emu->place] = c.place[emu->place];
    snapshot_drop(t->released);
    t->released = snapshot_make(&c);
    if (scope == TILE_SYSTEM) {
        snapshot_drop(t->released_far);
        t->released_far = snapshot_share(t->released);
    }
    group_pass_time();
}

void tile_emu_fence_acquire(int scope) {
    Talk *t = talk_now();
    known_join(&t->acquired, &t->seen_near);
    if (scope == TILE_SYSTEM) known_join(&t->acquired, &t->seen_far);
    t->unfenced = true;
    group_pass_time();
}
