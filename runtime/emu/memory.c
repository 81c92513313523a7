/* memory.c: the emulator's global memory: what an access may touch, and whether it is ordered after what others did
   there. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

enum { POISON = 0xff, GAP = 4096 /* between blocks: what misses one a little hits none */ };

static Block *blocks; /* of all devices; the last one found first */
static Histories histories = {.first = HISTORY_FIRST};

uint32_t memory_histories(void) { return histories.n; }

void *memory_alloc(size_t bytes, int device, bool shared) {
    Block *b = calloc(1, sizeof *b);
    size_t padded = (bytes + GAP - 1) / GAP * GAP + 2 * GAP;
    char *memory = b ? aligned_alloc(GAP, padded) : NULL;
    History *history = b ? calloc(bytes + 1, sizeof *history) : NULL;
    if (!memory || !history) return free(memory), free(history), free(b), NULL;
    memset(memory, POISON, padded);
    *b = (Block){blocks, memory + GAP, bytes, device, shared, history};
    blocks = b;
    return b->base;
}

bool memory_free(void *base) {
    Block **link = &blocks;
    while (*link && (*link)->base != base) link = &(*link)->next;
    Block *b = *link;
    if (!b) return false;
    words_forget(b->base, b->bytes);
    *link = b->next;
    free(b->base - GAP);
    free(b->history);
    free(b);
    return true;
}

static bool block_has(const Block *b, const char *p) { return p >= b->base && p < b->base + b->bytes; }

static Block *block_first(Block **link) {
    Block *b = *link;
    *link = b->next;
    b->next = blocks;
    return blocks = b;
}

Block *memory_find(const void *p) {
    Block *best = NULL;
    for (Block **link = &blocks; *link; link = &(*link)->next) {
        Block *b = *link;
        if (block_has(b, p)) return block_first(link);
        if (b->base <= (const char *)p && (!best || b->base > best->base)) best = b;
    }
    return best;
}

void memory_by_host(void *p, size_t bytes, History history) {
    Block *b = memory_find(p);
    size_t at = b ? (size_t)((char *)p - b->base) : 0;
    if (!b || at + bytes > b->bytes) return;
    words_forget(p, bytes);
    for (size_t i = 0; i < bytes; i++) b->history[at + i] = history;
}

void memory_forget(void) {
    for (Block *b = blocks; b; b = b->next)
        for (size_t i = 0; i < b->bytes; i++) b->history[i] = b->history[i] ? HISTORY_HOST : HISTORY_NONE;
    history_forget(&histories);
}

/* ---- checks ---- */

static const char *verb(bool store) { return store ? "writes" : "reads"; }

void check_range(const char *p, size_t bytes, const char *base, size_t size, const char *memory, bool store) {
    if (!base || p < base || (size_t)(p - base) + bytes > size)
        emu_fail("%s %zu bytes at byte %td of %s of %zu bytes", verb(store), bytes, base ? p - base : 0, memory, size);
}

void check_place(const char *p, size_t bytes, const char *base, size_t size, const char *memory, bool store) {
    check_range(p, bytes, base, size, memory, store);
    if ((uintptr_t)p % bytes)
        emu_fail("%s %zu bytes at byte %td of %s: no multiple of %zu", verb(store), bytes, p - base, memory, bytes);
}

static void check_device(const Block *b, bool store) {
    int here = emu->launch->device;
    if (b->device >= 0 && b->device != here && !(device_of(here)->peers >> b->device & 1))
        emu_fail("%s memory of device %d, which device %d has no access to", verb(store), b->device, here);
}

static void touch_report(size_t at, TouchKind kind, const Touch *other) {
    static const char *const now[] = {"reads", "writes", "looks at", "changes"};
    static const char *const then[] = {"read", "wrote", "looked at", "changed"};
    if (other->place == emu->place && other->tick >= emu->start)
        emu_fail("%s byte %zu of a block, which wave %d of its workgroup %s before, with nothing between", now[kind],
                 at, other->actor, then[other->kind]);
    int device = other->place / EMU_PLACES;
    if (device != emu->place / EMU_PLACES)
        emu_fail("%s byte %zu of a block, which device %d %s before, with nothing between", now[kind], at, device,
                 then[other->kind]);
    emu_fail("%s byte %zu of a block, which another workgroup %s before, with nothing between", now[kind], at,
             then[other->kind]);
}

/* The first bytes of n, all of one history; their number. Storing what is there already harms nobody. */
static size_t touch_alike(Block *b, size_t at, size_t n, TouchKind kind, const char *value) {
    Touch other;
    History *h = &b->history[at], from = *h;
    if (from == HISTORY_NONE && kind != TOUCH_STORE)
        emu_fail("reads byte %zu of a block of %zu bytes, which nothing wrote", at, b->bytes);
    Touch by = {emu->tick + (emu->wave > 0), (uint16_t)emu->wave, (uint8_t)emu->place, 0, (uint8_t)kind};
    if (!lane_now()->followed && (kind != TOUCH_READ || history_is_fresh(&histories, from, &by))) follow_check();
    History to = history_next(&histories, from, &by, &other);
    size_t i = 0;
    for (; i < n && h[i] == from; i++) {
        h[i] = to;
        if (other.kind != UINT8_MAX && !(value && value[i] == b->base[at + i])) touch_report(at + i, kind, &other);
    }
    return i;
}

Block *memory_covered(const char *p, size_t bytes, bool store) {
    Block *b = memory_find(p);
    check_range(p, bytes, b ? b->base : NULL, b ? b->bytes : 0, "a block", store);
    check_device(b, store);
    return b;
}

void global_touch(const char *p, size_t bytes, TouchKind kind, const char *value) {
    Block *b = memory_covered(p, bytes, kind == TOUCH_STORE || kind == TOUCH_ATOMIC);
    Wave *w = &emu->waves[emu->wave];
    if (!w->undrained) w->undrained = emu->tick;
    size_t at = (size_t)(p - b->base);
    for (size_t i = 0; i < bytes;) i += touch_alike(b, at + i, bytes - i, kind, value ? value + i : NULL);
}

void global_check(const char *p, size_t bytes, TouchKind kind, const char *value) {
    const Block *b = memory_find(p);
    check_place(p, bytes, b ? b->base : NULL, b ? b->bytes : 0, "a block", kind == TOUCH_STORE || kind == TOUCH_ATOMIC);
    global_touch(p, bytes, kind, value);
}

/* Machines drop such sums there, or order them only among workgroups of one device. */
void memory_check_own(const char *p) {
    const Block *b = memory_find(p);
    if (b->shared)
        emu_fail("adds to byte %td of a block that other devices address, for this device alone", p - b->base);
}
