/* tile_nontemporal.h: results that go to memory past the caches: no line is read before it is written, none is
   displaced. Such stores are not ordered by a later release: tile_store_nontemporal_end must stand between them and any
   signal or return. */
#ifndef TILE_DEVICE_TILE_NONTEMPORAL_H
#define TILE_DEVICE_TILE_NONTEMPORAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TILE_LINE = 64 }; /* bytes of a cache line of x86 */

#if defined __SANITIZE_THREAD__ || !defined __AVX__ /* the sanitizer must see the stores */
#elif defined __clang__
typedef float tile_line __attribute__((vector_size(64)));
typedef float tile_line_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
#define TILE_STORE_LINE(to, from) __builtin_nontemporal_store(*(const tile_line_anywhere *)(from), (tile_line *)(to))
#elif defined __AVX512F__
typedef float tile_line __attribute__((vector_size(64), aligned(4), may_alias));
#define TILE_STORE_LINE(to, from) __builtin_ia32_movntps512((to), *(const tile_line *)(from))
#else
typedef float tile_line __attribute__((vector_size(32), aligned(4), may_alias));
#define TILE_STORE_LINE(to, from)                                                                                       \
    __builtin_ia32_movntps256((to), ((const tile_line *)(from))[0]),                                                   \
        __builtin_ia32_movntps256((to) + 8, ((const tile_line *)(from))[1])
#endif

/* Copies from the worker's own memory. Lines that belong to others too are stored as usual. */
static inline void tile_store_nontemporal(void *to, const void *from, size_t bytes) {
#ifdef TILE_STORE_LINE
    size_t head = -(uintptr_t)to % TILE_LINE, at;
    if (head > bytes) head = bytes;
    memcpy(to, from, head);
    for (at = head; at + TILE_LINE <= bytes; at += TILE_LINE)
        TILE_STORE_LINE((float *)((char *)to + at), (const char *)from + at);
    memcpy((char *)to + at, (const char *)from + at, bytes - at);
#else
    memcpy(to, from, bytes);
#endif
}

static inline void tile_store_nontemporal_end(void) {
#ifdef TILE_STORE_LINE
    __builtin_ia32_sfence();
#endif
}

#endif
