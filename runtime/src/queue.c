/* queue.c: runs in the order in which they were enqueued, one at a time; their tickets go to the workers in order. A
   worker with a ticket keeps its run from ending. The worker that finishes the last ticket ends the run and starts
   the next. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

/* Before a worker or a waiting caller sleeps. With more threads than cores the clock ends it. */
enum { IDLE_SPINS = 500, IDLE_NS = 1000000 };

/* Of a program of one rank: tickets taken at once, at most, and the part of what is left that a worker takes, counted
   in workers: small enough that workers end together. A worker goes through them in order, so the lowest ticket that is
   not done is always at work, and waits for none that is not done. */
enum { MOST_AT_ONCE = 32, SHARES = 8 };

/* From `ticket` on, in order. */
typedef struct {
    int64_t ticket, n;
} Taken;

static uint64_t share_of(const Queue *q, uint64_t left) {
    const int64_t shares = atomic_load_explicit(&q->shares, memory_order_relaxed);
    const uint64_t n = shares ? left / (uint64_t)shares : 1;
    return n < 1 ? 1 : n > MOST_AT_ONCE ? MOST_AT_ONCE : n;
}

/* Takes the lowest tickets that nobody took; NULL: there is none. */
static Frame *ticket_take(Queue *q, Taken *taken) {
    uint64_t seen = atomic_load_explicit(&q->tickets, memory_order_acquire);
    while ((uint32_t)seen) {
        const uint64_t n = share_of(q, (uint32_t)seen);
        if (!atomic_compare_exchange_weak_explicit(&q->tickets, &seen, seen - n, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        Frame *f = q->frame[(seen >> 32) % QUEUE_DEPTH];
        *taken = (Taken){f->tickets - (int64_t)(uint32_t)seen, (int64_t)n};
        return f;
    }
    return NULL;
}

/* The rest with the queue's lock. */

static void run_end(Queue *q, Frame *f) {
    int error = atomic_load_explicit(&f->error, memory_order_relaxed);
    if (error && !q->error) q->error = error;
    f->instance->finished++;
    atomic_fetch_add_explicit(&q->finished, 1, memory_order_release);
    if (q->waiters) pthread_cond_broadcast(&q->idle);
}

static void workers_wake(Queue *q, int64_t tickets) {
    int n = tickets < q->sleepers ? (int)tickets : q->sleepers;
    for (int i = 0; i < n; i++) pthread_cond_signal(&q->work);
}

/* A run that its inputs forbid is as if it had never been: all ranks skip it, and the generation stays. */
static int run_check(tile_mesh *m, Frame *f) {
    char why[WHY_BYTES];
    int error = fault_poisoned(m) ? TILE_E_POISONED : frame_check(f, why);
    if (error == TILE_E_RANGE && !m->queue.error) memcpy(m->queue.why, why, sizeof why);
    if (error == TILE_E_RANGE) return error;
    f->generation = ++f->instance->generation;
    sizes_show(f->instance, f);
    return error;
}

static int workers_of(const tile_mesh *m, const tile_program *p) {
    return p->workers > 0 && p->workers < m->nworkers ? p->workers : m->nworkers;
}

static void run_start(tile_mesh *m, Frame *f) {
    Queue *q = &m->queue;
    int workers = workers_of(m, f->instance->program);
    atomic_store_explicit(&f->error, run_check(m, f), memory_order_relaxed);
    if (f->tickets && !f->error) {
        atomic_store_explicit(&f->left, f->tickets, memory_order_relaxed);
        atomic_store(&q->spare, m->nworkers - workers);
        atomic_store_explicit(&q->shares, m->nranks > 1 ? 0 : (int64_t)SHARES * workers, memory_order_relaxed);
        atomic_store(&q->tickets, q->started << 32 | (uint64_t)f->tickets);
        workers_wake(q, f->tickets < workers ? f->tickets : workers);
        return;
    }
    if (f->error && f->error != TILE_E_RANGE) fault_fill(f);
    run_end(q, f);
}

static void runs_start(tile_mesh *m) {
    Queue *q = &m->queue;
    while (q->started == q->finished && q->started < q->enqueued) {
        q->started++;
        run_start(m, q->frame[q->started % QUEUE_DEPTH]);
    }
}

int queue_add(tile_instance *p, void *const *arg, const int64_t *dim, int64_t tickets) {
    Queue *q = &p->mesh->queue;
    pthread_mutex_lock(&q->lock);
    bool full = q->enqueued - q->finished == QUEUE_DEPTH || p->enqueued - p->finished == FRAMES;
    if (!full) {
        Frame *f = &p->frame[p->enqueued++ % FRAMES];
        frame_fill(f, arg, dim, tickets);
        q->enqueued++;
        q->frame[q->enqueued % QUEUE_DEPTH] = f;
        runs_start(p->mesh);
    }
    pthread_mutex_unlock(&q->lock);
    return full
               ? tile_fail(TILE_E_BUSY, "too many runs are queued: at most %d, of one instance %d", QUEUE_DEPTH, FRAMES)
               : TILE_OK;
}

/* ---- workers, without the lock ---- */

/* The peers will miss what a failed task was to signal: they are told at once. */
static void task_failed(Frame *f, const tile_task *t, int error) {
    int none = TILE_OK;
    atomic_compare_exchange_strong(&f->error, &none, error);
    if (error == TILE_E_TIMEOUT || error == TILE_E_POISONED) return;
    tile_record why = tile_record_make(t, -1, -1, 0, 0);
    strcpy(why.name, "a task failed");
    tile_give_up(t, why);
}

static void task_execute(Worker *w, Frame *f, tile_task *t, int64_t ticket) {
    const tile_program *p = f->instance->program;
    uint64_t begin = w->event ? tile_now() : 0;
    if (atomic_load_explicit(&f->error, memory_order_relaxed)) return;
    t->ticket = ticket;
    w->waited = 0;
    int error = p->task(t, ticket);
    if (w->event) trace_add(w, t, p, begin);
    if (error) task_failed(f, t, error);
}

/* With the queue's lock. Nobody waits for what a refused run of one rank did not send: the next run finds a healthy
   mesh, as behind a refused run of one GPU. */
static void refusal_end(tile_mesh *m, Frame *f) {
    if (m->nranks > 1 || !atomic_load_explicit(&f->error, memory_order_relaxed) || !fault_take_refusal(m)) return;
    if (!m->queue.error) snprintf(m->queue.why, WHY_BYTES, "%s", tile_last_error());
    instance_clear(f->instance);
    atomic_store_explicit(&f->error, TILE_E_RANGE, memory_order_relaxed);
}

static void run_finish(tile_mesh *m, Frame *f) {
    int none = TILE_OK;
    if (!sizes_agree(f->instance, f->generation)) atomic_compare_exchange_strong(&f->error, &none, TILE_E_TIMEOUT);
    if (atomic_load_explicit(&f->error, memory_order_relaxed)) fault_fill(f);
    pthread_mutex_lock(&m->queue.lock);
    refusal_end(m, f);
    run_end(&m->queue, f);
    runs_start(m);
    pthread_mutex_unlock(&m->queue.lock);
}

/* All tickets of a run that this worker can get. */
static void worker_execute(Worker *w, Frame *f, Taken taken) {
    const tile_instance *p = f->instance;
    int64_t done = 0;
    tile_task t;
    instance_task(p, f, &t);
    t.scratch = p->scratch + p->scratch_stride * (size_t)w->id;
    t.waited = w->event ? &w->waited : NULL;
    do {
        for (int64_t i = 0; i < taken.n; i++) task_execute(w, f, &t, taken.ticket + i);
        done += taken.n;
    } while (ticket_take(&w->mesh->queue, &taken));
    if (atomic_fetch_sub_explicit(&f->left, done, memory_order_acq_rel) == done) run_finish(w->mesh, f);
}

/* At most as many threads work at once as the rank has workers: its worker threads, and the caller while it waits. */
static bool permit_take(Queue *q) {
    if (!(uint32_t)atomic_load_explicit(&q->tickets, memory_order_acquire)) return false;
    int n = atomic_load_explicit(&q->permits, memory_order_relaxed), spare = atomic_load(&q->spare);
    while (n > spare && !atomic_compare_exchange_weak(&q->permits, &n, n - 1)) continue;
    return n > spare;
}

/* Whoever found no permit may be asleep. */
static void permit_give(Queue *q) {
    atomic_fetch_add(&q->permits, 1);
    if (!(uint32_t)atomic_load(&q->tickets)) return;
    pthread_mutex_lock(&q->lock);
    workers_wake(q, 1);
    pthread_mutex_unlock(&q->lock);
}

/* True if there was something to do. */
static bool worker_try(Worker *w) {
    Queue *q = &w->mesh->queue;
    Taken taken;
    if (!permit_take(q)) return false;
    Frame *f = ticket_take(q, &taken);
    if (f) worker_execute(w, f, taken);
    permit_give(q);
    return f != NULL;
}

static void worker_sleep(Queue *q) {
    pthread_mutex_lock(&q->lock);
    bool work = (uint32_t)atomic_load(&q->tickets) && atomic_load(&q->permits) > atomic_load(&q->spare);
    if (!work && !atomic_load(&q->stop)) {
        q->sleepers++;
        pthread_cond_wait(&q->work, &q->lock);
        q->sleepers--;
    }
    pthread_mutex_unlock(&q->lock);
}

/* Does who has nothing to do still look around? */
static bool idles(unsigned spin, uint64_t since) { return spin < IDLE_SPINS && tile_now() - since < IDLE_NS; }

static void *worker_main(void *arg) {
    Worker *w = arg;
    Queue *q = &w->mesh->queue;
    uint64_t since = tile_now();
    for (unsigned spin = 1; !atomic_load_explicit(&q->stop, memory_order_relaxed); spin++) {
        bool worked = worker_try(w);
        if (!worked && idles(spin, since)) {
            tile_relax(spin, since);
            continue;
        }
        if (!worked) worker_sleep(q);
        spin = 0;
        since = tile_now();
    }
    return NULL;
}

/* The caller works on what it waits for; only one caller at a time. */
static void queue_help(tile_mesh *m, uint64_t all) {
    Queue *q = &m->queue;
    if (atomic_exchange(&q->helped, true)) return;
    uint64_t since = tile_now();
    for (unsigned spin = 1; idles(spin, since) && atomic_load_explicit(&q->finished, memory_order_acquire) < all;
         spin++) {
        if (worker_try(&m->worker[m->nworkers]))
            spin = 0, since = tile_now();
        else
            tile_relax(spin, since);
    }
    atomic_store(&q->helped, false);
}

void queue_wait(tile_mesh *m) {
    Queue *q = &m->queue;
    pthread_mutex_lock(&q->lock);
    uint64_t all = q->enqueued;
    pthread_mutex_unlock(&q->lock);
    queue_help(m, all);
    pthread_mutex_lock(&q->lock);
    q->waiters++;
    while (q->finished < all) pthread_cond_wait(&q->idle, &q->lock);
    q->waiters--;
    pthread_mutex_unlock(&q->lock);
}

int queue_drain(tile_mesh *m) {
    Queue *q = &m->queue;
    queue_wait(m);
    pthread_mutex_lock(&q->lock);
    int error = q->error;
    q->error = TILE_OK;
    pthread_mutex_unlock(&q->lock);
    return error;
}

int queue_open(tile_mesh *m, int workers) {
    Queue *q = &m->queue;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->idle, NULL);
    atomic_store(&q->permits, workers);
    m->worker = calloc((size_t)workers + 1, sizeof *m->worker);
    if (!m->worker) return tile_fail(TILE_E_NOMEM, "out of memory");
    for (int i = 0; i <= workers; i++) m->worker[i] = (Worker){.mesh = m, .id = i};
    for (int i = 0; i < workers; i++) {
        int error = pthread_create(&m->worker[i].thread, NULL, worker_main, &m->worker[i]);
        if (error) return tile_fail(TILE_E_SYS, "thread %d of %d: %s", i + 1, workers, strerror(error));
        m->nworkers++;
    }
    return TILE_OK;
}

void queue_close(tile_mesh *m) {
    Queue *q = &m->queue;
    pthread_mutex_lock(&q->lock);
    atomic_store(&q->stop, true);
    pthread_cond_broadcast(&q->work);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < m->nworkers; i++) pthread_join(m->worker[i].thread, NULL);
    for (int i = 0; i <= m->nworkers; i++) free(m->worker[i].event);
    free(m->worker);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->idle);
}
