/* rt_gpu.c: programs on a GPU, which is the emulator here: a run, and each thing that is refused, with its words. */
#include "device/host.h"
#include "device/tile_gpu_task.h"
#include "test/unit/rt_gpu_program.h"

static int failures;

static const tile_launch bad[] = {{.kernel = "outside", .threads = THREADS, .groups = groups}};
/* y[i] = number + i for the first few, where the fields behind the call say. */
typedef struct {
    Call call;
    float *y;
    int64_t number;
} Fielded;

enum { PUT = 5 /* elements */ };

static void put_kernel(const void *argument) {
    static const tile_emu_kernel kernel = {sizeof(Fielded), 0, THREADS, 1, {.lanes = 64, .chiplets = 1}};
    const Fielded *f = argument;
    if (!tile_emu_begin(argument, &kernel) || position() >= PUT) return;
    float x = (float)(f->number + position());
    tile_emu_check(&f->y[position()], sizeof(float), TILE_STORES, &x);
    f->y[position()] = x;
}

static int64_t one(const tile_task *t) { return t ? 1 : 0; }
static int64_t quarter(const tile_task *t) { return t->dim[0] / 4 * (int64_t)sizeof(float); }

static const tile_emu_symbol put_symbols[] = {
    {"put", put_kernel}, {"scale", scale_kernel}, {"add", add_kernel}, {NULL, NULL}};
static const tile_field put_fields[] = {{TILE_FIELD_LOCAL, 80, NULL},
                                        {TILE_FIELD_NUMBER, 11, NULL},
                                        {1, 0, NULL},
                                        {TILE_FIELD_NUMBER, 7, NULL},
                                        {1, 40, quarter},
                                        {TILE_FIELD_NUMBER, 9, NULL}};
static const tile_launch put_launches[] = {
    {.kernel = "scale", .threads = THREADS, .groups = groups},
    {.kernel = "put", .threads = THREADS, .groups = one, .nfields = 2, .node = "local"},
    {.kernel = "add", .threads = THREADS, .groups = groups},
    {.kernel = "put", .threads = THREADS, .groups = one, .nfields = 2, .node = "first"},
    {.kernel = "put", .threads = THREADS, .groups = one, .nfields = 2, .node = "second"}};
static const tile_launch missing[] = {{.kernel = "nowhere", .threads = THREADS, .groups = groups}};

static void expect(int code, int want, const char *words, int line) {
    if (code == want && strstr(tile_last_error(), words)) return;
    printf("%d: %s: %s, instead of %s: %s\n", line, tile_error_name(code), tile_last_error(), tile_error_name(want),
           words);
    failures++;
}
#define EXPECT(call, want, words) expect(call, want, words, __LINE__)

static int mesh_open(const char *target, int nranks, tile_mesh **m) {
    tile_mesh_config c = {.size = sizeof c, .nranks = nranks, .target = target, .group = "rt_gpu"};
    return tile_mesh_open(&c, m);
}

static void check_run(tile_mesh *m, tile_instance *p, char *x, char *y) {
    float host[N], scale = 3, back[N];
    for (int i = 0; i < N; i++) host[i] = (float)i;
    void *arg[] = {x, y, &scale};
    CHECK(tile_copy_in(m, x, host, sizeof host, NULL) == TILE_OK);
    CHECK(tile_instance_run(p, arg, &(int64_t){N}, NULL) == TILE_OK);
    CHECK(tile_instance_run(p, arg, &(int64_t){0}, NULL) == TILE_OK);
    CHECK(tile_copy_out(m, back, y, sizeof back, NULL) == TILE_OK);
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    for (int i = 0; i < N; i++) CHECK(back[i] == 3.0f * (float)i + 1);
}

static void check_arguments(tile_instance *p, char *x, char *y) {
    float scale = 3, host[N];
    int64_t n = N, more = N + 1;
    EXPECT(tile_instance_run(p, (void *[]){x, NULL, &scale}, &n, NULL), TILE_E_ARG, "'y' is NULL");
    EXPECT(tile_instance_run(p, (void *[]){x + 4, y, &scale}, &n, NULL), TILE_E_ARG,
           "address of 'x' is no multiple of 16");
    EXPECT(tile_instance_run(p, (void *[]){x + 16, y, &scale}, &n, NULL), TILE_E_ARG,
           "'x' takes 4000 bytes, its memory has 3984");
    EXPECT(tile_instance_run(p, (void *[]){x, host, &scale}, &n, NULL), TILE_E_ARG,
           "'y' is not in memory of the device");
    EXPECT(tile_instance_run(p, (void *[]){x, x, &scale}, &n, NULL), TILE_E_ARG, "'y' and 'x' overlap");
    EXPECT(tile_instance_run(p, (void *[]){x, y, &scale}, &more, NULL), TILE_E_ARG, "n = 1001 is not in 0 .. 1000");
}

