/* explain.h: what the files of `tilec explain` share. */
#ifndef TILEC_DRIVER_EXPLAIN_H
#define TILEC_DRIVER_EXPLAIN_H

#include "driver/session.h"
#include "passes/model/taxes.h"
#include "passes/remap/simulate.h"

#include <jansson.h>

void explain_sizes(const Session *, const Program *,
                   int64_t *sizes); /* prints the choice of tile sizes; values of run-time dims */

void explain_caches(const Session *); /* --cache-sim: prints simulated hits and bytes of each kernel */

/* A kernel in an order, or row-major where it is NULL; .other: a machine whose caches are not modelled. */
typedef struct {
    const Kernel *kernel;
    RemapMachine machine;
    const Order *order;
    const char *other;
    CacheSim sim; /* the result */
} CacheCase;
void explain_cases(const Module *, CacheCase *, int n); /* simulates and prints them, in their order */

/* explain_data.c. before, after: of each program, as written and as compiled. */
json_t *explain_data(const Session *, const Taxes *before, const Taxes *after, const int64_t *sizes);
double data_number(const json_t *object, const char *key);
const char *data_text(const json_t *object, const char *key); /* "" where there is none */
const char *node_class(const json_t *node);                   /* of picture.css */
/* explain_page.c: adds the events of a file of `tilec run --trace`; writes the page of the data. false after a message. */
bool explain_trace(json_t *data, const char *path);
bool explain_page(const json_t *data, const char *path);

/* explain_pictures.c: draws the pictures of each program into the data; writes them to FOLDER/PROGRAM.NAME.svg. */
void pictures_add(json_t *data);
bool pictures_write(const Session *, const json_t *data, const char *folder);
void picture_dataflow(Text *, const json_t *data, const json_t *program);
void picture_time(Text *, const json_t *data, const json_t *program);
void picture_trace(Text *, const json_t *data, const json_t *program);
void picture_taxes(Text *, const json_t *data, const json_t *program);
void picture_bounds(Text *, const json_t *data, const json_t *program);
void picture_roofline(Text *, const json_t *data, const json_t *program);

#endif
