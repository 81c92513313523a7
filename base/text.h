/* text.h: a growing text buffer, and files written whole or not at all. */
#ifndef TILEC_BASE_TEXT_H
#define TILEC_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *p; /* NUL-terminated once anything was added */
    size_t n, cap;
} Text;

void text_add(Text *, const char *s);
void text_add_n(Text *, const char *s, size_t n);
void text_printf(Text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *, const char *format, va_list);
const char *text_str(Text *); /* "" when empty */
void text_free(Text *);

uint64_t text_hash(const char *, size_t); /* FNV-1a */
/* Length of the well-formed UTF-8 sequence of a printable character at p (n bytes left), or 0. */
int utf8_length(const char *p, size_t n);

/* Reads a whole file; returns NULL or a message such as "no such file or directory". */
const char *text_read(Text *, const char *path, size_t limit);
typedef struct {
    const Text *text;
    const char *path;
} OutFile;

/* Writes all of the files or, short of a failing rename, none; NULL, or a message about *culprit. */
const char *files_write(const OutFile *, int n, const char **culprit);
/* Writes through a temporary file beside path and renames it; returns NULL or a message. */
const char *text_write(const Text *, const char *path);

#endif
