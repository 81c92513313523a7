/* device.c: GPU texts and the compilers that make code of them: one row a kind of target. */
#include "driver/device.h"

#include "codegen/codegen.h"
#include "driver/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries of the arrays of a row of the table below, which ends them. */
enum { MOST_FLAGS = 16, NAMES = 4 };

typedef struct {
    const char *prefix;            /* of targets' names */
    const char *variable;          /* of the environment: another compiler */
    const char *command[NAMES];    /* the first that is installed */
    const char *arch;              /* flag that takes the machine's name behind it, or NULL */
    const char *flag[MOST_FLAGS];
} Compiler;

static const Compiler compilers[] = {
    {"emu:", "TILEC_CLANGXX", {"clang++-22", "clang++-14", "clang++", "g++"}, NULL,
     {"-x", "c++", "-std=c++14", "-O1", "-fPIC", "-c", "-DTILE_EMU", "-ffp-contract=fast", "-fno-exceptions",
      "-ftrivial-auto-var-init=pattern", "-fvisibility=hidden", "-Wall", "-Wextra",
      "-Wno-unknown-pragmas"}},
    {"gfx", "TILEC_HIP", {"clang-22", "clang"}, "--offload-arch=",
     {"-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-c", "--no-gpu-bundle-output", "-Wall",
      "-Wextra", "-Wframe-larger-than=1"}}, /* registers that spill */
    {"sm_", "TILEC_NVCC", {"nvcc", "/usr/local/cuda/bin/nvcc"}, "-arch=", {"-x", "cu", "-cubin", "-O3", "-Xptxas=-warn-spills"}},
};

bool command_installed(Arena *a, const char *name) {
    if (strchr(name, '/')) return access(name, X_OK) == 0;
    for (const char *p = getenv("PATH"); p && *p; p += *p == ':') {
        size_t n = strcspn(p, ":");
        if (access(arena_format(a, "%.*s/%s", (int)n, p, name), X_OK) == 0) return true;
        p += n;
    }
    return false;
}

static const Compiler *compiler_of(const Target *t) {
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        if (strncmp(t->name, compilers[i].prefix, strlen(compilers[i].prefix)) == 0) return &compilers[i];
    return NULL;
}

static const char *compiler_command(Arena *a, const Compiler *c) {
    const char *given = getenv(c->variable);
    if (given && *given) return given;
    for (int i = 0; i < NAMES && c->command[i]; i++)
        if (command_installed(a, c->command[i])) return c->command[i];
    fprintf(stderr, "tilec: error: %s is not installed, which compiles for %s..; %s may name another compiler\n", c->command[0],
            c->prefix, c->variable);
    return NULL;
}

static const char *device_path(const Session *s, const Program *p, const Target *t, const char *dir, const char *ending) {
    return arena_format(s->arena, "%s/%s_%s.%s", dir, c_program_name(s->arena, p), t->machine, ending);
}

const char *device_source_path(const Session *s, const Program *p, const Target *t, const char *dir) {
    return device_path(s, p, t, dir, "hip");
}

const char *device_code_path(const Session *s, const Program *p, const Target *t, const char *dir) {
    return device_path(s, p, t, dir, t->emulated ? "o" : "co");
}

bool device_compile(const Session *s, const Program *p, const Target *t, const char *dir) {
    Arena *a = s->arena;
    const Compiler *c = compiler_of(t);
    const char *runtime = runtime_folder(a), *command = compiler_command(a, c);
    const char *source = device_source_path(s, p, t, dir), *to = device_code_path(s, p, t, dir);
    VEC(const char *) argv = {0};
    if (!runtime || !command) return false;
    vec_push(a, &argv, command);
    for (int i = 0; i < MOST_FLAGS && c->flag[i]; i++) vec_push(a, &argv, c->flag[i]);
    if (c->arch) vec_push(a, &argv, arena_format(a, "%s%s", c->arch, t->machine));
    const char *last[] = {arena_format(a, "-I%s/include", runtime), arena_format(a, "-I%s", runtime), source, "-o", to, NULL};
    for (int i = 0; i == 0 || last[i - 1]; i++) vec_push(a, &argv, last[i]);
    Progress *progress = progress_begin(a, arena_format(a, "compiling %s", source));
    bool good = run_command(argv.p);
    progress_end(progress);
    if (!good) fprintf(stderr, "tilec: error: %s failed on %s\n", command, source);
    return good;
}
