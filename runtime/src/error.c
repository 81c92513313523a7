/* error.c: the sentence of the last error, one a thread, and the names of codes.
   A caller gets the code; the sentence names ranks, files and numbers. */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char sentence[512];

const char *tile_last_error(void) { return sentence; }

int tile_fail(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return code;
}

const char *tile_error_name(int code) {
    static const char *const name[] = {"TILE_OK",     "TILE_E_ARG",      "TILE_E_NOMEM",
                                       "TILE_E_SYS",  "TILE_E_TIMEOUT",  "TILE_E_POISONED",
                                       "TILE_E_BUSY", "TILE_E_MISMATCH", "TILE_E_UNSUPPORTED",
                                       "TILE_E_RANGE",  "TILE_E_ASSERT"};
    int n = (int)(sizeof name / sizeof *name);
    return code <= 0 && -code < n ? name[-code] : "an unknown error";
}
