/* emit.h: a program's C text, and libraries made from it with the system's C compiler. */
#ifndef TILEC_DRIVER_EMIT_H
#define TILEC_DRIVER_EMIT_H

#include "base/text.h"
#include "driver/session.h"

/* Files that a command will write, all or none. */
typedef struct {
    const Session *s;   /* of the host, else of the first GPU */
    const Session *gpu; /* of each GPU */
    int ngpu;
    VEC(OutFile) file;
} Outputs;

/* What n sessions, one for each target, have made. */
Outputs outputs_of(const Session *, int n);
/* Adds DIR/NAME.c, NAME.h, NAME.json and the GPUs' NAME_TARGET.hip; false after a message. p: of out->s. */
bool outputs_add_source(Outputs *, const Program *, const char *dir);
const char *folder_make(Arena *, const char *dir); /* with the folders above it; NULL, or a message */
bool outputs_write(Outputs *, const char *dir); /* makes the folder; false after a message */
void outputs_free(Outputs *);

/* Compiles the GPUs' texts, then DIR/NAME.c with their code in it to DIR/NAME.o, or to DIR/libNAME.so; false after a
   message. */
bool emit_object(const Outputs *, const Program *, const char *dir);
bool emit_library(const Outputs *, const Program *, const char *dir);
bool emit_plugin(const Outputs *, const Program *, const char *dir); /* the same, without libtile: this command loads it */
const char *program_path(const Session *, const Program *, const char *dir, const char *ending);
const char *library_path(const Session *, const Program *, const char *dir);
extern const char *const host_flags[]; /* what the C compiler is given for the host; ends with NULL */

/* command.c */
bool run_command(const char *const *argv); /* false: it failed */
/* The folder with device/ and the public headers: TILEC_RUNTIME, or beside the command; NULL after a message. */
const char *runtime_folder(Arena *);
/* Where libtile.so lies: of the prefix, or of the build tree; NULL after a message. */
const char *libtile_folder(Arena *);
const char *library_find(Arena *, const char *file); /* the path of a library beside the command; NULL: it is not there */

#endif
