/* name_map.c: a hash table over the addresses of interned names. */
#include "base/name_map.h"

#include <stdint.h>

static NameEntry *entry_of(const NameMap *map, Name name) {
    uint64_t h = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;
    for (int i = (int)(h >> 40) & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        NameEntry *e = &map->entry[i];
        if (!e->name || e->name == name) return e;
    }
}

static void map_widen(NameMap *map) {
    NameMap old = *map;
    map->cap = old.cap ? 2 * old.cap : 16;
    map->entry = ARENA_ARRAY(map->arena, NameEntry, map->cap);
    for (int i = 0; i < old.cap; i++)
        if (old.entry[i].name) *entry_of(map, old.entry[i].name) = old.entry[i];
}

int *name_map_at(NameMap *map, Name name) {
    if (2 * map->n >= map->cap) map_widen(map);
    NameEntry *e = entry_of(map, name);
    if (!e->name) {
        *e = (NameEntry){name, -1};
        map->n++;
    }
    return &e->number;
}

Name name_claim(NameMap *map, Names *names, Name name) {
    int *next = name_map_at(map, name);
    if ((*next)++ < 0) return name;
    for (int n = *next;; n++) {
        Name candidate = name_of(names, arena_format(map->arena, "%s.%d", name, n));
        int *held = name_map_at(map, candidate);
        if (*held >= 0) continue;
        *held = 0;
        *name_map_at(map, name) = n;
        return candidate;
    }
}
