/* gpu_peers.c: the devices of a mesh's ranks: each rank has one of its own, and reaches the memory of all others. */
#include "gpu.h"

#include <stdlib.h>

/* What a rank tells the others about its device. */
typedef struct {
    char bus[32], name[64];
    int32_t kind, device;
} Identity;

enum { BUS_BYTES = sizeof((Identity *)0)->bus };

static bool same_device(const Identity *a, const Identity *b) { return strcmp(a->bus, b->bus) == 0; }

/* An emulated device may be given twice: it is fast enough for none, and waits there let others run. */
static int devices_differ(const Identity *all, int n) {
    for (int r = 1; r < n; r++) {
        if (all[r].kind != all[0].kind)
            return tile_fail(TILE_E_MISMATCH, "rank %d runs on another kind of device (%s) than rank 0 (%s)", r,
                             all[r].name, all[0].name);
        for (int q = 0; q < r && all[r].kind != GPU_EMU; q++)
            if (same_device(&all[q], &all[r]))
                return tile_fail(
                    TILE_E_UNSUPPORTED,
                    "ranks %d and %d are both on device %s (%s): each needs one of its own (device -1 gives "
                    "rank n device n)",
                    q, r, all[r].bus, all[r].name);
    }
    return TILE_OK;
}

static int unreachable(const Identity *all, int rank, int peer, const char *why) {
    return tile_fail(TILE_E_UNSUPPORTED, "device %s (%s, rank %d) %s device %s (%s, rank %d)", all[rank].bus,
                     all[rank].name, rank, why, all[peer].bus, all[peer].name, peer);
}

/* Flags are compared and swapped in a peer's memory. */
static int atomics_check(const Gpu *g, const Identity *all, int rank, int peer, int number) {
    int native = 0, attribute = g->kind == GPU_CUDA ? GPU_PEER_ATOMICS_CUDA : GPU_PEER_ATOMICS_HIP;
    int error = g->api.peer_attribute(&native, attribute, g->device, number);
    if (error) return gpu_fail(g, error, "asking for atomic operations between devices");
    return native ? TILE_OK : unreachable(all, rank, peer, "has no atomic operations on the memory of");
}

/* Processes map each other's memory one by one; threads reach all of a context's. */
static int peer_open(const Gpu *g, const Identity *all, int rank, int peer, bool threads) {
    int number = all[peer].device, can = 0;
    if (!threads && g->api.device_by_bus(&number, all[peer].bus))
        return unreachable(all, rank, peer, "is of a process that does not see");
    int error = g->api.peer_can(&can, g->device, number);
    if (error) return gpu_fail(g, error, "asking for access between devices");
    if (!can) return unreachable(all, rank, peer, "cannot reach the memory of");
    int code = atomics_check(g, all, rank, peer, number);
    if (code || !threads) return code;
    error = g->api.peer_enable(g->peer[peer].context, 0);
    return error && error != GPU_E_PEER_ENABLED ? gpu_fail(g, error, "opening access between devices") : TILE_OK;
}

/* Contexts of a process live until nobody retains them. */
static int peers_retain(Gpu *g, const Identity *all, int n) {
    g->peer = calloc((size_t)n, sizeof *g->peer);
    if (!g->peer) return tile_fail(TILE_E_NOMEM, "out of memory");
    for (; g->npeers < n; g->npeers++) {
        GpuPeer *p = &g->peer[g->npeers];
        p->device = all[g->npeers].device;
        int error = g->api.context_retain(&p->context, p->device);
        if (error) return gpu_fail(g, error, "opening the device of another rank");
    }
    return TILE_OK;
}

void gpu_peers_close(Gpu *g) {
    while (g->npeers) g->api.context_release(g->peer[--g->npeers].device);
    free(g->peer);
}

static int peers_open(Gpu *g, const Identity *all, const Group *group) {
    int code = gpu_enter(g);
    if (!code && group->threads) code = peers_retain(g, all, group->nranks);
    for (int r = 0; r < group->nranks && !code; r++)
        if (r != group->rank && !same_device(&all[r], &all[group->rank]))
            code = peer_open(g, all, group->rank, r, group->threads);
    return code;
}

int gpu_peers_open(Gpu *g, Group *group) {
    Identity mine = {.kind = (int32_t)g->kind, .device = g->device}, *all;
    if (group->nranks == 1) return TILE_OK;
    if (g->kind == GPU_EMU && !group->threads)
        return tile_fail(TILE_E_UNSUPPORTED, "emulated devices are of one process: ranks on them must be its threads");
    memcpy(mine.name, g->name, sizeof mine.name);
    int error = g->api.device_bus(mine.bus, BUS_BYTES, g->device);
    int code = group_agree(group, error ? gpu_fail(g, error, "asking for the device's number") : TILE_OK);
    if (code) return code;
    if (!(all = calloc((size_t)group->nranks, sizeof *all))) return tile_fail(TILE_E_NOMEM, "out of memory");
    code = group->allgather(group, &mine, all, sizeof mine);
    for (int r = 0; r < group->nranks; r++) all[r].bus[BUS_BYTES - 1] = all[r].name[sizeof all[r].name - 1] = 0;
    if (!code) code = devices_differ(all, group->nranks);
    if (!code) code = group_agree(group, peers_open(g, all, group));
    free(all);
    return code;
}