static void check_programs(tile_mesh *m, char *x, char *y) {
    tile_image other = {.target = "gfx90a", .code = symbols, .nlaunches = 2, .launch = good},
               none = {
                   .target = "emu:gfx942", .code = symbols, .local_bytes = 4 * N, .nlaunches = 1, .launch = missing};
    tile_image faulty = {.target = "emu:gfx942", .code = symbols, .local_bytes = 4 * N, .nlaunches = 1, .launch = bad};
    tile_program p = program(&other), q = program(&none), r = program(&faulty),
                 host = {.abi = TILE_ABI, .name = "plain"};
    tile_instance *i = NULL;
    float scale = 1;
    EXPECT(tile_instance_open(m, &p, &i), TILE_E_UNSUPPORTED,
           "'axpy' has no code for this device (emulator): it was compiled for gfx90a");
    EXPECT(tile_instance_open(m, &q, &i), TILE_E_SYS, "nowhere: the program's text has no such kernel");
    EXPECT(tile_instance_open(m, &host, &i), TILE_E_UNSUPPORTED, "compiled for the host only");
    CHECK(tile_instance_open(m, &r, &i) == TILE_OK);
    CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &(int64_t){N}, NULL) == TILE_OK);
    EXPECT(tile_stream_sync(m, NULL), TILE_E_SYS,
           "reads 4 bytes at byte 4000 of a block of 4000 bytes");
    tile_instance_close(i);
}

/* Launches of one kernel, each with places and numbers of its own; a place may hang on the run's sizes. */
static void check_fields(tile_mesh *m, char *x, char *y) {
    tile_image image = {.target = "emu:gfx942",
                        .code = put_symbols,
                        .local_bytes = 4 * N,
                        .nlaunches = 5,
                        .launch = put_launches,
                        .nfields = 6,
                        .field = put_fields};
    tile_program p = program(&image);
    tile_instance *i = NULL;
    float scale = 0, back[N];
    CHECK(tile_instance_open(m, &p, &i) == TILE_OK);
    for (int64_t n = N; n > 100; n -= 400) {
        CHECK(tile_instance_run(i, (void *[]){x, y, &scale}, &n, NULL) == TILE_OK);
        CHECK(tile_copy_out(m, back, y, sizeof back, NULL) == TILE_OK && tile_stream_sync(m, NULL) == TILE_OK);
        for (int k = 0; k < PUT; k++)
            CHECK(back[k] == (float)(7 + k) && back[20 + k] == (float)(12 + k) &&
                  back[10 + n / 4 + k] == (float)(9 + k));
    }
    tile_instance_close(i);
}

/* Who changes one of these raises TILE_ABI: programs that were compiled before then are refused. */
_Static_assert(TILE_ABI == 12 && sizeof(tile_program) == 232 && sizeof(tile_image) == 104 &&
                   sizeof(tile_launch) == 80 && sizeof(tile_map) == 208 && sizeof(tile_arg) == 192 &&
                   sizeof(tile_dim) == 16 && sizeof(tile_flag_info) == 24 && sizeof(tile_task) == 120 &&
                   sizeof(tile_gpu_task) == 104,
               "what a program hands over is that of TILE_ABI");

/* Of a program for another ABI nothing but its number and name is read. */
static void check_another_abi(tile_mesh *m) {
    tile_program before, after;
    tile_instance *i = NULL;
    memset(&before, 0x5a, sizeof before);
    before.abi = TILE_ABI - 1;
    before.name = "before";
    after = before;
    after.abi = TILE_ABI + 1;
    after.name = "after";
    char words[80];
    sprintf(words, "'before' was made for ABI %d, this runtime has %d: compile it again", TILE_ABI - 1, TILE_ABI);
    EXPECT(tile_instance_open(m, &before, &i), TILE_E_MISMATCH, words);
    sprintf(words, "'after' was made for ABI %d, this runtime has %d", TILE_ABI + 1, TILE_ABI);
    EXPECT(tile_instance_open(m, &after, &i), TILE_E_MISMATCH, words);
}

static void check_meshes(const tile_program *p) {
    tile_mesh *m = NULL;
    tile_instance *i = NULL;
    EXPECT(mesh_open("toaster", 1, &m), TILE_E_ARG, "there is no target 'toaster'");
    CHECK(mesh_open("host", 1, &m) == TILE_OK);
    EXPECT(tile_instance_open(m, p, &i), TILE_E_UNSUPPORTED, "no code for the host");
    tile_mesh_close(m);
}

int main(void) {
    tile_image image = {.target = "emu:gfx942", .code = symbols, .local_bytes = 4 * N, .nlaunches = 2, .launch = good};
    tile_program p = program(&image);
    tile_mesh *m = NULL;
    tile_instance *i = NULL;
    void *x = NULL, *y = NULL;
    CHECK(mesh_open("emu", 1, &m) == TILE_OK);
    if (!m) return printf("%s\n", tile_last_error()), 1;
    CHECK(!tile_alloc(m, 4 * N, &x) && !tile_alloc(m, 4 * N, &y));
    CHECK(tile_instance_open(m, &p, &i) == TILE_OK);
    check_run(m, i, x, y);
    check_arguments(i, x, y);
    check_fields(m, x, y);
    check_programs(m, x, y);
    check_another_abi(m);
    tile_instance_close(i);
    tile_free(m, x);
    tile_free(m, y);
    tile_mesh_close(m);
    check_meshes(&p);
    return failures != 0;
}
