/* group_processes.c: ranks that are processes of one host meet at an abstract socket of rank 0 and share anonymous
   memory. Neither leaves a name in any file system: whatever ranks are killed, and when, the kernel takes everything
   back. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct {
    Group group;
    int *peer;  /* rank 0: the socket to each rank; others: peer[0]; NOT_YET or LEFT: none */
    int *pidfd; /* [nranks]; -1: not known */
} ProcessGroup;

typedef struct {
    uint64_t magic;
    int32_t rank, nranks;
} Hello;

typedef struct {
    int32_t status, missing;
} Verdict;

typedef struct {
    int64_t pid;
    uint64_t space; /* where that number means something */
} Identity;

enum { HELLO_MAGIC = 0x74696c65 + TILE_ABI, MAX_PROCESSES = 1024, RETRY_NS = 5000000, HELLO_NS = 1000000000 };
enum { NOT_YET = -1, LEFT = -2 };
typedef enum { GOT, GONE, LATE } Received;

/* ---- sockets: one message is one datagram of a known size; a dead peer is the end of the stream ---- */

static socklen_t address_of(const char *name, struct sockaddr_un *a) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "tile-%u-%.40s-%016llx", (unsigned)getuid(), name,
                     (unsigned long long)hash);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool wait_readable(int fd, uint64_t deadline) {
    for (;;) {
        uint64_t now = tile_now();
        int ms = now < deadline ? (int)((deadline - now) / 1000000u) + 1 : 0;
        int n = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, ms);
        if (n > 0) return true;
        if (n == 0 || errno != EINTR) return false;
    }
}

/* passed: takes a file descriptor that came along, or -1; NULL: none is expected. */
static Received message_receive(int fd, void *p, size_t n, uint64_t deadline, int *passed) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = p, .iov_len = n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed) {
        *passed = -1;
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
    }
    if (!wait_readable(fd, deadline)) return LATE;
    ssize_t got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    /* A peer that closed with messages of ours unread: its own last ones stand behind the error. */
    if (got < 0 && errno == ECONNRESET) got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got != (ssize_t)n) return GONE;
    struct cmsghdr *c = passed ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(passed, CMSG_DATA(c), sizeof(int));
    return GOT;
}

static void message_send(int fd, const void *p, size_t n, int passed) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {.iov_base = (void *)p, .iov_len = n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        *CMSG_FIRSTHDR(&m) =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &passed, sizeof(int));
    }
    sendmsg(fd, &m, MSG_NOSIGNAL); /* a peer that is gone is noticed by the next receive */
}

static void tell_all(const ProcessGroup *p, Verdict v) {
    for (int r = 1; r < p->group.nranks; r++)
        if (p->peer[r] >= 0) message_send(p->peer[r], &v, sizeof v, -1);
}

/* ---- meeting: rank 0 ---- */

