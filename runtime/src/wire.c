/* wire.c: sends and receives the messages of a group's processes (wire.h).
   Takes datagrams that nobody has checked. Gives a message that is the expected one in every field, or a reason. */
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* Poll takes an int. */
enum { LONGEST_POLL_MS = 60000 };

socklen_t wire_address(const char *name, struct sockaddr_un *a) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "tile-%u-%.40s-%016llx", (unsigned)geteuid(), name,
                     (unsigned long long)hash);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

bool wire_owner(int fd, uid_t *who) {
    struct ucred peer;
    socklen_t n = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0) return false;
    *who = peer.uid;
    return true;
}

/* false: the deadline has passed. */
static bool wait_for(int fd, short events, uint64_t deadline) {
    for (;;) {
        uint64_t now = tile_now(), ms = now < deadline ? (deadline - now) / 1000000u + 1 : 0;
        int n = poll(&(struct pollfd){.fd = fd, .events = events}, 1, ms < LONGEST_POLL_MS ? (int)ms : LONGEST_POLL_MS);
        if (n > 0) return true;
        if (n < 0 ? errno != EINTR : !ms) return false;
    }
}

/* ---- receiving ---- */

typedef union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
} Ancillary;

/* Keeps the first descriptor, closes the others; gives how many came. */
static int descriptors_take(struct msghdr *m, int *first) {
    int n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int), n++) {
            int fd;
            memcpy(&fd, (char *)c + at, sizeof fd);
            if (n)
                close(fd);
            else
                *first = fd;
        }
    }
    return n;
}

/* The length of the next datagram; -1 with errno. */
static ssize_t datagram_receive(int fd, struct msghdr *m, uint64_t deadline) {
    const size_t room = m->msg_controllen;
    for (;;) {
        if (!wait_for(fd, POLLIN, deadline)) return errno = ETIMEDOUT, -1;
        ssize_t got = recvmsg(fd, m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        /* A peer that closed with messages of ours unread: its own last ones stand behind the error. */
        if (got < 0 && errno == ECONNRESET) got = recvmsg(fd, m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR)) return got;
        m->msg_controllen = room;
    }
}

static bool status_known(const WireHead *h, int nranks) {
    return h->status <= TILE_OK && h->status >= TILE_E_RANGE && h->missing >= -1 && h->missing < nranks;
}

/* In what the message is not the expected one; NULL: it is. got: bytes of it; n: of the expected body. */
static const char *message_wrong(const WireHead *h, const WireWant *want, size_t got, size_t n) {
    if (got < sizeof *h) return "it ends within its head";
    if (h->kind != (int32_t)want->kind) return "it is of another kind";
    if (want->rank == WIRE_ANY_RANK ? h->rank < 0 : h->rank != want->rank) return "it names another rank";
    if (h->step != want->step) return "it is of another step";
    if (!status_known(h, want->nranks)) return "its status is unknown";
    if (h->bytes != (h->status ? 0 : n)) return "it announces another size";
    return got == sizeof *h + h->bytes ? NULL : "it has another size than it announces";
}

static WireReceived message_judge(WireMessage *m, const WireWant *want, size_t got, size_t n, int descriptors) {
    const WireHead *h = &m->head;
    if (got < offsetof(WireHead, kind) || h->magic != WIRE_MAGIC) return WIRE_STRANGE;
    if (h->version != WIRE_VERSION) return WIRE_OTHER;
    m->wrong = message_wrong(h, want, got, n);
    if (!m->wrong && descriptors != (h->kind == WIRE_MEMORY && !h->status))
        m->wrong = "another number of descriptors came with it";
    return m->wrong ? WIRE_WRONG : WIRE_GOT;
}

WireReceived wire_receive(int fd, const WireWant *want, void *body, size_t n, WireMessage *m) {
    Ancillary control;
    char more; /* a byte beyond the body tells a datagram that is too long */
    struct iovec part[] = {{&m->head, sizeof m->head}, {body, n}, {&more, 1}};
    struct msghdr h = {.msg_iov = part, .msg_iovlen = 3};
    *m = (WireMessage){.passed = -1};
    if (want->kind == WIRE_MEMORY) h.msg_control = control.bytes, h.msg_controllen = sizeof control.bytes;
    ssize_t got = datagram_receive(fd, &h, want->deadline);
    if (got < 0) return errno == ETIMEDOUT ? WIRE_LATE : WIRE_GONE;
    int descriptors = descriptors_take(&h, &m->passed) + !!(h.msg_flags & MSG_CTRUNC);
    WireReceived r = got ? message_judge(m, want, (size_t)got, n, descriptors) : WIRE_GONE;
    if (r != WIRE_GOT && m->passed >= 0) {
        close(m->passed);
        m->passed = -1;
    }
    return r;
}

/* ---- sending ---- */

bool wire_send(int fd, WireHead head, const void *body, size_t n, int passed, uint64_t deadline) {
    Ancillary control = {{0}};
    head.magic = WIRE_MAGIC;
    head.version = WIRE_VERSION;
    head.bytes = (uint32_t)n;
    struct iovec part[] = {{&head, sizeof head}, {(void *)body, n}};
    struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
    if (passed >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_LEN(sizeof(int));
        *CMSG_FIRSTHDR(&m) =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &passed, sizeof(int));
    }
    while (sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return errno == EPIPE || errno == ECONNRESET;
        if (!wait_for(fd, POLLOUT, deadline)) return false;
    }
    return true;
}
