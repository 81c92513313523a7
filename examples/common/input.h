/* input.h: files that examples read, and the sentence that says what is wrong with one. */
#ifndef EXAMPLES_COMMON_INPUT_H
#define EXAMPLES_COMMON_INPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char text[256];
} Reason;

/* Always false, so that a reader can end with it. */
bool reason_set(Reason *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The whole file, with a NUL behind it; the caller frees it. false: the reason says why. */
bool file_read(const char *path, char **bytes, size_t *n, Reason *);

#endif
