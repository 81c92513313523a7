/* shrink.h: the smallest list of decisions that still fails, found by leaving out and lowering decisions.
   Takes a tape and a test; the test runs a limited number of times. */
#ifndef TILEC_TEST_GEN_SHRINK_H
#define TILEC_TEST_GEN_SHRINK_H

#include "test/gen/tape.h"

typedef struct Shrink Shrink;

struct Shrink {
    Arena *arena;
    Tape best;
    int left;                        /* tests that may still be made */
    bool (*fails)(Shrink *, Tape *); /* generates from the tape, which then holds what was drawn */
    void *ctx;
};

static Tape tape_edited(Arena *a, const int *v, int n) {
    Tape t = tape_new(a, 0);
    for (int i = 0; i < n; i++) vec_push(a, &t.v, v[i]);
    return t;
}

/* True when the edited list fails too: it is the best one then. */
static bool shrink_try(Shrink *s, const int *v, int n) {
    if (s->left <= 0) return false;
    s->left--;
    Tape t = tape_edited(s->arena, v, n);
    if (!s->fails(s, &t)) return false;
    t.v.n = t.at;
    s->best = t;
    return true;
}

static bool shrink_without(Shrink *s, int first, int n) {
    int total = s->best.v.n, *v = ARENA_ARRAY(s->arena, int, total + 1);
    if (first + n > total || n <= 0) return false;
    memcpy(v, s->best.v.p, sizeof *v * (size_t)first);
    memcpy(v + first, s->best.v.p + first + n, sizeof *v * (size_t)(total - first - n));
    return shrink_try(s, v, total - n);
}

static bool shrink_lower(Shrink *s, int first, int n, int to) {
    int total = s->best.v.n, *v = ARENA_ARRAY(s->arena, int, total + 1);
    bool changes = false;
    memcpy(v, s->best.v.p, sizeof *v * (size_t)total);
    for (int i = first; i < first + n && i < total; i++) {
        changes = changes || v[i] > to;
        if (v[i] > to) v[i] = to;
    }
    return changes && shrink_try(s, v, total);
}

static bool shrink_spans(Shrink *s) {
    bool any = false;
    for (int i = 0; i < s->best.span.n; i++) {
        TapeSpan p = s->best.span.p[i];
        if (p.end - p.first < 2) continue;
        bool better = shrink_without(s, p.first, p.end - p.first) || shrink_lower(s, p.first, p.end - p.first, 0);
        any = any || better;
        if (better) i--;
        if (s->left <= 0) break;
    }
    return any;
}

static bool shrink_numbers(Shrink *s) {
    bool any = false;
    for (int n = 8; n >= 1; n /= 2)
        for (int i = s->best.v.n - n; i >= 0; i -= n) any = shrink_without(s, i, n) || any;
    for (int i = 0; i < s->best.v.n; i++)
        any = shrink_lower(s, i, 1, 0) || shrink_lower(s, i, 1, s->best.v.p[i] / 2) ||
              shrink_lower(s, i, 1, s->best.v.p[i] - 1) || any;
    return any;
}

static void shrink_run(Shrink *s) {
    while (s->left > 0) {
        bool any = shrink_spans(s);
        any = shrink_numbers(s) || any;
        if (!any) return;
    }
}

#endif
