/* both.h: the two proofs of one program: that of given sizes, task by task, and that of all sizes, from the structure.
   Takes: a module with flags. Gives: what each says; the second must not accept what the first refuses at some size. */
#ifndef TILEC_TEST_MUTATE_BOTH_H
#define TILEC_TEST_MUTATE_BOTH_H

#include "passes/proof/symbolic.h"

typedef enum { EXPLICIT_HOLDS, EXPLICIT_FAILS, EXPLICIT_TOO_LARGE } Explicit;

typedef struct {
    Explicit given;     /* at each of the sizes tried; FAILS: at .size */
    bool all;           /* the proof from the structure accepts */
    bool sampled;       /* .. and the proof of one size that follows it finds tasks of one node that share a place */
    bool fault;         /* the proof from the structure names a fault of the program (Proof.id) */
    int64_t size;
    const char *why_given, *why_all;
} Both;

/* Run-time sizes at which the first proof looks; each is cut to its bound. */
static const int64_t both_sizes[] = {40, 13, 5, 1, 0};

static Both both_prove(const Module *m, Arena *arena) {
    const Program *p = m->program.p[0];
    Proof all = proof_symbolic(m, p, arena);
    Both b = {.all = all.proved, .fault = all.id, .why_all = all.why};
    for (int i = 0; i < (m->symbol.n ? 5 : 1) && b.given != EXPLICIT_FAILS; i++) {
        int64_t *sym = ARENA_ARRAY(arena, int64_t, m->symbol.n + 1);
        for (int k = 0; k < m->symbol.n; k++) sym[k] = both_sizes[i] < m->symbol.p[k].bound ? both_sizes[i] : m->symbol.p[k].bound;
        Proof given = proof_program(m, p, sym, arena);
        if (given.too_large) b.given = EXPLICIT_TOO_LARGE;
        else if (!given.proved) b.given = EXPLICIT_FAILS, b.why_given = given.why, b.size = both_sizes[i];
        b.sampled = given.id && m->symbol.n && b.all && !proof_sample(m, p, arena).proved;
    }
    b.all = b.all && !b.sampled;
    return b;
}

#endif
