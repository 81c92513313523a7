/* rt_processes.h: tests that start the ranks of a mesh as processes, with a launcher's variables. */
#ifndef RT_PROCESSES_H
#define RT_PROCESSES_H

#include "rt_program.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void launcher_set(const char *rank_name, int rank, const char *size_name, int size) {
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    setenv(rank_name, text, 1);
    snprintf(text, sizeof text, "%d", size);
    setenv(size_name, text, 1);
}

/* Each child's exit status is the body's result. */
static inline void ranks_fork(pid_t *child, int nranks, int (*body)(int rank)) {
    fflush(NULL);
    for (int r = 0; r < nranks; r++) {
        child[r] = fork();
        CHECK(child[r] >= 0);
        if (child[r] > 0) continue;
        launcher_set("RANK", r, "WORLD_SIZE", nranks);
        int status = body(r);
        fflush(NULL);
        _exit(status);
    }
}

static inline void ranks_join(const pid_t *child, int nranks) {
    for (int r = 0; r < nranks; r++) {
        int status;
        CHECK(waitpid(child[r], &status, 0) == child[r]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static inline tile_mesh *mesh_of_process(int timeout_ms) {
    tile_mesh *m;
    tile_mesh_config config = {.size = sizeof config, .workers = 1, .timeout_ms = timeout_ms};
    return tile_mesh_open(&config, &m) == TILE_OK ? m : NULL;
}

/* Names of shared memory that anyone left behind. */
static inline int shared_names(void) {
    int n = 0;
    DIR *d = opendir("/dev/shm");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

#endif
