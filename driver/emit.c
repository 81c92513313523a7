/* emit.c: writes what codegen makes, and calls the system's C compiler on it. */
#include "driver/emit.h"

#include "base/text.h"
#include "codegen/codegen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_part(const Session *s, Text *text, const char *dir, const char *name, const char *ending) {
    const char *path = arena_format(s->arena, "%s/%s.%s", dir, name, ending);
    const char *failed = text_write(text, path);
    text_free(text);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed);
    return !failed;
}

bool emit_source(const Session *s, const Program *p, const char *dir) {
    Text source = {0}, header = {0}, manifest = {0};
    if (mkdir(dir, 0777) && errno != EEXIST) {
        fprintf(stderr, "tilec: error: cannot make %s: %s\n", dir, strerror(errno));
        return false;
    }
    if (!c_emit(s->m, p, &source, &header, &manifest)) return false;
    return write_part(s, &source, dir, p->name, "c") & write_part(s, &header, dir, p->name, "h") &
           write_part(s, &manifest, dir, p->name, "json");
}

static bool is_runtime(const char *folder, Arena *a) {
    return access(arena_format(a, "%s/device/host.h", folder), R_OK) == 0;
}

const char *runtime_folder(Arena *a) {
    const char *given = getenv("TILEC_RUNTIME");
    if (given) return given;
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n > 0) {
        exe[n] = 0;
        char *slash = strrchr(exe, '/');
        if (slash) *slash = 0;
        const char *installed = arena_format(a, "%s/../share/tilec/runtime", exe);
        if (is_runtime(installed, a)) return installed;
    }
    return TILEC_SOURCE_RUNTIME;
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
static bool compile_c(const Session *s, const Program *p, const char *dir, bool library, const char *to) {
    const char *cc = getenv("CC"), *runtime = runtime_folder(s->arena);
    const char *argv[] = {cc && *cc ? cc : "cc", "-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno",
                          "-fno-trapping-math", "-fopenmp-simd", "-fPIC", library ? "-shared" : "-c", "-I", arena_format(s->arena, "%s/include", runtime), "-I", runtime,
                          arena_format(s->arena, "%s/%s.c", dir, p->name), "-o", to, "-lm", NULL};
    if (run_command(argv)) return true;
    fprintf(stderr, "tilec: error: the C compiler failed on %s/%s.c\n", dir, p->name);
    return false;
}

bool emit_object(const Session *s, const Program *p, const char *dir) {
    return compile_c(s, p, dir, false, arena_format(s->arena, "%s/%s.o", dir, p->name));
}

const char *library_path(const Session *s, const Program *p, const char *dir) {
    return arena_format(s->arena, "%s/lib%s.so", dir, p->name);
}

bool emit_library(const Session *s, const Program *p, const char *dir) {
    return compile_c(s, p, dir, true, library_path(s, p, dir));
}
