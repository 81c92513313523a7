/* group_threads.c: ranks that are threads of one process meet under a name and share its memory.
   The list of names that are still meeting is the runtime's only state outside a mesh: that is what a meeting needs. */
#include "runtime.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Meeting {
    struct Meeting *next; /* in the list until all have come */
    char name[256];
    int nranks;

    int come, users; /* these under meetings_lock */
    bool listed;
    bool *joined; /* [nranks] */

    pthread_mutex_t lock; /* the rest under this one */
    pthread_cond_t moved;
    bool broken;
    int waiting; /* ranks that stand at the current step */
    uint64_t step;
    bool *here;         /* [nranks] stands at the current step */
    const void **given; /* [nranks] */
    Share share;        /* what the last share step made */
} Meeting;

typedef struct {
    Group group;
    Meeting *meeting;
} ThreadGroup;

static pthread_mutex_t meetings_lock = PTHREAD_MUTEX_INITIALIZER;
static Meeting *meetings;

static void meeting_free(Meeting *m) {
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->moved);
    free(m->joined);
    free(m->here);
    free(m->given);
    free(m);
}

static Meeting *meeting_new(const char *name, int nranks) {
    Meeting *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    strncpy(m->name, name, sizeof m->name - 1);
    m->nranks = nranks;
    m->joined = calloc((size_t)nranks, sizeof *m->joined);
    m->here = calloc((size_t)nranks, sizeof *m->here);
    m->given = calloc((size_t)nranks, sizeof *m->given);
    if (m->joined && m->here && m->given) return m;
    meeting_free(m);
    return NULL;
}

/* With meetings_lock. */
static Meeting *meeting_find(const char *name) {
    Meeting *m = meetings;
    while (m && strcmp(m->name, name) != 0) m = m->next;
    return m;
}

/* With meetings_lock. */
static void meeting_unlist(Meeting *m) {
    Meeting **link = &meetings;
    while (*link && *link != m) link = &(*link)->next;
    if (*link) *link = m->next;
    m->listed = false;
}

/* With meetings_lock. */
static int meeting_enter(Meeting *m, int rank, int nranks) {
    if (m->nranks != nranks)
        return tile_fail(TILE_E_MISMATCH, "rank %d expects %d ranks, another of the group expects %d", rank, nranks,
                         m->nranks);
    if (m->joined[rank]) return tile_fail(TILE_E_ARG, "rank %d is already in the group '%s'", rank, m->name);
    m->joined[rank] = true;
    m->users++;
    if (++m->come == nranks) meeting_unlist(m);
    return TILE_OK;
}

static int meeting_join(const char *name, int rank, int nranks, Meeting **out) {
    pthread_mutex_lock(&meetings_lock);
    Meeting *m = meeting_find(name);
    int error = TILE_OK;
    if (!m) {
        m = meeting_new(name, nranks);
        if (m) {
            m->next = meetings;
            m->listed = true;
            meetings = m;
        }
    }
    error = m ? meeting_enter(m, rank, nranks) : tile_fail(TILE_E_NOMEM, "out of memory");
    pthread_mutex_unlock(&meetings_lock);
    *out = m;
    return error;
}

static struct timespec deadline_after(uint64_t ns) {
    uint64_t at = tile_now() + ns;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)};
}

/* All ranks stand here before any goes on; with the meeting's lock. */
static int meeting_step(Group *g, Meeting *m, const char *doing) {
    struct timespec deadline = deadline_after(g->timeout_ns);
    uint64_t step = m->step;
    if (m->broken) return group_broken(g, -1, doing);
    m->waiting++;
    m->here[g->rank] = true;
    if (m->waiting == m->nranks) {
        m->waiting = 0;
        m->step++;
        memset(m->here, 0, sizeof *m->here * (size_t)m->nranks);
        pthread_cond_broadcast(&m->moved);
    }
    while (m->step == step && !m->broken)
        if (pthread_cond_timedwait(&m->moved, &m->lock, &deadline) == ETIMEDOUT && m->step == step) m->broken = true;
    if (m->step != step) return TILE_OK;
    pthread_cond_broadcast(&m->moved);
    int missing = 0;
    while (missing < m->nranks && m->here[missing]) missing++;
    return group_broken(g, missing < m->nranks ? missing : -1, doing);
}

static int threads_allgather(Group *g, const void *in, void *out, size_t each) {
    Meeting *m = ((ThreadGroup *)g)->meeting;
    pthread_mutex_lock(&m->lock);
    m->given[g->rank] = in;
    int error = meeting_step(g, m, "exchange");
    for (int r = 0; r < g->nranks && !error; r++) memcpy((char *)out + (size_t)r * each, m->given[r], each);
    if (!error) error = meeting_step(g, m, "exchange");
    pthread_mutex_unlock(&m->lock);
    return error;
}

/* With the meeting's lock, on rank 0. */
static void share_make(Share *s, size_t part, int nranks) {
    *s = (Share){
        .stride = pages_round(part), .bytes = pages_round(part) * (size_t)nranks, .users = malloc(sizeof *s->users)};
    if (!s->users) return;
    atomic_init(s->users, nranks);
    s->base = pages_map(s->bytes);
}

static int threads_share(Group *g, size_t part, Share *out) {
    Meeting *m = ((ThreadGroup *)g)->meeting;
    pthread_mutex_lock(&m->lock);
    if (g->rank == 0) share_make(&m->share, part, g->nranks);
    int error = meeting_step(g, m, "share memory");
    if (!error) *out = m->share;
    if (!error) error = meeting_step(g, m, "share memory");
    pthread_mutex_unlock(&m->lock);
    if (error || out->base) return error;
    share_close(out);
    return tile_fail(TILE_E_NOMEM, "no memory for %zu bytes on each of %d ranks", part, g->nranks);
}

static void threads_close(Group *g) {
    ThreadGroup *t = (ThreadGroup *)g;
    Meeting *m = t->meeting;
    pthread_mutex_lock(&meetings_lock);
    if (m->listed) meeting_unlist(m);
    bool last = --m->users == 0;
    pthread_mutex_unlock(&meetings_lock);
    if (last) meeting_free(m);
    free(t);
}

int group_open_threads(const char *name, int rank, int nranks, uint64_t timeout_ns, Group **out) {
    ThreadGroup *t = calloc(1, sizeof *t);
    if (!t) return tile_fail(TILE_E_NOMEM, "out of memory");
    t->group = (Group){.rank = rank,
                       .nranks = nranks,
                       .timeout_ns = timeout_ns,
                       .missing = -1,
                       .threads = true,
                       .allgather = threads_allgather,
                       .share = threads_share,
                       .close = threads_close};
    int error = meeting_join(name, rank, nranks, &t->meeting);
    if (error) {
        free(t);
        return error;
    }
    pthread_mutex_lock(&t->meeting->lock);
    error = meeting_step(&t->group, t->meeting, "meet");
    pthread_mutex_unlock(&t->meeting->lock);
    if (error)
        threads_close(&t->group);
    else
        *out = &t->group;
    return error;
}
