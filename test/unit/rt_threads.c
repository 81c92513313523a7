/* rt_threads.c: ranks as threads of one process: results, queueing, wrong arguments, mismatches, faults and recovery.
   usage: rt_threads [steps] */
#include "rt_program.h"

#include <pthread.h>

typedef struct Case Case;
struct Case {
    int rank, nranks, workers, steps;
    void (*body)(const Case *);
};

static tile_mesh *mesh_open(const Case *c, int timeout_ms) {
    tile_mesh *m;
    tile_mesh_config config = {.size = sizeof config,
                               .rank = c->rank,
                               .nranks = c->nranks,
                               .workers = c->workers,
                               .timeout_ms = timeout_ms,
                               .group = "test"};
    CHECK(tile_mesh_open(&config, &m) == TILE_OK);
    CHECK(tile_mesh_rank(m) == c->rank && tile_mesh_size(m) == c->nranks);
    return m;
}

static void *case_main(void *p) {
    const Case *c = p;
    c->body(c);
    return NULL;
}

static void case_run(void (*body)(const Case *), int nranks, int workers, int steps) {
    pthread_t thread[RT_RANKS];
    Case c[RT_RANKS];
    for (int r = 0; r < nranks; r++) {
        c[r] = (Case){r, nranks, workers, steps, body};
        CHECK(pthread_create(&thread[r], NULL, case_main, &c[r]) == 0);
    }
    for (int r = 0; r < nranks; r++) pthread_join(thread[r], NULL);
}

static void body_steps(const Case *c) {
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 0);
    tile_instance *p, *q;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    CHECK(tile_instance_open(m, &g, &q) == TILE_OK);
    for (int i = 0; i < c->steps; i++) CHECK(rt_step(m, i % 3 ? p : q, i) == TILE_OK);
    CHECK(tile_mesh_barrier(m) == TILE_OK);
    tile_instance_close(p);
    tile_instance_close(q);
    tile_mesh_close(m);
}

static pthread_barrier_t board_barrier;
static char board[4096];

static int board_allgather(void *ctx, const void *in, void *out, size_t each) {
    memcpy(board + (size_t)((const Case *)ctx)->rank * each, in, each);
    pthread_barrier_wait(&board_barrier);
    memcpy(out, board, each * (size_t)((const Case *)ctx)->nranks);
    return 0;
}

/* The caller's own exchange, between threads. */
static void body_exchange(const Case *c) {
    tile_program g = rt_program(c->nranks);
    tile_mesh *m;
    tile_instance *p;
    tile_mesh_config config = {
        .size = sizeof config, .rank = c->rank, .nranks = c->nranks, .allgather = board_allgather};
    config.ctx = (void *)c;
    CHECK(tile_mesh_open(&config, &m) == TILE_OK && tile_instance_open(m, &g, &p) == TILE_OK);
    for (int i = 0; i < 5; i++) CHECK(rt_step(m, p, i) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
}

/* Several runs in the queue at once, each with its own arguments; scalars are copied. */
static void body_queue(const Case *c) {
    enum { RUNS = 12 };
    static _Thread_local float x[RUNS][8], y[RUNS][8];
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 0);
    tile_instance *p;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    for (int round = 0; round < c->steps; round++) {
        for (int i = 0; i < RUNS; i++) {
            float scale = (float)i;
            for (int k = 0; k < 8; k++) x[i][k] = 1;
            CHECK(tile_instance_run(p, (void *[]){x[i], &scale, y[i]}, (int64_t[]){8}, NULL) == TILE_OK);
        }
        CHECK(tile_stream_sync(m, NULL) == TILE_OK);
        for (int i = 0; i < RUNS; i++) CHECK(y[i][7] == (float)(i * c->nranks));
    }
    tile_instance_close(p);
    tile_mesh_close(m);
}

static void body_wrong(const Case *c) {
    float x[4] = {0}, scale = 1;
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 0);
    tile_instance *p;
    g.hash = (uint64_t)c->rank;
    CHECK(tile_instance_open(m, &g, &p) == TILE_E_MISMATCH && strstr(tile_last_error(), "rank 1 has another build"));
    g.hash = 1;
    g.abi = 77;
    CHECK(tile_instance_open(m, &g, &p) == TILE_E_MISMATCH && strstr(tile_last_error(), "ABI 77"));
    g = rt_program(c->nranks + 1);
    CHECK(tile_instance_open(m, &g, &p) == TILE_E_MISMATCH &&
          strstr(tile_last_error(), "made for 3 ranks, the mesh has 2"));
    g = rt_program(c->nranks);
    g.local_bytes = (size_t)1 << 60;
    CHECK(tile_instance_open(m, &g, &p) == TILE_E_NOMEM);
    g = rt_program(c->nranks);
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    CHECK(tile_instance_run(p, (void *[]){x, &scale, x}, (int64_t[]){RT_BOUND + 1}, NULL) == TILE_E_ARG);
    CHECK(strstr(tile_last_error(), "N = 1025 is not in 0 .. 1024"));
    CHECK(tile_instance_run(p, (void *[]){x, &scale, NULL}, (int64_t[]){4}, NULL) == TILE_E_ARG &&
          strstr(tile_last_error(), "'y' is NULL"));
    CHECK(tile_instance_run(p, (void *[]){NULL, &scale, NULL}, (int64_t[]){0}, NULL) == TILE_OK);
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
}

