/* progress.c: a thread that, once a second has passed, keeps one line with the elapsed time on the terminal. */
#include "driver/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct Progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *what;
    bool done;
};

/* Waits until then, or the end; true at the end. */
static bool wait_until(Progress *p, const struct timespec *then) {
    while (!p->done)
        if (pthread_cond_timedwait(&p->changed, &p->lock, then)) break;
    return p->done;
}

static void *progress_main(void *arg) {
    Progress *p = arg;
    struct timespec then;
    int seconds = 0;
    clock_gettime(CLOCK_REALTIME, &then);
    pthread_mutex_lock(&p->lock);
    for (then.tv_sec++; !wait_until(p, &then); then.tv_sec++) fprintf(stderr, "\r%s: %d s\033[K", p->what, ++seconds);
    if (seconds) fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

Progress *progress_begin(Arena *a, const char *what) {
    const char *term = getenv("TERM");
    if (!isatty(STDERR_FILENO) || (term && strcmp(term, "dumb") == 0)) return NULL;
    Progress *p = ARENA_NEW(a, Progress);
    p->what = what;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return pthread_create(&p->thread, NULL, progress_main, p) ? NULL : p;
}

void progress_end(Progress *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->done = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
}
