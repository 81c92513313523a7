/* library.h: the standard library, built into the binary as source text (cmake/std.cmake). */
#ifndef TILEC_FRONTEND_SEMA_LIBRARY_H
#define TILEC_FRONTEND_SEMA_LIBRARY_H

#include <stddef.h>

typedef struct {
    const char *path; /* "std/matmul.tile" */
    const char *text;
    size_t len;
} LibraryFile;

extern const LibraryFile library_files[];
extern const int library_count;

#endif
