/* bench.h: timing for the programs of this folder: alternating turns, the median of each, one JSON line a result. */
#ifndef BENCH_CPU_BENCH_H
#define BENCH_CPU_BENCH_H

#include "tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 25, MOST_TURNS = 1000 };
static const double least_seconds = 4; /* what is short has more turns, so that some are undisturbed */

static inline double bench_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void) { return bench_clock(CLOCK_MONOTONIC); }

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds: the median, and what says more on a machine that others use too: the best, and the median of the processor
   time of all threads. */
typedef struct {
    double median, best, processor;
} BenchTime;

typedef struct {
    double seconds[MOST_TURNS], processor[MOST_TURNS];
} BenchTurns;

static inline void bench_turn(void (*work)(void *), void *context, BenchTurns *t, int i) {
    double processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID), start = bench_now();
    work(context);
    t->seconds[i] = bench_now() - start;
    t->processor[i] = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - processor;
}

static inline BenchTime bench_summary(BenchTurns *t, int n) {
    qsort(t->seconds, (size_t)n, sizeof *t->seconds, bench_compare);
    qsort(t->processor, (size_t)n, sizeof *t->processor, bench_compare);
    return (BenchTime){t->seconds[n / 2], t->seconds[0], t->processor[n / 2]};
}

/* Two ways to do the same, in turns (A B B A ..), after one turn of each to warm up. */
static inline void bench_pair(void (*ours)(void *), void (*peer)(void *), void *context, BenchTime *a, BenchTime *b) {
    BenchTurns own, other;
    double begin = bench_now();
    int turns = 0;
    ours(context), peer(context);
    for (int i = 0; i < TURNS || (i < MOST_TURNS && bench_now() - begin < least_seconds); i++, turns++)
        for (int half = 0; half < 2; half++) {
            int is_ours = (i + half) % 2 == 0;
            bench_turn(is_ours ? ours : peer, context, is_ours ? &own : &other, i);
        }
    *a = bench_summary(&own, turns);
    *b = bench_summary(&other, turns);
}

static inline float *bench_floats(size_t n) {
    float *p = aligned_alloc(64, (n * sizeof *p + 63) / 64 * 64);
    unsigned seed = 1;
    for (size_t i = 0; p && i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
    if (!p) abort();
    return p;
}

static inline void bench_check(int error, const char *what) {
    if (error == TILE_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, tile_error_name(error), tile_last_error());
    exit(3);
}

/* Ratios: the peer's time over ours; more is better. */
static inline void bench_print(const char *name, const char *peer, BenchTime ours, BenchTime theirs, double flops,
                               double difference) {
    printf("{\"bench\": \"%s\", \"peer\": \"%s\", \"ms\": %.3f, \"peer_ms\": %.3f, \"ratio\": %.2f, ", name, peer,
           ours.median * 1e3, theirs.median * 1e3, theirs.median / ours.median);
    printf("\"best_ms\": %.3f, \"peer_best_ms\": %.3f, \"best_ratio\": %.2f, ", ours.best * 1e3, theirs.best * 1e3,
           theirs.best / ours.best);
    printf("\"processor_ms\": %.3f, \"peer_processor_ms\": %.3f, ", ours.processor * 1e3, theirs.processor * 1e3);
    printf("\"best_gflops\": %.1f, \"difference\": %.3g}\n", flops / ours.best * 1e-9, difference);
}

#endif
