/* target.h: what --target may name: the host, GPUs, the emulator of one, the interpreter. */
#ifndef TILEC_DRIVER_TARGET_H
#define TILEC_DRIVER_TARGET_H

#include "driver/options.h"

typedef struct {
    const char *name;    /* as given: "emu:gfx942" */
    const char *machine; /* whose passes and facts: "gfx942"; of the interpreter the host's */
    bool gpu, emulated, interp;
} Target;

typedef VEC(Target) TargetList;

/* The targets that a command was given, the host first, else in order; false after a message. */
bool targets_read(const Options *, TargetList *);
void targets_print(const char *only); /* one line each; NULL: all */
bool target_known(const char *name);  /* one that `tilec targets` lists */
void target_unknown(Arena *, const char *name); /* the message, with the nearest that there is */

#endif
