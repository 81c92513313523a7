/* pages.h: pages of docs/ that the command prints from, built into it (cmake/driver.cmake). */
#ifndef TILEC_DRIVER_PAGES_H
#define TILEC_DRIVER_PAGES_H

#include <stddef.h>

typedef struct {
    const char *path, *text;
    size_t len;
} Page;

extern const Page pages[];
extern const int page_count;

#endif
