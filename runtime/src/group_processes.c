/* group_processes.c: ranks that are processes of one host exchange bytes through rank 0 and share anonymous memory.
   Neither leaves a name in any file system: whatever ranks are killed, and when, the kernel takes everything back. */
#include "group_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    int64_t pid;
    uint64_t space; /* where that number means something */
} Identity;

/* The others wait longer than rank 0 does: they hear from it which rank is missing. */
static uint64_t step_deadline(const Group *g) { return tile_now() + g->timeout_ns + (g->rank ? HELLO_NS : 0); }

static WireHead head_of(const ProcessGroup *p, WireKind kind, int status) {
    return (WireHead){
        .kind = (int32_t)kind, .rank = p->group.rank, .step = p->step, .status = status, .missing = p->group.missing};
}

void group_tell_all(const ProcessGroup *p, WireKind kind, int status, uint64_t deadline) {
    for (int r = 1; r < p->group.nranks; r++)
        if (p->peer[r] >= 0) wire_send(p->peer[r], head_of(p, kind, status), NULL, 0, -1, deadline);
}

/* A step that failed for want of memory has ended for all ranks alike: the next one may do better. */
static bool step_broken(int error) { return error && error != TILE_E_NOMEM; }

int group_received(Group *g, WireReceived got, const WireMessage *m, int from, const char *doing) {
    if (got == WIRE_GONE || got == WIRE_LATE) return group_broken(g, from, doing);
    if (got == WIRE_GOT && !m->head.status) return TILE_OK;
    g->broken |= got != WIRE_GOT || step_broken(m->head.status);
    if (got != WIRE_GOT)
        return tile_fail(TILE_E_MISMATCH, "rank %d cannot use the message of rank %d while the ranks %s: %s", g->rank,
                         from, doing, m->wrong ? m->wrong : "it is of another version or program");
    if (m->head.status == TILE_E_TIMEOUT) return group_broken(g, m->head.missing, doing);
    return tile_fail(m->head.status, "rank %d ended it: %s while the ranks %s", from, tile_error_name(m->head.status),
                     doing);
}

/* ---- a step: each rank sends a message to rank 0, which answers all of them ---- */

static int root_receive(ProcessGroup *p, WireKind kind, int rank, void *body, size_t n, uint64_t deadline,
                        const char *doing) {
    WireMessage m;
    WireWant want = {kind, rank, p->group.nranks, p->step, deadline};
    return group_received(&p->group, wire_receive(p->peer[rank], &want, body, n, &m), &m, rank, doing);
}

/* To all others: the body, or the error that ends the step. */
static int root_answer(ProcessGroup *p, WireKind kind, int error, const void *body, size_t n, int passed) {
    Group *g = &p->group;
    uint64_t deadline = tile_now() + HELLO_NS;
    g->broken |= step_broken(error);
    if (error) return group_tell_all(p, kind, error, deadline), error;
    for (int r = 1; r < g->nranks; r++)
        if (!wire_send(p->peer[r], head_of(p, kind, TILE_OK), body, n, passed, deadline)) {
            g->broken = true;
            return tile_fail(TILE_E_SYS, "rank 0 cannot send %zu bytes to rank %d: %s", n, r, strerror(errno));
        }
    return TILE_OK;
}

static int peer_send(ProcessGroup *p, WireKind kind, const void *in, size_t n, uint64_t deadline) {
    Group *g = &p->group;
    if (wire_send(p->peer[0], head_of(p, kind, TILE_OK), in, n, -1, deadline)) return TILE_OK;
    g->broken = true;
    return tile_fail(TILE_E_SYS, "rank %d cannot send %zu bytes to rank 0: %s", g->rank, n, strerror(errno));
}

static int peer_receive(ProcessGroup *p, WireKind kind, void *body, size_t n, uint64_t deadline, int *passed,
                        const char *doing) {
    WireMessage m;
    WireWant want = {kind, 0, p->group.nranks, p->step, deadline};
    int error = group_received(&p->group, wire_receive(p->peer[0], &want, body, n, &m), &m, 0, doing);
    if (passed) *passed = m.passed;
    return error;
}

/* ---- exchange ---- */

static int root_gather(ProcessGroup *p, const void *in, char *out, size_t each, uint64_t deadline) {
    int error = TILE_OK;
    memcpy(out, in, each);
    for (int r = 1; r < p->group.nranks && !error; r++)
        error = root_receive(p, WIRE_PART, r, out + (size_t)r * each, each, deadline, "exchange");
    return root_answer(p, WIRE_WHOLE, error, out, each * (size_t)p->group.nranks, -1);
}

static int peer_gather(ProcessGroup *p, const void *in, char *out, size_t each, uint64_t deadline) {
    int error = peer_send(p, WIRE_PART, in, each, deadline);
    if (error) return error;
    return peer_receive(p, WIRE_WHOLE, out, each * (size_t)p->group.nranks, deadline, NULL, "exchange");
}

static int processes_allgather(Group *g, const void *in, void *out, size_t each) {
    ProcessGroup *p = (ProcessGroup *)g;
    if (g->broken) return group_broken(g, g->missing, "exchange");
    int error = (g->rank ? peer_gather : root_gather)(p, in, out, each, step_deadline(g));
    p->step++;
    return error;
}

/* ---- memory: rank 0 makes a file of a size that nobody can change any more, the others look that it is one ---- */

