/* group_meet.c: ranks that are processes of one host and one user meet at an abstract socket of rank 0.
   Takes a name. Gives rank 0 a socket to each other rank, and each other rank one to rank 0. */
#include "group_processes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* What a rank says of itself before it is let in; its number is in the head. */
typedef struct {
    int32_t nranks;
} Hello;

static void nap_before_retry(void) { nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL); }

/* A name belongs to whoever binds it first, of whatever user. */
static int stranger_fail(const char *name, uid_t who) {
    return tile_fail(TILE_E_SYS,
                     "user %u listens under the name of the group '%s', this process is of user %u; set "
                     "TILE_GROUP to another name",
                     (unsigned)who, name, (unsigned)geteuid());
}

/* ---- rank 0 ---- */

/* Does another user listen there? */
static bool stranger_listens(const struct sockaddr_un *address, socklen_t n, uid_t *who) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool known = fd >= 0 && connect(fd, (const struct sockaddr *)address, n) == 0 && wire_owner(fd, who);
    if (fd >= 0) close(fd);
    return known && *who != geteuid();
}

static int bind_failed(const char *name, int error) {
    return error == EADDRINUSE ? tile_fail(TILE_E_TIMEOUT, "another group '%s' is still meeting; set TILE_GROUP", name)
                               : tile_fail(TILE_E_SYS, "bind: %s", strerror(error));
}

static int root_bind(int fd, const char *name, uint64_t deadline) {
    struct sockaddr_un address;
    socklen_t n = wire_address(name, &address);
    uid_t who;
    for (bool first = true; bind(fd, (struct sockaddr *)&address, n) != 0; first = false) {
        int error = errno;
        if (error != EADDRINUSE || tile_now() >= deadline) return bind_failed(name, error);
        if (first && stranger_listens(&address, n, &who)) return stranger_fail(name, who);
        nap_before_retry();
    }
    return listen(fd, MAX_PROCESSES) ? tile_fail(TILE_E_SYS, "listen: %s", strerror(errno)) : TILE_OK;
}

/* The answer to one that knocks: TILE_E_BUSY means that it should knock again later. */
static int root_judge(const ProcessGroup *p, WireReceived got, int rank, int nranks) {
    const Group *g = &p->group;
    if (got == WIRE_OTHER) return tile_fail(TILE_E_MISMATCH, "a rank of the group has another version of the runtime");
    if (nranks != g->nranks || rank < 1 || rank >= g->nranks)
        return tile_fail(TILE_E_MISMATCH, "rank 0 expects %d ranks, rank %d expects %d", g->nranks, rank, nranks);
    return p->peer[rank] == NOT_YET ? TILE_OK : TILE_E_BUSY;
}

static bool own_user(int fd) {
    uid_t who;
    return wire_owner(fd, &who) && who == geteuid();
}

/* Lets one rank in, if it is one; an error ends the meeting for all. */
static int root_admit(ProcessGroup *p, int listener, int *come) {
    Hello hello = {0};
    WireMessage m;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return TILE_OK;
    uint64_t deadline = tile_now() + HELLO_NS;
    WireWant want = {WIRE_HELLO, WIRE_ANY_RANK, p->group.nranks, 0, deadline};
    WireReceived got = own_user(fd) ? wire_receive(fd, &want, &hello, sizeof hello, &m) : WIRE_STRANGE;
    if ((got != WIRE_GOT && got != WIRE_OTHER) || m.head.status) {
        close(fd); /* not a rank */
        return TILE_OK;
    }
    int verdict = root_judge(p, got, m.head.rank, hello.nranks);
    wire_send(fd, (WireHead){.kind = WIRE_WELCOME, .status = verdict, .missing = -1}, NULL, 0, -1, deadline);
    if (verdict) {
        close(fd);
        return verdict == TILE_E_BUSY ? TILE_OK : verdict;
    }
    p->peer[m.head.rank] = fd;
    ++*come;
    return TILE_OK;
}

