/* targets.c: tilec targets: the machines that code can be made for, and how their C is compiled. */
#include "driver/emit.h"
#include "driver/target.h"
#include "passes/model/model.h"
#include "target/matrix.h"

#include <stdio.h>
#include <string.h>

/* In quotes where a shell would take it apart. */
static void print_folder(const char *path, const char *below) {
    bool plain = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-") == strlen(path);
    printf(plain ? " -I%s%s" : " '-I%s%s'", path, below);
}

/* One line for a shell, Make's $(shell ..) or CMake's separate_arguments(). */
static int print_flags(Arena *a, const char *name) {
    if (!name || strcmp(name, "host")) {
        fputs("tilec: error: --flags tells how C for the host is compiled: tilec targets host --flags\n", stderr);
        return EXIT_USAGE;
    }
    const char *runtime = runtime_folder(a);
    if (!runtime) return EXIT_WRONG;
    for (int i = 0; host_flags[i]; i++) printf("%s%s", i ? " " : "", host_flags[i]);
    print_folder(runtime, "/include");
    print_folder(runtime, "");
    printf("\n");
    return EXIT_OK;
}

/* ---- what is known of one machine ---- */

static void print_rate(const char *what, double x, double unit, const char *text) {
    if (x > 0) printf("  %-24s %.4g %s\n", what, x / unit, text);
}

/* The model's rates (target/rates.h): measured, or of data sheets. */
static void print_facts(const TargetFacts *f, const char *core) {
    print_rate("memory", f->memory, 1e9, "GB/s, read and written");
    print_rate("a peer's memory", f->link, 1e9, "GB/s");
    print_rate("caches", f->cache, 1 << 20, "MiB");
    print_rate("products of matrices", f->dot, 1e9, core);
    print_rate("flag between ranks", f->flag, 1e-6, "us");
    print_rate("barrier of all ranks", f->barrier, 1e-6, "us");
    print_rate("start of a run", f->start, 1e-6, "us");
}

static bool listed(const char *const *list, int n, const char *word) {
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0) return true;
    return false;
}

static void print_words(const char *what, const char *const *word, int n) {
    printf("  %-24s", what);
    for (int i = 0; i < n; i++) printf("%s %s", i ? "," : "", word[i]);
    printf("\n");
}

static void print_machine(Arena *a, const MatrixTarget *t) {
    const char **types = ARENA_ARRAY(a, const char *, t->nops + 1), *names[32];
    int ntypes = 0, n = 0;
    printf("  %-24s %d\n  %-24s %d lanes\n", "processors", t->processors, "wave", t->wave);
    printf("  %-24s %d KiB\n", "memory of a workgroup", t->lds_bytes >> 10);
    printf("  %-24s %d of 32 bits, %d a thread\n", "registers of a workgroup", t->registers, t->most_registers);
    for (int i = 0; i < t->nops; i++)
        if (!listed(types, ntypes, t->op[i].a)) types[ntypes++] = t->op[i].a;
    print_words("matrix instructions of", types, ntypes);
    for (const MatrixSchedule *s = t->schedule; s->name && n < 32; s++)
        if (!listed(names, n, s->name)) names[n++] = s->name;
    print_words("schedules", names, n);
    printf("  %-24s %s\n", "launches overlap", t->dependent ? "yes" : "no");
}

static void print_known(Arena *a, const char *name) {
    const MatrixTarget *t = matrix_target(name);
    const TargetFacts *f = target_facts(name);
    if (t) print_machine(a, t);
    if (f) print_facts(f, t ? "Gflop/s of a processor" : "Gflop/s of a core");
}

int command_targets(Options *o) {
    if (o->file && !target_known(o->file)) return target_unknown(o->arena, o->file), EXIT_USAGE;
    if (o->flags) return print_flags(o->arena, o->file);
    targets_print(o->file);
    if (o->file) print_known(o->arena, o->file);
    return EXIT_OK;
}
