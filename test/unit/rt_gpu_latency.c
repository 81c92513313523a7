/* rt_gpu_latency.c: how long a flag takes from one GPU to another and back, on two ranks that are threads.
   usage: rt_gpu_latency CODE (as of rt_gpu_mesh) */
#include "test/unit/rt_gpu_ranks.h"

#include <pthread.h>
#include <stdio.h>

enum { RANKS = 2, TURNS = 1000, RUNS = 5 };

static const tile_launch answers[] = {{.kernel = "ranks_begin", .threads = 64, .groups = one_group},
                                      {.kernel = "turns", .threads = 64, .groups = one_group},
                                      {.kernel = "ranks_end", .threads = 64, .lds_bytes = 8, .groups = one_group}};
static tile_program program;
static const char *target;

static int rank_run(int rank, float *ns) {
    tile_mesh_config c = {.size = sizeof c,
                          .rank = rank,
                          .nranks = RANKS,
                          .device = TILE_DEVICE_OF_RANK,
                          .group = "rt_gpu_latency",
                          .target = target};
    tile_mesh *m = NULL;
    tile_instance *i = NULL;
    void *x = NULL;
    int64_t n = TURNS;
    int code = tile_mesh_open(&c, &m);
    if (!code) code = tile_alloc(m, 3 * sizeof(float) * RANKS_MOST, &x);
    void *arg[] = {x, (float *)x + RANKS_MOST, (float *)x + 2 * RANKS_MOST};
    if (!code) code = tile_instance_open(m, &program, &i);
    for (int k = 0; k < RUNS && !code; k++) code = tile_instance_run(i, arg, &n, NULL);
    if (!code) code = tile_copy_out(m, ns, arg[1], sizeof *ns, NULL);
    if (!code) code = tile_stream_sync(m, NULL);
    if (code) printf("rank %d: %s: %s\n", rank, tile_error_name(code), tile_last_error());
    if (i) tile_instance_close(i);
    if (x) tile_free(m, x);
    tile_mesh_close(m);
    return code;
}

static void *other_main(void *code) {
    float ns;
    *(int *)code = rank_run(1, &ns);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t other;
    int code = 0;
    float ns = 0;
    if (argc < 2) return 2;
    target = strstr(argv[1], ".so") ? "emu" : "gpu";
    program = ranks_program(argv[1], RANKS, answers, 3);
    if (pthread_create(&other, NULL, other_main, &code)) return 1;
    int own = rank_run(0, &ns);
    pthread_join(other, NULL);
    printf("there and back: %.0f ns, mean of %d\n", (double)ns, TURNS);
    return own || code;
}
