/* ptrmap.h: a hash table from pointers (names, declarations) to pointers. */
#ifndef TILEC_BASE_PTRMAP_H
#define TILEC_BASE_PTRMAP_H

#include "base/arena.h"

typedef struct {
    const void *key;
    void *value;
} PtrSlot;

typedef struct {
    PtrSlot *slot;
    int cap, n; /* cap: 0 or a power of two */
} PtrMap;

void *ptrmap_get(const PtrMap *, const void *key); /* NULL: not there */
void ptrmap_put(Arena *, PtrMap *, const void *key, void *value);

#endif
