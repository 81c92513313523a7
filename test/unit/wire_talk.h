/* wire_talk.h: a rank of this process (the real end) talks with made-up ranks over the sockets of a group.
   Takes bytes that say how each message of the made-up ranks is changed; no bytes: a right conversation. Gives the
   error of the real rank, which opens a mesh and a program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef TILEC_TEST_WIRE_TALK_H
#define TILEC_TEST_WIRE_TALK_H

#include "runtime/src/wire.h"
#include "test/unit/rt_program.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TALK_MOST = 1 << 16, TALK_STEPS = 32, TALK_RANKS = 4, TALK_DESCRIPTORS = 3 };

/* One input: a byte for the next change, then what the change asks for. */
typedef struct {
    const uint8_t *p;
    size_t n, at;
} TalkBytes;

static inline unsigned talk_byte(TalkBytes *b) { return b->at < b->n ? b->p[b->at++] : 0; }

static inline unsigned talk_number(TalkBytes *b, int bytes) {
    unsigned v = 0;
    for (int i = 0; i < bytes; i++) v |= talk_byte(b) << 8 * i;
    return v;
}

typedef struct {
    size_t n; /* 0: nothing is sent */
    int times, nfds, fd[TALK_DESCRIPTORS];
    bool close_after;
    char bytes[TALK_MOST];
} TalkMessage;

static inline void talk_message(TalkMessage *m, WireHead head, const void *body, size_t n) {
    head.magic = WIRE_MAGIC;
    head.version = WIRE_VERSION;
    head.missing = -1;
    head.bytes = (uint32_t)n;
    *m = (TalkMessage){.n = sizeof head + n, .times = 1};
    memcpy(m->bytes, &head, sizeof head);
    if (n) memcpy(m->bytes + sizeof head, body, n);
}

/* ---- descriptors: the right one and others ---- */

enum {
    MEMORY_RIGHT,
    MEMORY_NONE,
    MEMORY_OPEN,
    MEMORY_SHORT,
    MEMORY_LONG,
    MEMORY_PIPE,
    MEMORY_DEVICE,
    MEMORY_READ_ONLY,
    MEMORY_TWICE,
    MEMORY_KINDS
};

static inline int talk_memory(size_t bytes, int seals) {
    int fd = memfd_create("talk", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && (!seals || fcntl(fd, F_ADD_SEALS, seals) == 0));
    return fd;
}

static inline int talk_pipe(void) {
    int end[2];
    CHECK(pipe2(end, O_CLOEXEC) == 0);
    close(end[1]);
    return end[0];
}

static inline void talk_pass(TalkMessage *m, unsigned kind, size_t bytes) {
    enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };
    while (m->nfds) close(m->fd[--m->nfds]);
    if (kind == MEMORY_NONE) return;
    m->nfds = kind == MEMORY_TWICE ? TALK_DESCRIPTORS : 1;
    for (int i = 0; i < m->nfds; i++)
        m->fd[i] = kind == MEMORY_PIPE     ? talk_pipe()
                   : kind == MEMORY_DEVICE ? open("/dev/zero", O_RDWR | O_CLOEXEC)
                   : kind == MEMORY_SHORT  ? talk_memory(bytes / 2, SEALS)
                   : kind == MEMORY_LONG   ? talk_memory(bytes + 4096, SEALS)
                                           : talk_memory(bytes, kind == MEMORY_OPEN        ? 0
                                                                : kind == MEMORY_READ_ONLY ? SEALS | F_SEAL_WRITE
                                                                                           : SEALS);
}

/* ---- changes ---- */

enum { KEEP, FLIP, WORD, CUT, EXTEND, DROP, REPEAT, RAW, PASS, HANG_UP, BODY_WORD, RESIZE, CHANGES };

static inline void talk_patch(TalkMessage *m, size_t at, const void *value, size_t n) {
    if (at + n <= m->n) memcpy(m->bytes + at, value, n);
}

static inline void talk_raw(TalkMessage *m, TalkBytes *b) {
    m->n = talk_number(b, 2) % 600;
    for (size_t i = 0; i < m->n; i++) m->bytes[i] = (char)talk_byte(b);
}

/* Another size of the body, which the head announces. */
static inline void talk_resize(TalkMessage *m, unsigned size) {
    uint32_t body = size % (uint32_t)(m->n - sizeof(WireHead) + 9);
    m->n = sizeof(WireHead) + body;
    memcpy(m->bytes + offsetof(WireHead, bytes), &body, sizeof body);
}

