/* device.h: GPU texts and the code made of them. */
#ifndef TILEC_DRIVER_DEVICE_H
#define TILEC_DRIVER_DEVICE_H

#include "driver/emit.h"

/* DIR/NAME_TARGET.hip, and what a compiler makes of it: NAME_TARGET.co, or NAME_TARGET.o for the emulator. */
const char *device_source_path(const Session *, const Program *, const Target *, const char *dir);
const char *device_code_path(const Session *, const Program *, const Target *, const char *dir);
/* Compiles one to the other; false after a message. */
bool device_compile(const Session *, const Program *, const Target *, const char *dir);

bool command_installed(Arena *, const char *name); /* some program of that name */

#endif
