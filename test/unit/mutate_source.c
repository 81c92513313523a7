/* mutate_source.c [MUTANTS [FIRST]]: random .tile programs through the whole pipeline, then weakened step by step. */
#include "passes/pass.h"
#include "test/gen/program.h"
#include "test/mutate/judge.h"

enum { TASKS = 150 }; /* the second opinion keeps a clock for each pair */

static int64_t tasks_of(const Module *m) {
    int64_t all = 0, sym[SRC_DIMS + 1] = {0};
    for (int i = 0; i < m->symbol.n; i++) sym[i] = m->symbol.p[i].bound;
    for (int i = 0; i < m->program.p[0]->node.n; i++) {
        const Kernel *k = m->program.p[0]->node.p[i]->kernel;
        int64_t n = mesh_ranks(m);
        for (int r = 0; k && r < k->ngrid; r++) n *= range_tiles(m, k, r, sym);
        all += n;
    }
    return all;
}

static bool passes_run(Module *m, uint64_t seed) {
    int n;
    const Pass *const *list = pipeline_of("host", &n);
    PassOptions o = {.target = "host", .comm = (CommForm)(seed % 6), .out = stderr, .verify_each = true};
    PassContext c = {.m = m, .options = &o};
    return pipeline_run(&c, list, n);
}

/* 1: mutants were made; 0: nothing to weaken, or too large; -1: wrong before. */
static int seed_run(uint64_t seed, Count *count) {
    Arena *arena = arena_new();
    Tape tape = tape_new(arena, seed);
    Text text = {0};
    bool varies;
    int result = 0;
    if (program_generate(arena, &tape, &text, &varies)) {
        Diags *diags = diags_new(arena);
        Module *m = generated_lower(arena, &text, diags);
        diags_print(diags, stderr, DIAG_TEXT, false);
        bool good = m && passes_run(m, seed);
        if (!good) result = -1;
        else if (mesh_ranks(m) > 1 && tasks_of(m) <= TASKS) result = module_run(m, seed, true, count) ? 1 : -1;
    }
    text_free(&text);
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
