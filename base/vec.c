/* vec.c: growth of the arrays of vec.h. */
#include "base/vec.h"

#include <string.h>

void vec_grow(Arena *a, void *p, int n, int *cap, size_t each) {
    int wider = *cap ? *cap * 2 : 4;
    void *fresh = arena_alloc(a, each * (size_t)wider), *old;
    memcpy(&old, p, sizeof old);
    if (n) memcpy(fresh, old, each * (size_t)n);
    memcpy(p, &fresh, sizeof fresh);
    *cap = wider;
}
