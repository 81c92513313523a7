/* rt_gpu_driver.c: a driver whose functions fail, one after the other: each run says which step failed, and nothing
   else happens. The driver is test/preload/fake_gpu.c, found as libcuda.so.1 or libamdhip64.so. usage: rt_gpu_driver
   sm_90a|gfx942 */
#include "device/tile_gpu_task.h"
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

/* A mesh of one rank with an instance of the program, and the run's arguments; run_end closes both. */
typedef struct {
    tile_mesh *m;
    tile_instance *i;
    void *x, *y;
    float scale;
} Run;

static Run run_begin(const tile_program *p) {
    static const float host[N]; /* copied behind the call */
    Run r = {.m = mesh_open(), .scale = 2};
    CHECK(!tile_alloc(r.m, 4 * N, &r.x) && !tile_alloc(r.m, 4 * N, &r.y));
    CHECK(!tile_instance_open(r.m, p, &r.i) && !tile_copy_in(r.m, r.x, host, sizeof host, NULL));
    return r;
}

static int run_on(Run *r, tile_stream s) {
    return tile_instance_run(r->i, (void *[]){r->x, r->y, &r->scale}, &(int64_t){N}, s);
}

static void run_end(Run *r) {
    tile_instance_close(r->i);
    tile_mesh_close(r->m);
}

