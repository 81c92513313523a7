/* source.h: random .tile programs (test/gen) as modules with flags, through the whole pipeline of the host.
   Takes: a seed. Gives: the module, in the forms of collectives that the seed draws. */
#ifndef TILEC_TEST_MUTATE_SOURCE_H
#define TILEC_TEST_MUTATE_SOURCE_H

#include "passes/pass.h"
#include "test/gen/program.h"

/* Of all ranks, with every run-time size at its bound. */
static int64_t source_tasks(const Module *m) {
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

static bool passes_run(Module *m, uint64_t seed, bool structural) {
    int n;
    const Pass *const *list = pipeline_of("host", &n);
    PassOptions o = {.target = "host", .comm = (CommForm)(seed % 6), .out = stderr, .verify_each = true, .structural = structural};
    PassContext c = {.m = m, .options = &o};
    bool good = pipeline_run(&c, list, n);
    if (!good) diags_print(m->diags, stdout, DIAG_TEXT, false);
    if (!good && getenv("SHOW")) module_print(m, stdout);
    return good;
}

/* *m is NULL where the seed draws no program; false: it was refused. structural: PassOptions. */
static bool source_module(Arena *arena, uint64_t seed, bool structural, Module **m) {
    Tape tape = tape_new(arena, seed);
    Text text = {0};
    bool varies, good = true;
    *m = NULL;
    if (program_generate(arena, &tape, &text, &varies)) {
        Diags *diags = diags_new(arena);
        *m = generated_lower(arena, &text, diags);
        diags_print(diags, stderr, DIAG_TEXT, false);
        good = *m && passes_run(*m, seed, structural);
        if (!good) *m = NULL;
    }
    text_free(&text);
    return good;
}

#endif
