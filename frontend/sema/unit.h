/* unit.h: the files of one compilation and the names that they declare; used by what lowers programs. */
#ifndef TILEC_FRONTEND_SEMA_UNIT_H
#define TILEC_FRONTEND_SEMA_UNIT_H

#include "frontend/sema/instance.h"
#include "base/ptrmap.h"

typedef struct {
    Lower lower;
    Arena *arena;
    Names *names;
    Diags *diags;
    Paths *files;           /* read so far, or NULL */
    int file;               /* the first one, in diags */
    const char *home;       /* folder of the first file: imports stay below it or below a root */
    VEC(const char *) seen; /* files read: real paths, or std/.. */
    VEC(Decl *) own;        /* declarations of the user's files */
    PtrMap visible;         /* name -> Decl */
    PtrMap called;          /* names that programs call */
    PtrMap library;         /* name -> Decl of the standard library, visible without an import */
    PtrMap opened;          /* path, as a name -> number in diags of a file that is no source */
    PtrMap sought;          /* names for which files of the library were read, if any declares them */
    bool *library_read;     /* by file */
    PtrMap flat;            /* Decl -> the same without records and formats in its head */
    const Decl *copy[MAX_DIMS + 1]; /* kernels that copy a tensor, by its number of dimensions */
} Front;

/* Reads a file and what it imports, and enters what they declare. false when the first file cannot be read. */
bool front_read(Front *, const char *path);
/* A file beside the one that names it at .loc, or below a root: its number in diags, once a file. 0 after errors. */
int front_open(Front *, const char *path, Loc at);
/* A declaration by name; one of the standard library where the files have none. NULL: no such. */
const Decl *front_find(Front *, Name);
/* dim, kernel, .. */
const char *decl_kind_text(const Decl *);
/* The name of a declaration near to a misspelt one, or NULL. */
const char *front_near(Front *, Name);
const char *front_near_kind(Front *, Name, DeclKind); /* among the declarations of one kind; NULL: none is near */

/* program.c: lowers one program into the module. */
void program_lower(Front *, const Decl *);
bool program_called_only(Front *, const Decl *); /* its head has names or modes that only a call gives a meaning */

/* program/tuned.c: what a file of measured sizes says of programs; and of names that nothing has */
void programs_tuned(Front *);

/* program/flat.c: the same with one parameter or result for each tensor; a program's state is inout */
const Decl *decl_flat(Front *, const Decl *);
bool format_check(Front *, const Decl *);

#endif
