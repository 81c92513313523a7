/* rt_users.c: another user cannot be a rank: not rank 0, by listening under a group's name first, nor one that joins.
   Runs as root, and as nobody in child processes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_processes.h"
#include "runtime/src/wire.h"

enum { NOBODY = 65534, READY = 100 };

static const char *group;

/* What a child does at the address of root's group; it tells through the pipe when it is ready. */
static pid_t other_user(void (*body)(const struct sockaddr_un *, socklen_t)) {
    struct sockaddr_un address;
    socklen_t n = wire_address(group, &address);
    int end[2];
    char byte;
    CHECK(pipe(end) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
        dup2(end[1], READY);
        body(&address, n);
        _exit(0);
    }
    close(end[1]);
    CHECK(read(end[0], &byte, 1) == 1);
    close(end[0]);
    return child;
}

static void say_ready(void) { CHECK(write(READY, "", 1) == 1); }

static void end_child(pid_t child) {
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
}

/* Says all that a rank 0 says, whatever it is asked. */
static void body_listen(const struct sockaddr_un *address, socklen_t n) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)address, n) == 0 && listen(fd, 8) == 0);
    say_ready();
    for (;;) {
        int one = accept(fd, NULL, NULL);
        for (int kind = WIRE_WELCOME; kind <= WIRE_MET; kind++)
            wire_send(one, (WireHead){.kind = kind, .missing = -1}, NULL, 0, -1, tile_now());
    }
}

static int open_fails(int rank) {
    tile_mesh *m;
    launcher_set("RANK", rank, "WORLD_SIZE", 2);
    tile_mesh_config config = {.size = sizeof config, .workers = 1, .timeout_ms = 20000, .group = group};
    return tile_mesh_open(&config, &m);
}

static void check_listener(void) {
    pid_t child = other_user(body_listen);
    for (int rank = 0; rank < 2; rank++) {
        uint64_t begin = tile_now();
        CHECK(open_fails(rank) == TILE_E_SYS && strstr(tile_last_error(), "user 65534 listens under the name"));
        CHECK(tile_now() - begin < 5000000000u); /* not at the deadline */
    }
    end_child(child);
}

/* Knocks as rank 1 until it is let in, which would be wrong. */
static void body_knock(const struct sockaddr_un *address, socklen_t n) {
    int32_t nranks = 2;
    say_ready();
    for (;;) {
        WireMessage m;
        WireWant want = {WIRE_WELCOME, 0, 2, 0, tile_now() + 1000000000u};
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (connect(fd, (const struct sockaddr *)address, n) == 0) {
            wire_send(fd, (WireHead){.kind = WIRE_HELLO, .rank = 1, .missing = -1}, &nranks, sizeof nranks, -1,
                      tile_now() + 1000000000u);
            CHECK(wire_receive(fd, &want, NULL, 0, &m) != WIRE_GOT);
        }
        close(fd);
    }
}

static int body_rank(int rank) {
    tile_mesh *m;
    if (rank) usleep(200000);
    tile_mesh_config config = {.size = sizeof config, .workers = 1, .timeout_ms = 20000, .group = group};
    CHECK(tile_mesh_open(&config, &m) == TILE_OK);
    tile_mesh_close(m);
    return 0;
}

/* The ranks of root meet while nobody knocks. */
static void check_joiner(void) {
    pid_t child = other_user(body_knock), rank[2];
    ranks_fork(rank, 2, body_rank);
    ranks_join(rank, 2);
    CHECK(waitpid(child, NULL, WNOHANG) == 0);
    end_child(child);
}

int main(void) {
    char name[32];
    snprintf(name, sizeof name, "users-%d", (int)getpid());
    group = name;
    CHECK(geteuid() == 0);
    check_listener();
    check_joiner();
    return 0;
}
