/* remap.h: what the files of `tilec remap` share. */
#ifndef TILEC_DRIVER_REMAP_H
#define TILEC_DRIVER_REMAP_H

#include "driver/session.h"
#include "frontend/hip/kernel.h"
#include "passes/remap/reuse.h"

/* What becomes of a kernel of the file. */
typedef struct {
    const HipKernel *hip;
    HipTasks tasks; /* .k: NULL, nothing is known of it */
    RemapMachine machine;
    RemapChoice choice;
    const char *why; /* it stays as it is; NULL: it gets .choice.order */
    HipPlace why_at;
} Remapped;

typedef struct {
    Options *o;
    Arena *arena;
    Module *m;
    HipRead *read;
    HipInput in;
    Text source, result;
    HipFile file;
    VEC(Remapped) kernel;
} Remap;

void remap_write(Remap *); /* remap_text.c: the file with the orders, to .result */
/* remap_verify.c: runs both files in the emulator, at fewer workgroups, and compares what they store. The exit code. */
int remap_verify(Remap *);

#endif
