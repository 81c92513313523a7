/* explain.h: what the files of `tilec explain` share. */
#ifndef TILEC_DRIVER_EXPLAIN_H
#define TILEC_DRIVER_EXPLAIN_H

#include "driver/session.h"

void explain_sizes(const Session *, const Program *,
                   int64_t *sizes); /* prints the choice of tile sizes; values of run-time dims */

#endif
