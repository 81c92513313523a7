/* bench.h: timing for the programs of this folder: alternating turns, the median of each, one JSON line a result. */
#ifndef BENCH_CPU_BENCH_H
#define BENCH_CPU_BENCH_H

#include "tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 15 };

static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_median(double *t, int n) {
    qsort(t, (size_t)n, sizeof *t, bench_compare);
    return t[n / 2];
}

/* Two ways to do the same, in turns (A B B A ..), after one turn of each to warm up. */
static inline void bench_pair(void (*ours)(void *), void (*peer)(void *), void *context, double *median_ours,
                              double *median_peer) {
    double a[TURNS], b[TURNS];
    ours(context), peer(context);
    for (int i = 0; i < TURNS; i++)
        for (int half = 0; half < 2; half++) {
            int is_ours = (i + half) % 2 == 0;
            double start = bench_now();
            (is_ours ? ours : peer)(context);
            (is_ours ? a : b)[i] = bench_now() - start;
        }
    *median_ours = bench_median(a, TURNS);
    *median_peer = bench_median(b, TURNS);
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

/* ratio: peer's time over ours; more is better. */
static inline void bench_print(const char *name, const char *peer, double ours, double theirs, double flops,
                               double difference) {
    printf("{\"bench\": \"%s\", \"peer\": \"%s\", \"ms\": %.3f, \"peer_ms\": %.3f, \"ratio\": %.2f, \"gflops\": %.1f, "
           "\"difference\": %.3g}\n",
           name, peer, ours * 1e3, theirs * 1e3, theirs / ours, flops / ours * 1e-9, difference);
}

#endif
