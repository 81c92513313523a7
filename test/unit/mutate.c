/* mutate.c [MUTANTS [FIRST]]: weakens generated programs step by step. Every mutant is caught by the proof, or a second
   opinion that looks at every element finds nothing wrong with it. Prints a table by kind. */
#include "passes/proof.h"
#include "test/mutate/generate.h"
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

static bool proved(const Module *m, Arena *a) { return proof_program(m, m->program.p[0], NULL, a).proved; }

static void judge_accepted(const Module *m, uint64_t seed, Mutation kind, int at, Count *c) {
    const char *why = oracle_program(m, m->program.p[0]);
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
        c->agreed += oracle_program(m, m->program.p[0]) != NULL;
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

static bool seed_run(uint64_t seed, Count *count) {
    Arena *arena = arena_new();
    Module *m = gen_module(arena, seed);
    bool good = gen_lower(m, seed, by_flags(seed), stderr);
    const char *why = good ? oracle_program(m, m->program.p[0]) : "not proved";
    if (why) printf("seed %llu: %s\n", (unsigned long long)seed, why);
    else mutate_all(m, seed, count);
    arena_free(arena);
    return !why;
}

int main(int argc, char **argv) {
    int want = argc > 1 ? atoi(argv[1]) : 2000, programs = 0, bad = 0, total = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    Count count[MUTATE_COUNT] = {0}, sum = {0};
    for (; total < want; seed++, programs++) {
        bad += !seed_run(seed, count);
        total = 0;
        for (int k = 0; k < MUTATE_COUNT; k++) total += count[k].made;
    }
    printf("%-28s %8s %8s %9s %8s %17s\n", "mutation", "made", "caught", "harmless", "escaped", "agreed of sampled");
    for (int k = 0; k < MUTATE_COUNT; k++) {
        const Count *c = &count[k];
        printf("%-28s %8d %8d %9d %8d %8d of %5d\n", mutation_text[k], c->made, c->caught, c->harmless, c->escaped, c->agreed, c->asked);
        sum.caught += count[k].caught, sum.harmless += count[k].harmless, sum.escaped += count[k].escaped;
    }
    printf("%-28s %8d %8d %9d %8d\n", "all", total, sum.caught, sum.harmless, sum.escaped);
    printf("%d programs, %d wrong before mutation\n", programs, bad);
    return sum.escaped || bad;
}
