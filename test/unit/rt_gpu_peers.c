/* rt_gpu_peers.c: devices of two ranks (threads) that cannot work together, over a driver whose functions fail
   (test/preload/fake_gpu.c as libcuda.so.1 or libamdhip64.so): both ranks get an error, the sentence is in one, and
   all memory is given back. */
#include "test/unit/check.h"
#include "tile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int failures;

typedef struct {
    const char *fail;
    int device[2];
    int code[2]; /* of the ranks */
    const char *words;
} Case;

static const Case cases[] = {
    {"", {0, 1}, {TILE_OK, TILE_OK}, ""},
    {"", {TILE_DEVICE_OF_RANK, TILE_DEVICE_OF_RANK}, {TILE_OK, TILE_OK}, ""},
    {"peer_enable:704", {0, 1}, {TILE_OK, TILE_OK}, ""},
    {"", {1, 1}, {TILE_E_UNSUPPORTED, TILE_E_UNSUPPORTED}, "ranks 0 and 1 are both on device emu:1 (emulator)"},
    {"", {0, 99}, {TILE_E_ARG, TILE_E_ARG}, "there is no device 99"},
    {"no_peer:1",
     {2, 3},
     {TILE_E_UNSUPPORTED, TILE_E_UNSUPPORTED},
     "device emu:2 (emulator, rank 0) cannot reach the memory of device emu:3 (emulator, rank 1)"},
    {"no_atomics:1",
     {0, 1},
     {TILE_E_UNSUPPORTED, TILE_E_UNSUPPORTED},
     "has no atomic operations on the memory of device emu:1"},
    {"peer_can:101", {0, 1}, {TILE_E_SYS, TILE_E_SYS}, "asking for access between devices"},
    {"peer_attribute:101", {0, 1}, {TILE_E_SYS, TILE_E_SYS}, "asking for atomic operations between devices"},
    {"peer_enable:217", {0, 1}, {TILE_E_SYS, TILE_E_SYS}, "opening access between devices"},
    {"device_bus:101", {0, 1}, {TILE_E_SYS, TILE_E_SYS}, "asking for the device's number"},
    {"fill:700", {0, 1}, {TILE_E_SYS, TILE_E_SYS}, "taking memory that the ranks share"},
    {"alloc:2:1", {0, 1}, {TILE_E_NOMEM, TILE_E_NOMEM}, "taking memory that the ranks share: out of memory"},
    {"host_alloc:2:1", {0, 1}, {TILE_E_NOMEM, TILE_E_NOMEM}, "preparing the device: out of memory"},
    {"event_create:2:1", {0, 1}, {TILE_E_NOMEM, TILE_E_NOMEM}, "preparing the device: out of memory"},
};

typedef struct {
    const Case *c;
    int rank, code;
    char words[512];
} Rank;

/* Blocks of device memory in use. */
static int alive(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) library = dlopen("libamdhip64.so", RTLD_NOW);
    int *n = library ? dlsym(library, "fake_alive") : NULL;
    return n ? *n : -1;
}

static void *rank_main(void *arg) {
    Rank *r = arg;
    tile_mesh *m = NULL;
    tile_mesh_config config = {.size = sizeof config,
                               .rank = r->rank,
                               .nranks = 2,
                               .device = r->c->device[r->rank],
                               .timeout_ms = 5000,
                               .group = "rt_gpu_peers",
                               .target = "gpu"};
    r->code = tile_mesh_open(&config, &m);
    strncpy(r->words, r->code ? tile_last_error() : "", sizeof r->words - 1);
    tile_mesh_close(m);
    return NULL;
}

static void check_case(const Case *c) {
    Rank rank[2] = {{.c = c, .rank = 0}, {.c = c, .rank = 1}};
    pthread_t other;
    setenv("FAKE_FAIL", c->fail, 1);
    CHECK(pthread_create(&other, NULL, rank_main, &rank[1]) == 0);
    rank_main(&rank[0]);
    pthread_join(other, NULL);
    for (int r = 0; r < 2; r++) CHECK(rank[r].code == c->code[r]);
    CHECK(alive() == 0);
    bool said = strstr(rank[0].words, c->words) || strstr(rank[1].words, c->words);
    if (!CHECK(said)) return;
    printf("%s: %s; %s\n", c->fail, rank[0].words, rank[1].words);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
    return failures != 0;
}
