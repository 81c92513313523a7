/* rt_gpu_mesh.c: a program of several ranks on GPUs (test/device/Inputs/ranks.hip): values, runs behind each other,
   values out of their range, ranks that do not come, sizes that differ, recovery; with CUDA graphs, and a run that
   begins too early; with processes a rank that is killed. usage: rt_gpu_mesh threads|processes CODE RANKS [RUNS
   [MACHINE]]; CODE: a cubin, or for the emulator a library; MACHINE: that of the emulator in place of a driver,
   test/preload/fake_gpu.c, whose functions fail */
#include "emu/api.h"
#include "test/unit/check.h"
#include "test/unit/cuda_graph.h"
#include "test/unit/rt_gpu_ranks.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static bool processes, emulated, faked;
static int nranks, runs = 100;
static tile_program program, passing, ending;
static pthread_barrier_t between; /* ranks that are threads */

typedef struct {
    int rank;
    tile_mesh *mesh;
    tile_instance *instance;
    void *x, *y, *z;
    float host[RANKS_MOST];
} Rank;

static const tile_launch sums[] = {{.kernel = "ranks_look", .threads = 64, .groups = one_group},
                                   {.kernel = "give", .threads = 64, .groups = all_groups},
                                   {.kernel = "sum", .threads = 64, .lds_bytes = 8, .groups = all_groups},
                                   {.kernel = "chain", .threads = 64, .lds_bytes = 8, .groups = all_groups},
                                   {.kernel = "ranks_end", .threads = 64, .lds_bytes = 8, .groups = one_group}};

static const tile_launch passes[] = {{.kernel = "ranks_begin", .threads = 64, .groups = one_group},
                                     {.kernel = "pass", .threads = 64, .lds_bytes = 8, .groups = one_group},
                                     {.kernel = "ranks_end", .threads = 64, .lds_bytes = 8, .groups = one_group}};

static const tile_launch ends[] = {{.kernel = "ranks_begin", .threads = 64, .groups = one_group},
                                   {.kernel = "pass_last", .threads = 64, .lds_bytes = 8, .groups = all_groups},
                                   {.kernel = "ranks_end", .threads = 64, .lds_bytes = 8, .groups = no_group}};

static void expect(const Rank *r, int code, int want, const char *words, int line) {
    if (code == want && strstr(tile_last_error(), words)) return;
    fprintf(stderr, "%d: rank %d: %s: %s, instead of %s: %s\n", line, r->rank, tile_error_name(code), tile_last_error(),
            tile_error_name(want), words);
    failures++;
}
#define EXPECT(call, want, words) expect(r, call, want, words, __LINE__)
#define MUST(call) expect(r, call, TILE_OK, "", __LINE__)

static bool rank_open(Rank *r, const char *group, int timeout_ms) {
    tile_mesh_config c = {.size = sizeof c,
                          .rank = processes ? 0 : r->rank,
                          .nranks = processes ? 0 : nranks,
                          .device = TILE_DEVICE_OF_RANK,
                          .timeout_ms = timeout_ms,
                          .group = processes ? NULL : group,
                          .target = emulated && !faked ? "emu" : "gpu"};
    int code = tile_mesh_open(&c, &r->mesh);
    if (!code) code = tile_instance_open(r->mesh, &program, &r->instance);
    if (!code) code = tile_alloc(r->mesh, sizeof r->host, &r->x);
    if (!code) code = tile_alloc(r->mesh, sizeof r->host, &r->y);
    if (!code) code = tile_alloc(r->mesh, sizeof r->host, &r->z);
    MUST(code);
    return !code;
}

static void rank_close(Rank *r) {
    tile_instance_close(r->instance);
    tile_free(r->mesh, r->x);
    tile_free(r->mesh, r->y);
    tile_free(r->mesh, r->z);
    tile_mesh_close(r->mesh);
}

static int run(Rank *r, int64_t n, void *stream) {
    return tile_instance_run(r->instance, (void *[]){r->x, r->y, r->z}, &n, stream);
}