static int root_listen(const char *name, uint64_t deadline, int *out) {
    struct sockaddr_un address;
    socklen_t n = address_of(name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return tile_fail(TILE_E_SYS, "socket: %s", strerror(errno));
    while (bind(fd, (struct sockaddr *)&address, n) != 0) { /* another group of this name is meeting */
        int error = errno;
        if (error == EADDRINUSE && tile_now() < deadline) {
            nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
            continue;
        }
        close(fd);
        return error == EADDRINUSE
                   ? tile_fail(TILE_E_TIMEOUT, "another group '%s' is still meeting; set TILE_GROUP", name)
                   : tile_fail(TILE_E_SYS, "bind: %s", strerror(error));
    }
    listen(fd, MAX_PROCESSES);
    *out = fd;
    return TILE_OK;
}

static bool same_user(int fd) {
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.uid == getuid();
}

/* The answer to one that knocks: TILE_E_BUSY means that it should knock again later. */
static int root_judge(const ProcessGroup *p, const Hello *h) {
    const Group *g = &p->group;
    if (h->magic != HELLO_MAGIC)
        return tile_fail(TILE_E_MISMATCH, "a rank of the group has another version of the runtime");
    if (h->nranks != g->nranks || h->rank < 1 || h->rank >= g->nranks)
        return tile_fail(TILE_E_MISMATCH, "rank 0 expects %d ranks, rank %d expects %d", g->nranks, h->rank, h->nranks);
    return p->peer[h->rank] == NOT_YET ? TILE_OK : TILE_E_BUSY;
}

/* Lets one rank in, if it is one; an error ends the meeting for all. */
static int root_admit(ProcessGroup *p, int listener, int *come) {
    Hello hello;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return TILE_OK;
    if (!same_user(fd) || message_receive(fd, &hello, sizeof hello, tile_now() + HELLO_NS, NULL) != GOT) {
        close(fd);
        return TILE_OK;
    }
    int verdict = root_judge(p, &hello);
    message_send(fd, &(Verdict){verdict, -1}, sizeof(Verdict), -1);
    if (verdict) {
        close(fd);
        return verdict == TILE_E_BUSY ? TILE_OK : verdict;
    }
    p->peer[hello.rank] = fd;
    ++*come;
    return TILE_OK;
}

/* The rank that has left the meeting; else, with -1, waits for a while for one that knocks. */
static int root_watch(const ProcessGroup *p, int listener, struct pollfd *fd, bool *knock) {
    int n = p->group.nranks;
    fd[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (int r = 1; r < n; r++) fd[r] = (struct pollfd){.fd = p->peer[r], .events = POLLIN};
    poll(fd, (nfds_t)n, 100);
    *knock = fd[0].revents;
    for (int r = 1; r < n; r++)
        if (fd[r].revents) return r;
    return -1;
}

/* A rank that came and left, else one that has not come; -1: all are here. */
static int first_missing(const ProcessGroup *p) {
    for (int state = LEFT; state <= NOT_YET; state++)
        for (int r = 1; r < p->group.nranks; r++)
            if (p->peer[r] == state) return r;
    return -1;
}

/* Goes on when a rank has left, so that those who are still to come hear who it was. */
static int root_gather(ProcessGroup *p, int listener, struct pollfd *fd, uint64_t deadline) {
    Group *g = &p->group;
    int error = TILE_OK, come = 1;
    while (come < g->nranks && !error && tile_now() < deadline) {
        bool knock;
        int left = root_watch(p, listener, fd, &knock);
        if (left >= 0) {
            close(p->peer[left]);
            p->peer[left] = LEFT;
        } else if (knock) {
            error = root_admit(p, listener, &come);
        }
    }
    int missing = first_missing(p);
    return error || missing < 0 ? error : group_broken(g, missing, "meet");
}

static int root_meet(ProcessGroup *p, const char *name, uint64_t deadline) {
    int listener = -1;
    struct pollfd *fd = calloc((size_t)p->group.nranks, sizeof *fd);
    if (!fd) return tile_fail(TILE_E_NOMEM, "out of memory");
    int error = root_listen(name, deadline, &listener);
    if (!error) error = root_gather(p, listener, fd, deadline);
    if (listener >= 0) close(listener);
    tell_all(p, (Verdict){error, p->group.missing});
    free(fd);
    return error;
}

/* ---- meeting: the others ---- */

/* One attempt; TILE_E_BUSY: nobody is there yet, or it was another group. */
static int peer_knock(ProcessGroup *p, const struct sockaddr_un *address, socklen_t n, uint64_t deadline) {
    Group *g = &p->group;
    Verdict v;
    Hello hello = {.magic = HELLO_MAGIC, .rank = g->rank, .nranks = g->nranks};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return tile_fail(TILE_E_SYS, "socket: %s", strerror(errno));
    int error = TILE_E_BUSY;
    if (connect(fd, (const struct sockaddr *)address, n) == 0) {
        message_send(fd, &hello, sizeof hello, -1);
        if (message_receive(fd, &v, sizeof v, deadline, NULL) == GOT) error = v.status;
    }
    if (error)
        close(fd);
    else
        p->peer[0] = fd;
    return error;
}

static int verdict_apply(Group *g, Received got, const Verdict *v, const char *doing) {
    if (got != GOT) return group_broken(g, 0, doing);
    if (v->status == TILE_E_TIMEOUT) return group_broken(g, v->missing, doing);
    return v->status ? tile_fail(v->status, "rank 0 ended it: %s while the ranks %s", tile_error_name(v->status), doing)
                     : TILE_OK;
}

static int peer_meet(ProcessGroup *p, const char *name, uint64_t deadline) {
    struct sockaddr_un address;
    Verdict v;
    socklen_t n = address_of(name, &address);
    int error;
    while ((error = peer_knock(p, &address, n, deadline)) == TILE_E_BUSY) {
        if (tile_now() > deadline) return group_broken(&p->group, 0, "meet");
        nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
    }
    if (error == TILE_E_MISMATCH)
        return tile_fail(error, "rank %d of %d does not fit rank 0's group: another size or version", p->group.rank,
                         p->group.nranks);
    if (error) return error;
    Received got = message_receive(p->peer[0], &v, sizeof v, deadline + HELLO_NS, NULL);
    return verdict_apply(&p->group, got, &v, "meet");
}

/* ---- exchange: to rank 0 and back ---- */

static int root_collect(ProcessGroup *p, const void *in, char *out, size_t each) {
    Group *g = &p->group;
    uint64_t deadline = tile_now() + g->timeout_ns;
    memcpy(out, in, each);
    for (int r = 1; r < g->nranks; r++)
        if (message_receive(p->peer[r], out + (size_t)r * each, each, deadline, NULL) != GOT)
            return group_broken(g, r, "exchange");
    return TILE_OK;
}

static int processes_allgather(Group *g, const void *in, void *out, size_t each) {
    ProcessGroup *p = (ProcessGroup *)g;
    Verdict v;
    if (g->broken) return group_broken(g, g->missing, "exchange");
    if (g->rank == 0) {
        int error = root_collect(p, in, out, each);
        tell_all(p, (Verdict){error, g->missing});
        for (int r = 1; r < g->nranks && !error; r++) message_send(p->peer[r], out, each * (size_t)g->nranks, -1);
        return error;
    }
    uint64_t deadline = tile_now() + g->timeout_ns + HELLO_NS;
    message_send(p->peer[0], in, each, -1);
    int error = verdict_apply(g, message_receive(p->peer[0], &v, sizeof v, deadline, NULL), &v, "exchange");
    if (error) return error;
    return verdict_apply(g, message_receive(p->peer[0], out, each * (size_t)g->nranks, deadline, NULL), &(Verdict){0},
                         "exchange");
}

/* ---- memory ---- */

static int root_memory(ProcessGroup *p, size_t bytes) {
    int fd = memfd_create("tile", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        fd = -1;
    }
    for (int r = 1; r < p->group.nranks; r++) message_send(p->peer[r], &(Verdict){0}, sizeof(Verdict), fd);
    return fd;
}

/* Each rank reserves its own part, so that lack of memory is an error here and not a signal later. */
static int memory_map(Share *s, int fd, int rank) {
    if (fd < 0 || fallocate(fd, 0, (off_t)(s->stride * (size_t)rank), (off_t)s->stride) != 0) return TILE_E_NOMEM;
    void *base = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) return TILE_E_NOMEM;
    s->base = base;
    return TILE_OK;
}

static int processes_share(Group *g, size_t part, Share *out) {
    ProcessGroup *p = (ProcessGroup *)g;
    Verdict v;
    *out = (Share){.stride = pages_round(part), .bytes = pages_round(part) * (size_t)g->nranks};
    int fd = -1, error = g->broken ? group_broken(g, g->missing, "share memory") : TILE_OK;
    if (error) return error;
    if (g->rank == 0)
        fd = root_memory(p, out->bytes);
    else
        error = verdict_apply(g, message_receive(p->peer[0], &v, sizeof v, tile_now() + g->timeout_ns, &fd), &v,
                              "share memory");
    if (error) return error;
    error = group_agree(g, memory_map(out, fd, g->rank));
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
        if (r != g->rank && all[r].space == mine.space)
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
    int error = rank == 0 ? root_meet(p, name, deadline) : peer_meet(p, name, deadline);
    if (!error) error = identities_exchange(p);
    if (error)
        processes_close(&p->group);
    else
        *out = &p->group;
    return error;
}
