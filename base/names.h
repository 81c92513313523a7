/* names.h: interned names. Two names are the same text exactly when they are the same pointer. */
#ifndef TILEC_BASE_NAMES_H
#define TILEC_BASE_NAMES_H

#include "base/arena.h"

typedef const char *Name;
typedef struct Names Names;

Names *names_new(Arena *);
Name name_of(Names *, const char *text);
Name name_of_n(Names *, const char *text, size_t len);

#endif
