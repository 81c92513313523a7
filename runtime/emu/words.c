/* words.c: words that workgroups and devices share, and the fences around them. Who loads what another stored after a
   release takes, with its next acquire, the other's clock at that release, if the scopes of both fences and of both
   accesses reach from one to the other. A release takes along
   * of its own wave, everything; of others of the workgroup, what is behind the last barrier and, where waves keep
     stores back (machine->holds), had been drained before it;
   * for other devices, of the stores of others on this device only what these released for other devices themselves,
     unless all share one L2 (machine->chiplets).
   Between launches of a stream, and at the host's waits, everything is in order. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

typedef struct Word {
    struct Word *next;
    const uint64_t *at;
    int device, scope;    /* of the last store */
    Snapshot *near, *far; /* for its device, for others */
} Word;

enum { BUCKETS = 1024 };
static Word *words[BUCKETS];

static Word **word_link(const uint64_t *p) {
    Word **link = &words[(uintptr_t)p / 8 * 2654435761u % BUCKETS];
    while (*link && (*link)->at != p) link = &(*link)->next;
    return link;
}

static Word *word_make(const uint64_t *p) {
    Word **link = word_link(p);
    if (*link) return *link;
    Word *w = calloc(1, sizeof *w);
    if (!w) emu_fail("finds no memory in the emulator");
    w->at = p;
    w->device = -1;
    return *link = w;
}

static void word_drop(Word **link) {
    Word *w = *link;
    *link = w->next;
    snapshot_drop(w->near);
    snapshot_drop(w->far);
    free(w);
}

void words_forget(const char *base, size_t bytes) {
    for (int i = 0; i < BUCKETS; i++)
        for (Word **link = &words[i]; *link;) {
            const char *p = (const char *)(*link)->at;
            if (!base || (p >= base && p < base + bytes))
                word_drop(link);
            else
                link = &(*link)->next;
        }
}

/* ---- fences ---- */

static Talk *talk(void) {
    Wave *w = &emu->waves[emu->wave];
    if (!w->talk && !(w->talk = calloc(1, sizeof *w->talk))) emu_fail("finds no memory in the emulator");
    return w->talk;
}

Clock *talk_acquired(int wave) { return emu->waves[wave].talk ? &emu->waves[wave].talk->acquired : NULL; }

void talk_end(Talk *t) {
    if (!t) return;
    snapshot_drop(t->released);
    snapshot_drop(t->released_far);
    free(t);
}

void tile_emu_drain(void) { emu->waves[emu->wave].undrained = 0; }

/* The last tick up to which the stores of the workgroup have left their waves, for a fence of the wave that runs. */
static uint64_t stores_out(uint64_t upto) {
    for (int i = 0; i < group_waves(); i++)
        if (i != emu->wave && emu->waves[i].held && emu->waves[i].held <= upto) upto = emu->waves[i].held - 1;
    return upto;
}

static void known_raise(uint64_t *known, uint64_t to) {
    if (*known < to) *known = to;
}

static bool is_same_l2(int place) {
    int chiplets = emu->launch->machine->chiplets;
    return place / EMU_PLACES == emu->place / EMU_PLACES && place % chiplets == emu->place % chiplets;
}

/* What a release of the wave that runs publishes. The first wave's accesses since the barrier have the tick before the
   other waves'. */
static Clock clock_to_release(int scope) {
    Clock c = emu->known;
    uint64_t upto = emu->wave == 0 || group_waves() == 1 ? emu->tick : emu->synced;
    known_join(&c, &talk()->acquired);
    Known *own = &c.place[emu->place];
    known_raise(&own->read, upto);
    known_raise(&own->near, stores_out(upto));
    for (int i = 0; i < EMU_DEVICES * EMU_PLACES && scope == TILE_SYSTEM; i++)
        if (is_same_l2(i)) known_raise(&c.place[i].far, c.place[i].near);
    return c;
}

void tile_emu_fence_release(int scope) {
    Talk *t = talk();
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
    Talk *t = talk();
    known_join(&t->acquired, &t->seen_near);
    if (scope == TILE_SYSTEM) known_join(&t->acquired, &t->seen_far);
    group_pass_time();
}

/* ---- words ---- */

/* Others may come in between. */
static void word_check(const uint64_t *p, TouchKind kind) {
    if (engine_random() % 4 == 0) group_yield(false);
    global_check((const char *)p, sizeof *p, kind, NULL);
}

/* What the last store released comes with the next acquire. */
static void word_seen(const uint64_t *p, int scope) {
    Word *w = *word_link(p);
    Talk *t = talk();
    if (!w || w->device < 0) return;
    bool here = w->device == emu->launch->device;
    if (!here && scope == TILE_DEVICE) emu_fail("looks for device scope at a word that device %d stored", w->device);
    if (!here && w->scope == TILE_DEVICE) emu_fail("looks at a word that device %d stored for device scope", w->device);
    Snapshot *s = here ? w->near : w->far;
    if (s) known_join(here ? &t->seen_near : &t->seen_far, &s->clock);
}

static void word_written(Word *w, int scope) {
    w->device = emu->launch->device;
    w->scope = scope;
}

/* A word that is changed goes on carrying what it carried. */
static void word_changed(const uint64_t *p, int scope) {
    Word *w = word_make(p);
    Talk *t = talk();
    if (w->device != emu->launch->device) {
        snapshot_drop(w->near);
        w->near = snapshot_share(w->far);
    }
    w->near = snapshot_join(w->near, t->released);
    if (scope == TILE_SYSTEM) w->far = snapshot_join(w->far, t->released_far);
    word_written(w, scope);
}

uint64_t tile_emu_word_load(const uint64_t *p, int scope) {
    word_check(p, TOUCH_LOOK);
    word_seen(p, scope);
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

void tile_emu_word_store(uint64_t *p, uint64_t v, int scope) {
    word_check(p, TOUCH_ATOMIC);
    Word *w = word_make(p);
    snapshot_drop(w->near);
    snapshot_drop(w->far);
    w->near = snapshot_share(talk()->released);
    w->far = scope == TILE_SYSTEM ? snapshot_share(talk()->released_far) : NULL;
    word_written(w, scope);
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);
}

uint64_t tile_emu_word_add(uint64_t *p, uint64_t v, int scope) {
    word_check(p, TOUCH_ATOMIC);
    word_seen(p, scope);
    word_changed(p, scope);
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}

uint64_t tile_emu_word_swap(uint64_t *p, uint64_t from, uint64_t to, int scope) {
    word_check(p, TOUCH_ATOMIC);
    word_seen(p, scope);
    if (__atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) word_changed(p, scope);
    return from;
}

uint64_t tile_emu_clock_ns(void) { return engine_ns(); }
void tile_emu_pause(void) { group_yield(true); }