static float value_of(int rank, int i, int turn) { return (float)(rank * 3 + i % 17 + turn % 5); }

static void put(Rank *r, int turn) {
    for (int i = 0; i < RANKS_MOST; i++) r->host[i] = value_of(r->rank, i, turn);
    MUST(tile_copy_in(r->mesh, r->x, r->host, sizeof r->host, NULL));
    MUST(tile_stream_sync(r->mesh, NULL));
}

static void check_sum(Rank *r, int64_t n, int turn) {
    float y[RANKS_MOST];
    MUST(tile_copy_out(r->mesh, y, r->y, sizeof y, NULL));
    MUST(tile_stream_sync(r->mesh, NULL));
    for (int i = 0; i < n; i++) {
        float want = 0;
        for (int q = 0; q < nranks; q++) want += value_of(q, i, turn);
        if (y[i] == want) continue;
        fprintf(stderr, "rank %d: y[%d] = %g, not %g\n", r->rank, i, (double)y[i], (double)want);
        failures++;
        return;
    }
}

static void check_chain(Rank *r, int64_t n, int turn) {
    float z[RANKS_MOST], want[RANKS_THREADS] = {0};
    MUST(tile_copy_out(r->mesh, z, r->z, sizeof z, NULL));
    MUST(tile_stream_sync(r->mesh, NULL));
    for (int i = 0; i < n; i++) {
        want[i % RANKS_THREADS] += value_of(r->rank, i, turn);
        if (z[i] == want[i % RANKS_THREADS]) continue;
        fprintf(stderr, "rank %d: z[%d] = %g, not %g\n", r->rank, i, (double)z[i], (double)want[i % RANKS_THREADS]);
        failures++;
        return;
    }
}

/* ---- what works ---- */

static void check_values(Rank *r) {
    static const int64_t size[] = {1000, 1, 64, 1024, 65, 0, 333};
    for (int turn = 0; turn < 7; turn++) {
        put(r, turn);
        MUST(run(r, size[turn], NULL));
        check_sum(r, size[turn], turn);
        check_chain(r, size[turn], turn);
    }
}

static void check_many(Rank *r) {
    put(r, 1);
    for (int i = 0; i < runs; i++) MUST(run(r, 700, NULL));
    check_sum(r, 700, 1);
    check_chain(r, 700, 1);
}

/* Two instances on two streams: on each rank their runs follow each other as they were given. */
static void check_streams(Rank *r, void *(*stream_make)(void)) {
    tile_stream stream[] = {stream_make(), stream_make()};
    Rank other = *r;
    other.y = NULL, other.z = NULL;
    MUST(tile_instance_open(r->mesh, &program, &other.instance));
    MUST(tile_alloc(r->mesh, sizeof r->host, &other.y));
    MUST(tile_alloc(r->mesh, sizeof r->host, &other.z));
    put(r, 3);
    for (int i = 0; i < runs; i++) {
        MUST(run(r, 700, stream[i % 2]));
        MUST(run(&other, 300, stream[i % 3 != 0]));
    }
    MUST(tile_stream_sync(r->mesh, stream[0]));
    MUST(tile_stream_sync(r->mesh, stream[1]));
    check_sum(r, 700, 3);
    check_chain(&other, 300, 3);
    tile_instance_close(other.instance);
    tile_free(r->mesh, other.y);
    tile_free(r->mesh, other.z);
}

static void *stream_of_emulator(void) {
    void *stream = NULL;
    CHECK(tile_emu_stream_create(&stream, 1) == 0);
    return stream;
}

static void *stream_of_cuda(void) {
    Cuda cuda;
    void *stream = NULL;
    CHECK(cuda_open(&cuda) && cuda.stream_create(&stream, 1) == 0);
    return stream;
}

/* ---- what does not ---- */

/* All ranks stand here; none is still in the barrier when one of them leaves a fault. */
static void together(Rank *r) {
    MUST(tile_mesh_barrier(r->mesh));
    usleep(50000);
}

static void recover(Rank *r, int line) {
    expect(r, tile_mesh_recover(r->mesh), TILE_OK, "", line);
    tile_fault f;
    CHECK(tile_mesh_status(r->mesh, &f) == TILE_OK);
    check_values(r);
}

