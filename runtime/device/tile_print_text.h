/* tile_print_text.h: the line of a record, and the order of records: one text for the runtime and for the interpreter's
   caller. C of the host. */
#ifndef TILE_DEVICE_TILE_PRINT_TEXT_H
#define TILE_DEVICE_TILE_PRINT_TEXT_H

#include "device/tile_print.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fewest digits, of six and more, that give the same number back. NaN has no sign, which differs from machine to machine. */
static inline int tile_print_float(char *to, size_t room, double x, bool narrow) {
    if (isnan(x)) return snprintf(to, room, "nan");
    int n = 0;
    for (int digits = 6; digits <= 17; digits++) {
        n = snprintf(to, room, "%.*g", digits, x);
        if (narrow ? strtof(to, NULL) == (float)x : strtod(to, NULL) == x) break;
    }
    return n;
}

static inline int tile_print_value(char *to, size_t room, char mark, uint64_t value) {
    float narrow;
    double wide;
    uint32_t low = (uint32_t)value;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &value, sizeof wide);
    switch (mark) {
    case TILE_PRINT_F32: return tile_print_float(to, room, narrow, true);
    case TILE_PRINT_F64: return tile_print_float(to, room, wide, false);
    case TILE_PRINT_I64: return snprintf(to, room, "%lld", (long long)value);
    default: return snprintf(to, room, "%s", value ? "true" : "false");
    }
}

/* The text of a statement with the record's places and value. */
static inline void tile_print_text(const char *of, const tile_print_record *r, char *to, size_t room) {
    size_t n = 0;
    int place = 0;
    for (; *of && n + 1 < room; of++) {
        if ((unsigned char)*of > TILE_PRINT_FAILS) to[n++] = *of;
        else if (*of == TILE_PRINT_PLACE && place < TILE_PRINT_PLACES)
            n += (size_t)snprintf(to + n, room - n, "%lld", (long long)r->place[place++]);
        else if (*of != TILE_PRINT_FAILS) n += (size_t)tile_print_value(to + n, room - n, *of, r->value);
    }
    to[n < room ? n : room - 1] = 0;
}

/* It is of an assertion. */
static inline bool tile_print_fails(const char *of) { return *of == TILE_PRINT_FAILS; }

/* Statements in the order of the program, then elements. */
static inline int tile_print_compare(const void *a, const void *b) {
    const tile_print_record *x = a, *y = b;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    for (int i = 0; i < TILE_PRINT_PLACES; i++)
        if (x->place[i] != y->place[i]) return x->place[i] < y->place[i] ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

#endif
