/* mutate.c [MUTANTS [FIRST]] | FILE.tir..: weakens generated programs, or these, step by step. Every mutant is caught by the
   proof, or a second opinion that looks at every element finds nothing wrong with it. Prints a table by kind. */
#include "base/text.h"
#include "test/mutate/generate.h"
#include "test/mutate/judge.h"

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
