/* mutate_source.c [MUTANTS [FIRST]]: random .tile programs through the whole pipeline, then weakened step by step. */
#include "test/mutate/judge.h"
#include "test/mutate/source.h"

enum { TASKS = 150 }; /* the second opinion keeps a clock for each pair */

/* 1: mutants were made; 0: nothing to weaken, or too large; -1: wrong before. */
static int seed_run(uint64_t seed, Count *count) {
    Arena *arena = arena_new();
    Module *m = NULL;
    int result = source_module(arena, seed, false, &m) ? 0 : -1;
    if (m && mesh_ranks(m) > 1 && source_tasks(m) <= TASKS) result = module_run(m, seed, true, count) ? 1 : -1;
    arena_free(arena);
    return result;
}

int main(int argc, char **argv) {
    int want = argc > 1 ? atoi(argv[1]) : 2000, programs = 0, bad = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    Count count[MUTATE_COUNT] = {0};
    for (; made(count) < want; seed++) {
        int r = seed_run(seed, count);
        programs += r != 0;
        bad += r < 0;
    }
    int escaped = table_print(count);
    printf("%d programs, %d wrong before mutation\n", programs, bad);
    return escaped || bad;
}
