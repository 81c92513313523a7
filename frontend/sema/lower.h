/* lower.h: from syntax trees to a verified module in value form. */
#ifndef TILEC_FRONTEND_SEMA_LOWER_H
#define TILEC_FRONTEND_SEMA_LOWER_H

#include "frontend/syntax/ast.h"
#include "frontend/sema/tuned.h"

typedef struct {
    const char *name; /* -D NAME=N, or a mesh axis whose ranks are set by --ranks */
    int64_t value;
} Define;

typedef VEC(const char *) ArmNames;

typedef struct {
    const Define *define;
    int ndefine;
    const char *const *root; /* -I folders for imports */
    int nroot;
    const char *program; /* only this program, or NULL for all */
    int64_t ranks;       /* > 0: ranks of the (only) mesh axis */
    const Tuned *tuned;  /* sizes that take the place of written ones, or NULL */
    const char *target;  /* whose entries of it count */
    TunedSites *sites;   /* not NULL: gets what could be tuned */
    const char *arm;   /* in place of what trees say: choices take the arm of that name, or their first; NULL: not so */
    ArmNames *arms;    /* not NULL: gets the names of the arms of the first choice by a tree */
    const char **tree; /* with .arms: gets the file of that tree */
    bool relaxed;      /* sums into places that tasks share follow the order in which tasks arrive */
} LowerOptions;

/* Reads a file and its imports (the standard library is built in), and checks names, ranges, types and placements. Then
   every kernel is instantiated for the sizes, types and constants of its calls. Kernels that no program calls are
   checked too. NULL after errors. Paths read are pushed to *files (for -MD) when it is not NULL. */
typedef VEC(const char *) Paths;
Module *lower_file(Arena *, Names *, Diags *, const char *path, const LowerOptions *, Paths *files);

#endif
