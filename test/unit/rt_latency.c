/* rt_latency.c: what a run of an empty program costs, from run to the return of sync, and when runs are queued. */
#include "rt_program.h"

enum { RUNS = 20000 };

static int64_t one_task(const tile_task *t) { return t->rank == 0; }
static int no_work(const tile_task *t, int64_t ticket) { return t->generation && ticket ? TILE_E_ARG : TILE_OK; }

static double since_us(uint64_t begin) { return (double)(tile_now() - begin) / 1e3; }

static double alone_us(tile_mesh *m, tile_instance *p, void *const *arg) {
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        uint64_t begin = tile_now();
        CHECK(tile_instance_run(p, arg, (int64_t[]){4}, NULL) == TILE_OK);
        CHECK(tile_stream_sync(m, NULL) == TILE_OK);
        double us = since_us(begin);
        if (us < best) best = us;
    }
    return best;
}

static double queued_us(tile_mesh *m, tile_instance *p, void *const *arg) {
    uint64_t begin = tile_now();
    for (int i = 0; i < RUNS; i++)
        while (tile_instance_run(p, arg, (int64_t[]){4}, NULL) == TILE_E_BUSY)
            CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    return since_us(begin) / RUNS;
}

int main(void) {
    float x[4], scale = 1;
    void *arg[] = {x, &scale, x};
    tile_mesh *m;
    tile_instance *p;
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = 2};
    tile_program g = rt_program(1);
    g.tasks = one_task;
    g.task = no_work;
    CHECK(tile_mesh_open(&config, &m) == TILE_OK && tile_instance_open(m, &g, &p) == TILE_OK);
    double alone = alone_us(m, p, arg), queued = queued_us(m, p, arg);
    printf("an empty run: %.2f us alone (best), %.2f us queued (mean)\n", alone, queued);
    tile_instance_close(p);
    tile_mesh_close(m);
    return alone > 5;
}
