/* engine.c: the thread that runs the workgroups of all devices, in turns. TILE_EMU_SEED decides which workgroup is
   next, where it is put, and when its turn ends. A workgroup that waits for others gives its turn away. */
#include "cluster.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, happened;
    _Atomic int waiting; /* threads that want the lock */
    int sleeping;        /* threads that wait for news */
    uint64_t news;
    bool started, failed;
    uint64_t random;
    Group *group[EMU_DEVICES * EMU_PLACES];
    Group *last;
    int idle;       /* turns without progress */
    char text[512]; /* of the mistake */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .happened = PTHREAD_COND_INITIALIZER};

void engine_enter(void) {
    engine.waiting++;
    pthread_mutex_lock(&engine.lock);
    engine.waiting--;
}

void engine_leave(void) { pthread_mutex_unlock(&engine.lock); }

/* Who sleeps here wants the lock as soon as there is news. */
void engine_wait(void) {
    uint64_t seen = engine.news;
    engine.sleeping++;
    while (engine.news == seen) pthread_cond_wait(&engine.happened, &engine.lock);
    engine.waiting--;
}

void engine_happened(void) {
    engine.news++;
    engine.waiting += engine.sleeping;
    engine.sleeping = 0;
    pthread_cond_broadcast(&engine.happened);
}

const char *engine_text(void) { return engine.text; }

uint64_t engine_random(void) {
    uint64_t z = (engine.random += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t engine_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool engine_interrupts(void) { return engine.failed || atomic_load_explicit(&engine.waiting, memory_order_relaxed); }

void engine_mistake(const char *text) {
    if (!engine.failed) snprintf(engine.text, sizeof engine.text, "%s", text);
    engine.failed = true;
}

/* ---- whose turn it is ---- */

static Group *group_at(int place) {
    Group **g = &engine.group[place];
    if (!*g && (*g = calloc(1, sizeof **g))) (*g)->place = place;
    return *g;
}

/* Clocks do not tell the workgroups of one place apart: best one whose last workgroup the launch knows of. */
static Group *place_free(const Launch *l) {
    int first = (int)(engine_random() % EMU_PLACES);
    Group *any = NULL;
    for (int i = 0; i < EMU_PLACES; i++) {
        Group *g = group_at(l->device * EMU_PLACES + (first + i) % EMU_PLACES);
        if (!g || g->launch) continue;
        if (g->tick <= l->begin.place[g->place].near) return g;
        any = g;
    }
    return any;
}

/* A random order of all clusters: i times an odd step, shifted, within a power of two. */
static int64_t launch_next(Launch *l) {
    int each = l->facts->cluster;
    uint64_t size = 1, number, all = (uint64_t)(l->ngroups / each);
    while (size < all) size *= 2;
    do number = (l->tried++ * l->step + l->shift) & (size - 1);
    while (number >= all);
    l->begun += each;
    return (int64_t)number * each;
}

static int places_free(int device) {
    int n = 0;
    for (int i = 0; i < EMU_PLACES; i++) n += !engine.group[device * EMU_PLACES + i] || !engine.group[device * EMU_PLACES + i]->launch;
    return n;
}

/* Streams of one device may wait for each other: none takes the last places while another has no workgroup there. */
static bool launch_leaves_room(const Launch *l) {
    return l->begun == l->ended || places_free(l->device) - l->facts->cluster >= streams_claim(l);
}

/* The first of as many as meet; NULL: the device has no room for all. */
static Group *launch_groups(Launch *l) {
    Group *place[EMU_PLACES];
    int n = 0, all = l->facts->cluster;
    if (!launch_leaves_room(l)) return NULL;
    for (; n < all && (place[n] = place_free(l)); n++) place[n]->launch = l;
    bool room = n == all;
    while (n) place[--n]->launch = NULL;
    if (!room) return NULL;
    if (cluster_begin(l, place, launch_next(l))) return place[0];
    engine_mistake("the emulator has no memory for a workgroup");
    return NULL;
}

static int groups_find(Group *to[], bool polling) {
    int n = 0;
    for (int i = 0; i < EMU_DEVICES * EMU_PLACES; i++) {
        Group *g = engine.group[i];
        if (g && g->launch && g->polling == polling) to[n++] = g;
    }
    return n;
}

/* Mostly the one that ran last; now and then another, or a new one. */
static Group *group_choose(void) {
    enum { ROOM = EMU_DEVICES * EMU_PLACES };
    Group *ready[ROOM], *polling[ROOM], *fresh = NULL;
    Launch *launch[ROOM];
    int nready = groups_find(ready, false), npolling = groups_find(polling, true);
    int nlaunch = streams_launches(launch, ROOM);
    if (nlaunch && (!nready || engine_random() % 16 == 0))
        fresh = launch_groups(launch[engine_random() % (uint64_t)nlaunch]);
    engine.idle = nready || fresh ? 0 : engine.idle + 1;
    if (fresh) return fresh;
    int seldom = engine.last && engine.last->yields ? 2 : 8;
    if (npolling && (!nready || engine_random() % (uint64_t)seldom == 0))
        return polling[engine_random() % (uint64_t)npolling];
    if (!nready) return NULL;
    bool stay = engine.last && engine.last->launch && !engine.last->polling && engine_random() % 4;
    return stay ? engine.last : ready[engine_random() % (uint64_t)nready];
}

static void groups_drop(void) {
    for (int i = 0; i < EMU_DEVICES * EMU_PLACES; i++)
        if (engine.group[i] && engine.group[i]->launch) group_end(engine.group[i]);
}

/* Histories of what was in flight mean nothing any more. */
static void mistake_handle(void) {
    groups_drop();
    streams_drop();
    words_forget(NULL, 0);
    memory_forget();
    engine.failed = false;
}

/* Histories are forgotten when there are too many: best while nothing runs. */
static void histories_bound(bool works) {
    enum { MANY = 1 << 19, TOO_MANY = 1 << 22 };
    if (memory_histories() >= (works ? TOO_MANY : MANY)) memory_forget();
}

/* Others may take the lock; nobody burns the processor where all wait for what the host is still to give. */
static void others_let(void) {
    bool nap = engine.idle > 1000;
    if (!nap && !engine.waiting) return;
    pthread_mutex_unlock(&engine.lock);
    if (nap) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    while (engine.waiting) sched_yield();
    pthread_mutex_lock(&engine.lock);
}

static void *engine_main(void *unused) {
    pthread_mutex_lock(&engine.lock);
    for (;;) {
        bool works = streams_advance();
        Group *g = works ? group_choose() : NULL;
        histories_bound(works);
        if (!works) pthread_cond_wait(&engine.work, &engine.lock);
        if (g && group_turn(g)) group_end(g);
        if (engine.failed) mistake_handle();
        engine.last = g;
        others_let();
    }
    return unused;
}

bool engine_wake(void) {
    pthread_t thread;
    const char *seed = getenv("TILE_EMU_SEED");
    if (!engine.started) {
        engine.random = (seed ? strtoull(seed, NULL, 10) : 0) * 0x2545f4914f6cdd1du;
        if (pthread_create(&thread, NULL, engine_main, NULL)) return false;
        pthread_detach(thread);
        engine.started = true;
    }
    pthread_cond_signal(&engine.work);
    return true;
}
