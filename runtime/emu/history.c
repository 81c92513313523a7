/* history.c: histories of bytes: the last store, and what was read and added since, as far as later accesses need it.
   A byte carries its history's number; bytes that were touched alike share it. An access must be ordered after all of
   the history that it conflicts with: by a barrier within the workgroup, else by what its wave knows. After FastTrack
   (Flanagan and Freund, PLDI 2009), with sets of readers instead of vector clocks, and with stores that count only once
   the reader's device sees them. */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 /* touches that one history remembers: of more, the last */ };

void history_forget(Histories *h) {
    h->first += h->n;
    h->n = h->used = 0;
    memset(h->memo, 0, sizeof h->memo);
}

static void *grown(void *p, uint32_t *room, size_t each) {
    *room = *room * 2 + 1024;
    p = realloc(p, *room * each);
    if (!p) emu_fail("finds no memory in the emulator");
    return p;
}

static bool is_known(const Histories *h, History x) { return x >= h->first && x - h->first < h->n; }

static bool is_same(const Touch *a, const Touch *b) {
    return a->tick == b->tick && a->actor == b->actor && a->place == b->place && a->lane == b->lane &&
           a->kind == b->kind;
}

static bool is_all_same(const Histories *h, History x, const Touch *touch, int n) {
    if (!is_known(h, x) || h->past[x - h->first].n != (uint32_t)n) return false;
    for (int i = 0; i < n; i++)
        if (!is_same(&h->touch[h->past[x - h->first].at + (uint32_t)i], &touch[i])) return false;
    return true;
}

/* Where one of these touches is looked for. */
static History *place_of(Histories *h, const Touch *touch, int n) {
    uint64_t key = (uint64_t)n;
    for (int i = 0; i < n; i++)
        key = (key ^ touch[i].tick ^ (uint64_t)touch[i].actor << 40 ^ (uint64_t)touch[i].lane << 32 ^
               (uint64_t)touch[i].kind << 56) *
              0x9e3779b97f4a7c15u;
    return &h->same[key >> 32 & (HISTORY_SAME - 1)];
}

static History history_add(Histories *h, const Touch *touch, int n) {
    History *same = place_of(h, touch, n);
    if (is_all_same(h, *same, touch, n)) return *same;
    if (h->n == h->room) h->past = grown(h->past, &h->room, sizeof *h->past);
    if (h->used + MOST > h->touches) h->touch = grown(h->touch, &h->touches, sizeof *h->touch);
    memcpy(h->touch + h->used, touch, (size_t)n * sizeof *touch);
    h->past[h->n].at = h->used;
    h->past[h->n].n = (uint32_t)n;
    h->used += (uint32_t)n;
    return *same = h->first + h->n++;
}

/* ---- order ---- */

static uint64_t known_of(const Clock *c, const Touch *t) {
    const Known *k = &c->place[t->place];
    if (t->kind == TOUCH_READ || t->kind == TOUCH_LOOK) return k->read;
    return t->place / EMU_PLACES == emu->place / EMU_PLACES ? k->near : k->far;
}

static bool is_ordered(const Touch *t, const Touch *by) {
    int wave = emu->wave;
    if (t->kind >= TOUCH_LDS_READ) return order_knows(t, by);
    if (t->place == emu->place && t->tick >= emu->start) return t->actor == wave || t->tick <= emu->synced;
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
    [TOUCH_LDS_READ] = 1 << TOUCH_LDS_STORE | 1 << TOUCH_ASYNC_STORE,
    [TOUCH_LDS_STORE] = 1 << TOUCH_LDS_READ | 1 << TOUCH_LDS_STORE | 1 << TOUCH_ASYNC_READ | 1 << TOUCH_ASYNC_STORE,
    [TOUCH_ASYNC_READ] = 1 << TOUCH_LDS_STORE | 1 << TOUCH_ASYNC_STORE,
    [TOUCH_ASYNC_STORE] = 1 << TOUCH_LDS_READ | 1 << TOUCH_LDS_STORE | 1 << TOUCH_ASYNC_READ | 1 << TOUCH_ASYNC_STORE,
};

static bool is_conflict(const Touch *a, const Touch *b) { return conflicts[a->kind] >> b->kind & 1; }

static bool is_store(const Touch *t) {
    return t->kind == TOUCH_STORE || t->kind == TOUCH_LDS_STORE || t->kind == TOUCH_ASYNC_STORE;
}

bool history_is_fresh(const Histories *h, History x, const Touch *by) {
    if (!is_known(h, x)) return false;
    const Touch *past = h->touch + h->past[x - h->first].at;
    for (uint32_t i = 0; i < h->past[x - h->first].n; i++) {
        const Touch *t = &past[i];
        bool own = t->place == emu->place && t->tick >= emu->start;
        if (!own && is_conflict(t, by) && t->tick > known_of(&emu->launch->before, t)) return true;
    }
    return false;
}

/* Whoever comes after `by` comes after t too, and conflicts with by where it conflicts with t. */
static bool is_covered(const Touch *t, const Touch *by) {
    return is_store(by) || (!(conflicts[t->kind] & ~conflicts[by->kind]) && is_ordered(t, by));
}

/* Lanes of a wave at the same time are remembered together. */
static bool touch_joins(Touch *last, const Touch *by) {
    Touch alike = *by;
    alike.lane = last->lane;
    if (!is_same(last, &alike)) return false;
    last->lane = LANE_SEVERAL;
    return true;
}

static History history_work(Histories *h, History from, const Touch *by, Touch *other) {
    Touch to[MOST + 1];
    bool known = is_known(h, from);
    const Touch *past = known ? h->touch + h->past[from - h->first].at : NULL;
    int past_n = known ? (int)h->past[from - h->first].n : 0, n = 0;
    *other = (Touch){.kind = UINT8_MAX};
    if (past_n && is_same(&past[past_n - 1], by)) return from;
    for (int i = 0; i < past_n; i++) {
        const Touch *t = &past[i];
        if (is_conflict(t, by) && !is_ordered(t, by)) *other = *t;
        if (!is_covered(t, by)) to[n++] = *t;
    }
    if (n && touch_joins(&to[n - 1], by)) {
        if (n == past_n && past[n - 1].lane == LANE_SEVERAL) return from;
        return history_add(h, to, n);
    }
    if (n == MOST) memmove(to, to + 1, (size_t)--n * sizeof *to);
    to[n++] = *by;
    return history_add(h, to, n);
}

History history_next(Histories *h, History from, const Touch *by, Touch *other) {
    uint32_t key = from * 2654435761u + by->actor * 40503u + by->lane * 7u + by->kind;
    HistoryMemo *m = &h->memo[key % HISTORY_MEMO];
    if (m->from != from || !is_same(&m->by, by)) {
        History to = history_work(h, from, by, other);
        *m = (HistoryMemo){from, to, *by, *other};
    }
    *other = m->other;
    return m->to;
}