static void check_spoilt(Rank *r) {
    float y[RANKS_MOST];
    MUST(tile_copy_out(r->mesh, y, r->y, sizeof y, NULL));
    tile_stream_sync(r->mesh, NULL);
    for (int i = 0; i < 100; i++) CHECK(isnan(y[i]));
}

static void check_missing(Rank *r) {
    int last = nranks - 1;
    char words[64];
    tile_fault f;
    together(r);
    snprintf(words, sizeof words, "rank %d is missing at flag 'given'", last);
    if (r->rank == last) {
        while (tile_mesh_status(r->mesh, &f) == TILE_OK) usleep(1000);
        CHECK(f.missing == last && strcmp(f.name, "given") == 0 && f.flag == 0);
        EXPECT(run(r, 100, NULL), TILE_E_TIMEOUT, words);
        EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_POISONED, words);
    } else {
        MUST(run(r, 100, NULL));
        EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_TIMEOUT, words);
        EXPECT(run(r, 100, NULL), TILE_E_POISONED, words);
        check_spoilt(r);
    }
    recover(r, __LINE__);
}

static void check_sizes(Rank *r) {
    together(r);
    int code = run(r, r->rank == 0 ? 100 : 200, NULL);
    if (!code) code = tile_stream_sync(r->mesh, NULL);
    expect(r, code, TILE_E_TIMEOUT, "n = ", __LINE__);
    expect(r, code, TILE_E_TIMEOUT, "100 on rank 0", __LINE__);
    recover(r, __LINE__);
}

static void put_bad(Rank *r, int at, int turn) {
    put(r, turn);
    r->host[at] = 1000;
    MUST(tile_copy_in(r->mesh, r->x, r->host, sizeof r->host, NULL));
    MUST(tile_stream_sync(r->mesh, NULL));
}

/* All ranks see a value out of its range: the run is skipped, those before and behind it are not, and no slot or flag
   goes wrong. */
static void check_refused(Rank *r) {
    for (int turn = 0; turn < 5; turn++) {
        put(r, turn);
        MUST(run(r, 700, NULL));
        check_sum(r, 700, turn);
        put_bad(r, 13, turn + 1);
        for (int i = 0; i <= turn % 3; i++) MUST(run(r, 700, NULL));
        EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_RANGE, "element 13 of 'x' is 1000 on rank");
        check_sum(r, 700, turn);
        MUST(run(r, 700, NULL));
        MUST(run(r, 10, NULL));
        EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_RANGE, "element 13 of 'x' is 1000 on rank");
        MUST(tile_stream_sync(r->mesh, NULL));
    }
    check_values(r);
}

static void check_passed(Rank *r, Rank *other) {
    put(r, 4);
    MUST(run(other, 100, NULL));
    MUST(tile_copy_out(r->mesh, r->host, r->y, sizeof *r->host, NULL));
    MUST(tile_stream_sync(r->mesh, NULL));
    CHECK(r->host[0] == value_of((r->rank + nranks - 1) % nranks, 0, 4));
}

/* A packet that does not come is named. */
static void check_packet(Rank *r, const tile_program *p) {
    static const char words[] =
        "rank 0 gave up: a packet of 'parcel' has not come: generation 2 expected, 0 seen (task 0)";
    Rank other = *r;
    tile_fault f;
    MUST(tile_instance_open(r->mesh, p, &other.instance));
    check_passed(r, &other);
    together(r);
    if (r->rank == 0) MUST(run(&other, 100, NULL));
    while (r->rank != 0 && tile_mesh_status(r->mesh, &f) == TILE_OK) usleep(1000);
    EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_TIMEOUT, words);
    recover(r, __LINE__);
    tile_instance_close(other.instance);
}

