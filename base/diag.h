/* diag.h: source files, locations and diagnostics in clang's style.
   A location is a file and a byte offset; lines and columns are found when a message is printed. */
#ifndef TILEC_BASE_DIAG_H
#define TILEC_BASE_DIAG_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    int32_t file;   /* 1-based index into Diags.file; 0: no location */
    uint32_t begin; /* byte offset of the first character */
    uint32_t end;   /* one past the last: the caret's underline */
} Loc;

typedef struct {
    const char *path;
    const char *text;
    size_t len;
    VEC(uint32_t) line; /* offsets of the lines' first bytes */
} SourceFile;

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_PERF, DIAG_NOTE } DiagKind;
typedef enum { DIAG_TEXT, DIAG_JSON, DIAG_SARIF } DiagStyle;

typedef struct {
    DiagKind kind;
    Loc loc;
    const char *id; /* kebab-case, e.g. "partial-as-whole"; NULL for notes */
    const char *message;
    const char *fix; /* of a note: what stands in the place of the text at .fix_at; NULL: none */
    Loc fix_at;
} Diag;

typedef struct Diags {
    Arena *arena;
    VEC(SourceFile) file;
    VEC(Diag) diag; /* in order of report; notes follow what they explain */
    int errors, warnings;
    int repeated; /* of the errors: those that were said before at the same place, and are not said again */
    /* of warnings, the last counts: "performance", an id, "all", or "no-" and one of them; "error" */
    VEC(const char *) switches;
    bool silent; /* the last message was switched off, or said before, and so are its notes */
    int limit; /* errors said after which the rest are counted, not kept; 0: none (diags_new: 100) */
} Diags;

Diags *diags_new(Arena *);
int diags_file(Diags *, const char *path, const char *text, size_t len); /* returns the file's number */
int diags_unshown(const Diags *); /* errors beyond the limit */

/* Messages: lower case, factual, no final period; the fix goes into a note. */
void diag_error(Diags *, Loc, const char *id, const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_warning(Diags *, Loc, const char *id, const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_perf(Diags *, Loc, const char *id, const char *format, ...) __attribute__((format(printf, 4, 5)));
bool diag_refuse(Diags *, Loc, const char *id, const char *text); /* an error without arguments; false, for `return` */
/* The note "did you mean '..'?", with the fix for readers of JSON and SARIF where `wrong` stands at the place. */
void diag_suggest(Diags *, Loc, const char *wrong, const char *near);
void diag_note(Diags *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));

int loc_line(const Diags *, Loc);   /* 1-based */
int loc_column(const Diags *, Loc); /* 1-based, in bytes */
const char *loc_path(const Diags *, Loc);

/* Prints everything in source order of report: "file:line:col: error: message [id]", the line, a caret. */
void diags_print(const Diags *, FILE *, DiagStyle, bool colour);

/* The nearest of n candidates to a misspelt word, or NULL if none is near. */
const char *spelling_nearest(const char *word, const char *const *candidate, int n);

#endif
