/* rt_gpu_driver.c: a driver whose functions fail, one after the other: each run says which step failed, and nothing
   else happens. The driver is test/preload/fake_gpu.c, found as libcuda.so.1 or libamdhip64.so. usage: rt_gpu_driver
   sm_90a|gfx942 */
#include "test/unit/rt_gpu_program.h"

#include <dlfcn.h>
#include <stdlib.h>

static int failures;

typedef struct {
    const char *fail; /* for the fake driver */
    int code;
    const char *words;
} Case;

static const Case cases[] = {
    {"", TILE_OK, ""},
    {"init:100", TILE_E_UNSUPPORTED, "reports error 100"},
    {"device_count:3", TILE_E_UNSUPPORTED, "reports error 3"},
    {"context_retain:2", TILE_E_NOMEM, "opening the device: out of memory"},
    {"context_set:201", TILE_E_SYS, "choosing the device: an argument is wrong (error 201 of the driver)"},
    {"stream_create:2", TILE_E_NOMEM, "making a stream"},
    {"fill:700", TILE_E_SYS, "taking memory that the ranks share"},
    {"host_alloc:2", TILE_E_NOMEM, "preparing the device: out of memory"},
    {"event_create:2", TILE_E_NOMEM, "preparing the device: out of memory"},
    {"alloc:2:1", TILE_E_NOMEM, "taking memory of the device: out of memory"},
    {"copy_in:700", TILE_E_SYS, "copying to the device"},
    {"module_load:209", TILE_E_UNSUPPORTED, "has no code for this device"},
    {"module_load:218", TILE_E_SYS, "loading the program's code"},
    {"function_get:500", TILE_E_SYS, "scale: the program's text has no such kernel"},
    {"event_create:2:1", TILE_E_NOMEM, "making an event"},
    {"fill:700:1", TILE_E_SYS, "taking the program's workspace"},
    {"launch:701", TILE_E_SYS, "scale: an argument is wrong (error 701 of the driver)"},
    {"event_record:700", TILE_E_SYS, "recording the end of a run"},
    {"copy_out:700", TILE_E_SYS, "copying from the device"},
    {"stream_sync:700:3", TILE_E_SYS, "waiting for the stream"},
    {"block:1", TILE_E_ARG, "'x' is not in memory of the device"},
};

static int run_once(tile_mesh *m, const tile_program *p, void *x, void *y) {
    tile_instance *i = NULL;
    float host[N] = {1}, scale = 2;
    int code = tile_copy_in(m, x, host, sizeof host, NULL);
    if (!code) code = tile_instance_open(m, p, &i);
    if (!code) code = tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL);
    if (!code) code = tile_copy_out(m, host, y, sizeof host, NULL);
    if (!code) code = tile_stream_sync(m, NULL);
    if (!code) CHECK(host[0] == 3 && host[1] == 1);
    return code;
}

static int run_all(const tile_program *p) {
    tile_mesh_config c = {.size = sizeof c, .nranks = 1, .target = "gpu", .group = "rt_gpu_driver"};
    tile_mesh *m = NULL;
    void *x = NULL, *y = NULL;
    int code = tile_mesh_open(&c, &m);
    if (code) return code;
    code = tile_alloc(m, 4 * N, &x);
    if (!code) code = tile_alloc(m, 4 * N, &y);
    return code ? code : run_once(m, p, x, y);
}

static tile_mesh *mesh_open(void) {
    tile_mesh_config c = {.size = sizeof c, .nranks = 1, .target = "gpu", .group = "rt_gpu_driver"};
    tile_mesh *m = NULL;
    CHECK(!tile_mesh_open(&c, &m));
    return m;
}

static void *stream_make(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *stream = NULL;
    int (*make)(void **, unsigned);
    if (!library) library = dlopen("libamdhip64.so", RTLD_NOW);
    *(void **)&make = library ? dlsym(library, "cuStreamCreate") : NULL;
    CHECK(make && make(&stream, 1) == 0);
    return stream;
}

/* The second run is on another stream while the first has not ended. */
static void check_busy(const tile_program *p) {
    tile_mesh *m = mesh_open();
    tile_instance *i = NULL;
    void *x = NULL, *y = NULL;
    float scale = 2, host[N] = {0};
    CHECK(!tile_alloc(m, 4 * N, &x) && !tile_alloc(m, 4 * N, &y));
    CHECK(!tile_instance_open(m, p, &i) && !tile_copy_in(m, x, host, sizeof host, NULL));
    void *arg[] = {x, y, &scale};
    void *other = stream_make();
    CHECK(tile_instance_run(i, arg, &(int64_t){N}, NULL) == TILE_OK);
    setenv("FAKE_FAIL", "event_query:600", 1);
    CHECK(tile_instance_run(i, arg, &(int64_t){N}, other) == TILE_E_BUSY);
    CHECK(tile_instance_run(i, arg, &(int64_t){N}, NULL) == TILE_OK);
    setenv("FAKE_FAIL", "", 1);
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    CHECK(tile_instance_run(i, arg, &(int64_t){N}, other) == TILE_OK);
}

/* A description of a tensor fails: those of the run before are not taken for whole. */
static void check_maps(const tile_program *of) {
    static const tile_map map[] = {{.arg = 0, .bytes = 4, .columns = N, .rows = {1, -1}, .box = 1}};
    tile_launch mapped[] = {good[0], good[1]};
    tile_image image = *of->image;
    tile_program p = *of;
    mapped[0].nmaps = 1;
    mapped[0].map = map;
    image.launch = mapped;
    p.image = &image;
    tile_mesh *m = mesh_open();
    tile_instance *i = NULL;
    void *x = NULL, *y = NULL, *z = NULL;
    float scale = 2, host[N] = {0};
    CHECK(!tile_alloc(m, 4 * N, &x) && !tile_alloc(m, 4 * N, &y) && !tile_alloc(m, 4 * N, &z));
    CHECK(!tile_instance_open(m, &p, &i) && !tile_copy_in(m, x, host, sizeof host, NULL));
    CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL) == TILE_OK);
    setenv("FAKE_FAIL", "map_encode:1", 1);
    CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL) == TILE_OK);
    CHECK(tile_instance_run(i, (void *[]){x, z, &scale}, &(int64_t){N}, NULL) == TILE_E_SYS);
    CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL) == TILE_E_SYS);
    setenv("FAKE_FAIL", "", 1);
    CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL) == TILE_OK);
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
}

int main(int argc, char **argv) {
    tile_image image = {
        .target = argc > 1 ? argv[1] : "sm_90a", .code = symbols, .local_bytes = 4 * N, .nlaunches = 2, .launch = good};
    tile_program p = program(&image);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        setenv("FAKE_FAIL", c->fail, 1);
        int code = run_all(&p);
        if (code == c->code && (!code || strstr(tile_last_error(), c->words))) continue;
        printf("%s: %s: %s\n", c->fail, tile_error_name(code), tile_last_error());
        failures++;
    }
    setenv("FAKE_FAIL", "", 1);
    check_busy(&p);
    if (strcmp(image.target, "sm_90a") == 0) check_maps(&p);
    return failures != 0;
}