/* Rank 0 stays away from a run: the others give up, name it, and all recover. */
static void body_fault(const Case *c) {
    static float x[RT_BOUND];
    float scale = 1, y[4] = {0};
    tile_fault f;
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 4000); /* a loaded machine runs slowly, with sanitizers even more so */
    tile_instance *p;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++) CHECK(rt_step(m, p, i) == TILE_OK);
        CHECK(tile_mesh_barrier(m) == TILE_OK);
        CHECK(tile_mesh_status(m, &f) == TILE_OK && f.rank == -1);
        if (c->rank > 0) {
            CHECK(tile_instance_run(p, (void *[]){x, &scale, y}, (int64_t[]){4}, NULL) == TILE_OK);
            CHECK(tile_stream_sync(m, NULL) == TILE_E_TIMEOUT &&
                  strstr(tile_last_error(), "rank 0 is missing at flag 'pushed': generation 6"));
            CHECK(tile_mesh_status(m, &f) == TILE_E_TIMEOUT && f.rank > 0 && f.missing == 0 && f.expected == 6 &&
                  f.seen == 5);
            CHECK(strcmp(f.name, "pushed") == 0 && f.flag == 0 && isnan(y[0]) && isnan(y[3]));
            CHECK(tile_instance_run(p, (void *[]){x, &scale, y}, (int64_t[]){4}, NULL) == TILE_E_POISONED);
            CHECK(tile_mesh_barrier(m) == TILE_E_POISONED);
        } else {
            while (tile_mesh_status(m, &f) == TILE_OK) sched_yield();
            CHECK(tile_instance_run(p, (void *[]){x, &scale, y}, (int64_t[]){4}, NULL) == TILE_E_TIMEOUT);
        }
        CHECK(tile_mesh_recover(m) == TILE_OK);
    }
    tile_instance_close(p);
    tile_mesh_close(m);
}

/* A barrier that nobody else comes to; then a recovery that nobody else comes to. */
static void body_alone(const Case *c) {
    tile_mesh *m = mesh_open(c, 600);
    if (c->rank == 1) {
        CHECK(tile_mesh_barrier(m) == TILE_E_TIMEOUT &&
              strstr(tile_last_error(), "rank 0 is missing at flag 'mesh barrier'"));
        CHECK(tile_mesh_recover(m) == TILE_E_TIMEOUT && strstr(tile_last_error(), "rank 0 is missing at the recovery"));
        CHECK(tile_mesh_recover(m) == TILE_E_POISONED);
    }
    tile_mesh_close(m);
}

static void body_missing(const Case *c) {
    tile_mesh *m;
    tile_mesh_config config = {.size = sizeof config, .rank = c->rank, .nranks = c->nranks + 1, .timeout_ms = 100};
    CHECK(tile_mesh_open(&config, &m) == TILE_E_TIMEOUT &&
          strstr(tile_last_error(), "rank 2 is missing while the ranks meet"));
}

static int64_t many_tasks(const tile_task *t) { return t->dim[0] == 4 ? (int64_t)1 << 32 : 0; }

/* One task more than a run can have; a run of no tasks. */
static void body_tasks(const Case *c) {
    float x[4] = {0}, scale = 1;
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 0);
    tile_instance *p;
    g.tasks = many_tasks;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    CHECK(tile_instance_run(p, (void *[]){x, &scale, x}, (int64_t[]){4}, NULL) == TILE_E_ARG);
    CHECK(strstr(tile_last_error(), "4294967296 tasks"));
    CHECK(tile_instance_run(p, (void *[]){x, &scale, x}, (int64_t[]){3}, NULL) == TILE_OK);
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
}

static int failing_task(const tile_task *t, int64_t ticket) {
    return t->rank == 1 && ticket == 0 ? TILE_E_ARG : rt_task(t, ticket);
}

static void body_task_fails(const Case *c) {
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 10000);
    tile_instance *p;
    g.task = failing_task;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    CHECK(rt_step(m, p, 0) == (c->rank == 1 ? TILE_E_ARG : TILE_E_TIMEOUT));
    tile_instance_close(p);
    tile_mesh_close(m);
}

