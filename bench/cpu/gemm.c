/* gemm.c: f32 matrix product of examples/gemm.tile's program against OpenBLAS, on all cores. */
#include "bench.h"
#include "gemm.h"

#include <cblas.h>
#include <math.h>

enum { N = 2048 };

typedef struct {
    tile_mesh *mesh;
    gemm *instance;
    gemm_args args;
    float *peer;
} Gemm;

static void ours(void *p) {
    Gemm *g = p;
    bench_check(gemm_run(g->instance, &g->args, NULL), "run");
    bench_check(tile_stream_sync(g->mesh, NULL), "sync");
}

static void openblas(void *p) {
    Gemm *g = p;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, g->args.A, N, g->args.B, N, 0, g->peer, N);
}

int main(void) {
    tile_mesh_config config = {.size = sizeof config, .nranks = 1};
    size_t n = (size_t)N * N;
    Gemm g = {.args = {.A = bench_floats(n), .B = bench_floats(n), .C = bench_floats(n)}, .peer = bench_floats(n)};
    bench_check(tile_mesh_open(&config, &g.mesh), "mesh");
    bench_check(gemm_open(g.mesh, NULL, &g.instance), "open");
    BenchTime a, b;
    double difference = 0;
    bench_pair(ours, openblas, &g, &a, &b);
    for (size_t i = 0; i < n; i++) difference = fmax(difference, fabs((double)((float *)g.args.C)[i] - g.peer[i]));
    bench_print("gemm_f32_2048", "openblas", a, b, 2.0 * N * N * N, difference);
    gemm_close(g.instance);
    tile_mesh_close(g.mesh);
    return 0;
}
