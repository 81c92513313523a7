/* ranks.c: starts one thread or process a rank; each opens the mesh, runs the program and times it. */
#include "driver/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *shared_memory(size_t bytes) {
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

typedef struct {
    const RankJob *job;
    int rank;
    const char *group;
    FILE *prints; /* lines of this rank, which come out in the order of ranks; NULL: the program has none */
} Rank;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Where the mesh's programs see the arguments: copies on a device of tensors, which go back when `out`. */
static int move_arguments(const Rank *r, tile_mesh *mesh, void **device, bool out) {
    const tile_program *p = r->job->program;
    void *const *part = r->job->part[r->rank];
    const size_t *bytes = r->job->bytes[r->rank];
    int code = TILE_OK;
    for (int i = 0; i < p->nargs && !code; i++) {
        if (out) code = bytes[i] ? tile_copy_out(mesh, part[i], device[i], bytes[i], NULL) : TILE_OK;
        else if (p->arg[i].ndim == 0) device[i] = part[i];
        else if (!(code = tile_alloc(mesh, bytes[i], &device[i])) && p->arg[i].role != TILE_ROLE_OUTPUT)
            code = tile_copy_in(mesh, device[i], part[i], bytes[i], NULL);
    }
    return code ? code : tile_stream_sync(mesh, NULL);
}

static int run_times(const Rank *r, tile_mesh *mesh, tile_instance *instance, void *const *arg) {
    const RankJob *j = r->job;
    for (int i = 0; i < j->runs; i++) {
        int code = tile_mesh_barrier(mesh);
        double start = seconds_now();
        if (!code) code = tile_instance_run(instance, arg, j->dim, NULL);
        if (!code) code = tile_stream_sync(mesh, NULL);
        if (code) return code;
        j->result[r->rank]->seconds[i] = seconds_now() - start;
    }
    return TILE_OK;
}

static int run_all(const Rank *r, tile_mesh *mesh, tile_instance *instance) {
    const RankJob *j = r->job;
    if (strcmp(j->target, "host") == 0) return run_times(r, mesh, instance, j->part[r->rank]);
    void **device = calloc((size_t)j->program->nargs + 1, sizeof *device);
    int code = device ? move_arguments(r, mesh, device, false) : TILE_E_NOMEM;
    if (!code) code = run_times(r, mesh, instance, device);
    if (!code) code = move_arguments(r, mesh, device, true);
    for (int i = 0; device && i < j->program->nargs; i++)
        if (j->program->arg[i].ndim) tile_free(mesh, device[i]);
    free(device);
    return code;
}

static int run_instance(const Rank *r, tile_mesh *mesh) {
    tile_instance *instance = NULL;
    bool trace = r->job->o->trace != NULL;
    int code = trace ? tile_trace(mesh, 1) : TILE_OK;
    if (!code) code = tile_instance_open(mesh, r->job->program, &instance);
    if (!code) code = run_all(r, mesh, instance);
    RankResult *result = r->job->result[r->rank];
    if (code) snprintf(result->text, sizeof result->text, "%s", tile_last_error());
    if (!code && trace && r->rank == 0) code = tile_trace_write(mesh, r->job->o->trace);
    if (instance) tile_instance_close(instance);
    return code;
}

/* Runs that are timed have told all before. */
static void line_keep(void *context, const char *line) {
    const Rank *r = context;
    if (r->prints && r->job->runs == 1) fprintf(r->prints, "%s\n", line);
}

static void prints_show(const Rank *r) {
    char part[4096];
    size_t n;
    if (!r->prints) return;
    rewind(r->prints);
    while ((n = fread(part, 1, sizeof part, r->prints)) > 0) fwrite(part, 1, n, stdout);
    fclose(r->prints);
    fflush(stdout);
}

static int run_rank(const Rank *r, bool process) {
    const RankJob *j = r->job;
    tile_mesh_config config = {.size = sizeof config, .rank = process ? 0 : r->rank, .nranks = process ? 0 : j->nranks,
                               .device = TILE_DEVICE_OF_RANK,
                               .workers = (int)j->o->workers, .timeout_ms = (int)j->o->timeout_ms, .group = r->group,
                               .target = j->target};
    tile_mesh *mesh = NULL;
    RankResult *result = j->result[r->rank];
    int code = tile_mesh_open(&config, &mesh);
    if (code) snprintf(result->text, sizeof result->text, "%s", tile_last_error());
    else tile_mesh_print(mesh, line_keep, (void *)r), code = run_instance(r, mesh);
    if (mesh) tile_mesh_close(mesh);
    if (r->prints) fflush(r->prints);
    return result->code = code;
}

static void *thread_main(void *arg) {
    run_rank(arg, false);
    return NULL;
}

static void run_threads(const RankJob *j, Rank *rank) {
    pthread_t *thread = ARENA_ARRAY(j->o->arena, pthread_t, j->nranks);
    int started = 1;
    for (; started < j->nranks; started++)
        if (pthread_create(&thread[started], NULL, thread_main, &rank[started])) break;
    if (started == j->nranks) thread_main(&rank[0]);
    else snprintf(rank[0].job->result[0]->text, 256, "cannot start a thread"), j->result[0]->code = TILE_E_SYS;
    for (int i = 1; i < started; i++) pthread_join(thread[i], NULL);
}

static void process_main(const Rank *r) {
    char text[32];
    snprintf(text, sizeof text, "%d", r->rank);
    setenv("RANK", text, 1);
    setenv("LOCAL_RANK", text, 1);
    snprintf(text, sizeof text, "%d", r->job->nranks);
    setenv("WORLD_SIZE", text, 1);
    _exit(run_rank(r, true) ? EXIT_RUN : EXIT_OK);
}

static void run_processes(const RankJob *j, Rank *rank) {
    fflush(NULL);
    for (int i = 0; i < j->nranks; i++) {
        pid_t child = fork();
        if (child == 0) process_main(&rank[i]);
        if (child < 0) j->result[i]->code = TILE_E_SYS;
    }
    for (int status; wait(&status) > 0;) continue;
}

bool ranks_run(const RankJob *j) {
    static int started;
    Rank *rank = ARENA_ARRAY(j->o->arena, Rank, j->nranks);
    const char *group = arena_format(j->o->arena, "tilec-%ld-%d", (long)getpid(), started++);
    for (int i = 0; i < j->nranks; i++) {
        rank[i] = (Rank){j, i, group, j->program->nprints ? tmpfile() : NULL};
        j->result[i]->code = TILE_E_SYS;
        snprintf(j->result[i]->text, sizeof j->result[i]->text, "the rank ended early");
    }
    if (j->o->processes) run_processes(j, rank);
    else run_threads(j, rank);
    for (int i = 0; i < j->nranks; i++) prints_show(&rank[i]);
    bool good = true;
    for (int i = 0; i < j->nranks; i++) good = good && j->result[i]->code == TILE_OK;
    return good;
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

RanksTime ranks_time(const RankJob *j, int first) {
    int n = j->runs - first;
    double *slowest = ARENA_ARRAY(j->o->arena, double, n);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < j->nranks; r++)
            if (j->result[r]->seconds[first + i] > slowest[i]) slowest[i] = j->result[r]->seconds[first + i];
    qsort(slowest, (size_t)n, sizeof *slowest, compare_seconds);
    return (RanksTime){slowest[n / 2], slowest[0]};
}
