/* memory.c: the emulator's global memory and LDS: what an access may touch, and who touched it before. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

enum {
    POISON = 0xff,
    NOBODY = -1,
    SEVERAL = -2,
    ATOMIC = -3 /* all who add */,
    GAP = 4096 /* between blocks: what misses one a little hits none */
};

static Block *blocks; /* all allocations: one device a process */

void *memory_alloc(size_t bytes) {
    Block *b = calloc(1, sizeof *b);
    size_t padded = (bytes + GAP - 1) / GAP * GAP + 2 * GAP;
    char *memory = b ? aligned_alloc(GAP, padded) : NULL;
    if (!memory) return free(b), NULL;
    memset(memory, POISON, padded);
    *b = (Block){.next = blocks, .base = memory + GAP, .bytes = bytes};
    b->touch = calloc(bytes + 1, sizeof *b->touch);
    b->written = calloc(bytes + 1, 1);
    blocks = b;
    if (b->touch && b->written) return b->base;
    memory_free(b->base);
    return NULL;
}

bool memory_free(void *base) {
    Block **link = &blocks;
    while (*link && (*link)->base != base) link = &(*link)->next;
    Block *b = *link;
    if (!b) return false;
    *link = b->next;
    free(b->base - GAP);
    free(b->touch);
    free(b->written);
    free(b);
    return true;
}

Block *memory_find(const void *p) {
    Block *best = NULL;
    for (Block *b = blocks; b; b = b->next)
        if (b->base <= (const char *)p && (!best || b->base > best->base)) best = b;
    return best;
}

void memory_written(void *p, size_t bytes) {
    Block *b = memory_find(p);
    if (b && (size_t)((char *)p - b->base) + bytes <= b->bytes) memset(b->written + ((char *)p - b->base), 1, bytes);
}

/* ---- who touched a byte ---- */

static bool is_other(int32_t last, int who) { return last != NOBODY && last != who; }

/* The one that this access races with, or NOBODY. Storing what is there already harms nobody. */
static int touch_conflict(const Touch *t, uint32_t epoch, int who, bool store, bool same) {
    if (t->epoch != epoch || (store && same)) return NOBODY;
    if (is_other(t->writer, who)) return t->writer;
    return store && is_other(t->reader, who) ? t->reader : NOBODY;
}

static void touch_note(Touch *t, uint32_t epoch, int who, bool store) {
    if (t->epoch != epoch) *t = (Touch){epoch, NOBODY, NOBODY};
    if (store)
        t->writer = who;
    else
        t->reader = is_other(t->reader, who) ? SEVERAL : who;
}

static void race_report(const char *memory, const char *unit, const Touch *t, int other, bool store, size_t at) {
    const char *what = other == t->writer ? "wrote" : "read";
    const char *now = store ? "writes" : "reads";
    if (other == ATOMIC)
        emu_fail("%s byte %zu of %s, which others of the launch add to, with nothing between", now, at, memory);
    else if (other == SEVERAL)
        emu_fail("%s byte %zu of %s, which several %ss read before, with nothing between", now, at, memory, unit);
    else
        emu_fail("%s byte %zu of %s, which %s %d %s before, with nothing between", now, at, memory, unit, other, what);
}

/* value: what is stored; NULL: it is read, or added to. */
static void touch_all(Touch *t, size_t bytes, uint32_t epoch, int who, bool store, const char *value,
                      const char *memory_now, const char *memory, const char *unit, size_t at) {
    for (size_t i = 0; i < bytes; i++) {
        int other = touch_conflict(&t[i], epoch, who, store, value && value[i] == memory_now[i]);
        if (other != NOBODY) race_report(memory, unit, &t[i], other, store, at + i);
        touch_note(&t[i], epoch, who, store);
    }
}

/* ---- checks ---- */

static void check_place(const char *p, size_t bytes, const char *base, size_t size, const char *memory, bool store) {
    const char *verb = store ? "writes" : "reads";
    if (!base || p < base || (size_t)(p - base) + bytes > size)
        emu_fail("%s %zu bytes at byte %td of %s of %zu bytes", verb, bytes, base ? p - base : 0, memory, size);
    if ((uintptr_t)p % bytes)
        emu_fail("%s %zu bytes at byte %td of %s: no multiple of %zu", verb, bytes, p - base, memory, bytes);
}

void global_check(const char *p, size_t bytes, int how, const char *value) {
    Block *b = memory_find(p);
    bool adds = how == TILE_ATOMICS, store = how == TILE_STORES;
    check_place(p, bytes, b ? b->base : NULL, b ? b->bytes : 0, "a block", store || adds);
    size_t at = (size_t)(p - b->base);
    touch_all(b->touch + at, bytes, emu->number, adds ? ATOMIC : (int)emu->group, store || adds, value, p, "a block",
              "workgroup", at);
    for (size_t i = 0; i < bytes; i++) {
        if (!store && !b->written[at + i])
            emu_fail("reads byte %zu of a block of %zu bytes, which nothing wrote", at + i, b->bytes);
        b->written[at + i] = true;
    }
}

void lds_check(const char *p, size_t bytes, int how, const char *value) {
    Lds *l = &emu->lds;
    check_place(p, bytes, l->base, l->bytes, "LDS", how == TILE_LDS_STORES);
    size_t at = (size_t)(p - l->base);
    touch_all(l->touch + at, bytes, l->epoch, emu->thread, how == TILE_LDS_STORES, value, p, "LDS", "thread", at);
}
