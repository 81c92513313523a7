/* rt_processes.c: ranks as processes: launchers' variables, late starts, meshes one after another, the caller's
   exchange, disagreement about the size, a rank that ends without a word, connections that say nothing.
   usage: rt_processes [steps], or rt_processes rank under a launcher */
#include "rt_processes.h"
#include "runtime/src/wire.h"

#include <sys/mman.h>

enum { RANKS = 4, SILENT = 100 };
static int steps = 100;

static int mesh_use(tile_mesh *m, int n) {
    tile_instance *p;
    tile_program g = rt_program(tile_mesh_size(m));
    CHECK(tile_instance_open(m, &g, &p) == TILE_OK);
    for (int i = 0; i < n; i++) CHECK(rt_step(m, p, i) == TILE_OK);
    CHECK(tile_mesh_barrier(m) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
    return 0;
}

static int body_plain(int rank) {
    (void)rank;
    for (int i = 0; i < 3; i++) {
        tile_mesh *m = mesh_of_process(0);
        CHECK(m);
        mesh_use(m, steps);
    }
    return 0;
}

static int body_late(int rank) {
    usleep((useconds_t)((rank * 7 + 3) % 4) * 400000);
    tile_mesh *m = mesh_of_process(0);
    CHECK(m);
    return mesh_use(m, 10);
}

static int body_open_mpi(int rank) {
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    launcher_set("OMPI_COMM_WORLD_RANK", rank, "OMPI_COMM_WORLD_SIZE", RANKS);
    tile_mesh *m = mesh_of_process(0);
    CHECK(m && tile_mesh_rank(m) == rank && tile_mesh_size(m) == RANKS);
    return mesh_use(m, 10);
}

static int connect_silently(const struct sockaddr_un *address, socklen_t n) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    while (connect(fd, (const struct sockaddr *)address, n) != 0) usleep(1000);
    return fd;
}

/* Rank 1 comes after connections that say nothing: more than rank 0 could wait for one after the other, and more than
   it keeps. */
static int body_silent(int rank) {
    struct sockaddr_un address;
    int fd[SILENT];
    socklen_t n = wire_address(getenv("TILE_GROUP"), &address);
    for (int i = 0; rank == 1 && i < SILENT; i++) fd[i] = connect_silently(&address, n);
    uint64_t begin = tile_now();
    tile_mesh *m = mesh_of_process(4000);
    CHECK(m && (rank == 0 || tile_now() - begin < 3000000000u));
    for (int i = 0; rank == 1 && i < SILENT; i++) close(fd[i]);
    return mesh_use(m, 3);
}

/* This process is a rank that a real launcher has started. */
static int body_launched(void) {
    tile_mesh *m = mesh_of_process(0);
    CHECK(m);
    printf("rank %d of %d\n", tile_mesh_rank(m), tile_mesh_size(m));
    return mesh_use(m, 10);
}

static int body_disagree(int rank) {
    if (rank == 1) setenv("WORLD_SIZE", "7", 1);
    CHECK(!mesh_of_process(20000));
    CHECK(strstr(tile_last_error(),
                 rank == 0 ? "rank 0 expects 2 ranks, rank 1 expects 7" : "does not fit rank 0's group"));
    return 0;
}

static int body_variables(int rank) {
    setenv("RANK", rank ? "9" : "one", 1);
    CHECK(!mesh_of_process(20000));
    CHECK(strstr(tile_last_error(), rank ? "rank 9 of 2 does not exist" : "RANK=one is not a number"));
    setenv("RANK", "0", 1);
    setenv("LOCAL_WORLD_SIZE", "1", 1);
    CHECK(!mesh_of_process(20000) && strstr(tile_last_error(), "several hosts"));
    return 0;
}

/* Rank 2 ends in the middle: the others notice long before their deadline. */
static int body_leave(int rank) {
    tile_mesh *m = mesh_of_process(20000);
    tile_instance *p;
    tile_fault f;
    tile_program g = rt_program(RANKS);
    int error = TILE_OK;
    CHECK(m && tile_instance_open(m, &g, &p) == TILE_OK);
    for (int i = 0; !error; i++) {
        if (rank == 2 && i == 20) return 0;
        error = rt_step(m, p, i);
    }
    CHECK(error == TILE_E_TIMEOUT && strstr(tile_last_error(), "rank 2 is missing at flag 'pushed': generation 21"));
    CHECK(tile_mesh_status(m, &f) == TILE_E_TIMEOUT && f.missing == 2 && f.expected == 21);
    CHECK(tile_mesh_recover(m) == TILE_E_TIMEOUT && strstr(tile_last_error(), "at the recovery"));
    tile_instance_close(p);
    tile_mesh_close(m);
    return 0;
}

/* Rank 1 is stopped until the others have given up; then all recover. */
static int body_recover(int rank) {
    tile_mesh *m = mesh_of_process(2000);
    tile_instance *p;
    tile_fault f;
    tile_program g = rt_program(RANKS);
    int error = TILE_OK;
    CHECK(m && tile_instance_open(m, &g, &p) == TILE_OK);
    for (int i = 0; !error; i++) {
        while (rank == 1 && i == 5 && tile_mesh_status(m, &f) == TILE_OK) usleep(1000);
        error = rt_step(m, p, i);
    }
    CHECK(error == TILE_E_TIMEOUT && tile_mesh_recover(m) == TILE_OK);
    for (int i = 0; i < 20; i++) CHECK(rt_step(m, p, i) == TILE_OK);
    tile_instance_close(p);
    tile_mesh_close(m);
    return 0;
}

/* ---- the caller's own exchange ---- */

typedef struct {
    _Atomic int come;
    char data[4096];
} Board;

static Board *board;

typedef struct {
    int rank, round;
} Caller;

static int board_allgather(void *ctx, const void *in, void *out, size_t each) {
    Caller *c = ctx;
    char *page = board->data;
    memcpy(page + (size_t)c->rank * each, in, each);
    atomic_fetch_add(&board->come, 1);
    while (atomic_load(&board->come) < RANKS * (c->round + 1)) usleep(100);
    memcpy(out, page, each * RANKS);
    c->round++;
    return 0;
}

static int body_exchange(int rank) {
    tile_mesh *m;
    Caller caller = {.rank = rank};
    tile_mesh_config config = {.size = sizeof config,
                               .rank = rank,
                               .nranks = RANKS,
                               .workers = 1,
                               .allgather = board_allgather,
                               .ctx = &caller};
    CHECK(tile_mesh_open(&config, &m) == TILE_OK);
    return mesh_use(m, 10);
}

static void case_run(int nranks, int (*body)(int rank)) {
    pid_t child[RANKS];
    ranks_fork(child, nranks, body);
    ranks_join(child, nranks);
}

int main(int argc, char **argv) {
    char group[32];
    int names = shared_names();
    if (argc > 1 && strcmp(argv[1], "rank") == 0) return body_launched();
    if (argc > 1) steps = atoi(argv[1]);
    snprintf(group, sizeof group, "test-%d", (int)getpid());
    setenv("TILE_GROUP", group, 1);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(board != MAP_FAILED);
    for (int n = 1; n <= RANKS; n++) case_run(n, body_plain);
    case_run(RANKS, body_late);
    case_run(RANKS, body_open_mpi);
    case_run(2, body_silent);
    case_run(2, body_disagree);
    case_run(2, body_variables);
    case_run(RANKS, body_leave);
    case_run(RANKS, body_recover);
    case_run(RANKS, body_exchange);
    CHECK(shared_names() == names);
    return 0;
}
