/* mutate_interp.c [PROGRAMS [FIRST]]: generated programs and a sample of their mutants under the interpreter's agents: what
   the proof accepts (for all sizes, in every third program) shows no race, poison or deadlock under any schedule tried; of
   what it refuses, how much is seen. */
#include "ir/interp/interp.h"
#include "passes/proof/symbolic.h"
#include "test/mutate/generate.h"
#include "test/mutate/mutants.h"

#include <stdlib.h>

enum { SCHEDULES = 3, SAMPLE = 5, CYCLES = 4 };

typedef struct {
    int accepted, faulty, refused, seen;
} Tally;

/* Faults under a few schedules. */
static int64_t faults_of(const Module *m, uint64_t seed) {
    Arena *arena = arena_new();
    const Program *p = m->program.p[0];
    int64_t faults = 0;
    static const int64_t sizes[] = {1, 13, GEN_BOUND, 0};
    for (int s = 0; s < (m->symbol.n ? 4 : SCHEDULES); s++) {
        Array *io = ARENA_ARRAY(arena, Array, p->io.n);
        for (int i = 0; i < p->io.n; i++) array_for_tensor(arena, m, &p->tensor.p[p->io.p[i]], &sizes[s], &io[i]);
        InterpOptions o = {.sym = &sizes[s], .generations = CYCLES, .concurrent = true, .seed = seed + (uint64_t)s, .workers = 1 + s % 3};
        InterpReport report = {0};
        interp_run(arena, m, p, &o, io, &report);
        for (int i = 0; i < report.fault.n; i++) faults += report.fault.p[i].kind != FAULT_RANKS;
        if (faults && getenv("SHOW")) interp_report_print(p, &report, stdout);
    }
    arena_free(arena);
    return faults;
}

static void judge(const Module *m, uint64_t seed, Mutation kind, int at, Tally *t) {
    Arena *scratch = arena_new();
    bool accepted = proof_for(m, m->program.p[0], false, scratch).proved;
    arena_free(scratch);
    bool faulty = faults_of(m, seed) > 0;
    if (accepted) t->accepted++, t->faulty += faulty;
    else t->refused++, t->seen += faulty;
    if (accepted && faulty) printf("escaped: seed %llu, %s, place %d\n", (unsigned long long)seed, mutation_text[kind], at);
}

static void judge_sample(const Module *m, uint64_t seed, Tally *t) {
    uint64_t pick = seed;
    for (int kind = 0; kind < MUTATE_COUNT; kind++) {
        Sites original = sites_of((Module *)m);
        int places = sites_for(&original, (Mutation)kind)->n;
        for (int at = 0; at < places; at++) {
            if (pick++ % SAMPLE) continue;
            Arena *arena = arena_new();
            Sites s = sites_of(module_clone(m, arena));
            if (mutate(&s, (Mutation)kind, at)) judge(s.m, seed, (Mutation)kind, at, t);
            arena_free(arena);
        }
    }
}

int main(int argc, char **argv) {
    int programs = argc > 1 ? atoi(argv[1]) : 20, bad = 0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    Tally t = {0};
    for (uint64_t seed = first; seed < first + (uint64_t)programs; seed++) {
        Arena *arena = arena_new();
        Module *m = gen_sized(arena, seed, seed % 3 == 0);
        int64_t faults = gen_lower(m, seed, seed % 7 != 0, stderr) ? faults_of(m, seed) : -1;
        if (faults) printf("wrong: seed %llu, %lld faults\n", (unsigned long long)seed, (long long)faults);
        else judge_sample(m, seed, &t);
        bad += faults != 0;
        arena_free(arena);
    }
    printf("%d programs, %d wrong; %d mutants accepted, %d of them faulty; %d refused, %d of them seen to fail\n", programs, bad,
           t.accepted, t.faulty, t.refused, t.seen);
    return bad || t.faulty;
}