/* The rank that has left the meeting; else, with -1, waits for a while for one that knocks. */
static int root_watch(const ProcessGroup *p, int listener, struct pollfd *fd, bool *knock) {
    int n = p->group.nranks;
    fd[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (int r = 1; r < n; r++) fd[r] = (struct pollfd){.fd = p->peer[r], .events = POLLIN};
    *knock = poll(fd, (nfds_t)n, 100) > 0 && fd[0].revents;
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
    struct pollfd *fd = calloc((size_t)p->group.nranks, sizeof *fd);
    if (!fd) return tile_fail(TILE_E_NOMEM, "out of memory");
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error =
        listener < 0 ? tile_fail(TILE_E_SYS, "socket: %s", strerror(errno)) : root_bind(listener, name, deadline);
    if (!error) error = root_gather(p, listener, fd, deadline);
    if (listener >= 0) close(listener);
    group_tell_all(p, WIRE_MET, error, tile_now() + HELLO_NS);
    free(fd);
    return error;
}

/* ---- the others ---- */

/* What rank 0 answers; TILE_E_BUSY: it went away, or wants to hear of this rank later. */
static int peer_greet(ProcessGroup *p, int fd, const char *name, uint64_t deadline, bool *taken) {
    Group *g = &p->group;
    Hello hello = {g->nranks};
    WireMessage m;
    WireWant want = {WIRE_WELCOME, 0, g->nranks, 0, deadline};
    wire_send(fd, (WireHead){.kind = WIRE_HELLO, .rank = g->rank, .missing = -1}, &hello, sizeof hello, -1, deadline);
    WireReceived got = wire_receive(fd, &want, NULL, 0, &m);
    *taken = got == WIRE_GOT && m.head.status == TILE_E_BUSY;
    if (got == WIRE_GONE || got == WIRE_LATE) return TILE_E_BUSY;
    if (got == WIRE_OTHER || (got == WIRE_GOT && m.head.status == TILE_E_MISMATCH))
        return tile_fail(TILE_E_MISMATCH, "rank %d of %d does not fit rank 0's group: another size or version", g->rank,
                         g->nranks);
    if (got == WIRE_STRANGE)
        return tile_fail(TILE_E_MISMATCH, "what listens under the name of the group '%s' is no rank 0", name);
    return *taken ? TILE_E_BUSY : group_received(g, got, &m, 0, "meet");
}

/* One attempt; TILE_E_BUSY: nobody is there yet, or it was another group. Only of its own user does a rank take
   anything. */
static int peer_knock(ProcessGroup *p, const char *name, uint64_t deadline, bool *taken) {
    struct sockaddr_un address;
    socklen_t n = wire_address(name, &address);
    uid_t who;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = TILE_E_BUSY;
    if (fd < 0) return tile_fail(TILE_E_SYS, "socket: %s", strerror(errno));
    if (connect(fd, (const struct sockaddr *)&address, n) == 0) {
        if (!wire_owner(fd, &who))
            error = tile_fail(TILE_E_SYS, "the owner of the group's socket is not known: %s", strerror(errno));
        else
            error = who == geteuid() ? peer_greet(p, fd, name, deadline, taken) : stranger_fail(name, who);
    }
    if (error)
        close(fd);
    else
        p->peer[0] = fd;
    return error;
}

static int peer_meet(ProcessGroup *p, const char *name, uint64_t deadline) {
    Group *g = &p->group;
    bool taken = false;
    int error;
    while ((error = peer_knock(p, name, deadline, &taken)) == TILE_E_BUSY) {
        if (tile_now() <= deadline) {
            nap_before_retry();
            continue;
        }
        return taken ? tile_fail(TILE_E_TIMEOUT, "another process is rank %d of the group '%s'", g->rank, name)
                     : group_broken(g, 0, "meet");
    }
    if (error) return error;
    WireMessage m;
    WireWant want = {WIRE_MET, 0, g->nranks, 0, deadline + HELLO_NS};
    WireReceived got = wire_receive(p->peer[0], &want, NULL, 0, &m);
    return group_received(g, got, &m, 0, "meet");
}

int group_meet(ProcessGroup *p, const char *name, uint64_t deadline) {
    return (p->group.rank == 0 ? root_meet : peer_meet)(p, name, deadline);
}
