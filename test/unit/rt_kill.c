/* rt_kill.c: kills a random rank process at a random moment. Every survivor must return an error that names the missing
   rank (and the flag, once programs run) soon after its deadline, and the next mesh of the same name must work. Where the
   ranks have not met no process is known: then it takes the deadline, of one kill in seven here.
   usage: rt_kill [kills] [seed] */
#include "rt_processes.h"

enum { RANKS = 4, TIMEOUT_MS = 2500, SPARE_MS = 10000 /* of a loaded machine */ };
static int victim;

static int body_healthy(int rank) {
    tile_mesh *m = mesh_of_process(20000);
    tile_instance *p;
    tile_program g = rt_program(RANKS);
    (void)rank;
    CHECK(m && tile_instance_open(m, &g, &p) == TILE_OK);
    for (int i = 0; i < 3; i++) CHECK(rt_step(m, p, i) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
    return 0;
}

static int error_judge(int error, const char *expected) {
    char missing[32];
    snprintf(missing, sizeof missing, "rank %d is missing", victim);
    if (error == TILE_E_TIMEOUT && strstr(tile_last_error(), missing) && strstr(tile_last_error(), expected)) return 0;
    fprintf(stderr, "rank %d killed, error %d: %s\n", victim, error, tile_last_error());
    return 1;
}

/* Runs until there is an error; the error must be the right one. */
static int body_survive(int rank) {
    tile_mesh *m;
    tile_instance *p;
    tile_program g = rt_program(RANKS);
    tile_mesh_config config = {.size = sizeof config, .workers = 1, .timeout_ms = TIMEOUT_MS};
    (void)rank;
    int error = tile_mesh_open(&config, &m);
    if (error) return error_judge(error, "while the ranks");
    error = tile_instance_open(m, &g, &p);
    if (error) return error_judge(error, "while the ranks");
    for (int i = 0; !error; i++) error = rt_step(m, p, i);
    return error_judge(error, "at flag 'pushed'");
}

/* Milliseconds until the last survivor returned. */
static double kill_one(unsigned delay_us) {
    pid_t child[RANKS];
    ranks_fork(child, RANKS, body_survive);
    usleep(delay_us);
    uint64_t begin = tile_now();
    CHECK(kill(child[victim], SIGKILL) == 0 && waitpid(child[victim], NULL, 0) == child[victim]);
    for (int r = 0; r < RANKS; r++)
        if (r != victim) ranks_join(&child[r], 1);
    return (double)(tile_now() - begin) / 1e6;
}

int main(int argc, char **argv) {
    int kills = argc > 1 ? atoi(argv[1]) : 20, names = shared_names();
    char group[32];
    double worst = 0;
    srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    snprintf(group, sizeof group, "kill-%d", (int)getpid());
    setenv("TILE_GROUP", group, 1);
    for (int i = 0; i < kills; i++) {
        pid_t child[RANKS];
        victim = rand() % RANKS;
        double ms = kill_one((unsigned)rand() % (rand() % 2 ? 3000 : 40000));
        if (ms > worst) worst = ms;
        CHECK(ms < TIMEOUT_MS + SPARE_MS);
        ranks_fork(child, RANKS, body_healthy);
        ranks_join(child, RANKS);
    }
    CHECK(shared_names() == names);
    printf("%d kills, the slowest survivor after %.0f ms\n", kills, worst);
    return 0;
}
