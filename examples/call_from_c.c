/* call_from_c.c: docs/tutorials/4-four-ranks.md's program called from C, with four ranks as threads of one process.
   tilec compile mine.tile -o out
   cc -O3 -march=native -fopenmp-simd -I runtime/include -I runtime -I out out/mine.c examples/call_from_c.c \
      build/libtile.a -lpthread -lm */
#include "mine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 4, M = 512, N = 512, K = 512, ROWS = M / RANKS, COLUMNS = N / RANKS };

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tile_last_error());
    return 1;
}

static float *filled(size_t n, float value) {
    float *p = malloc(n * sizeof *p);
    for (size_t i = 0; p && i < n; i++) p[i] = value;
    return p;
}

static int run_rank(int rank) {
    tile_mesh_config config = {.size = sizeof config, .rank = rank, .nranks = RANKS, .group = "call_from_c"};
    tile_mesh *mesh;
    mine *instance;
    if (tile_mesh_open(&config, &mesh)) return fail("tile_mesh_open");
    if (mine_open(mesh, NULL, &instance)) return fail("mine_open");
    float *a = filled(ROWS * K, 0.5f), *b = filled(K * COLUMNS, 2.0f), *s = filled(M, 3.0f), *c = filled(M * COLUMNS, 0.0f);
    if (!a || !b || !s || !c) return 1;
    mine_args args = {.A = a, .B = b, .s = s, .C = c};
    if (mine_run(instance, &args, NULL) || tile_stream_sync(mesh, NULL)) return fail("mine_run");
    int wrong = 0;
    for (size_t i = 0; i < M * COLUMNS; i++) wrong += c[i] != 0.5f * 2.0f * K * 3.0f;
    printf("rank %d: %d of %d elements are wrong\n", rank, wrong, M * COLUMNS);
    mine_close(instance);
    tile_mesh_close(mesh);
    free(a), free(b), free(s), free(c);
    return wrong != 0;
}

static void *rank_main(void *rank) { return run_rank((int)(size_t)rank) ? rank_main : NULL; }

int main(void) {
    pthread_t thread[RANKS];
    int failed = 0;
    for (size_t i = 0; i < RANKS; i++)
        if (pthread_create(&thread[i], NULL, rank_main, (void *)i)) return 1;
    for (int i = 0; i < RANKS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed += result != NULL;
    }
    return failed != 0;
}
