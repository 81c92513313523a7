/* delay.c: random delays for tests: programs built with TILE_TEST_DELAY sleep at every wait and signal.
   TILE_DELAY=seed in the environment chooses them; without it there are none. */
#include "runtime.h"

#include <stdlib.h>

static uint64_t delay_seed(void) {
    static _Atomic uint64_t threads;
    const char *text = getenv("TILE_DELAY");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 0;
    return seed ? (seed * 0x9e3779b97f4a7c15u + (atomic_fetch_add(&threads, 1) + 1) * 0xbf58476d1ce4e5b9u) | 1 : 0;
}

/* Mostly nothing, sometimes another thread's turn, now and then up to 127 microseconds. */
void tile_test_delay(void) {
    static _Thread_local uint64_t state;
    static _Thread_local bool seeded;
    if (!seeded) {
        state = delay_seed();
        seeded = true;
    }
    if (!state) return;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    unsigned draw = (unsigned)(state >> 32);
    if (draw % 8 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(draw >> 8) % 128 * 1000}, NULL);
    else if (draw % 2)
        sched_yield();
}
