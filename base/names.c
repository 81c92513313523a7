/* names.c: an open-addressing table of names, FNV-1a hashed. */
#include "base/names.h"
#include "base/text.h"

#include <string.h>

struct Names {
    Arena *arena;
    Name *slot;
    size_t cap, n; /* cap is a power of two */
};

Names *names_new(Arena *a) {
    Names *t = ARENA_NEW(a, Names);
    *t = (Names){a, ARENA_ARRAY(a, Name, 256), 256, 0};
    return t;
}

static Name *slot_of(Names *t, const char *s, size_t len) {
    for (size_t i = text_hash(s, len) & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
        Name held = t->slot[i];
        if (!held || (strncmp(held, s, len) == 0 && held[len] == 0)) return &t->slot[i];
    }
}

static void names_widen(Names *t) {
    Name *old = t->slot;
    size_t n = t->cap;
    t->cap *= 2;
    t->slot = ARENA_ARRAY(t->arena, Name, t->cap);
    for (size_t i = 0; i < n; i++)
        if (old[i]) *slot_of(t, old[i], strlen(old[i])) = old[i];
}

Name name_of_n(Names *t, const char *s, size_t len) {
    Name *slot = slot_of(t, s, len);
    if (*slot) return *slot;
    Name fresh = *slot = arena_text(t->arena, s, len);
    if (++t->n * 2 > t->cap) names_widen(t);
    return fresh;
}

Name name_of(Names *t, const char *s) { return name_of_n(t, s, strlen(s)); }
