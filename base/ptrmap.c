/* ptrmap.c: open addressing with linear steps; the table doubles at half full. */
#include "base/ptrmap.h"

#include <stdint.h>

static PtrSlot *slot_of(PtrSlot *slot, int cap, const void *key) {
    uint64_t h = ((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u;
    for (unsigned i = (unsigned)(h >> 32);; i++) {
        PtrSlot *s = &slot[i & (unsigned)(cap - 1)];
        if (!s->key || s->key == key) return s;
    }
}

void *ptrmap_get(const PtrMap *m, const void *key) { return m->cap ? slot_of(m->slot, m->cap, key)->value : NULL; }

static void widen(Arena *a, PtrMap *m) {
    PtrMap wide = {.cap = m->cap ? 2 * m->cap : 16, .n = m->n};
    wide.slot = ARENA_ARRAY(a, PtrSlot, wide.cap);
    for (int i = 0; i < m->cap; i++)
        if (m->slot[i].key) *slot_of(wide.slot, wide.cap, m->slot[i].key) = m->slot[i];
    *m = wide;
}

void ptrmap_put(Arena *a, PtrMap *m, const void *key, void *value) {
    if (2 * (m->n + 1) > m->cap) widen(a, m);
    PtrSlot *s = slot_of(m->slot, m->cap, key);
    if (!s->key) m->n++;
    *s = (PtrSlot){key, value};
}
