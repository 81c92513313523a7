/* rt_range.c: inputs with a declared range: a run that they forbid is as if it had never been, on any number of ranks.
 */
#include "rt_program.h"

#include "device/tile_host.h"

#include <pthread.h>

static const tile_arg checked_args[] = {
    {.name = "x", .elem = "f32", .role = TILE_ROLE_INPUT, .ndim = 1, .sym = {0}, .split = {-1}},
    {.name = "scale", .elem = "f32", .role = TILE_ROLE_INPUT},
    {.name = "y", .elem = "f32", .role = TILE_ROLE_OUTPUT, .ndim = 1, .sym = {0}, .split = {-1}},
    {.name = "at",
     .elem = "i32",
     .role = TILE_ROLE_INPUT,
     .ndim = 1,
     .dim = {2},
     .sym = {-1},
     .split = {-1},
     .checked = 1,
     .least = {-1, -1},
     .past = {0, 0}}, /* -1 .. N */
    {.name = "split",
     .elem = "u8",
     .role = TILE_ROLE_INPUT,
     .ndim = 1,
     .dim = {3 * RT_RANKS},
     .sym = {-1},
     .split = {0},
     .checked = 1,
     .least = {0, -1},
     .past = {200, -1}},
};

typedef struct {
    tile_mesh *mesh;
    tile_instance *instance;
    float x[RT_BOUND], y[RT_BOUND];
    int32_t at[2];
    uint8_t split[3 * RT_RANKS];
} Fixture;

static int fixture_run(Fixture *f, int step) {
    int64_t n = RT_BOUND;
    float scale = 0.5f;
    for (int64_t i = 0; i < n; i++) f->x[i] = rt_input(tile_mesh_rank(f->mesh), i, step), f->y[i] = -77;
    int error = tile_instance_run(f->instance, (void *[]){f->x, &scale, f->y, f->at, f->split}, &n, NULL);
    return error ? error : tile_stream_sync(f->mesh, NULL);
}

static void run_good(Fixture *f, int step) {
    CHECK(fixture_run(f, step) == TILE_OK);
    for (int64_t i = 0; i < RT_BOUND; i++) CHECK(f->y[i] == rt_expected(tile_mesh_size(f->mesh), i, step));
}

static void run_bad(Fixture *f, int place, int32_t value, const char *why) {
    int32_t was = f->at[place];
    f->at[place] = value;
    CHECK(fixture_run(f, 3) == TILE_E_RANGE);
    CHECK(strcmp(tile_last_error(), why) == 0);
    for (int64_t i = 0; i < RT_BOUND; i++) CHECK(f->y[i] == -77);
    f->at[place] = was;
}

/* Skipped runs do not count: slots and flags go on as if there had been none. */
static void check_replicated(Fixture *f) {
    for (int step = 0; step < 50; step++) {
        f->at[0] = step % 2 ? -1 : RT_BOUND - 1;
        run_good(f, step);
        if (step % 3)
            run_bad(f, 1, RT_BOUND, "program 'sum': element 1 of 'at' is 1024, outside -1 .. 1024; nothing was run");
        if (step % 5 == 0)
            run_bad(f, 0, -2, "program 'sum': element 0 of 'at' is -2, outside -1 .. 1024; nothing was run");
    }
}

/* One rank alone sees it: the others are told, and all go on after a recovery. */
static void check_split(Fixture *f) {
    bool mine = tile_mesh_rank(f->mesh) == tile_mesh_size(f->mesh) - 1;
    f->split[1] = mine ? 200 : 199;
    int error = fixture_run(f, 1);
    CHECK(error == (mine ? TILE_E_RANGE : TILE_E_TIMEOUT));
    if (!mine) CHECK(strstr(tile_last_error(), "an input is out of range"));
    CHECK(fixture_run(f, 1) == (mine ? TILE_E_TIMEOUT : TILE_E_POISONED));
    CHECK(tile_mesh_recover(f->mesh) == TILE_OK);
    f->split[1] = 199;
    run_good(f, 2);
}

/* ---- starts of groups: each task looks at them ---- */

enum { WRONG = 99 }; /* a value of `at` that the tasks refuse */

static int (*plain_task)(const tile_task *, int64_t);

static int starts_task(const tile_task *t, int64_t ticket) {
    const int32_t *at = t->arg[3];
    return at[1] == WRONG ? tile_refuse_starts(t, "start", 1, at[1]) : plain_task(t, ticket);
}

/* One rank goes on; several are poisoned, as one may wait for what another would have sent. */
static void check_starts(Fixture *f) {
    const bool alone = tile_mesh_size(f->mesh) == 1;
    for (int step = 0; step < 20; step++) {
        f->at[1] = WRONG;
        int error = fixture_run(f, step);
        CHECK(error == TILE_E_RANGE || (!alone && error == TILE_E_TIMEOUT));
        CHECK(strstr(tile_last_error(), "element 1 of 'start' is 99 on rank") != NULL);
        f->at[1] = 0;
        if (!alone) CHECK(fixture_run(f, step) == TILE_E_POISONED && tile_mesh_recover(f->mesh) == TILE_OK);
        run_good(f, step);
    }
}

typedef struct {
    int rank, nranks;
} Case;

static pthread_barrier_t between;

static void *case_main(void *arg) {
    const Case *c = arg;
    static _Thread_local Fixture f;
    tile_program g = rt_program(c->nranks);
    tile_mesh_config config = {
        .size = sizeof config, .rank = c->rank, .nranks = c->nranks, .workers = 2, .group = "range"};
    g.nargs = 5;
    g.arg = checked_args;
    g.task = starts_task;
    CHECK(tile_mesh_open(&config, &f.mesh) == TILE_OK);
    CHECK(tile_instance_open(f.mesh, &g, &f.instance) == TILE_OK);
    check_replicated(&f);
    pthread_barrier_wait(&between); /* of no mesh: the first fault may come while others still leave it */
    if (c->nranks > 1) check_split(&f);
    CHECK(tile_mesh_barrier(f.mesh) == TILE_OK);
    pthread_barrier_wait(&between);
    check_starts(&f);
    tile_instance_close(f.instance);
    tile_mesh_close(f.mesh);
    return NULL;
}

int main(void) {
    plain_task = rt_program(1).task;
    static const int sizes[] = {1, 2, 4};
    for (int s = 0; s < 3; s++) {
        pthread_t thread[4];
        Case c[4];
        pthread_barrier_init(&between, NULL, (unsigned)sizes[s]);
        for (int r = 0; r < sizes[s]; r++) {
            c[r] = (Case){r, sizes[s]};
            CHECK(pthread_create(&thread[r], NULL, case_main, &c[r]) == 0);
        }
        for (int r = 0; r < sizes[s]; r++) pthread_join(thread[r], NULL);
    }
    CHECK(strcmp(tile_error_name(TILE_E_RANGE), "TILE_E_RANGE") == 0);
    return 0;
}
