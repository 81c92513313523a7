/* cluster.c: workgroups that run together, and addresses of their LDS: 32 bits, the same in all. */
#include "cluster.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { BASE = 1024 + 128 /* of LDS: what wants more than 128 bytes has to see to it */ };

static size_t bytes_of(int size) { return sizeof(Cluster) + (size_t)size * sizeof(Member); }

/* From the system: its pages are zero, and cost nothing until they are touched. */
static Cluster *cluster_new(int size) {
    Cluster *c = mmap(NULL, bytes_of(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == MAP_FAILED) return NULL;
    c->size = c->alive = size;
    return c;
}

bool cluster_begin(Launch *l, Group *const place[], int64_t first) {
    Cluster *c = cluster_new(l->facts->cluster);
    int lanes = l->facts->machine.lanes, waves = (l->threads + lanes - 1) / lanes;
    bool good = c;
    if (!c) return false;
    for (int r = 0; r < c->size; r++) {
        for (int w = 0; w < waves; w++) {
            c->actor[c->nactors++] = (Actor){ACTOR_WAVE, (uint8_t)w};
            c->member[r].wave[w].time = c->member[r].wave[w].joined = 1;
        }
        c->member[r].group = place[r];
    }
    for (int r = 0; r < c->size; r++) good = group_begin(place[r], l, first + r, c, r) && good;
    return good;
}

void cluster_leave(Group *g) {
    Cluster *c = g->cluster;
    copies_drop(g);
    c->member[g->rank].group = NULL;
    g->cluster = NULL;
    if (--c->alive == 0) {
        for (int r = 0; r < c->size; r++)
            for (int t = 0; t < GROUP_TEAMS; t++)
                for (int i = 0; i < TEAM_SUMS; i++) free(c->member[r].team[t].sums[i]);
        munmap(c, bytes_of(c->size));
    }
}

void cluster_end_check(void) {
    if (copies_are_left(emu->cluster, emu)) emu_fail("ends, and copies to its LDS are under way");
    for (int t = 0; t < GROUP_TEAMS; t++)
        if (emu->cluster->member[emu->rank].team[t].n) emu_fail("ends, and products of its workgroup are under way");
}

Group *cluster_group(int rank) {
    Cluster *c = emu->cluster;
    if (rank < 0 || rank >= c->size) emu_fail("names workgroup %d of its cluster of %d", rank, c->size);
    if (!c->member[rank].group) emu_fail("touches LDS of workgroup %d of its cluster, which has ended", rank);
    return c->member[rank].group;
}

int tile_emu_cluster_rank(void) { return emu->rank; }

/* ---- addresses ---- */

uint32_t tile_emu_shared(const void *p) {
    const Lds *l = &emu->lds;
    check_range(p, 0, l->base, l->bytes, "LDS", false);
    return (uint32_t)((const char *)p - l->base) + BASE;
}

size_t shared_at(const Group *g, uint32_t at, size_t bytes, bool store) {
    const char *p = g->lds.base + ((int64_t)at - BASE);
    check_range(p, bytes, g->lds.base, g->lds.bytes, "LDS", store);
    return (size_t)(p - g->lds.base);
}

void *tile_emu_shared_at(uint32_t at, int bytes) {
    if (at % (uint32_t)bytes) emu_fail("touches %d bytes at address %u of LDS: no multiple of %d", bytes, at, bytes);
    return emu->lds.base + shared_at(emu, at, (size_t)bytes, false);
}

void tile_emu_cluster_store(uint32_t at, int rank, const void *value, int bytes) {
    Group *g = cluster_group(rank);
    size_t byte = shared_at(g, at, (size_t)bytes, true);
    Touch by = order_touch(TOUCH_LDS_STORE);
    if (at % (uint32_t)bytes) emu_fail("writes %d bytes at address %u of LDS: no multiple of %d", bytes, at, bytes);
    lds_touch(&g->lds, byte, (size_t)bytes, &by, value);
    __builtin_memcpy(g->lds.base + byte, value, (size_t)bytes);
}
