/* rt_schedules.c: runs a generated program again and again with random delays: every run must give the same bits.
   usage: rt_schedules LIBRARY NAME RUNS (the library built with -DTILE_TEST_DELAY, TILE_DELAY=seed in the environment)
 */
#include "rt_program.h"

#include <dlfcn.h>
#include <pthread.h>

enum { MAX_ARGS = 32, MAX_MESH = 16, WORKERS = 2 };

static const tile_program *program;
static int nranks = 1, runs;

typedef struct {
    int rank, coord[3];
    int64_t dim[8];
    char *arg[MAX_ARGS], *first[MAX_ARGS];
    size_t bytes[MAX_ARGS];
} Rank;

static int64_t block_of(const Rank *r, const tile_arg *a, int d) {
    int64_t n = a->dim[d] + (a->sym[d] >= 0 ? r->dim[a->sym[d]] : 0);
    if (a->split[d] < 0) return n;
    int64_t p = program->axis[a->split[d]], block = (n + p - 1) / p, left = n - r->coord[a->split[d]] * block;
    return left < 0 ? 0 : left < block ? left : block;
}

static size_t elem_bytes(const char *elem) {
    if (strstr(elem, "64")) return 8;
    if (strstr(elem, "32")) return 4;
    return strstr(elem, "16") ? 2 : 1;
}

/* Small numbers: f32 and f64 as such, 16-bit floats as bits near 1, integers 0 .. 3. */
static void element_draw(char *to, const char *elem, unsigned draw) {
    float f = (float)(draw % 2001) / 1000 - 1;
    double d = f;
    uint16_t half = (uint16_t)(strcmp(elem, "bf16") == 0 ? 0x3f00 + draw % 128 : 0x3800 + draw % 1024);
    int64_t i = draw % 4;
    if (strcmp(elem, "f32") == 0)
        memcpy(to, &f, sizeof f);
    else if (strcmp(elem, "f64") == 0)
        memcpy(to, &d, sizeof d);
    else if (strstr(elem, "f16"))
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &i, elem_bytes(elem));
}

/* What is not split is the same on all ranks. */
static void arg_make(Rank *r, int k) {
    const tile_arg *a = &program->arg[k];
    int64_t n = 1;
    unsigned draw = 12345u + (unsigned)k * 77u;
    for (int d = 0; d < a->ndim; d++) {
        n *= block_of(r, a, d);
        if (a->split[d] >= 0) draw += 999u * (unsigned)r->rank;
    }
    size_t each = elem_bytes(a->elem);
    r->bytes[k] = (size_t)n * each;
    r->arg[k] = calloc(1, r->bytes[k] + 64);
    r->first[k] = calloc(1, r->bytes[k] + 64);
    CHECK(r->arg[k] && r->first[k]);
    for (int64_t i = 0; i < n && a->role == TILE_ROLE_INPUT; i++) {
        draw = draw * 1664525u + 1013904223u;
        element_draw(r->arg[k] + (size_t)i * each, a->elem, draw >> 8);
    }
}

static void results_compare(Rank *r, int run) {
    for (int k = 0; k < program->nargs; k++) {
        if (program->arg[k].role != TILE_ROLE_OUTPUT) continue;
        if (run == 0) memcpy(r->first[k], r->arg[k], r->bytes[k]);
        CHECK(memcmp(r->first[k], r->arg[k], r->bytes[k]) == 0);
        memset(r->arg[k], 0xff, r->bytes[k]);
    }
}

static void *rank_main(void *arg) {
    Rank *r = arg;
    tile_mesh *m;
    tile_instance *p;
    tile_mesh_config config = {.size = sizeof config, .rank = r->rank, .nranks = nranks, .workers = WORKERS};
    CHECK(tile_mesh_open(&config, &m) == TILE_OK && tile_instance_open(m, program, &p) == TILE_OK);
    for (int run = 0; run < runs; run++) {
        CHECK(tile_instance_run(p, (void **)r->arg, r->dim, NULL) == TILE_OK);
        CHECK(tile_stream_sync(m, NULL) == TILE_OK);
        results_compare(r, run);
    }
    tile_instance_close(p);
    tile_mesh_close(m);
    return NULL;
}

static void rank_prepare(Rank *r, int rank) {
    r->rank = rank;
    for (int a = program->naxes - 1; a >= 0; rank /= program->axis[a--]) r->coord[a] = rank % program->axis[a];
    for (int d = 0; d < program->ndims; d++) r->dim[d] = program->dim[d].bound;
    for (int k = 0; k < program->nargs; k++) arg_make(r, k);
}

int main(int argc, char **argv) {
    static Rank rank[MAX_MESH];
    pthread_t thread[MAX_MESH];
    char symbol[128];
    CHECK(argc == 4);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    snprintf(symbol, sizeof symbol, "%s_program", argv[2]);
    program = library ? dlsym(library, symbol) : NULL;
    CHECK(program && program->nargs <= MAX_ARGS && program->ndims <= 8);
    runs = atoi(argv[3]);
    for (int a = 0; a < program->naxes; a++) nranks *= program->axis[a];
    CHECK(nranks <= MAX_MESH);
    for (int r = 0; r < nranks; r++) {
        rank_prepare(&rank[r], r);
        CHECK(pthread_create(&thread[r], NULL, rank_main, &rank[r]) == 0);
    }
    for (int r = 0; r < nranks; r++) pthread_join(thread[r], NULL);
    printf("%s: %d schedules on %d ranks, the same bits\n", argv[2], runs, nranks);
    return 0;
}
