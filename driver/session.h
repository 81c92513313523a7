/* session.h: one compilation: source to module, module through passes, diagnostics to the terminal. */
#ifndef TILEC_DRIVER_SESSION_H
#define TILEC_DRIVER_SESSION_H

#include "driver/target.h"

typedef struct {
    const Options *o;
    Target target;
    Arena *arena;
    Names *names;
    Diags *diags;
    Module *m;
    PassOptions pass;
    VEC(CommAsked) asked; /* of --comm=NAME=FORM */
    PassContext context;
    const Tuned *tuned; /* of --tuned; NULL: none */
    ArmNames arms;      /* of the first choice by a tree, from lowering on */
    const char *tree;   /* its file; NULL: there is none */
    TunedSites sites;   /* what could be tuned, from lowering on */
    Paths files; /* read while lowering, for dependency files */
} Session;

bool session_open(Session *, const Options *);   /* for the only target; false: a usage error was printed */
bool session_open_for(Session *, const Options *, const Target *);
bool session_lower(Session *);                   /* source file, or a file of IR -> s->m */
bool session_read_ir(Session *);                 /* IR file -> s->m */
bool is_ir(const char *path);                    /* by its ending */
bool session_passes(Session *);                  /* the pipeline of --passes or of the target */
int session_close(Session *, int code);          /* prints diagnostics; returns the exit code */

#endif
