/* group.c: how the ranks of a mesh meet: as threads, as processes, or over the caller's own exchange.
   The caller's exchange only agrees on a name that no other job has; the rest is the same. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

typedef struct {
    uint64_t name; /* of rank 0: drawn at random */
    int64_t pid;
    char host[40]; /* of this boot of this host */
} Hello;

static void host_read(char *out, size_t size) {
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!f || !fgets(out, (int)size, f)) gethostname(out, size - 1);
    if (f) fclose(f);
}

static bool same_host(const Hello *all, int n) {
    for (int r = 1; r < n; r++)
        if (strncmp(all[r].host, all[0].host, sizeof all[0].host) != 0) return false;
    return true;
}

static bool same_process(const Hello *all, int n) {
    for (int r = 1; r < n; r++)
        if (all[r].pid != all[0].pid) return false;
    return true;
}

static int exchange_open(const tile_mesh_config *c, const Place *p, uint64_t timeout_ns, Group **out) {
    Hello mine = {.pid = getpid()}, *all = calloc((size_t)p->nranks, sizeof *all);
    if (!all) return tile_fail(TILE_E_NOMEM, "out of memory");
    host_read(mine.host, sizeof mine.host);
    int error = TILE_OK;
    if (getrandom(&mine.name, sizeof mine.name, 0) != sizeof mine.name ||
        c->allgather(c->ctx, &mine, all, sizeof mine) != 0)
        error = tile_fail(TILE_E_SYS, "the allgather function of the configuration failed");
    else if (!same_host(all, p->nranks))
        error = tile_fail(TILE_E_UNSUPPORTED, "ranks of several hosts are not supported");
    bool threads = !error && same_process(all, p->nranks);
    char name[64];
    snprintf(name, sizeof name, "exchange-%016llx", (unsigned long long)all[0].name);
    free(all);
    if (error) return error;
    return (threads ? group_open_threads : group_open_processes)(name, p->rank, p->nranks, timeout_ns, out);
}

int group_open(const tile_mesh_config *c, const Place *p, uint64_t timeout_ns, Group **out) {
    const char *group = c->group ? c->group : getenv("TILE_GROUP");
    char name[256];
    if (c->allgather) return exchange_open(c, p, timeout_ns, out);
    snprintf(name, sizeof name, "%s%s", group ? group : "tile", p->key);
    return (p->from_environment ? group_open_processes : group_open_threads)(name, p->rank, p->nranks, timeout_ns, out);
}

int group_broken(Group *g, int missing, const char *doing) {
    g->missing = missing;
    g->broken = true;
    if (missing < 0) return tile_fail(TILE_E_TIMEOUT, "rank %d gave up while the ranks %s", g->rank, doing);
    return tile_fail(TILE_E_TIMEOUT, "rank %d gave up: rank %d is missing while the ranks %s", g->rank, missing, doing);
}

int group_agree(Group *g, int status) {
    int *all = calloc((size_t)g->nranks, sizeof *all);
    int error = all ? g->allgather(g, &status, all, sizeof status) : tile_fail(TILE_E_NOMEM, "out of memory");
    for (int r = 0; r < g->nranks && !error; r++) {
        error = all[r];
        if (error > TILE_OK || error < TILE_E_RANGE)
            error = tile_fail(TILE_E_MISMATCH, "rank %d reports the status %d, which is none", r, error);
        else if (error && r != g->rank)
            tile_fail(error, "rank %d failed: %s", r, tile_error_name(error));
    }
    free(all);
    return error;
}

void share_close(Share *s) {
    Share old = *s;
    *s = (Share){0};
    if (old.users && atomic_fetch_sub(old.users, 1) > 1) return;
    pages_unmap(old.base, old.bytes);
    free((void *)old.users);
}
