/* tuned.h: sizes from a file take the place of those in the source (docs/reference/tuning.md).
   file  = { ("kernel" | "program") name "on" target [ "with" pairs ] "{" { pair ";" } "}" }
   pairs = pair { "," pair }      pair = word "=" word      // begins a comment. */
#ifndef TILEC_FRONTEND_SEMA_TUNED_H
#define TILEC_FRONTEND_SEMA_TUNED_H

#include "base/text.h"
#include "ir/ir.h"

enum { TUNED_BYTES = 1 << 20 };
#define TUNED_EXPRESSION "expression." /* before the names of kernels that expressions of programs become */

typedef struct {
    const char *name, *value;
    Loc loc, at; /* of the name, of the value; of an instance: of the range */
} TunedPair;

typedef VEC(TunedPair) TunedPairs;

typedef struct {
    bool program; /* else a kernel */
    const char *name, *target;
    TunedPairs key, set;
    Loc loc;
} TunedEntry;

typedef VEC(TunedEntry) Tuned;

/* Parses a whole file of Diags; false after an error. */
bool tuned_parse(Arena *, Diags *, int file, Tuned *);
void tuned_print(Text *, const Tuned *);                     /* parsing that gives the same entries */
const char *tuned_get(const TunedPairs *, const char *name); /* NULL: not there */
bool tuned_is_fact(const char *name);                        /* told of a measurement: source, measured_us, written_us */
bool tuned_same_key(const TunedEntry *, const TunedEntry *);
bool tuned_number(const TunedPair *, int64_t most, int64_t *); /* the value as a number from 1 to most */

/* An instance of a kernel of the source, for commands that look for better sizes. */
typedef struct {
    TunedEntry entry;       /* its key; what it has now: the sizes of its ranges, and the hash of its source */
    TunedPairs fixed;       /* ranges whose size the meaning depends on */
    const TunedEntry *from; /* of the file; NULL: as written */
} TunedSite;

typedef VEC(TunedSite) TunedSites;

#endif
