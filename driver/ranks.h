/* ranks.h: a compiled program run by all ranks of a mesh on this machine, as threads or as processes. */
#ifndef TILEC_DRIVER_RANKS_H
#define TILEC_DRIVER_RANKS_H

#include "driver/options.h"
#include "tile_program.h"

typedef struct {
    int code;        /* TILE_OK or the error */
    char text[256];  /* its sentence */
    double seconds[]; /* [runs] of this rank, from a barrier to the end of the stream */
} RankResult;

typedef struct {
    const Options *o;
    const tile_program *program;
    int nranks, runs;
    const int64_t *dim;   /* run-time sizes */
    const char *target;   /* of the mesh: host, gpu, emu */
    size_t *const *bytes; /* [rank][argument] of its part, 0 for scalars */
    void *const *const *part; /* [rank][argument]; in shared memory when ranks are processes */
    RankResult *const *result; /* [rank], likewise */
} RankJob;

void *shared_memory(size_t bytes); /* zeroed, shared with children; NULL on failure; lives until exit */
/* Runs every rank `runs` times; false when one failed (its result says why). */
bool ranks_run(const RankJob *);
typedef struct {
    double median, best;
} RanksTime;

/* Seconds of the runs from `first` on, each as long as its slowest rank took. */
RanksTime ranks_time(const RankJob *, int first);

#endif