/* A function of the driver, by CUDA's name. */
static void *driver(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) library = dlopen("libamdhip64.so", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

static tile_stream stream_make(void) {
    void *stream = NULL;
    int (*make)(void **, unsigned);
    *(void **)&make = driver("cuStreamCreate");
    CHECK(make && make(&stream, 1) == 0);
    return stream;
}

static void stream_unmake(tile_stream s) {
    int (*unmake)(void *);
    *(void **)&unmake = driver("cuStreamDestroy_v2");
    CHECK(unmake && unmake(s) == 0);
}

static int stream_wait(tile_stream s) {
    int (*wait)(void *);
    *(void **)&wait = driver("cuStreamSynchronize");
    return wait ? wait(s) : -1;
}

/* Handle 2 may be another stream than that of the run before. */
static void check_stream_of_thread(const tile_program *p) {
    const tile_stream own = (tile_stream)2;
    Run r = run_begin(p);
    CHECK(!tile_stream_sync(r.m, NULL));
    CHECK(run_on(&r, own) == TILE_OK);
    setenv("FAKE_FAIL", "stream_follow:700", 1);
    CHECK(run_on(&r, own) == TILE_E_SYS);
    setenv("FAKE_FAIL", "", 1);
    CHECK(run_on(&r, own) == TILE_OK && tile_stream_sync(r.m, own) == TILE_OK);
    run_end(&r);
}

static void refuse_kernel(const void *argument) {
    if (!begin(argument) || position() > 0) return;
    const tile_gpu_task *t = ((const Call *)argument)->task;
    t->fault[0]->refusal =
        (tile_gpu_record){.claim = 1, .code = TILE_E_RANGE, .instance = t->instance, .task = 5, .seen = 7};
    t->notice->refusal = 1;
}

/* A run was refused, which nobody has asked for yet: the runs behind it do not look at the device. */
static void check_refused(const tile_program *of) {
    static const tile_emu_symbol code[] = {{"scale", scale_kernel}, {"add", refuse_kernel}, {NULL, NULL}};
    tile_image image = *of->image;
    tile_program p = *of;
    image.code = code;
    p.image = &image;
    Run r = run_begin(&p);
    tile_stream own = stream_make();
    const _Atomic int *looks = driver("fake_looks");
    const int before = looks ? *looks : 0;
    for (int k = 0; k < 5; k++) {
        CHECK(run_on(&r, own) == TILE_OK);
        CHECK(stream_wait(own) == 0 && looks && *looks == before);
    }
    CHECK(tile_stream_sync(r.m, own) == TILE_E_RANGE);
    CHECK(strstr(tile_last_error(), "element 5 of 'x' is 7 on rank 0, outside its declared range; nothing was run"));
    CHECK(tile_stream_sync(r.m, own) == TILE_OK);
    stream_unmake(own);
    run_end(&r);
}

static int64_t groups_many(const tile_task *t) { return t ? (int64_t)1 << 32 : 0; }

/* A run on another stream follows the one before; a stream that is no more is not asked. */
static void check_streams(const tile_program *p) {
    Run r = run_begin(p);
    tile_stream other = stream_make();
    CHECK(run_on(&r, NULL) == TILE_OK);
    setenv("FAKE_FAIL", "stream_follow:700", 1);
    CHECK(run_on(&r, other) == TILE_E_SYS);
    CHECK(strstr(tile_last_error(), "putting a run behind another stream's"));
    CHECK(run_on(&r, NULL) == TILE_OK);
    setenv("FAKE_FAIL", "", 1);
    for (int k = 0; k < 20; k++) CHECK(run_on(&r, k % 3 ? other : NULL) == TILE_OK);
    CHECK(run_on(&r, other) == TILE_OK);
    CHECK(tile_stream_sync(r.m, other) == TILE_OK);
    stream_unmake(other);
    run_end(&r);
}

/* NULL is in order with the legacy default stream; a stream of the caller's is as the caller made it. */
static void check_legacy(const tile_program *p) {
    Run r = run_begin(p);
    const _Atomic int *launches = driver("fake_unordered");
    const int before = launches ? *launches : 0;
    tile_stream own = stream_make();
    for (int k = 0; k < 2; k++) {
        CHECK(run_on(&r, k ? own : NULL) == TILE_OK);
        CHECK(launches && *launches == before + 2 * k);
    }
    CHECK(tile_stream_sync(r.m, own) == TILE_OK);
    stream_unmake(own);
    run_end(&r);
}

static int64_t groups_none(const tile_task *t) { return t ? 0 : 1; }

/* A launch without workgroups is left out, the first of a run as well as the last. */
static void check_left_out(const tile_program *of) {
    const _Atomic int *launches = driver("fake_unordered");
    for (int k = 0; k < 2; k++) {
        tile_launch launch[] = {good[0], good[0]};
        tile_image image = *of->image;
        tile_program p = *of;
        launch[1].dependent = 1;
        launch[k].groups = groups_none;
        image.launch = launch;
        p.image = &image;
        Run r = run_begin(&p);
        tile_stream own = stream_make();
        const int before = launches ? *launches : 0;
        CHECK(run_on(&r, own) == TILE_OK);
        CHECK(stream_wait(own) == 0 && launches && *launches == before + 1);
        stream_unmake(own);
        run_end(&r);
    }
}

/* Launches that read before they wait: the first that a run makes begins when all before it has ended. */
static void check_early(const tile_program *of, bool cuda) {
    const _Atomic int *overlapping = driver("fake_dependent");
    for (int k = 0; k < 2; k++) {
        tile_launch launch[] = {good[0], good[1], good[1]};
        tile_image image = *of->image;
        tile_program p = *of;
        for (int i = 0; i < 3; i++) launch[i].dependent = TILE_READS_EARLY;
        if (k) launch[0].groups = groups_none;
        image.launch = launch;
        image.nlaunches = 3;
        p.image = &image;
        Run r = run_begin(&p);
        const int before = overlapping ? *overlapping : 0;
        for (int i = 0; i < 2; i++) CHECK(run_on(&r, NULL) == TILE_OK);
        CHECK(overlapping && *overlapping == before + (cuda ? 2 * (2 - k) : 0));
        run_end(&r);
    }
}

/* A launch fails: the first of a run as if there had been none, a later one with all ranks told. */
static void check_launch(const tile_program *p) {
    Run r = run_begin(p);
    void *arg[] = {r.x, r.y, &r.scale};
    for (int k = 0; k < 2; k++) {
        setenv("FAKE_FAIL", k ? "launch:701:1" : "launch:701", 1);
        CHECK(run_on(&r, NULL) == TILE_E_SYS);
        CHECK(strstr(tile_last_error(), k ? "add: " : "scale: "));
        setenv("FAKE_FAIL", "", 1);
    }
    CHECK(run_on(&r, NULL) == TILE_E_TIMEOUT);
    CHECK(strstr(tile_last_error(), "rank 0 gave up: a launch failed"));
    CHECK(tile_mesh_recover(r.m) == TILE_OK);
    CHECK(run_on(&r, NULL) == TILE_OK && tile_stream_sync(r.m, NULL) == TILE_OK);
    tile_launch many = good[1];
    many.groups = groups_many;
    tile_image image = *p->image;
    tile_program q = *p;
    tile_instance *too_many = NULL;
    image.launch = (tile_launch[]){good[0], many};
    q.image = &image;
    CHECK(tile_instance_open(r.m, &q, &too_many) == TILE_OK);
    CHECK(tile_instance_run(too_many, arg, &(int64_t){N}, NULL) == TILE_E_ARG);
    CHECK(strstr(tile_last_error(), "4294967296 tasks of 'add' are too many for a launch"));
}

static void check_device(const tile_program *p) {
    tile_mesh_config c = {.size = sizeof c, .nranks = 1, .device = 1, .target = "gpu", .group = "rt_gpu_driver"};
    tile_mesh *m = mesh_open(), *other = NULL;
    tile_instance *i = NULL;
    void *x = NULL, *y = NULL;
    float scale = 2;
    CHECK(!tile_mesh_open(&c, &other) && !tile_alloc(m, 4 * N, &x) && !tile_alloc(other, 4 * N, &y));
    CHECK(!tile_instance_open(m, p, &i));
    CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL) == TILE_E_ARG);
    CHECK(strstr(tile_last_error(), "'y' is in memory of device 1, the rank runs on device 0"));
}

/* Where the driver knows such launches, they may begin before those before them have ended. */
static void check_dependent(int runs) {
    const int *launches = driver("fake_dependent");
    CHECK(launches && (runs ? *launches >= runs : *launches == 0));
}

int main(int argc, char **argv) {
    tile_image image = {
        .target = argc > 1 ? argv[1] : "sm_90a", .code = symbols, .local_bytes = 4 * N, .nlaunches = 2, .ends = 1, .launch = good};
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
    check_refused(&p);
    check_streams(&p);
    check_legacy(&p);
    check_stream_of_thread(&p);
    check_left_out(&p);
    check_launch(&p);
    check_device(&p);
    bool cuda = strcmp(image.target, "sm_90a") == 0;
    check_early(&p, cuda);
    check_dependent(cuda ? 20 : 0);
    return failures != 0;
}