/* The last rank alone sees it, while the others wait for it: its results stay, theirs are spoilt. */
static void check_refused_alone(Rank *r) {
    static const char words[] = "element 0 of 'x' is 1000 on rank";
    float y[RANKS_MOST];
    const bool sees = r->rank == nranks - 1;
    (sees ? put_bad(r, 0, 2) : put(r, 2));
    together(r);
    if (!sees) MUST(run(r, 333, NULL));
    MUST(tile_mesh_barrier(r->mesh));
    if (sees) MUST(run(r, 333, NULL));
    EXPECT(tile_stream_sync(r->mesh, NULL), sees ? TILE_E_RANGE : TILE_E_TIMEOUT, words);
    EXPECT(run(r, 333, NULL), TILE_E_POISONED, words);
    MUST(tile_copy_out(r->mesh, y, r->y, sizeof y, NULL));
    tile_stream_sync(r->mesh, NULL);
    for (int i = 0; i < 333; i++) CHECK(!isnan(y[i]) == sees);
    recover(r, __LINE__);
}

/* Rank 0 waits on a stream of its own for ranks whose sizes differ: it recovers long before its kernels' deadline. */
static void check_recovery(int rank, void *(*stream_make)(void)) {
    Rank own = {.rank = rank}, *r = &own;
    if (!rank_open(r, "rt_gpu_mesh-recovery", 120000)) return;
    put(r, 1);
    if (rank == 0) MUST(run(r, 100, stream_make()));
    pthread_barrier_wait(&between);
    if (rank != 0) CHECK(run(r, 200, NULL) == TILE_E_TIMEOUT);
    pthread_barrier_wait(&between);
    uint64_t begin = tile_now();
    recover(r, __LINE__);
    CHECK(tile_now() - begin < 60000000000u);
    rank_close(r);
}

/* On rank 0 the driver refuses the launch in the middle of a run; the others wait, and are told. */
static void check_launch_of(Rank *r, Rank *other, const char *kernel) {
    together(r);
    if (r->rank != 0) MUST(run(other, 100, NULL));
    pthread_barrier_wait(&between);
    if (r->rank == 0) {
        setenv("FAKE_FAIL", "launch:701:1:1", 1);
        int code = run(other, 100, NULL);
        setenv("FAKE_FAIL", "", 1);
        expect(r, code, TILE_E_SYS, kernel, __LINE__);
    }
    pthread_barrier_wait(&between);
    EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_TIMEOUT, "a launch failed");
    if (r == other || r->rank < 2) check_spoilt(r); /* the others of a ring have got their packets */
    pthread_barrier_wait(&between);
    recover(r, __LINE__);
}

/* Also where that launch would have ended the run: the next run then does so once. */
static void check_launch(Rank *r) {
    Rank other = *r;
    check_launch_of(r, r, "give: ");
    MUST(tile_instance_open(r->mesh, &ending, &other.instance));
    for (int i = 0; i < 2; i++) {
        check_launch_of(r, &other, "pass_last: ");
        for (int k = 0; k < 3; k++) check_passed(r, &other);
    }
    tile_instance_close(other.instance);
}

/* ---- with CUDA ---- */

static void graph_make(Rank *r, const Cuda *c, void *stream, void **replay) {
    void *graph = NULL;
    MUST(tile_mesh_barrier(r->mesh));
    CHECK(c->begin(stream, 2) == 0); /* of this stream alone: other ranks may be threads of this process */
    MUST(run(r, 700, stream));
    MUST(run(r, 700, stream));
    CHECK(c->end(stream, &graph) == 0 && c->instantiate(replay, graph, 0) == 0);
}

static void check_graph(Rank *r, const Cuda *c) {
    void *stream = NULL, *other = NULL, *replay = NULL, *again = NULL;
    CHECK(c->stream_create(&stream, 1) == 0 && c->stream_create(&other, 1) == 0);
    graph_make(r, c, stream, &replay);
    graph_make(r, c, stream, &again);
    for (int turn = 2; turn < 6; turn++) {
        put(r, turn);
        for (int i = 0; i < runs / 10; i++) CHECK(c->launch(replay, stream) == 0);
        MUST(tile_stream_sync(r->mesh, (tile_stream)stream));
        check_sum(r, 700, turn);
        MUST(tile_mesh_barrier(r->mesh));
    }
    /* Two at once on rank 0, while the others do not come. */
    if (r->rank == 0) {
        CHECK(c->launch(replay, stream) == 0);
        CHECK(c->launch(again, other) == 0);
        EXPECT(tile_stream_sync(r->mesh, (tile_stream)other), TILE_E_BUSY, "before the one before had ended");
        c->sync(stream);
    } else {
        tile_fault f;
        while (tile_mesh_status(r->mesh, &f) == TILE_OK) usleep(1000);
    }
    recover(r, __LINE__);
}

