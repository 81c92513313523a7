/* tape.h: the decisions of a random program, as a list of small numbers.
   Takes a seed, or a list that was edited; gives numbers. 0 is always the simplest choice, so that lists with fewer and
   smaller numbers are smaller programs; past the end of an edited list every choice is 0. */
#ifndef TILEC_TEST_GEN_TAPE_H
#define TILEC_TEST_GEN_TAPE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int first, end; /* the decisions of one part of the program: shrinking removes them together */
} TapeSpan;

typedef struct {
    Arena *arena;
    VEC(int) v;
    VEC(TapeSpan) span;
    int at;
    uint64_t seed; /* 0: an edited list */
} Tape;

static uint64_t tape_step(uint64_t x) {
    x ^= x << 13, x ^= x >> 7;
    return x ^ x << 17;
}

static Tape tape_new(Arena *a, uint64_t seed) {
    Tape t = {.arena = a, .seed = seed * 0x9E3779B97F4A7C15u};
    for (int i = 0; i < 8; i++) t.seed = tape_step(t.seed);
    return t;
}

/* One of 0 .. n - 1. */
static int tape_draw(Tape *t, int n) {
    int x = 0;
    if (t->at < t->v.n)
        x = t->v.p[t->at] % n;
    else if (t->seed) {
        t->seed = tape_step(t->seed);
        x = (int)((t->seed >> 20) % (uint64_t)n);
    }
    if (t->at == t->v.n) vec_push(t->arena, &t->v, x);
    t->v.p[t->at++] = x;
    return x;
}

/* True once in n times. */
static bool tape_rarely(Tape *t, int n) { return tape_draw(t, n) == n - 1; }

static int tape_open(Tape *t) {
    vec_push(t->arena, &t->span, ((TapeSpan){t->at, t->at}));
    return t->span.n - 1;
}

static void tape_close(Tape *t, int span) { t->span.p[span].end = t->at; }

#endif
