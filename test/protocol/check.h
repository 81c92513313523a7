/* check.h: scenarios, what they may do, and the exhaustive search over their executions.
   Operational release/acquire memory: a location is a list of messages, each with the view of its writer if it was
   released; a thread reads any message not older than its own view. Stores append to the list. */
#ifndef CHECK_H
#define CHECK_H

#include "device/host.h"

enum { MAX_THREADS = 4, MAX_LOCATIONS = 192, PLAIN_BYTES = 2048 };

/* One deliberate fault in the protocol, which the search must notice. */
typedef struct {
    int line;        /* of host.h: this operation ... */
    ModelOrder lost; /* ... loses its acquire or its release half */
    bool late_reset; /* the arrival counter is reset after the publication */
    bool equal;      /* waits compare == instead of >= */
    int slots;       /* 0: the scenario's own */
    bool no_clear;   /* recovery leaves everything as it is */
} Mutation;

typedef struct Scenario {
    const char *name;
    int threads;
    bool faults;         /* any wait may expire */
    bool kills;          /* thread 0 may stop for ever at any step */
    void (*setup)(void); /* names the locations */
    void (*body)(int thread);
} Scenario;

typedef struct {
    long states, steps, ends;
    const char *error; /* NULL: none */
} Result;

Result check_scenario(const Scenario *, const Mutation *, bool show_path);

/* For setup. */
void location_atomic(const void *p, uint64_t initial, bool many_writers, const char *name);
void location_plain(const void *p, const char *name); /* one reader or many; writers in turn */

/* For bodies. What a thread goes on to do may depend only on its position and on `outcome`. */
void at(int outcome);
void plain_write(const void *p);
void plain_read(const void *p, int version); /* and it must be the version-th write */
void require(bool condition, const char *what);
void *plain_memory(void); /* PLAIN_BYTES, part of the state */
const Mutation *mutation(void);

/* The sites of host.h where orders can be lost, as met so far. */
int sites(int line[], ModelOrder order[], int max);

#endif
