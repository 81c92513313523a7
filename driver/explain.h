/* explain.h: what the files of `tilec explain` share. */
#ifndef TILEC_DRIVER_EXPLAIN_H
#define TILEC_DRIVER_EXPLAIN_H

#include "driver/session.h"
#include "passes/model/taxes.h"
#include "passes/remap/reuse.h"

#include <jansson.h>

void explain_sizes(const Session *, const Program *,
                   int64_t *sizes); /* prints the choice of tile sizes; values of run-time dims */

void explain_caches(const Session *); /* --cache-sim: prints simulated hits and bytes of each kernel */
void explain_cache(const Module *, const Kernel *, const RemapMachine *, const Order *); /* of one; NULL: row-major */

/* explain_data.c. before, after: of each program, as written and as compiled. */
json_t *explain_data(const Session *, const Taxes *before, const Taxes *after, const int64_t *sizes);
/* explain_page.c: writes the page of the data to a file; trace: a file of `tilec run --trace`, or NULL. false after a message. */
bool explain_page(json_t *data, const char *path, const char *trace);

#endif
