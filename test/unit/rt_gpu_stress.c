/* rt_gpu_stress.c: a compiled program of several ranks (threads), run again and again on three sets of inputs in turn:
   each set must give the same bits every time. Inputs are small random numbers; integers are 0. usage: rt_gpu_stress
   gpu|emu LIBRARY PROGRAM RUNS [SIZE]; SIZE: of every run-time dimension */
#include "src/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETS = 3, MOST_ARGS = 32, MOST_RANKS = 16, BURST = 6 };

static const tile_program *program;
static const char *target;
static int runs, nranks;
static int64_t size[16];

typedef struct {
    int rank, wrong;
    tile_mesh *mesh;
    tile_instance *instance;
    size_t bytes[MOST_ARGS];
    void *arg[SETS][MOST_ARGS];
    char *first[SETS][MOST_ARGS]; /* what a result was the first time */
} Rank;

static void must(Rank *r, int code) {
    if (code == TILE_OK) return;
    fprintf(stderr, "rank %d: %s: %s\n", r->rank, tile_error_name(code), tile_last_error());
    exit(1);
}

/* The pattern of a small number: 0, 1/4, .. 7/4. */
static void number_put(char *to, const char *elem, unsigned draw) {
    static const uint16_t bf16[] = {0, 0x3e80, 0x3f00, 0x3f40, 0x3f80, 0x3fa0, 0x3fc0, 0x3fe0};
    float f = (float)(draw % 8) / 4;
    memset(to, 0, tile_elem_bits(elem) / 8);
    if (strcmp(elem, "f32") == 0) memcpy(to, &f, sizeof f);
    if (strcmp(elem, "bf16") == 0) memcpy(to, &bf16[draw % 8], sizeof *bf16);
}

/* Replicated inputs must be the same on all ranks. */
static unsigned seed_of(const Rank *r, const tile_arg *a, int set) {
    unsigned seed = 17u + (unsigned)set;
    for (int d = 0; d < a->ndim; d++)
        if (a->split[d] >= 0) return seed + 101u * (unsigned)r->rank;
    return seed;
}

static void arg_open(Rank *r, int set, int i) {
    const tile_arg *a = &program->arg[i];
    size_t each = tile_elem_bits(a->elem) / 8, n = (size_t)arg_elements(r->instance, a, size);
    unsigned seed = seed_of(r, a, set) + 7919u * (unsigned)i;
    char *host = calloc(n + 1, each + 8);
    for (size_t k = 0; k < n; k++) number_put(host + k * each, a->elem, (unsigned)rand_r(&seed) >> 8);
    r->bytes[i] = n * each;
    r->arg[set][i] = host;
    if (a->ndim == 0) return;
    must(r, tile_alloc(r->mesh, r->bytes[i], &r->arg[set][i]));
    must(r, tile_copy_in(r->mesh, r->arg[set][i], host, r->bytes[i], NULL));
    must(r, tile_stream_sync(r->mesh, NULL));
    free(host);
}

static void result_check(Rank *r, int set, int i) {
    char *now = malloc(r->bytes[i] + 1), **first = &r->first[set][i];
    must(r, tile_copy_out(r->mesh, now, r->arg[set][i], r->bytes[i], NULL));
    must(r, tile_stream_sync(r->mesh, NULL));
    if (!*first) {
        *first = now;
        return;
    }
    r->wrong += memcmp(now, *first, r->bytes[i]) != 0;
    free(now);
}

static void *rank_main(void *arg) {
    Rank *r = arg;
    tile_mesh_config c = {.size = sizeof c,
                          .rank = r->rank,
                          .nranks = nranks,
                          .device = TILE_DEVICE_OF_RANK,
                          .group = "rt_gpu_stress",
                          .target = target};
    must(r, tile_mesh_open(&c, &r->mesh));
    must(r, tile_instance_open(r->mesh, program, &r->instance));
    for (int s = 0; s < SETS; s++)
        for (int i = 0; i < program->nargs; i++) arg_open(r, s, i);
    for (int k = 0; k < runs; k++) {
        must(r, tile_instance_run(r->instance, r->arg[k % SETS], size, NULL));
        bool look = k < SETS || k % BURST >= BURST - SETS; /* of a burst the last run of each set is looked at */
        for (int i = 0; i < program->nargs && look; i++)
            if (program->arg[i].role == TILE_ROLE_OUTPUT) result_check(r, k % SETS, i);
    }
    must(r, tile_stream_sync(r->mesh, NULL));
    tile_instance_close(r->instance);
    tile_mesh_close(r->mesh);
    return NULL;
}

int main(int argc, char **argv) {
    static Rank rank[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    char symbol[256];
    if (argc < 5) return 2;
    void *library = dlopen(argv[2], RTLD_NOW);
    snprintf(symbol, sizeof symbol, "%s_program", argv[3]);
    if (!library || !(program = dlsym(library, symbol))) return fprintf(stderr, "%s\n", dlerror()), 2;
    target = argv[1];
    runs = atoi(argv[4]);
    nranks = 1;
    for (int a = 0; a < program->naxes; a++) nranks *= program->axis[a];
    for (int i = 0; i < program->ndims; i++) size[i] = argc > 5 ? atoi(argv[5]) : program->dim[i].bound;
    if (nranks > MOST_RANKS || program->nargs > MOST_ARGS || program->ndims > 16) return 2;
    for (int r = 0; r < nranks; r++) {
        rank[r].rank = r;
        pthread_create(&thread[r], NULL, rank_main, &rank[r]);
    }
    int wrong = 0;
    for (int r = 0; r < nranks; r++) {
        pthread_join(thread[r], NULL);
        wrong += rank[r].wrong;
    }
    printf("%s: %d ranks, %d runs, %d results differ\n", argv[3], nranks, runs, wrong);
    return wrong != 0;
}
