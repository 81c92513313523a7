/* words.c: words that workgroups and devices share. A release gives a word the storing wave's clock. A wave that
   loads the word takes the clock with its next acquire, if the scopes of both fences and both accesses suffice.
   Stores of a wave to several words arrive in any order, unless a release or a drain stands between. */
#include "emu.h"

#include <stdlib.h>

typedef struct Word {
    struct Word *next;
    const uint64_t *at;
    int device, scope;    /* of the last store */
    Snapshot *near, *far; /* for its device, for others */
} Word;

/* Each packet is a word: there may be hundreds of thousands. The table has as many buckets as words, at least. */
enum { FEWEST = 1024 /* buckets: words of most programs; chosen: no measurement is recorded */ };
static Word **words;
static size_t nbuckets, nwords;

static Word **word_link(const uint64_t *p) {
    Word **link = &words[((uintptr_t)p / 8 * UINT64_C(0x9E3779B97F4A7C15) >> 32) % nbuckets];
    while (*link && (*link)->at != p) link = &(*link)->next;
    return link;
}

static Word *word_find(const uint64_t *p) { return nbuckets ? *word_link(p) : NULL; }

static void words_grow(void) {
    Word **old = words;
    const size_t n = nbuckets;
    nbuckets = n ? 2 * n : FEWEST;
    words = calloc(nbuckets, sizeof *words);
    if (!words) emu_fail("finds no memory in the emulator");
    for (size_t i = 0; i < n; i++)
        for (Word *w = old[i], *next; w; w = next) {
            next = w->next;
            w->next = NULL;
            *word_link(w->at) = w;
        }
    free(old);
}

static Word *word_make(const uint64_t *p) {
    Word *found = word_find(p);
    if (found) return found;
    if (nwords == nbuckets) words_grow();
    Word *w = calloc(1, sizeof *w);
    if (!w) emu_fail("finds no memory in the emulator");
    w->at = p;
    w->device = -1;
    nwords++;
    return *word_link(p) = w;
}

static void word_drop(Word **link) {
    Word *w = *link;
    *link = w->next;
    nwords--;
    snapshot_drop(w->near);
    snapshot_drop(w->far);
    free(w);
}

void words_forget(const char *base, size_t bytes) {
    for (size_t i = 0; i < nbuckets; i++)
        for (Word **link = &words[i]; *link;) {
            const char *p = (const char *)(*link)->at;
            if (!base || (p >= base && p < base + bytes))
                word_drop(link);
            else
                link = &(*link)->next;
        }
}

/* ---- stores on their way ---- */

static void store_arrive(const WordStore *s) {
    Word *w = word_find(s->at);
    snapshot_drop(w->near);
    snapshot_drop(w->far);
    w->near = s->near;
    w->far = s->far;
    w->device = emu->launch->device;
    w->scope = s->scope;
    __atomic_store_n(s->at, s->value, __ATOMIC_SEQ_CST);
}

static void store_send(Talk *t, int i) {
    store_arrive(&t->store[i]);
    t->store[i] = t->store[--t->nstores];
}

void words_send(Talk *t) {
    while (t->nstores) store_send(t, (int)(engine_random() % (uint64_t)t->nstores));
}

void words_drift(Talk *t) {
    while (t->nstores && engine_random() % 2) store_send(t, (int)(engine_random() % (uint64_t)t->nstores));
}

/* Accesses of one wave to one word stay in order. */
static void store_send_to(Talk *t, const uint64_t *p) {
    for (int i = 0; i < t->nstores; i++)
        if (t->store[i].at == p) return store_send(t, i);
}

/* ---- what kernels call ---- */

static void others_in_between(void) {
    if (engine_random() % 4 == 0) group_yield(false);
}

static void word_check(const uint64_t *p, TouchKind kind, int scope) {
    others_in_between();
    Block *b = memory_find(p);
    if (b && b->device < 0 && scope == TILE_DEVICE) emu_fail("uses a word of the host's memory for device scope");
    global_check((const char *)p, sizeof *p, kind, NULL);
    store_send_to(talk_now(), p);
}

/* The reads that came before a release are over for whoever sees its word: what he stores, he stores later. */
static void reads_seen(Talk *t, const Clock *c) {
    bool news = false;
    for (int i = 0; i < EMU_DEVICES * EMU_PLACES; i++)
        news |= known_raise(&t->acquired.place[i].read, c->place[i].read);
    if (news) group_pass_time();
}

/* What the last store released comes with the next acquire. */
static void word_seen(const uint64_t *p, int scope) {
    Word *w = word_find(p);
    Talk *t = talk_now();
    if (!w || w->device < 0) return;
    bool here = w->device == emu->launch->device;
    if (!here && scope == TILE_DEVICE) emu_fail("looks for device scope at a word that device %d stored", w->device);
    if (!here && w->scope == TILE_DEVICE) emu_fail("looks at a word that device %d stored for device scope", w->device);
    Snapshot *s = here ? w->near : w->far;
    if (!s) return;
    known_join(here ? &t->seen_near : &t->seen_far, &s->clock);
    reads_seen(t, &s->clock);
}

/* A word that is changed goes on carrying what it carried. */
static void word_changed(const uint64_t *p, int scope) {
    Word *w = word_make(p);
    Talk *t = talk_now();
    if (w->device != emu->launch->device) {
        snapshot_drop(w->near);
        w->near = snapshot_share(w->far);
    }
    w->near = snapshot_join(w->near, t->released);
    if (scope == TILE_SYSTEM) w->far = snapshot_join(w->far, t->released_far);
    w->device = emu->launch->device;
    w->scope = scope;
}

uint64_t tile_emu_word_load(const uint64_t *p, int scope) {
    word_check(p, TOUCH_LOOK, scope);
    word_seen(p, scope);
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

void tile_emu_word_store(uint64_t *p, uint64_t v, int scope) {
    word_check(p, TOUCH_ATOMIC, scope);
    Talk *t = talk_now();
    word_make(p);
    if (t->nstores == TALK_STORES) store_send(t, 0);
    t->store[t->nstores++] = (WordStore){p, v, scope, snapshot_share(t->released),
                                         scope == TILE_SYSTEM ? snapshot_share(t->released_far) : NULL};
    words_drift(t);
    others_in_between();
}

uint64_t tile_emu_word_add(uint64_t *p, uint64_t v, int scope) {
    word_check(p, TOUCH_ATOMIC, scope);
    word_seen(p, scope);
    word_changed(p, scope);
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}

uint64_t tile_emu_word_swap(uint64_t *p, uint64_t from, uint64_t to, int scope) {
    word_check(p, TOUCH_ATOMIC, scope);
    word_seen(p, scope);
    if (__atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) word_changed(p, scope);
    return from;
}

uint64_t tile_emu_clock_ns(void) { return engine_ns(); }
void tile_emu_pause(void) { group_yield(true); }
