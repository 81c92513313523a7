/* json.h: JSON text, read from left to right by whoever knows what it should hold. */
#ifndef TILE_JSON_H
#define TILE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first failure stays: `why` says what was expected, at `at`. */
typedef struct {
    const char *text;
    size_t n, at;
    const char *why;
} Json;

bool json_fail(Json *, const char *why);       /* false */
bool json_take(Json *, char);                  /* behind white space: is it the next character? takes it */
bool json_expect(Json *, char);
/* Another element of the list or object, which `close` ends? *first: before the first one. Takes commas and the end. */
bool json_more(Json *, char close, bool *first);
/* A string as UTF-8 into `to`, which has room for n bytes where the text has n; ends with a zero that is not counted. A
   zero inside is a failure. */
bool json_text(Json *, char *to);
bool json_natural(Json *, int64_t *);          /* 0 .. 2^63 - 1, without sign, fraction or exponent */
bool json_skip(Json *);                        /* a value of any kind, at most 64 deep */
bool json_end(Json *);                         /* nothing but white space follows */

#endif
