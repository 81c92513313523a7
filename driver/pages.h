/* pages.h: texts that are built into the command (cmake/driver.cmake): the page of docs/ that it prints from, and what
   the page of explain --html is made of. */
#ifndef TILEC_DRIVER_PAGES_H
#define TILEC_DRIVER_PAGES_H

#include <stddef.h>

typedef struct {
    const char *path, *text;
    size_t len;
} Page;

extern const Page pages[];
extern const int page_count;

const char *page_text(const char *path, size_t n); /* of the page with this path, of n bytes, which there is */

#endif
