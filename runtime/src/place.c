/* place.c: which rank of how many this is: the configuration's word, or the launcher's variables.
   Known launchers: torchrun's RANK, WORLD_SIZE, LOCAL_WORLD_SIZE; Open MPI's OMPI_COMM_WORLD_*. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *rank, *size, *local_size;
} Launcher;

static const Launcher launchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
};

/* The variables that differ between jobs of one user on one host. */
static const char *const job_variables[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "TORCHELASTIC_RUN_ID",
                                            "MASTER_PORT"};

/* Ranks of a mesh; chosen: no measurement is recorded. */
enum { MAX_RANKS = 4096 };

static int number_read(const char *variable, int least, int *out) {
    char *end;
    const char *text = getenv(variable);
    long n = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || n < least || n > MAX_RANKS)
        return tile_fail(TILE_E_ARG, "%s=%s is not a number from %d to %d", variable, text ? text : "", least,
                         MAX_RANKS);
    *out = (int)n;
    return TILE_OK;
}

static int launcher_read(const Launcher *l, Place *p) {
    int error = number_read(l->rank, 0, &p->rank);
    if (!error) error = number_read(l->size, 1, &p->nranks);
    p->local_ranks = p->nranks;
    if (!error && getenv(l->local_size)) error = number_read(l->local_size, 1, &p->local_ranks);
    if (error) return error;
    if (p->local_ranks != p->nranks)
        return tile_fail(TILE_E_UNSUPPORTED, "%s=%d but %s=%d: ranks of several hosts are not supported", l->size,
                         p->nranks, l->local_size, p->local_ranks);
    p->from_environment = true;
    return TILE_OK;
}

static void key_read(Place *p) {
    for (size_t i = 0; i < sizeof job_variables / sizeof *job_variables; i++) {
        const char *text = getenv(job_variables[i]);
        size_t n = strlen(p->key);
        if (text) snprintf(p->key + n, sizeof p->key - n, "-%s", text);
    }
}

int place_find(const tile_mesh_config *c, Place *p) {
    *p = (Place){.rank = c->rank, .nranks = c->nranks, .local_ranks = c->nranks};
    if (c->nranks == 0) {
        *p = (Place){.nranks = 1, .local_ranks = 1};
        int error = TILE_OK;
        for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !p->from_environment && !error; i++)
            if (getenv(launchers[i].rank) && getenv(launchers[i].size)) error = launcher_read(&launchers[i], p);
        if (error) return error;
        key_read(p);
    }
    if (p->nranks < 1 || p->nranks > MAX_RANKS || p->rank < 0 || p->rank >= p->nranks)
        return tile_fail(TILE_E_ARG, "rank %d of %d does not exist", p->rank, p->nranks);
    return TILE_OK;
}

int place_workers(const tile_mesh_config *c, const Place *p) {
    cpu_set_t cores;
    if (c->workers > 0) return c->workers;
    int n = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) / p->local_ranks : 1;
    return n < 1 ? 1 : n < MAX_WORKERS ? n : MAX_WORKERS;
}
