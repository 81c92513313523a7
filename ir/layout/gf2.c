/* gf2.c: elimination over GF(2).
   Takes: vectors, one word each. Gives: bases, membership, solutions. */
#include "ir/layout/gf2.h"

static int top_bit(uint64_t v) { return 63 - __builtin_clzll(v); }

static uint64_t span_reduce(const Span *s, uint64_t vector, uint64_t *sum) {
    for (int i = 0; i < s->dim; i++)
        if (vector >> top_bit(s->basis[i]) & 1) {
            vector ^= s->basis[i];
            *sum ^= s->sum[i];
        }
    return vector;
}

bool span_add(Span *s, uint64_t vector) {
    uint64_t sum = UINT64_C(1) << s->added++;
    vector = span_reduce(s, vector, &sum);
    if (!vector) return false;
    for (int i = 0; i < s->dim; i++)
        if (s->basis[i] >> top_bit(vector) & 1) {
            s->basis[i] ^= vector;
            s->sum[i] ^= sum;
        }
    s->basis[s->dim] = vector;
    s->sum[s->dim++] = sum;
    return true;
}

bool span_has(const Span *s, uint64_t vector) {
    uint64_t sum = 0;
    return span_reduce(s, vector, &sum) == 0;
}

bool span_solve(const Span *s, uint64_t vector, uint64_t *sum) {
    *sum = 0;
    return span_reduce(s, vector, sum) == 0;
}

static uint64_t unit_outside(const Span *s, int bits) {
    for (int i = 0; i < bits; i++)
        if (!span_has(s, UINT64_C(1) << i)) return UINT64_C(1) << i;
    return 0;
}

/* A unit e outside the first and f outside the second: when each lies in the other's span, e + f lies in neither. */
uint64_t span_outside(const Span *a, const Span *b, int bits) {
    uint64_t e = unit_outside(a, bits), f = unit_outside(b, bits);
    if (!e || !f) return 0;
    if (!span_has(b, e)) return e;
    return span_has(a, f) ? e ^ f : f;
}
