/* rt_nomem.c: every allocation of the runtime fails in turn, on one of two ranks: that rank gets TILE_E_NOMEM, or did
   not need it; the other gets an error or what it asked for, nothing hangs, and afterwards the process opens a mesh
   again. */
#include "rt_program.h"

#include <errno.h>
#include <pthread.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);

enum { RANKS = 2, TIMEOUT_MS = 300 };

static _Thread_local bool victim; /* the main thread of rank 1: its allocations are counted */
static _Thread_local int allocations, failing;

static bool must_fail(void) {
    if (!victim || ++allocations != failing) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n) { return must_fail() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return must_fail() ? NULL : __libc_calloc(n, each); }

typedef struct {
    int rank, failing, error, allocations;
} Rank;

static int rank_steps(tile_mesh *m) {
    tile_program g = rt_program(RANKS);
    tile_instance *p = NULL;
    int error = tile_trace(m, 1);
    if (!error) error = tile_instance_open(m, &g, &p);
    for (int i = 0; i < 3 && !error; i++) error = rt_step(m, p, i);
    tile_instance_close(p);
    return error;
}

static void *rank_main(void *arg) {
    Rank *r = arg;
    tile_mesh *m = NULL;
    tile_mesh_config config = {.size = sizeof config,
                               .rank = r->rank,
                               .nranks = RANKS,
                               .workers = 1,
                               .timeout_ms = TIMEOUT_MS,
                               .group = "nomem"};
    victim = r->rank == 1;
    allocations = 0;
    failing = r->failing;
    r->error = tile_mesh_open(&config, &m);
    if (!r->error) r->error = rank_steps(m);
    tile_mesh_close(m);
    r->allocations = allocations;
    victim = false;
    return NULL;
}

static void ranks_main(int failing_one, Rank *r) {
    pthread_t thread[RANKS];
    for (int i = 0; i < RANKS; i++) {
        r[i] = (Rank){.rank = i, .failing = failing_one};
        CHECK(pthread_create(&thread[i], NULL, rank_main, &r[i]) == 0);
    }
    for (int i = 0; i < RANKS; i++) pthread_join(thread[i], NULL);
}

int main(void) {
    Rank r[RANKS];
    int failed = 0;
    ranks_main(0, r);
    CHECK(r[0].error == TILE_OK && r[1].error == TILE_OK);
    int all = r[1].allocations;
    for (int n = 1; n <= all; n++) {
        ranks_main(n, r);
        if (r[1].error != TILE_E_NOMEM && r[1].error != TILE_OK)
            fprintf(stderr, "allocation %d of %d: rank 1 gets %s\n", n, all, tile_error_name(r[1].error)), exit(1);
        CHECK(r[0].error <= TILE_OK);
        failed += r[1].error == TILE_E_NOMEM;
        ranks_main(0, r);
        CHECK(r[0].error == TILE_OK && r[1].error == TILE_OK);
    }
    printf("%d allocations, %d of them needed\n", all, failed);
    return failed == 0;
}
