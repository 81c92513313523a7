/* arena.h: memory that is released all at once.
   Everything the compiler builds lives in an arena; nothing is freed alone. */
#ifndef TILEC_BASE_ARENA_H
#define TILEC_BASE_ARENA_H

#include <stddef.h>

typedef struct Arena Arena;

/* Never returns NULL: a failed allocation ends the process through fatal_oom(). */
Arena *arena_new(void);
void arena_free(Arena *);
void *arena_alloc(Arena *, size_t bytes); /* zeroed, aligned for any type */
void *arena_copy(Arena *, const void *from, size_t bytes);
char *arena_text(Arena *, const char *from, size_t len); /* NUL is added */
char *arena_format(Arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(n)))

/* Prints "tilec: error: out of memory", removes unfinished outputs (atexit handlers run) and exits 1. */
_Noreturn void fatal_oom(void);

/* malloc and realloc of the whole compiler; never NULL either. */
void *mem_realloc(void *, size_t bytes);

#endif
