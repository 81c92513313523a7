/* emit.c: writes what codegen makes, and calls the system's C compiler on it. */
#include "driver/emit.h"

#include "codegen/codegen.h"
#include "driver/progress.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *program_path(const Session *s, const Program *p, const char *dir, const char *ending) {
    return arena_format(s->arena, "%s/%s.%s", dir, c_program_name(s->arena, p), ending);
}

static void add_part(Outputs *out, const char *dir, const Program *p, const char *ending, Text *text) {
    Arena *a = out->s->arena;
    Text *kept = ARENA_NEW(a, Text);
    *kept = *text;
    vec_push(a, &out->file, ((OutFile){kept, program_path(out->s, p, dir, ending)}));
}

bool outputs_add_source(Outputs *out, const Program *p, const char *dir) {
    Text source = {0}, header = {0}, manifest = {0};
    bool good = c_emit(out->s->m, p, &(Targets){.host = true}, &source, &header, &manifest);
    add_part(out, dir, p, "c", &source);
    add_part(out, dir, p, "h", &header);
    add_part(out, dir, p, "json", &manifest);
    return good;
}

bool outputs_write(Outputs *out, const char *dir) {
    const char *culprit = dir, *failed = mkdir(dir, 0777) && errno != EEXIST ? strerror(errno) : NULL;
    if (!failed) failed = files_write(out->file.p, out->file.n, &culprit);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", culprit, failed);
    return !failed;
}

void outputs_free(Outputs *out) {
    for (int i = 0; i < out->file.n; i++) free((void *)out->file.p[i].text->p);
}

static bool is_runtime(const char *folder, Arena *a) {
    return access(arena_format(a, "%s/device/host.h", folder), R_OK) == 0;
}

/* The build tree and an installed prefix have one shape: the command finds its headers from where it lies itself. */
const char *runtime_folder(Arena *a) {
    const char *given = getenv("TILEC_RUNTIME"), *folder = NULL;
    if (given && *given) return given;
    char exe[4096], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n > 0) {
        exe[n] = 0;
        char *slash = strrchr(exe, '/');
        if (slash) *slash = 0;
        folder = realpath(arena_format(a, "%s/" TILEC_RUNTIME_FROM_BIN, exe), real);
    }
    if (folder && is_runtime(folder, a)) return arena_text(a, folder, strlen(folder));
    fputs("tilec: error: the runtime's headers are not beside the command; TILEC_RUNTIME may name their folder\n", stderr);
    return NULL;
}

static bool run_command(const char *const *argv) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], (char *const *)argv);
        fprintf(stderr, "tilec: error: cannot run %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* -ffp-contract=fast is in the language (multiply-add may be fused); other reordering is not. */
const char *const host_flags[] = {"-std=gnu11",         "-O3",          "-march=native", "-ffp-contract=fast", "-fno-math-errno",
                                  "-fno-trapping-math", "-fopenmp-simd", NULL};

/* TILE_DELAY=seed asks for delays at waits and signals (runtime/device/host.h). */
static bool run_compiler(const Session *s, const char *source, bool library, const char *to) {
    const char *cc = getenv("CC"), *runtime = runtime_folder(s->arena);
    if (!runtime) return false;
    const char *last[] = {"-fPIC", getenv("TILE_DELAY") ? "-DTILE_TEST_DELAY" : "-DNDEBUG", library ? "-shared" : "-c",
                          arena_format(s->arena, "-I%s/include", runtime), arena_format(s->arena, "-I%s", runtime),
                          source, "-o", to, "-lm", NULL};
    VEC(const char *) argv = {0};
    vec_push(s->arena, &argv, cc && *cc ? cc : "cc");
    for (int i = 0; host_flags[i]; i++) vec_push(s->arena, &argv, host_flags[i]);
    for (int i = 0; i == 0 || last[i - 1]; i++) vec_push(s->arena, &argv, last[i]);
    Progress *progress = progress_begin(s->arena, arena_format(s->arena, "compiling %s", source));
    bool good = run_command(argv.p);
    progress_end(progress);
    return good;
}

/* The compiler writes beside its output, so that one that dies leaves an older output as it was. */
static bool compile_c(const Session *s, const Program *p, const char *dir, bool library, const char *to) {
    const char *source = program_path(s, p, dir, "c");
    const char *temporary = arena_format(s->arena, "%s/.tilec-%ld", dir, (long)getpid());
    bool compiled = run_compiler(s, source, library, temporary);
    if (compiled && rename(temporary, to) == 0) return true;
    if (compiled)
        fprintf(stderr, "tilec: error: cannot write %s: %s\n", to, strerror(errno));
    else
        fprintf(stderr, "tilec: error: the C compiler failed on %s\n", source);
    unlink(temporary);
    return false;
}

const char *library_path(const Session *s, const Program *p, const char *dir) {
    return arena_format(s->arena, "%s/lib%s.so", dir, c_program_name(s->arena, p));
}

bool emit_object(const Session *s, const Program *p, const char *dir) {
    return compile_c(s, p, dir, false, program_path(s, p, dir, "o"));
}

bool emit_library(const Session *s, const Program *p, const char *dir) {
    return compile_c(s, p, dir, true, library_path(s, p, dir));
}