static int memory_make(size_t bytes) {
    int fd = memfd_create("tile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool made = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
                fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    if (made || fd < 0) return fd;
    close(fd);
    return -1;
}

/* All ranks are heard, so that none has a message left when sizes differ. */
static int rooms_agree(ProcessGroup *p, uint64_t bytes, uint64_t deadline) {
    int error = TILE_OK, differs = TILE_OK;
    for (int r = 1; r < p->group.nranks && !error; r++) {
        uint64_t theirs = 0;
        error = root_receive(p, WIRE_ROOM, r, &theirs, sizeof theirs, deadline, "share memory");
        if (!error && !differs && theirs != bytes)
            differs = tile_fail(TILE_E_MISMATCH, "rank 0 shares %llu bytes, rank %d shares %llu",
                                (unsigned long long)bytes, r, (unsigned long long)theirs);
    }
    return error ? error : differs;
}

static int root_memory(ProcessGroup *p, size_t bytes, uint64_t deadline, int *fd) {
    int error = rooms_agree(p, bytes, deadline);
    if (!error && (*fd = memory_make(bytes)) < 0)
        error = tile_fail(TILE_E_NOMEM, "no memory for %zu bytes that the ranks share: %s", bytes, strerror(errno));
    return root_answer(p, WIRE_MEMORY, error, NULL, 0, *fd);
}

static int peer_memory(ProcessGroup *p, size_t bytes, uint64_t deadline, int *fd) {
    uint64_t room = bytes;
    int error = peer_send(p, WIRE_ROOM, &room, sizeof room, deadline);
    return error ? error : peer_receive(p, WIRE_MEMORY, NULL, 0, deadline, fd, "share memory");
}

static bool memory_fits(int fd, size_t bytes) {
    struct stat s;
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed && fstat(fd, &s) == 0 && (uint64_t)s.st_size == bytes;
}

/* Each rank reserves its own part, so that lack of memory is an error here and not a signal later. */
static int memory_map(Share *s, int fd, int rank) {
    if (!memory_fits(fd, s->bytes))
        return tile_fail(TILE_E_MISMATCH, "the shared memory of rank 0 is not a sealed file of %zu bytes", s->bytes);
    if (fallocate(fd, 0, (off_t)(s->stride * (size_t)rank), (off_t)s->stride) != 0)
        return tile_fail(TILE_E_NOMEM, "no memory for %zu bytes that the ranks share: %s", s->stride, strerror(errno));
    void *base = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) return tile_fail(TILE_E_NOMEM, "mapping shared memory: %s", strerror(errno));
    s->base = base;
    return TILE_OK;
}

static int processes_share(Group *g, size_t part, Share *out) {
    ProcessGroup *p = (ProcessGroup *)g;
    *out = (Share){.stride = pages_round(part), .bytes = pages_round(part) * (size_t)g->nranks};
    if (g->broken) return group_broken(g, g->missing, "share memory");
    int fd = -1, error = (g->rank ? peer_memory : root_memory)(p, out->bytes, step_deadline(g), &fd);
    p->step++;
    if (!error) error = group_agree(g, memory_map(out, fd, g->rank));
    if (fd >= 0) close(fd);
    if (!error) return TILE_OK;
    share_close(out);
    return error;
}

/* ---- who is alive ---- */

static bool processes_lost(const Group *g, int rank) {
    int fd = ((const ProcessGroup *)g)->pidfd[rank];
    return fd >= 0 && poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) > 0;
}

static int identities_exchange(ProcessGroup *p) {
    Group *g = &p->group;
    struct stat space = {0};
    stat("/proc/self/ns/pid", &space);
    Identity mine = {.pid = getpid(), .space = space.st_ino};
    Identity *all = calloc((size_t)g->nranks, sizeof *all);
    int error = all ? g->allgather(g, &mine, all, sizeof mine) : tile_fail(TILE_E_NOMEM, "out of memory");
    for (int r = 0; r < g->nranks && !error; r++)
        if (r != g->rank && all[r].space == mine.space && all[r].pid > 0 && all[r].pid <= INT_MAX)
            p->pidfd[r] = (int)syscall(SYS_pidfd_open, (pid_t)all[r].pid, 0);
    free(all);
    return error;
}

static void processes_close(Group *g) {
    ProcessGroup *p = (ProcessGroup *)g;
    for (int r = 0; r < g->nranks; r++) {
        if (p->peer[r] >= 0) close(p->peer[r]);
        if (p->pidfd[r] >= 0) close(p->pidfd[r]);
    }
    free(p->peer);
    free(p->pidfd);
    free(p);
}

static ProcessGroup *processes_new(int rank, int nranks, uint64_t timeout_ns) {
    ProcessGroup *p = calloc(1, sizeof *p);
    int *peer = malloc(sizeof *peer * (size_t)nranks), *pidfd = malloc(sizeof *pidfd * (size_t)nranks);
    if (!p || !peer || !pidfd) {
        free(p);
        free(peer);
        free(pidfd);
        return NULL;
    }
    for (int r = 0; r < nranks; r++) peer[r] = pidfd[r] = NOT_YET;
    *p = (ProcessGroup){.peer = peer, .pidfd = pidfd};
    p->group = (Group){.rank = rank,
                       .nranks = nranks,
                       .timeout_ns = timeout_ns,
                       .missing = -1,
                       .allgather = processes_allgather,
                       .share = processes_share,
                       .lost = processes_lost,
                       .close = processes_close};
    return p;
}

int group_open_processes(const char *name, int rank, int nranks, uint64_t timeout_ns, Group **out) {
    if (nranks > MAX_PROCESSES)
        return tile_fail(TILE_E_ARG, "%d ranks; at most %d processes can meet", nranks, MAX_PROCESSES);
    ProcessGroup *p = processes_new(rank, nranks, timeout_ns);
    if (!p) return tile_fail(TILE_E_NOMEM, "out of memory");
    uint64_t deadline = tile_now() + timeout_ns;
    int error = group_meet(p, name, deadline);
    if (!error) error = identities_exchange(p);
    if (error)
        processes_close(&p->group);
    else
        *out = &p->group;
    return error;
}