static void check_kill(Rank *r) {
    char words[32];
    together(r);
    if (r->rank == nranks - 1) raise(SIGKILL);
    MUST(run(r, 700, NULL));
    snprintf(words, sizeof words, "rank %d is missing", nranks - 1);
    EXPECT(tile_stream_sync(r->mesh, NULL), TILE_E_TIMEOUT, words);
}

/* ---- a rank ---- */

static void rank_main(Rank *r) {
    Cuda cuda;
    if (!rank_open(r, "rt_gpu_mesh", 4000 /* a loaded machine emulates slowly */)) return;
    check_values(r);
    check_many(r);
    check_refused(r);
    check_missing(r);
    check_refused_alone(r);
    if (nranks == 2) check_packet(r, &passing), check_packet(r, &ending);
    check_sizes(r);
    check_many(r);
    check_streams(r, emulated ? stream_of_emulator : stream_of_cuda);
    if (faked) check_launch(r);
    if (!emulated && cuda_open(&cuda)) check_graph(r, &cuda);
    if (!processes) check_recovery(r->rank, emulated ? stream_of_emulator : stream_of_cuda);
    if (processes) check_kill(r);
    rank_close(r);
}

static void *thread_main(void *r) {
    rank_main(r);
    return NULL;
}

static void run_threads(Rank *rank) {
    pthread_t thread[RANKS_RANKS];
    pthread_barrier_init(&between, NULL, (unsigned)nranks);
    for (int r = 0; r < nranks; r++) CHECK(pthread_create(&thread[r], NULL, thread_main, &rank[r]) == 0);
    for (int r = 0; r < nranks; r++) pthread_join(thread[r], NULL);
}

static void run_processes(Rank *rank) {
    char text[16], group[32];
    pid_t child[RANKS_RANKS];
    snprintf(group, sizeof group, "rt_gpu_mesh-%d", (int)getpid());
    setenv("TILE_GROUP", group, 1);
    snprintf(text, sizeof text, "%d", nranks);
    setenv("WORLD_SIZE", text, 1);
    for (int r = 0; r < nranks; r++) {
        snprintf(text, sizeof text, "%d", r);
        setenv("RANK", text, 1);
        if ((child[r] = fork()) == 0) {
            rank_main(&rank[r]);
            _exit(failures != 0);
        }
    }
    for (int r = 0, status; r < nranks; r++) {
        waitpid(child[r], &status, 0);
        CHECK(r == nranks - 1 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

int main(int argc, char **argv) {
    static Rank rank[RANKS_RANKS];
    if (argc < 4 || (nranks = atoi(argv[3])) < 2 || nranks > RANKS_RANKS) return 2;
    if (argc > 4) runs = atoi(argv[4]);
    processes = strcmp(argv[1], "processes") == 0;
    emulated = strstr(argv[2], ".so") != NULL;
    program = ranks_program(argv[2], nranks, sums, 5);
    faked = argc > 5;
    tile_image image = *program.image;
    if (faked) image.target = argv[5];
    program.image = &image;
    passing = program;
    tile_image passing_image = image;
    passing_image.launch = passes;
    passing_image.nlaunches = 3;
    passing.image = &passing_image;
    ending = passing;
    tile_image ending_image = passing_image;
    ending_image.launch = ends;
    ending.image = &ending_image;
    for (int r = 0; r < nranks; r++) rank[r].rank = r;
    (processes ? run_processes : run_threads)(rank);
    printf("%d failures\n", failures);
    return failures != 0;
}
