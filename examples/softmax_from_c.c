/* softmax_from_c.c: examples/softmax.tile from C, on a GPU or on the host: TILE_TARGET=gpu or host says where.
   tilec compile --target=host,gfx942,sm_90a --emit=lib examples/softmax.tile -o out
   cc -I runtime/include -I out examples/softmax_from_c.c -L out -lsoftmax -Wl,-rpath,out build/libtile.so -lm */
#include "softmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, D = 4096 };

static tile_mesh *mesh;

static void check(int code) {
    if (code == TILE_OK) return;
    fprintf(stderr, "%s: %s\n", tile_error_name(code), tile_last_error());
    exit(1);
}

/* The row's probabilities sum up to 1. */
static int rows_wrong(const float *y) {
    int wrong = 0;
    for (int r = 0; r < N; r++) {
        double sum = 0;
        for (int c = 0; c < D; c++) sum += y[r * D + c];
        wrong += !(fabs(sum - 1) < 1e-5);
    }
    return wrong;
}

int main(void) {
    tile_mesh_config config = {.size = sizeof config, .nranks = 1};
    size_t bytes = sizeof(float) * N * D;
    float *host = malloc(bytes);
    void *x, *y;
    softmax *instance;
    if (!host) return 1;
    for (int i = 0; i < N * D; i++) host[i] = (float)(i % 97) / 10;
    check(tile_mesh_open(&config, &mesh));
    check(softmax_open(mesh, NULL, &instance));
    check(tile_alloc(mesh, bytes, &x));
    check(tile_alloc(mesh, bytes, &y));
    check(tile_copy_in(mesh, x, host, bytes, NULL));
    check(softmax_run(instance, &(softmax_args){.X = x, .Y = y}, NULL)); /* enqueued behind the copy */
    check(tile_copy_out(mesh, host, y, bytes, NULL));
    check(tile_stream_sync(mesh, NULL));
    printf("%d of %d rows are wrong\n", rows_wrong(host), N);
    softmax_close(instance);
    tile_free(mesh, x);
    tile_free(mesh, y);
    tile_mesh_close(mesh);
    free(host);
    return 0;
}
