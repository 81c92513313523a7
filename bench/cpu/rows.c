/* rows.c: softmax and rmsnorm of examples/, and attention in f32, against plain C loops. */
#include "attend.h"
#include "bench.h"
#include "plain.h"
#include "rmsnorm.h"
#include "softmax.h"

#include <math.h>

enum { ROWS = 1024, COLUMNS = 4096, HEADS = 8, GROUPS = 2, S = 1024, D = 64 };

typedef struct {
    tile_mesh *mesh;
    softmax *softmax;
    rmsnorm *rmsnorm;
    attend *attend;
    float *x, *w, *y, *z, *k, *v;
} Rows;

static void sync_mesh(Rows *r, int error) {
    bench_check(error, "run");
    bench_check(tile_stream_sync(r->mesh, NULL), "sync");
}

static void softmax_ours(void *p) {
    Rows *r = p;
    sync_mesh(r, softmax_run(r->softmax, &(softmax_args){.X = r->x, .Y = r->y}, NULL));
}
static void softmax_plain(void *p) {
    Rows *r = p;
    plain_softmax(ROWS, COLUMNS, r->x, r->z);
}
static void rmsnorm_ours(void *p) {
    Rows *r = p;
    sync_mesh(r, rmsnorm_run(r->rmsnorm, &(rmsnorm_args){.X = r->x, .W = r->w, .Y = r->y}, NULL));
}
static void rmsnorm_plain(void *p) {
    Rows *r = p;
    plain_rmsnorm(ROWS, COLUMNS, r->x, r->w, 1e-5f, r->z);
}
static void attend_ours(void *p) {
    Rows *r = p;
    sync_mesh(r, attend_run(r->attend, &(attend_args){.Q = r->x, .K = r->k, .V = r->v, .O = r->y}, NULL));
}
static void attend_plain(void *p) {
    Rows *r = p;
    plain_attention(HEADS, GROUPS, S, D, r->x, r->k, r->v, 0.125f, r->z);
}

static void compare(const char *name, void (*ours)(void *), void (*plain)(void *), Rows *r, double flops, size_t n) {
    BenchTime a, b;
    double difference = 0;
    bench_pair(ours, plain, r, &a, &b);
    for (size_t i = 0; i < n; i++) difference = fmax(difference, fabs((double)r->y[i] - r->z[i]));
    bench_print(name, "plain -O3", a, b, flops, difference);
}

int main(void) {
    tile_mesh_config config = {.size = sizeof config, .nranks = 1};
    size_t n = (size_t)ROWS * COLUMNS;
    Rows r = {.x = bench_floats(n),
              .y = bench_floats(n),
              .z = bench_floats(n),
              .w = bench_floats(COLUMNS),
              .k = bench_floats(GROUPS * S * D),
              .v = bench_floats(GROUPS * S * D)};
    bench_check(tile_mesh_open(&config, &r.mesh), "mesh");
    bench_check(softmax_open(r.mesh, NULL, &r.softmax), "open");
    bench_check(rmsnorm_open(r.mesh, NULL, &r.rmsnorm), "open");
    bench_check(attend_open(r.mesh, NULL, &r.attend), "open");
    compare("softmax_1024x4096", softmax_ours, softmax_plain, &r, 5.0 * (double)n, n);
    compare("rmsnorm_1024x4096", rmsnorm_ours, rmsnorm_plain, &r, 4.0 * (double)n, n);
    compare("attention_8x1024x64", attend_ours, attend_plain, &r, 2.0 * HEADS * S * S * D, (size_t)HEADS * S * D);
    softmax_close(r.softmax);
    rmsnorm_close(r.rmsnorm);
    attend_close(r.attend);
    tile_mesh_close(r.mesh);
    return 0;
}