/* Sizes that differ: told at once, with both values, by whom it concerns; also where no wait would have noticed. */
static void body_sizes(const Case *c) {
    static _Thread_local float x[RT_BOUND], y[RT_BOUND];
    float scale = 1;
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 10000);
    tile_instance *p;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    for (int i = 0; i < 20; i++) CHECK(rt_step(m, p, i) == TILE_OK);
    int64_t n = c->rank == 1 ? 5 : 4;
    CHECK(tile_instance_run(p, (void *[]){x, &scale, y}, &n, NULL) == TILE_OK);
    CHECK(tile_stream_sync(m, NULL) == TILE_E_TIMEOUT);
    CHECK(strstr(tile_last_error(), "gave up: N = 4 on rank 0, 5 on rank 1") || strstr(tile_last_error(), "gave up: N = 5 on rank 1, 4 on rank 0"));
    CHECK(tile_mesh_recover(m) == TILE_OK && rt_step(m, p, 3) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
}

/* Rank 1 stays away until rank 0 has filled the queue. */
static void body_busy(const Case *c) {
    static _Thread_local float x[4], y[4];
    float scale = 1;
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 5000);
    tile_instance *p;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    if (c->rank == 1) CHECK(tile_mesh_barrier(m) == TILE_OK);
    for (int i = 0; i < 16; i++) CHECK(tile_instance_run(p, (void *[]){x, &scale, y}, (int64_t[]){4}, NULL) == TILE_OK);
    if (c->rank == 0) {
        CHECK(tile_instance_run(p, (void *[]){x, &scale, y}, (int64_t[]){4}, NULL) == TILE_E_BUSY);
        CHECK(tile_mesh_barrier(m) == TILE_OK);
    }
    CHECK(tile_stream_sync(m, NULL) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
}

static void body_trace(const Case *c) {
    char path[64], line[512];
    int add = 0;
    tile_program g = rt_program(c->nranks);
    tile_mesh *m = mesh_open(c, 0);
    tile_instance *p;
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK && tile_trace(m, 1) == TILE_OK);
    for (int i = 0; i < 3; i++) CHECK(rt_step(m, p, i) == TILE_OK);
    snprintf(path, sizeof path, "rt_trace.%d.json", c->rank);
    CHECK(tile_trace_write(m, path) == TILE_OK && tile_trace_write(m, "/nowhere/x.json") == TILE_E_SYS);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) add += strstr(line, "{\"name\":\"add\",\"ph\":\"X\"") != NULL;
    CHECK(f && fclose(f) == 0 && remove(path) == 0 && add == 12);
    tile_instance_close(p);
    tile_mesh_close(m);
}

/* A rank that publishes and ends at once: noticing its end must not hide what it published. */
static bool publishes_and_ends(const tile_fault_hooks *fault, int rank) {
    atomic_store_explicit(&((tile_word *)(uintptr_t)fault->ctx)[rank].value, 1, memory_order_release);
    atomic_store_explicit((tile_packet *)(uintptr_t)fault->ctx, (uint64_t)1 << 32 | 7, memory_order_release);
    return true;
}

static void body_last_words(const Case *c) {
    static tile_fault_cell cell;
    static tile_word word[2];
    tile_fault_hooks fault = {
        .cell = &(tile_fault_cell *){&cell}, .timeout_ns = UINT64_MAX, .lost = publishes_and_ends, .ctx = word};
    tile_task t = {.nranks = c->nranks, .generation = 1, .fault = &fault};
    uint32_t data = 0;
    CHECK(tile_wait(&t, &word[1], 1, -1, 1) == TILE_OK);
    atomic_store(&word[0].value, 0);
    CHECK(tile_packet_get(&t, &word[0].value, &data, -1, 1) == TILE_OK && data == 7);
    CHECK(atomic_load(&cell.poison) == 0);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    for (int n = 1; n <= 4; n++)
        for (int workers = 1; workers <= 3; workers++) case_run(body_steps, n, workers, steps);
    CHECK(pthread_barrier_init(&board_barrier, NULL, 3) == 0);
    case_run(body_exchange, 3, 1, 0);
    case_run(body_queue, 3, 2, steps / 10 + 1);
    case_run(body_wrong, 2, 1, 0);
    case_run(body_fault, 3, 2, 0);
    case_run(body_alone, 2, 1, 0);
    case_run(body_missing, 2, 1, 0);
    case_run(body_tasks, 1, 1, 0);
    case_run(body_task_fails, 3, 1, 0);
    case_run(body_busy, 2, 1, 0);
    case_run(body_sizes, 2, 2, 0);
    case_run(body_trace, 2, 2, 0);
    case_run(body_last_words, 1, 1, 0);
    return 0;
}
