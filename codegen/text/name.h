/* name.h: C identifiers: of names that may be any text, unlike keywords, the C library's names and each other. */
#ifndef TILEC_CODEGEN_TEXT_NAME_H
#define TILEC_CODEGEN_TEXT_NAME_H

#include "base/name_map.h"

#include <stdbool.h>

/* Identifiers in use. next: of each the number that a second one like it tries first. */
typedef struct {
    Arena *arena;
    Names *text;
    NameMap next;
} CNames;

/* A C identifier that reads like `wanted`, is no keyword and is not in use yet. */
const char *c_name(CNames *, const char *wanted);
const char *c_function_name(CNames *, const char *wanted); /* at file scope, beside those of the C library */
/* Without the numbers that tell one of several from the others: linear_6_copy -> linear_copy. */
const char *c_common_name(Arena *, const char *name);
/* Names of a module may be any text: as part of an identifier, and as what stands between the quotes of a C string. */
const char *c_identifier(Arena *, const char *name);
const char *c_string(Arena *, const char *name);
/* `wanted` itself, or with a trailing underscore where C has taken it: for names that the user must be able to guess.
 */
bool c_is_reserved(const char *name); /* everywhere */
bool c_is_global(const char *name);   /* at file scope */

#endif
