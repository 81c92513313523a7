/* memory.h: locations, messages and views: which values a load may give, and which plain accesses race.
   Messages are only ever appended, so that going back in the search is a matter of lengths. */
#ifndef MEMORY_H
#define MEMORY_H

#include "check.h"

enum { MAX_MESSAGES = 4096, MAX_PER_LOCATION = 64 };

/* The oldest message of each location that its owner may still read. */
typedef struct {
    uint8_t time[MAX_LOCATIONS];
} View;

typedef struct {
    uint64_t value;
    View view; /* what the writer had seen, if released */
} Message;

typedef struct {
    const void *address;
    const char *name;
    bool plain, shared;
    int reads; /* plain: the location that counts the reads of thread 0; those of the others follow */
    int message[MAX_PER_LOCATION];
} Location;

typedef struct {
    Location location[MAX_LOCATIONS];
    uint8_t newest[MAX_LOCATIONS]; /* time of the last message */
    int nlocations, nmessages, nthreads;
    Message message[MAX_MESSAGES];
} Memory;

typedef struct {
    uint8_t newest[MAX_LOCATIONS];
    int nmessages;
} MemoryMark;

void memory_reset(Memory *);
void memory_add_atomic(Memory *, const void *, uint64_t initial, bool shared, const char *name);
void memory_add_plain(Memory *, const void *, int threads, const char *name);
int memory_find(const Memory *, const void *);
const char *memory_name(const Memory *, int location);
bool memory_shared(const Memory *, int location); /* written by several threads */

int memory_newest(const Memory *, int location);
int memory_oldest(const Memory *, int location, const View *);
uint64_t memory_load(const Memory *, int location, int time, ModelOrder, View *);
void memory_store(Memory *, int location, uint64_t value, ModelOrder, View *);
uint64_t memory_add(Memory *, int location, uint64_t operand, ModelOrder, View *);
bool memory_swap(Memory *, int location, uint64_t from, uint64_t to, ModelOrder, View *);

bool memory_read(Memory *, int location, int thread, View *); /* false: a race */
bool memory_write(Memory *, int location, View *);
int memory_version(const Memory *, int location); /* plain: writes so far */

MemoryMark memory_mark(const Memory *);
void memory_back(Memory *, const MemoryMark *);
uint64_t memory_hash(const Memory *, const View *const view[], int n, uint64_t h);

#endif
