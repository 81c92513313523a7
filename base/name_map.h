/* name_map.h: from interned names to numbers, and names made unique. */
#ifndef TILEC_BASE_NAME_MAP_H
#define TILEC_BASE_NAME_MAP_H

#include "base/names.h"

typedef struct {
    Name name;
    int number;
} NameEntry;

typedef struct {
    Arena *arena;
    NameEntry *entry; /* open addressing; cap is a power of two, or 0 */
    int cap, n;
} NameMap;

/* The number of a name, -1 when it is new. The pointer is good until the next call. */
int *name_map_at(NameMap *, Name);
/* The name itself the first time, then name.1, name.2, ..: never the same twice. */
Name name_claim(NameMap *, Names *, Name);

#endif
