/* rt_gpu_cuda.c: a program on NVIDIA's GPU: on the mesh's stream, on a caller's, captured in a graph and replayed;
   what is refused; code for another machine. Exits 2 without a GPU.
   usage: rt_gpu_cuda CUBIN CUBIN-FOR-ANOTHER-MACHINE */
#include "base/text.h"
#include "test/unit/cuda_graph.h"
#include "test/unit/rt_gpu_program.h"

#include <stdlib.h>

static int failures;

typedef struct {
    Cuda cuda;
    tile_mesh *mesh;
    tile_instance *instance;
    void *x, *y;
    float scale;
} Case;

static void put(Case *c, float first) {
    float host[N];
    for (int i = 0; i < N; i++) host[i] = first + (float)i;
    CHECK(!tile_copy_in(c->mesh, c->x, host, sizeof host, NULL) && !tile_stream_sync(c->mesh, NULL));
}

static void check_result(Case *c, float first) {
    float host[N];
    CHECK(!tile_copy_out(c->mesh, host, c->y, sizeof host, NULL) && !tile_stream_sync(c->mesh, NULL));
    for (int i = 0; i < N; i++) CHECK(host[i] == c->scale * (first + (float)i) + 1);
}

static int run(Case *c, void *stream) {
    void *arg[] = {c->x, c->y, &c->scale};
    return tile_instance_run(c->instance, arg, &(int64_t){N}, stream);
}

static void check_streams(Case *c) {
    void *stream = NULL;
    CHECK(c->cuda.stream_create(&stream, 1) == 0);
    put(c, 1);
    CHECK(run(c, NULL) == TILE_OK);
    check_result(c, 1);
    put(c, 2);
    CHECK(run(c, stream) == TILE_OK);
    CHECK(tile_stream_sync(c->mesh, stream) == TILE_OK);
    check_result(c, 2);
}

static void check_graph(Case *c) {
    void *stream = NULL, *graph = NULL, *replay = NULL;
    CHECK(c->cuda.stream_create(&stream, 1) == 0);
    CHECK(c->cuda.begin(stream, 0) == 0); /* the strictest mode: nothing but enqueueing is legal in this process */
    CHECK(run(c, stream) == TILE_OK);
    CHECK(run(c, stream) == TILE_OK);
    CHECK(c->cuda.end(stream, &graph) == 0);
    CHECK(c->cuda.instantiate(&replay, graph, 0) == 0);
    for (int i = 3; i < 6; i++) {
        put(c, (float)i);
        CHECK(c->cuda.launch(replay, stream) == 0 && c->cuda.sync(stream) == 0);
        check_result(c, (float)i);
    }
}

static void expect(int code, int want, const char *words) {
    if (code == want && strstr(tile_last_error(), words)) return;
    printf("%s: %s, instead of %s\n", tile_error_name(code), tile_last_error(), words);
    failures++;
}

static void check_refusals(Case *c, const tile_program *other) {
    float host[N];
    char *x = c->x;
    int64_t n = N;
    tile_instance *i = NULL;
    expect(tile_instance_run(c->instance, (void *[]){x + 4, c->y, &c->scale}, &n, NULL), TILE_E_ARG,
           "no multiple of 16");
    expect(tile_instance_run(c->instance, (void *[]){x + 16, c->y, &c->scale}, &n, NULL), TILE_E_ARG,
           "'x' takes 4000 bytes, its memory has");
    expect(tile_instance_run(c->instance, (void *[]){x, host, &c->scale}, &n, NULL), TILE_E_ARG,
           "'y' is not in memory of the device");
    expect(tile_instance_run(c->instance, (void *[]){x, x, &c->scale}, &n, NULL), TILE_E_ARG, "overlap");
    expect(tile_instance_open(c->mesh, other, &i), TILE_E_UNSUPPORTED, "has no code for this device");
}

static void check_memory(Case *c) {
    void *all = NULL;
    expect(tile_alloc(c->mesh, (size_t)1 << 50, &all), TILE_E_NOMEM, "out of memory");
}

static const void *code_read(const char *path) {
    Text t = {0};
    if (text_read(&t, path, 1 << 26)) exit(1);
    return t.p;
}

int main(int argc, char **argv) {
    Case c = {.scale = 3};
    if (argc < 3 || !cuda_open(&c.cuda)) return 2;
    tile_image image = {
        .target = "sm_90a", .code = code_read(argv[1]), .local_bytes = 4 * N, .nlaunches = 2, .launch = good};
    tile_image older = {
        .target = "sm_75", .code = code_read(argv[2]), .local_bytes = 4 * N, .nlaunches = 2, .launch = good};
    tile_program p = program(&image), other = program(&older);
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .target = "gpu", .group = "rt_gpu_cuda"};
    if (tile_mesh_open(&config, &c.mesh)) return printf("%s\n", tile_last_error()), 2;
    CHECK(!tile_alloc(c.mesh, 4 * N, &c.x) && !tile_alloc(c.mesh, 4 * N, &c.y));
    expect(tile_instance_open(c.mesh, &p, &c.instance), TILE_OK, "");
    if (!c.instance) return 1;
    check_streams(&c);
    check_graph(&c);
    check_refusals(&c, &other);
    check_memory(&c);
    tile_instance_close(c.instance);
    tile_mesh_close(c.mesh);
    printf("%d failures\n", failures);
    return failures != 0;
}
