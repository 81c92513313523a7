/* mutate_both.c [PROGRAMS [FIRST]] | [--as-is] FILE.tir..: what does each proof say of generated programs, or of these, and of
   their mutants (--as-is: without)? Errors: a mutant that the proof of given sizes refuses and that of all sizes accepts; a
   program that the first accepts and the second calls faulty. Prints a table by kind. */
#include "base/text.h"
#include "test/mutate/both.h"
#include "test/mutate/generate.h"
#include "test/mutate/mutants.h"
#include "test/mutate/source.h"

#include <stdlib.h>

enum { TASKS = 4000, MUTANTS = 48 /* of a program */ };

typedef struct {
    int made, refused, accepted, coarser, unsound;
} Tally;

typedef struct {
    const char *name; /* of the program in hand */
    bool as_is;       /* no mutants */
    Tally base, of[MUTATE_ALL];
    int refused; /* programs that the compiler does not finish */
    int wronged; /* right programs that the proof of all sizes calls faulty */
} Campaign;

static void tally_add(Tally *t, const Campaign *c, const Both *b, const char *what, int at) {
    if (b->given == EXPLICIT_TOO_LARGE) return;
    bool fails = b->given == EXPLICIT_FAILS;
    t->made++;
    t->refused += fails && !b->all;
    t->accepted += !fails && b->all;
    t->coarser += !fails && !b->all;
    t->unsound += fails && b->all;
    if (fails && b->all)
        printf("unsound: %s, %s, place %d: accepted for all sizes, refused at %lld: %s\n", c->name, what, at, (long long)b->size, b->why_given);
    else if (getenv("COARSER") && !fails && !b->all) printf("coarser: %s, %s, place %d: %s\n", c->name, what, at, b->why_all);
}

static void judge(Campaign *c, const Module *m, Mutation kind, int at) {
    Arena *arena = arena_new();
    Sites s = sites_of(module_clone(m, arena));
    if (mutate(&s, kind, at) && module_verify(s.m)) {
        Both b = both_prove(s.m, arena);
        tally_add(&c->of[kind], c, &b, mutation_text[kind], at);
        if (getenv("SHOW")) module_print(s.m, stdout);
    }
    arena_free(arena);
}

static int places_of(Sites *s) {
    int n = 0;
    for (int kind = 0; kind < MUTATE_ALL; kind++) n += sites_for(s, (Mutation)kind)->n;
    return n;
}

/* About as many mutants of each program, drawn from the seed. */
static void judge_all(Campaign *c, const Module *m, uint64_t seed, int most) {
    Sites s = sites_of((Module *)m);
    uint64_t draw = seed * 0x9E3779B97F4A7C15u + 1, every = (uint64_t)(places_of(&s) / most) + 1;
    for (int kind = 0; kind < MUTATE_ALL; kind++)
        for (int at = 0; at < sites_for(&s, (Mutation)kind)->n; at++) {
            draw ^= draw << 13, draw ^= draw >> 7, draw ^= draw << 17;
            if ((draw >> 20) % every == 0) judge(c, m, (Mutation)kind, at);
        }
}

static void module_judge(Campaign *c, const Module *m, uint64_t seed, int most) {
    Arena *arena = arena_new();
    Both b = both_prove(m, arena);
    tally_add(&c->base, c, &b, "as it is", 0);
    if (b.given == EXPLICIT_HOLDS && b.fault) printf("wronged: %s: %s\n", c->name, b.why_all), c->wronged++;
    arena_free(arena);
    if (!c->as_is) judge_all(c, m, seed, most);
}

/* Meshes of one axis to three, numbers and run-time sizes, flags as the proof of given sizes leaves them, or of all. */
static bool seed_module(Arena *arena, uint64_t seed, Module **m) {
    bool structural = seed / 4 % 2;
    if (seed % 4 == 0) return source_module(arena, seed, structural, m);
    *m = gen_mesh(arena, seed, seed / 3 % 2, 1 + (int)(seed % 3));
    return gen_lower_as(*m, seed, true, structural, stderr);
}

static void seed_run(Campaign *c, uint64_t seed) {
    Arena *arena = arena_new();
    Module *m = NULL;
    c->name = arena_format(arena, "seed %llu", (unsigned long long)seed);
    if (!seed_module(arena, seed, &m)) {
        c->refused++;
        printf("%s: the compiler refuses it\n", c->name);
        if (m) diags_print(m->diags, stdout, DIAG_TEXT, false);
        if (m && getenv("SHOW")) module_print(m, stdout);
    } else if (m && m->program.p[0]->flag.n && source_tasks(m) <= TASKS) {
        module_judge(c, m, seed, MUTANTS);
    }
    arena_free(arena);
}

/* IR with flags; true where it could be read. */
static bool file_run(Campaign *c, const char *path) {
    Arena *arena = arena_new();
    Diags *diags = diags_new(arena);
    Text text = {0};
    c->name = path;
    Module *m = text_read(&text, path, 1 << 24) ? NULL : module_parse(arena, names_new(arena), diags, diags_file(diags, path, text_str(&text), text.n));
    if (m) module_judge(c, m, 1, INT32_MAX);
    text_free(&text);
    arena_free(arena);
    return m != NULL;
}

static void line_print(const char *name, const Tally *t) {
    printf("%-38s %7d %13d %14d %8d %8d\n", name, t->made, t->refused, t->accepted, t->coarser, t->unsound);
}

static int table_print(const Campaign *c) {
    Tally sum = {0};
    printf("%-38s %7s %13s %14s %8s %8s\n", "mutation", "made", "both refuse", "both accept", "coarser", "unsound");
    line_print("as it is", &c->base);
    for (int k = 0; k < MUTATE_ALL; k++) {
        const Tally *t = &c->of[k];
        line_print(mutation_text[k], t);
        sum.made += t->made, sum.refused += t->refused, sum.accepted += t->accepted, sum.coarser += t->coarser, sum.unsound += t->unsound;
    }
    line_print("all mutants", &sum);
    return c->base.unsound + sum.unsound + c->wronged;
}

int main(int argc, char **argv) {
    Campaign c = {.as_is = argc > 1 && strcmp(argv[1], "--as-is") == 0};
    argc -= c.as_is, argv += c.as_is;
    bool files = argc > 1 && strchr(argv[1], '.'), read = true;
    for (int i = 1; files && i < argc; i++) read = file_run(&c, argv[i]) && read;
    uint64_t programs = argc > 1 && !files ? strtoull(argv[1], NULL, 10) : 40, first = argc > 2 && !files ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t seed = first; !files && seed < first + programs; seed++) seed_run(&c, seed);
    int wrong = table_print(&c);
    printf("%d programs, %d refused by the compiler\n", c.base.made, c.refused);
    return wrong || c.refused || !read;
}
