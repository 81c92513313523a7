/* clock.c: clocks: for each place where workgroups run, how much of what was done there is known. */
#include "emu.h"

#include <stdlib.h>

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

void known_join(Clock *to, const Clock *from) {
    for (int i = 0; i < EMU_DEVICES * EMU_PLACES; i++) {
        Known *t = &to->place[i];
        const Known *f = &from->place[i];
        *t = (Known){later(t->read, f->read), later(t->near, f->near), later(t->far, f->far)};
    }
}

Snapshot *snapshot_make(const Clock *c) {
    Snapshot *s = malloc(sizeof *s);
    if (!s) emu_fail("finds no memory in the emulator");
    *s = (Snapshot){*c, 1};
    return s;
}

Snapshot *snapshot_share(Snapshot *s) {
    if (s) s->users++;
    return s;
}

void snapshot_drop(Snapshot *s) {
    if (s && --s->users == 0) free(s);
}

Snapshot *snapshot_join(Snapshot *to, Snapshot *from) {
    if (!from || to == from) return to;
    Clock sum = from->clock;
    if (to) known_join(&sum, &to->clock);
    snapshot_drop(to);
    return snapshot_make(&sum);
}
