/* judge.h: weakens a synchronised module in every way and counts what the proof says of each mutant: caught, or accepted
   and then looked at a second time, element by element. */
#ifndef TILEC_TEST_MUTATE_JUDGE_H
#define TILEC_TEST_MUTATE_JUDGE_H

#include "passes/proof/symbolic.h"
#include "test/mutate/mutants.h"
#include "test/mutate/oracle.h"

#include <stdlib.h>

enum { SAMPLE = 16 };

typedef struct {
    int made, caught, harmless, escaped;
    int asked, agreed; /* of the caught ones, a sample: the second opinion finds something too */
} Count;

/* Every seventh program is bulk-synchronous. */
static bool by_flags(uint64_t seed) { return seed % 7 != 0; }

static bool proved(const Module *m, Arena *a) { return proof_for(m, m->program.p[0], false, a).proved; }

/* NULL: nothing is wrong; of run-time sizes a few are tried. */
static const char *second_opinion(const Module *m) {
    static const int64_t sizes[] = {1, 40, 130};
    const char *why = NULL;
    for (int i = 0; i < (m->symbol.n ? 3 : 1) && !why; i++) {
        int64_t sym[16] = {0};
        for (int k = 0; k < m->symbol.n && k < 16; k++) sym[k] = sizes[i] < m->symbol.p[k].bound ? sizes[i] : m->symbol.p[k].bound;
        why = oracle_program(m, m->program.p[0], sym);
    }
    return why;
}

static void judge_accepted(const Module *m, uint64_t seed, Mutation kind, int at, Count *c) {
    const char *why = second_opinion(m);
    if (!why) c->harmless++;
    else c->escaped++;
    if (why) printf("escaped: seed %llu, %s, place %d: %s\n", (unsigned long long)seed, mutation_text[kind], at, why);
    else if (kind == MUTATE_DELETE_WAIT && by_flags(seed)) printf("redundant: seed %llu, wait %d\n", (unsigned long long)seed, at);
}

static void judge(const Module *m, uint64_t seed, Mutation kind, int at, Count *c) {
    Arena *scratch = arena_new();
    c->made++;
    if (proved(m, scratch)) judge_accepted(m, seed, kind, at, c);
    else if (++c->caught % SAMPLE == 0) {
        c->asked++;
        c->agreed += second_opinion(m) != NULL;
    }
    arena_free(scratch);
}

static void mutate_all(const Module *m, uint64_t seed, Count *count) {
    for (int kind = 0; kind < MUTATE_COUNT; kind++) {
        Sites original = sites_of((Module *)m);
        int places = sites_for(&original, (Mutation)kind)->n;
        for (int at = 0; at < places; at++) {
            Arena *arena = arena_new();
            Module *copy = module_clone(m, arena);
            Sites s = sites_of(copy);
            if (mutate(&s, (Mutation)kind, at)) judge(copy, seed, (Mutation)kind, at, &count[kind]);
            arena_free(arena);
        }
    }
}

static bool module_run(const Module *m, uint64_t seed, bool good, Count *count) {
    const char *why = good ? second_opinion(m) : "not proved";
    if (why) printf("seed %llu: %s\n", (unsigned long long)seed, why);
    else mutate_all(m, seed, count);
    return !why;
}

static int made(const Count *count) {
    int n = 0;
    for (int k = 0; k < MUTATE_COUNT; k++) n += count[k].made;
    return n;
}

static int table_print(const Count *count) {
    Count sum = {0};
    printf("%-28s %8s %8s %9s %8s %17s\n", "mutation", "made", "caught", "harmless", "escaped", "agreed of sampled");
    for (int k = 0; k < MUTATE_COUNT; k++) {
        const Count *c = &count[k];
        printf("%-28s %8d %8d %9d %8d %8d of %5d\n", mutation_text[k], c->made, c->caught, c->harmless, c->escaped, c->agreed, c->asked);
        sum.caught += c->caught, sum.harmless += c->harmless, sum.escaped += c->escaped;
    }
    printf("%-28s %8d %8d %9d %8d\n", "all", made(count), sum.caught, sum.harmless, sum.escaped);
    return sum.escaped;
}

#endif
