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

/* Connections at once that have not said who they are; chosen: no measurement is recorded. */
enum { KNOCKERS = 64 };

/* A connection to rank 0 of which nothing was heard yet. */
typedef struct {
    int fd;
    uint64_t deadline;
} Knocker;

typedef struct {
    ProcessGroup *p;
    int listener, come; /* come: ranks that are here, rank 0 among them */
    int n;
    Knocker knocker[KNOCKERS]; /* n, in the order in which they came */
    struct pollfd *fd;         /* the listener, the ranks from 1 on, the knockers */
} Meeting;

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

static void knocker_drop(Meeting *m, int i) {
    close(m->knocker[i].fd);
    m->knocker[i].fd = -1;
}

/* One that is silent holds up nobody: where there are many, the first makes room. */
static void root_accept(Meeting *m) {
    int fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (!own_user(fd)) {
        close(fd);
        return;
    }
    if (m->n == KNOCKERS) {
        close(m->knocker[0].fd);
        memmove(m->knocker, m->knocker + 1, sizeof *m->knocker * (size_t)--m->n);
    }
    m->knocker[m->n++] = (Knocker){fd, tile_now() + HELLO_NS};
}

/* Lets one that has said something in, if it is a rank; an error ends the meeting for all. */
static int root_admit(Meeting *meeting, int i) {
    ProcessGroup *p = meeting->p;
    Knocker *k = &meeting->knocker[i];
    Hello hello = {0};
    WireMessage m;
    WireWant want = {WIRE_HELLO, WIRE_ANY_RANK, p->group.nranks, 0, k->deadline};
    WireReceived got = wire_receive(k->fd, &want, &hello, sizeof hello, &m);
    if ((got != WIRE_GOT && got != WIRE_OTHER) || m.head.status) {
        knocker_drop(meeting, i); /* not a rank */
        return TILE_OK;
    }
    int verdict = root_judge(p, got, m.head.rank, hello.nranks);
    wire_send(k->fd, (WireHead){.kind = WIRE_WELCOME, .status = verdict, .missing = -1}, NULL, 0, -1, k->deadline);
    if (verdict) {
        knocker_drop(meeting, i);
        return verdict == TILE_E_BUSY ? TILE_OK : verdict;
    }
    p->peer[m.head.rank] = k->fd;
    k->fd = -1;
    meeting->come++;
    return TILE_OK;
}

/* Hears those who have said something, and forgets those who were silent for too long. */
static int root_hear(Meeting *m) {
    const struct pollfd *fd = m->fd + m->p->group.nranks;
    int error = TILE_OK, kept = 0, n = m->n;
    for (int i = 0; i < n; i++) {
        if (fd[i].revents && !error)
            error = root_admit(m, i);
        else if (tile_now() >= m->knocker[i].deadline)
            knocker_drop(m, i);
    }
    for (int i = 0; i < n; i++)
        if (m->knocker[i].fd >= 0) m->knocker[kept++] = m->knocker[i];
    m->n = kept;
    return error;
}

/* Waits for a while until one says something, knocks or leaves. */
static void root_watch(const Meeting *m) {
    int n = m->p->group.nranks;
    m->fd[0] = (struct pollfd){.fd = m->listener, .events = POLLIN};
    for (int r = 1; r < n; r++) m->fd[r] = (struct pollfd){.fd = m->p->peer[r], .events = POLLIN};
    for (int i = 0; i < m->n; i++) m->fd[n + i] = (struct pollfd){.fd = m->knocker[i].fd, .events = POLLIN};
    poll(m->fd, (nfds_t)(n + m->n), 100);
}

static void ranks_left(const Meeting *m) {
    for (int r = 1; r < m->p->group.nranks; r++) {
        if (!m->fd[r].revents) continue;
        close(m->p->peer[r]);
        m->p->peer[r] = LEFT;
    }
}

/* A rank that came and left, else one that has not come; -1: all are here. */
static int first_missing(const ProcessGroup *p) {
    for (int state = LEFT; state <= NOT_YET; state++)
        for (int r = 1; r < p->group.nranks; r++)
            if (p->peer[r] == state) return r;
    return -1;
}

/* Goes on when a rank has left, so that those who are still to come hear who it was. */
static int root_gather(Meeting *m, uint64_t deadline) {
    Group *g = &m->p->group;
    int error = TILE_OK;
    while (m->come < g->nranks && !error && tile_now() < deadline) {
        root_watch(m);
        ranks_left(m);
        bool knock = m->fd[0].revents;
        error = root_hear(m);
        if (knock && !error) root_accept(m);
    }
    for (int i = 0; i < m->n; i++) knocker_drop(m, i);
    int missing = first_missing(m->p);
    return error || missing < 0 ? error : group_broken(g, missing, "meet");
}

static int root_meet(ProcessGroup *p, const char *name, uint64_t deadline) {
    Meeting m = {.p = p, .come = 1, .fd = calloc((size_t)p->group.nranks + KNOCKERS, sizeof *m.fd)};
    if (!m.fd) return tile_fail(TILE_E_NOMEM, "out of memory");
    m.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error =
        m.listener < 0 ? tile_fail(TILE_E_SYS, "socket: %s", strerror(errno)) : root_bind(m.listener, name, deadline);
    if (!error) error = root_gather(&m, deadline);
    if (m.listener >= 0) close(m.listener);
    group_tell_all(p, WIRE_MET, error, tile_now() + HELLO_NS);
    free(m.fd);
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