/* bytes: of the memory that the conversation shares here. */
static inline void talk_change(TalkMessage *m, TalkBytes *b, size_t bytes) {
    unsigned change = talk_byte(b) % 32, at, value;
    switch (change) {
    case FLIP:
        at = talk_number(b, 2);
        if (m->n) m->bytes[at % m->n] ^= (char)talk_byte(b);
        break;
    case WORD:
        at = talk_byte(b) % (sizeof(WireHead) / 4);
        value = talk_number(b, 4);
        talk_patch(m, 4 * at, &value, 4);
        break;
    case BODY_WORD:
        at = talk_number(b, 2);
        value = talk_number(b, 4);
        talk_patch(m, sizeof(WireHead) + 4 * at, &value, 4);
        break;
    case CUT:
        at = talk_number(b, 2);
        if (m->n) m->n = at % m->n;
        break;
    case EXTEND: m->n += talk_byte(b) + 1; break;
    case REPEAT: m->times = 2 + (int)talk_byte(b) % 3; break;
    case RAW: talk_raw(m, b); break;
    case PASS: talk_pass(m, talk_byte(b) % MEMORY_KINDS, bytes); break;
    case RESIZE: talk_resize(m, talk_number(b, 2)); break;
    case DROP:
        m->n = 0;
        m->close_after = true;
        break;
    case HANG_UP: m->close_after = true; break;
    default: break;
    }
}

/* false: the connection is no more. */
static inline bool talk_send(int fd, TalkMessage *m) {
    union {
        char bytes[CMSG_SPACE(sizeof(int) * TALK_DESCRIPTORS)];
        struct cmsghdr align;
    } room = {{0}};
    struct iovec part = {m->bytes, m->n};
    struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};
    size_t passed = sizeof(int) * (size_t)m->nfds;
    if (passed) {
        h.msg_control = room.bytes;
        h.msg_controllen = CMSG_SPACE(passed);
        *CMSG_FIRSTHDR(&h) =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(passed), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), m->fd, passed);
    }
    bool good = true;
    for (int i = 0; i < m->times && m->n && good; i++) good = sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
    while (m->nfds) close(m->fd[--m->nfds]);
    return good && m->n && !m->close_after;
}

static inline bool talk_receive(int fd, TalkMessage *m) {
    ssize_t got = recv(fd, m->bytes, sizeof m->bytes, 0);
    m->n = got > 0 ? (size_t)got : 0;
    return m->n >= sizeof(WireHead);
}

/* ---- what a right joining rank sends, learnt from a real one ---- */

typedef struct {
    int n;
    TalkMessage step[TALK_STEPS];
} TalkScript;

typedef struct {
    const char *group, *target;
    int nranks;
    TalkBytes bytes;
    TalkScript *script; /* made-up rank 0: is filled, if it is not NULL; made-up joining ranks: what they send */
    int listener;
    int stop; /* the reading end of a pipe: closed when the real rank has ended */
    TalkMessage in, out;
} Talk;

/* A process that has ended: nobody waits for it. */
static inline int64_t talk_ended(void) {
    static pid_t child;
    if (!child && (child = fork()) == 0) _exit(0);
    return child;
}

/* The memory of a device that made-up ranks tell of: a block of this process, which their driver takes for it. */
static void *talk_block;
enum { TALK_PART = 80, TALK_HANDLE = 16 }; /* gpu_share.c: a Part, the handle in it */

/* What differs from rank to rank: the process, its device, memory there. */
static inline void talk_body_for(char *body, size_t n, int rank, uint32_t step) {
    if (talk_block && n == TALK_PART) memcpy(body + TALK_HANDLE, &talk_block, sizeof talk_block);
    int64_t ended = talk_ended();
    if (step == 0 && n >= sizeof ended) memcpy(body, &ended, sizeof ended);
    if (n > 8 && memcmp(body, "emu:", 4) == 0) body[4] = (char)('0' + rank);
}

/* ---- the made-up rank 0 ---- */

static inline void talk_learn(Talk *t) {
    if (t->script && t->script->n < TALK_STEPS) t->script->step[t->script->n++] = t->in;
}

static inline void talk_answer(Talk *t, const WireHead *asked) {
    static _Thread_local char body[TALK_MOST];
    size_t n = t->in.n - sizeof *asked, all = n * (size_t)t->nranks;
    uint64_t bytes = 0;
    WireHead head = {.kind = WIRE_WHOLE, .step = asked->step};
    if (asked->kind == WIRE_ROOM) {
        memcpy(&bytes, t->in.bytes + sizeof *asked, sizeof bytes);
        head.kind = WIRE_MEMORY;
        talk_message(&t->out, head, NULL, 0);
        talk_pass(&t->out, MEMORY_RIGHT, bytes);
    } else {
        for (int r = 0; r < t->nranks && all <= TALK_MOST - sizeof head; r++) {
            memcpy(body + n * (size_t)r, t->in.bytes + sizeof *asked, n);
            talk_body_for(body + n * (size_t)r, n, r, asked->step);
        }
        talk_message(&t->out, head, body, all);
    }
    talk_change(&t->out, &t->bytes, bytes);
}

static inline bool talk_welcome(Talk *t, int fd) {
    for (int kind = WIRE_WELCOME; kind <= WIRE_MET; kind++) {
        talk_message(&t->out, (WireHead){.kind = kind}, NULL, 0);
        talk_change(&t->out, &t->bytes, 4096);
        if (!talk_send(fd, &t->out)) return false;
    }
    return true;
}

