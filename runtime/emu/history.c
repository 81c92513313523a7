/* history.c: histories of bytes: the last store, and what was read and added since, as far as later accesses need it.
   A byte carries its history's number; bytes that were touched alike share it. An access must be ordered after all of
   the history that it conflicts with: by a barrier within the workgroup, else by what its wave knows. After FastTrack
   (Flanagan and Freund, PLDI 2009), with sets of readers instead of vector clocks, and with stores that count only once
   the reader's device sees them. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 /* touches that one history remembers: of more, the last */, MEMO = 1024 };

typedef struct {
    int n;
    Touch touch[];
} Past;

/* The last answers: what follows on a history at a time of a wave. */
typedef struct {
    History from, to;
    Touch by, other;
} Memo;

static struct {
    Past **past;
    uint32_t n, room;
    Memo memo[MEMO];
} histories = {.n = HISTORY_FIRST};

uint32_t history_count(void) { return histories.n; }

void history_forget(void) {
    for (uint32_t i = HISTORY_FIRST; i < histories.n; i++) free(histories.past[i]);
    histories.n = HISTORY_FIRST;
    memset(histories.memo, 0, sizeof histories.memo);
}

static History history_add(const Past *p) {
    if (histories.n >= histories.room) {
        histories.room = histories.room * 2 + 1024;
        histories.past = realloc(histories.past, histories.room * sizeof *histories.past);
        if (!histories.past) emu_fail("finds no memory in the emulator");
    }
    size_t bytes = sizeof *p + (size_t)p->n * sizeof *p->touch;
    Past *copy = malloc(bytes);
    if (!copy) emu_fail("finds no memory in the emulator");
    histories.past[histories.n] = memcpy(copy, p, bytes);
    return histories.n++;
}

/* ---- order ---- */

static uint64_t known_of(const Clock *c, const Touch *t) {
    const Known *k = &c->place[t->place];
    if (t->kind == TOUCH_READ || t->kind == TOUCH_LOOK) return k->read;
    return t->place / EMU_PLACES == emu->place / EMU_PLACES ? k->near : k->far;
}

static bool is_ordered(const Touch *t) {
    int wave = emu->wave;
    if (t->place == emu->place && t->tick >= emu->start) return t->wave == wave || t->tick <= emu->synced;
    if (t->tick <= known_of(&emu->known, t)) return true;
    const Clock *acquired = talk_acquired(wave);
    return acquired && t->tick <= known_of(acquired, t);
}

/* What each kind is not in order with, unless something orders them. */
static const int conflicts[] = {
    [TOUCH_LOOK] = 1 << TOUCH_STORE,
    [TOUCH_READ] = 1 << TOUCH_STORE | 1 << TOUCH_ATOMIC,
    [TOUCH_ATOMIC] = 1 << TOUCH_STORE | 1 << TOUCH_READ,
    [TOUCH_STORE] = 1 << TOUCH_LOOK | 1 << TOUCH_READ | 1 << TOUCH_ATOMIC | 1 << TOUCH_STORE,
};

static bool is_conflict(const Touch *a, const Touch *b) { return conflicts[a->kind] >> b->kind & 1; }

/* Whoever comes after `by` comes after t too, and conflicts with by where it conflicts with t. */
static bool is_covered(const Touch *t, const Touch *by) {
    return by->kind == TOUCH_STORE || (!(conflicts[t->kind] & ~conflicts[by->kind]) && is_ordered(t));
}

static bool is_same(const Touch *a, const Touch *b) {
    return a->tick == b->tick && a->place == b->place && a->wave == b->wave && a->kind == b->kind;
}

static History history_work(History from, Touch by, Touch *other) {
    static const Past none;
    struct {
        Past past;
        Touch touch[MOST + 1];
    } next = {0};
    const Past *past = from < HISTORY_FIRST ? &none : histories.past[from];
    Touch *to = next.past.touch;
    int n = 0;
    *other = (Touch){.kind = UINT8_MAX};
    if (past->n && is_same(&past->touch[past->n - 1], &by)) return from;
    for (int i = 0; i < past->n; i++) {
        const Touch *t = &past->touch[i];
        if (is_conflict(t, &by) && !is_ordered(t)) *other = *t;
        if (!is_covered(t, &by)) to[n++] = *t;
    }
    if (n == MOST) memmove(to, to + 1, (size_t)--n * sizeof *to);
    to[n++] = by;
    next.past.n = n;
    return history_add(&next.past);
}

History history_next(History from, TouchKind kind, Touch *other) {
    int wave = emu->wave;
    Touch by = {emu->tick + (wave > 0), (uint8_t)emu->place, (uint8_t)wave, (uint8_t)kind};
    Memo *m = &histories.memo[(from * 2654435761u + (uint32_t)(wave * 4) + kind) % MEMO];
    if (m->from != from || !is_same(&m->by, &by)) {
        History to = history_work(from, by, other);
        *m = (Memo){from, to, by, *other};
    }
    *other = m->other;
    return m->to;
}
