/* rt_workers.c: how many workers a run uses: all of the rank, or as many as its program says are worth it. */
#include "rt_program.h"

enum { WORKERS = 4, TASKS = 24, RUNS = 5 };

static _Atomic int inside, most, done;

static int64_t count(const tile_task *t) { return (void)t, TASKS; }

static int work(const tile_task *t, int64_t ticket) {
    (void)t, (void)ticket;
    int now = atomic_fetch_add(&inside, 1) + 1, seen = atomic_load(&most);
    while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now)) continue;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&done, 1);
    return TILE_OK;
}

static const tile_program programs[] = {
    {.abi = TILE_ABI, .name = "one", .workers = 1, .axis = {1, 1, 1}, .tasks = count, .task = work},
    {.abi = TILE_ABI, .name = "all", .axis = {1, 1, 1}, .tasks = count, .task = work},
    {.abi = TILE_ABI, .name = "more", .workers = 9, .axis = {1, 1, 1}, .tasks = count, .task = work},
};

/* The most tasks that ran at the same time. Without synchronising in between, so that the workers have to be woken. */
static int most_at_once(tile_mesh *mesh, const tile_program *p) {
    tile_instance *instance;
    CHECK(tile_instance_open(mesh, p, &instance) == TILE_OK);
    atomic_store(&most, 0), atomic_store(&done, 0);
    for (int i = 0; i < RUNS; i++) CHECK(tile_instance_run(instance, NULL, NULL, NULL) == TILE_OK);
    while (atomic_load(&done) < RUNS * TASKS / 2) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(tile_stream_sync(mesh, NULL) == TILE_OK);
    CHECK(atomic_load(&done) == RUNS * TASKS);
    tile_instance_close(instance);
    return atomic_load(&most);
}

int main(void) {
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = WORKERS};
    tile_mesh *mesh;
    CHECK(tile_mesh_open(&config, &mesh) == TILE_OK);
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            int n = most_at_once(mesh, &programs[i]);
            printf("%s: %s\n", programs[i].name, n == 1 ? "one at a time" : n <= WORKERS ? "side by side" : "too many");
        }
    tile_mesh_close(mesh);
    return 0;
}
