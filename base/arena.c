/* arena.c: blocks that double in size, released together. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 64 * 1024, LARGEST_BLOCK = 8 * 1024 * 1024, ALIGN = 16 };

typedef struct Block {
    struct Block *next;
    size_t size, used;
    _Alignas(ALIGN) char data[];
} Block;

struct Arena {
    Block *blocks;
};

_Noreturn void fatal_oom(void) {
    fputs("tilec: error: out of memory\n", stderr);
    exit(1);
}

void *mem_realloc(void *old, size_t bytes) {
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) fatal_oom();
    return p;
}

Arena *arena_new(void) {
    Arena *a = mem_realloc(NULL, sizeof *a);
    *a = (Arena){0};
    return a;
}

void arena_free(Arena *a) {
    if (!a) return;
    for (Block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static Block *block_for(Arena *a, size_t bytes) {
    Block *b = a->blocks;
    if (b && b->size - b->used >= bytes) return b;
    size_t size = b ? b->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < bytes) size = bytes;
    b = mem_realloc(NULL, sizeof *b + size);
    b->next = a->blocks;
    b->size = size;
    b->used = 0;
    a->blocks = b;
    return b;
}

void *arena_alloc(Arena *a, size_t bytes) {
    if (bytes > SIZE_MAX / 2) fatal_oom();
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    Block *b = block_for(a, bytes);
    void *p = b->data + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

void *arena_copy(Arena *a, const void *from, size_t bytes) {
    void *p = arena_alloc(a, bytes);
    return bytes ? memcpy(p, from, bytes) : p;
}

char *arena_text(Arena *a, const char *from, size_t len) {
    char *p = arena_alloc(a, len + 1);
    if (len) memcpy(p, from, len);
    return p;
}

char *arena_format(Arena *a, const char *format, ...) {
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0) fatal_oom();
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p;
}
