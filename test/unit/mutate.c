/* mutate.c [MUTANTS [FIRST]] | FILE.tir..: weakens generated programs, or these, step by step. Every mutant is caught by the
   proof, or a second opinion that looks at every element finds nothing wrong with it. Prints a table by kind. */
#include "base/text.h"
#include "passes/proof_symbolic.h"
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

static bool proved(const Module *m, Arena *a) { return proof_for(m, m->program.p[0], a).proved; }

/* NULL: nothing is wrong; of run-time sizes a few are tried. */
static const char *second_opinion(const Module *m) {
    static const int64_t sizes[] = {1, 40, 130};
    const char *why = NULL;
    for (int i = 0; i < (m->symbol.n ? 3 : 1) && !why; i++) {
        int64_t sym[] = {sizes[i], sizes[i], sizes[i], sizes[i]};
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

static bool seed_run(uint64_t seed, Count *count) {
    Arena *arena = arena_new();
    Module *m = gen_module(arena, seed);
    bool good = module_run(m, seed, gen_lower(m, seed, by_flags(seed), stderr), count);
    arena_free(arena);
    return good;
}

/* IR that the compiler printed, with flags. */
static bool file_run(const char *path, Count *count) {
    Arena *arena = arena_new();
    Diags *diags = diags_new(arena);
    Text text = {0};
    if (text_read(&text, path, 1 << 24)) return false;
    Module *m = module_parse(arena, names_new(arena), diags, diags_file(diags, path, text_str(&text), text.n));
    bool good = m && module_run(m, 1, proved(m, arena), count);
    text_free(&text);
    arena_free(arena);
    return good;
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

int main(int argc, char **argv) {
    bool files = argc > 1 && strchr(argv[1], '.');
    int want = argc > 1 && !files ? atoi(argv[1]) : 2000, programs = 0, bad = 0;
    uint64_t seed = argc > 2 && !files ? strtoull(argv[2], NULL, 10) : 1;
    Count count[MUTATE_COUNT] = {0};
    if (files)
        for (; programs + 1 < argc; programs++) bad += !file_run(argv[programs + 1], count);
    else
        for (; made(count) < want; seed++, programs++) bad += !seed_run(seed, count);
    int escaped = table_print(count);
    printf("%d programs, %d wrong before mutation\n", programs, bad);
    return escaped || bad;
}
