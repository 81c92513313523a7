/* interp_random.c [COUNT [FIRST]]: generated programs keep their bits through comm and flags (or barriers), under every
   schedule; a mutant in which agents meet a fault is one that the proof has refused, and most of those are met. */
#include "ir/interp/interp.h"
#include "passes/proof/proof.h"
#include "test/mutate/generate.h"
#include "test/mutate/mutants.h"

#include <stdlib.h>

enum { SCHEDULES = 3 };

typedef struct {
    int mutants, refused, found, wrong;
} Count;

static Array *arrays_of(Arena *a, const Module *m) {
    const Program *p = m->program.p[0];
    Array *io = ARENA_ARRAY(a, Array, p->io.n);
    uint64_t x = 1;
    for (int i = 0; i < p->io.n; i++) {
        array_for_tensor(a, m, &p->tensor.p[p->io.p[i]], NULL, &io[i]);
        for (int64_t k = 0; k < array_count(&io[i]); k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            array_set(&io[i], k, (double)(x >> 40) / (1 << 23) - 1);
        }
    }
    return io;
}

static bool same_results(const Program *p, const Array *x, const Array *y) {
    for (int i = 0; i < p->io.n; i++)
        if (memcmp(x[i].data, y[i].data, (size_t)array_count(&x[i]) * elem_bytes(x[i].elem)) != 0) return false;
    return true;
}

static Array *run(Arena *a, const Module *m, InterpOptions o, InterpReport *report) {
    Array *io = arrays_of(a, m);
    interp_run(a, m, m->program.p[0], &o, io, report);
    return io;
}

static InterpOptions schedule(uint64_t seed) {
    return (InterpOptions){.concurrent = true, .seed = seed, .workers = 1 + (int)(seed % 3), .generations = 4};
}

static bool mutant_faults(const Module *m) {
    bool found = false;
    for (uint64_t s = 0; s < SCHEDULES && !found; s++) {
        Arena *a = arena_new();
        InterpReport report;
        run(a, m, schedule(s), &report);
        found = report.faults > 0;
        arena_free(a);
    }
    return found;
}

static void judge(const Module *m, uint64_t seed, Mutation kind, int at, Count *c) {
    Arena *scratch = arena_new();
    bool proved = proof_program(m, m->program.p[0], NULL, scratch).proved, found = mutant_faults(m);
    arena_free(scratch);
    c->mutants++;
    c->refused += !proved;
    c->found += found && !proved;
    if (!found || !proved) return;
    c->wrong++;
    printf("seed %llu, %s at %d: proved, but agents meet a fault\n", (unsigned long long)seed, mutation_text[kind], at);
}

/* One mutant of each kind, at a place drawn from the seed. */
static void check_mutants(const Module *m, uint64_t seed, Count *c) {
    for (int kind = 0; kind < MUTATE_COUNT; kind++) {
        Arena *a = arena_new();
        Module *copy = module_clone(m, a);
        Sites s = sites_of(copy);
        int n = sites_for(&s, (Mutation)kind)->n, at = n ? (int)(seed * 7 % (uint64_t)n) : 0;
        if (n && mutate(&s, (Mutation)kind, at)) judge(copy, seed, (Mutation)kind, at, c);
        arena_free(a);
    }
}

static bool complain(uint64_t seed, const char *what, const Program *p, const InterpReport *r) {
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, what);
    interp_report_print(p, r, stderr);
    return false;
}

static bool check_seed(uint64_t seed, bool flags, Count *c) {
    Arena *a = arena_new();
    Module *m = gen_module(a, seed);
    const Program *p = m->program.p[0];
    InterpReport report;
    Array *before = run(a, m, (InterpOptions){0}, &report);
    bool good = report.faults == 0 || complain(seed, "as generated", p, &report);
    good = good && (gen_lower(m, seed, flags, stderr) || complain(seed, "not lowered", p, &report));
    for (uint64_t s = 0; good && s < SCHEDULES; s++) {
        Array *after = run(a, m, schedule(seed + s), &report);
        good = report.faults == 0 || complain(seed, "with flags", p, &report);
        good = good && (same_results(p, before, after) || complain(seed, "other results with flags", p, &report));
    }
    if (good) check_mutants(m, seed, c);
    arena_free(a);
    return good;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 20, first = argc > 2 ? atoi(argv[2]) : 1, failed = 0;
    Count c = {0};
    for (int i = 0; i < count; i++) failed += !check_seed((uint64_t)(first + i), i % 5 != 4, &c);
    printf("%d programs, %d wrong; %d mutants, %d refused by the proof, %d of them met by agents, %d escaped\n", count,
           failed, c.mutants, c.refused, c.found, c.wrong);
    return failed || c.wrong || c.found * 10 < c.refused * 8;
}
