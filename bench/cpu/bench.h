/* bench.h: timing for the programs of this folder: alternating turns, the median of each, one JSON line a result. */
#ifndef BENCH_CPU_BENCH_H
#define BENCH_CPU_BENCH_H

#include "tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 25 };

static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds: the median, and the best, which says more on a machine that others use too. */
typedef struct {
    double median, best;
} BenchTime;

static inline BenchTime bench_summary(double *t, int n) {
    qsort(t, (size_t)n, sizeof *t, bench_compare);
    return (BenchTime){t[n / 2], t[0]};
}

/* Two ways to do the same, in turns (A B B A ..), after one turn of each to warm up. */
static inline void bench_pair(void (*ours)(void *), void (*peer)(void *), void *context, BenchTime *a, BenchTime *b) {
    double own[TURNS], other[TURNS];
    ours(context), peer(context);
    for (int i = 0; i < TURNS; i++)
        for (int half = 0; half < 2; half++) {
            int is_ours = (i + half) % 2 == 0;
            double start = bench_now();
            (is_ours ? ours : peer)(context);
            (is_ours ? own : other)[i] = bench_now() - start;
        }
    *a = bench_summary(own, TURNS);
    *b = bench_summary(other, TURNS);
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
    printf("\"best_gflops\": %.1f, \"difference\": %.3g}\n", flops / ours.best * 1e-9, difference);
}

#endif
