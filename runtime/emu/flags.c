/* flags.c: what workgroups share: words, fences, the clock. Workgroups run one after the other: a word that has not
   come never comes, and memory is always up to date. */
#include "emu.h"

#include <time.h>

int64_t tile_emu_groups(void) { return emu->launch->ngroups; }

int64_t tile_emu_broadcast(int64_t x) {
    if (emu->thread == 0) emu->shared = x;
    tile_emu_sync();
    x = emu->shared;
    tile_emu_sync();
    return x;
}

bool tile_emu_any(bool x) {
    if (emu->thread == 0) emu->shared = 0;
    tile_emu_sync();
    if (x) emu->shared = 1;
    tile_emu_sync();
    x = emu->shared != 0;
    tile_emu_sync();
    return x;
}

void tile_emu_drain(void) {}
void tile_emu_fence_release(int scope) { (void)scope; }
void tile_emu_fence_acquire(int scope) { (void)scope; }

uint64_t tile_emu_word_load(const uint64_t *p, int scope) {
    (void)scope;
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

void tile_emu_word_store(uint64_t *p, uint64_t v, int scope) {
    (void)scope;
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);
}

uint64_t tile_emu_word_add(uint64_t *p, uint64_t v, int scope) {
    (void)scope;
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}

uint64_t tile_emu_word_swap(uint64_t *p, uint64_t from, uint64_t to, int scope) {
    (void)scope;
    __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return from;
}

uint64_t tile_emu_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void tile_emu_pause(void) {}