static inline void talk_with_one(Talk *t, int fd) {
    bool good = true;
    while (good && talk_receive(fd, &t->in)) {
        WireHead asked;
        memcpy(&asked, t->in.bytes, sizeof asked);
        if (asked.kind == WIRE_HELLO) {
            good = talk_welcome(t, fd);
            continue;
        }
        talk_learn(t);
        talk_answer(t, &asked);
        good = talk_send(fd, &t->out);
    }
    close(fd);
}

static inline void *talk_root(void *arg) {
    Talk *t = arg;
    for (;;) {
        struct pollfd fd[] = {{.fd = t->listener, .events = POLLIN}, {.fd = t->stop}};
        poll(fd, 2, -1);
        if (fd[1].revents) return NULL;
        int one = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);
        if (one >= 0) talk_with_one(t, one);
    }
}

/* ---- the made-up joining ranks ---- */

static inline bool talk_say(Talk *t, int fd, int rank, const TalkMessage *m, uint32_t step) {
    WireHead head;
    memcpy(&head, m->bytes, sizeof head);
    head.rank = rank;
    head.step = step;
    talk_message(&t->out, head, m->bytes + sizeof head, m->n - sizeof head);
    if (head.kind != WIRE_HELLO) talk_body_for(t->out.bytes + sizeof head, m->n - sizeof head, rank, step);
    talk_change(&t->out, &t->bytes, 4096);
    return talk_send(fd, &t->out);
}

static inline int talk_connect(const Talk *t) {
    struct sockaddr_un address;
    socklen_t n = wire_address(t->group, &address);
    for (;;) {
        struct pollfd stop = {.fd = t->stop};
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK(fd >= 0);
        if (connect(fd, (struct sockaddr *)&address, n) == 0) return fd;
        close(fd);
        if (poll(&stop, 1, 1) > 0) return -1;
    }
}

static inline bool talk_hello(Talk *t, int fd, int rank) {
    TalkMessage *m = &t->in;
    int32_t nranks = t->nranks;
    talk_message(m, (WireHead){.kind = WIRE_HELLO}, &nranks, sizeof nranks);
    return talk_say(t, fd, rank, m, 0);
}

/* Steps of all made-up ranks in turn; a rank that fell silent is left out. */
static inline void *talk_joiners(void *arg) {
    Talk *t = arg;
    int fd[TALK_RANKS];
    bool good[TALK_RANKS] = {false};
    for (int r = 1; r < t->nranks; r++) {
        fd[r] = talk_connect(t);
        good[r] = fd[r] >= 0 && talk_hello(t, fd[r], r) && talk_receive(fd[r], &t->in);
        if (!good[r] && fd[r] >= 0) close(fd[r]);
    }
    for (int r = 1; r < t->nranks; r++) /* WIRE_MET */
        if (good[r] && !(good[r] = talk_receive(fd[r], &t->in))) close(fd[r]);
    for (int s = 0; s < t->script->n; s++) {
        for (int r = 1; r < t->nranks; r++)
            if (good[r] && !(good[r] = talk_say(t, fd[r], r, &t->script->step[s], (uint32_t)s))) close(fd[r]);
        for (int r = 1; r < t->nranks; r++)
            if (good[r] && !(good[r] = talk_receive(fd[r], &t->in))) close(fd[r]);
    }
    for (int r = 1; r < t->nranks; r++)
        if (good[r]) close(fd[r]);
    return NULL;
}

/* ---- the real rank ---- */

static inline int talk_descriptors(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static inline int talk_open(const Talk *t, const tile_program *program, int timeout_ms) {
    tile_mesh *m = NULL;
    tile_instance *p = NULL;
    tile_mesh_config config = {.size = sizeof config,
                               .device = TILE_DEVICE_OF_RANK,
                               .workers = 1,
                               .timeout_ms = timeout_ms,
                               .group = t->group,
                               .target = t->target};
    int code = tile_mesh_open(&config, &m);
    if (!code) code = tile_instance_open(m, program, &p);
    tile_instance_close(p);
    tile_mesh_close(m);
    return code;
}

static inline void talk_environment(int rank, int nranks) {
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    snprintf(text, sizeof text, "%d", nranks);
    setenv("WORLD_SIZE", text, 1);
}

static inline int talk_listen(const char *group) {
    struct sockaddr_un address;
    socklen_t n = wire_address(group, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, 16) == 0);
    return fd;
}

/* rank: of the real end. The program's error, after which nothing is left behind. */
static inline int talk_run(Talk *t, int rank, const tile_program *program, int timeout_ms) {
    pthread_t other;
    int end[2], before = talk_descriptors();
    talk_environment(rank, t->nranks);
    CHECK(pipe2(end, O_CLOEXEC) == 0);
    t->stop = end[0];
    t->listener = rank ? talk_listen(t->group) : -1;
    CHECK(pthread_create(&other, NULL, rank ? talk_root : talk_joiners, t) == 0);
    int code = talk_open(t, program, timeout_ms);
    close(end[1]);
    pthread_join(other, NULL);
    close(end[0]);
    if (rank) close(t->listener);
    CHECK(talk_descriptors() == before);
    return code;
}

#endif
