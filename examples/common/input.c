#include "input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool reason_set(Reason *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    return false;
}

/* Reads to the end, whatever kind of file it is. */
static int stream_read(FILE *file, char **bytes, size_t *n) {
    size_t room = 1 << 16;
    *n = 0;
    for (*bytes = malloc(room); *bytes; room *= 2) {
        *n += fread(*bytes + *n, 1, room - 1 - *n, file);
        if (*n < room - 1) return (*bytes)[*n] = 0, ferror(file) ? errno : 0;
        char *larger = realloc(*bytes, 2 * room);
        if (!larger) free(*bytes);
        *bytes = larger;
    }
    return ENOMEM;
}

bool file_read(const char *path, char **bytes, size_t *n, Reason *why) {
    *bytes = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return reason_set(why, "%s", strerror(errno));
    int failed = stream_read(file, bytes, n);
    fclose(file);
    if (!failed) return true;
    free(*bytes);
    *bytes = NULL;
    return reason_set(why, "%s", strerror(failed));
}
