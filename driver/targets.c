/* targets.c: tilec targets: the machines that code can be made for, and how their C is compiled. */
#include "driver/emit.h"
#include "driver/target.h"

#include <stdio.h>
#include <string.h>

static int unknown_target(const char *name) {
    fprintf(stderr, "tilec: error: there is no target '%s'; see tilec targets\n", name);
    return EXIT_USAGE;
}

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

int command_targets(Options *o) {
    if (o->file && !target_known(o->file)) return unknown_target(o->file);
    if (o->flags) return print_flags(o->arena, o->file);
    targets_print(o->file);
    return EXIT_OK;
}
