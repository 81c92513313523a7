/* emit.c: writes what codegen makes, and calls the system's C compiler on it. */
#include "driver/emit.h"

#include "codegen/codegen.h"
#include "driver/device.h"
#include "driver/progress.h"
#include "passes/model/model.h"
#include "passes/proof/proof.h"

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

Outputs outputs_of(const Session *s, int n) {
    bool host = !s->target.gpu;
    return (Outputs){.s = s, .gpu = s + host, .ngpu = n - host};
}

static void add_part(Outputs *out, const char *path, const Text *text) {
    Text *kept = ARENA_NEW(out->s->arena, Text);
    *kept = *text;
    vec_push(out->s->arena, &out->file, ((OutFile){kept, path}));
}

static int program_index(const Session *s, const Program *p) {
    int i = 0;
    while (s->m->program.p[i] != p) i++;
    return i;
}

static bool add_gpu_text(Outputs *out, const Session *s, int program, const char *dir, GpuText *g) {
    const Program *p = s->m->program.p[program];
    *g = (GpuText){.target = s->target.machine, .emulated = s->target.emulated, .m = s->m, .p = p};
    bool good = gpu_emit(s->arena, g);
    add_part(out, device_source_path(s, p, &s->target, dir), &g->text);
    return good;
}

/* Without flags and barriers a program is right only where nothing waits for anything. */
static bool is_synchronised(const Session *s, const Program *p) {
    if (s->m->form & FORM_FLAGS) return true;
    Proof proof = proof_for(s->m, p, false, s->arena);
    if (proof.proved) return true;
    diag_error(s->diags, p->loc, "unsynchronised", "'%s' is left without flags and without barriers: %s", p->name,
               proof.why);
    for (int i = 0; i < 3 && proof.note[i]; i++) diag_note(s->diags, (Loc){0}, "%s", proof.note[i]);
    diag_note(s->diags, (Loc){0}, "--off leaves out one of the passes 'flags' and 'barriers'; --passes names one");
    return false;
}

bool outputs_add_source(Outputs *out, const Program *p, const char *dir) {
    const Session *s = out->s;
    if (!s->o->freestanding && !is_synchronised(s, p)) return false;
    Text source = {0}, header = {0}, manifest = {0};
    GpuText *gpu = ARENA_ARRAY(s->arena, GpuText, out->ngpu + 1);
    Targets targets = {.host = !s->target.gpu, .alone = s->o->freestanding, .gpu = gpu, .ngpu = out->ngpu};
    if (targets.host) targets.workers = p->workers ? p->workers : model_workers(target_facts("host"), s->m, p);
    bool good = true;
    for (int i = 0; i < out->ngpu; i++) good = add_gpu_text(out, &out->gpu[i], program_index(s, p), dir, &gpu[i]) && good;
    good = good && c_emit(s->m, p, &targets, &source, &header, &manifest);
    add_part(out, program_path(s, p, dir, "c"), &source);
    add_part(out, program_path(s, p, dir, "h"), &header);
    add_part(out, program_path(s, p, dir, "json"), &manifest);
    return good;
}

const char *folder_make(Arena *a, const char *dir) {
    char *path = arena_copy(a, dir, strlen(dir) + 1);
    for (char *slash = strchr(path + (*path == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST) return strerror(errno);
        *slash = '/';
    }
    return mkdir(dir, 0777) && errno != EEXIST ? strerror(errno) : NULL;
}

bool outputs_write(Outputs *out, const char *dir) {
    const char *culprit = dir, *failed = folder_make(out->s->arena, dir);
    if (!failed) failed = files_write(out->file.p, out->file.n, &culprit);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", culprit, failed);
    return !failed;
}

void outputs_free(Outputs *out) {
    for (int i = 0; i < out->file.n; i++) free((void *)out->file.p[i].text->p);
}

/* PLUGIN: a library for this command, which has the runtime itself. */
typedef enum { OBJECT, LIBRARY, PLUGIN } Kind;

/* -ffp-contract=fast is in the language (multiply-add may be fused); other reordering is not. */
const char *const host_flags[] = {"-std=gnu11",         "-O3",          "-march=native", "-ffp-contract=fast", "-fno-math-errno",
                                  "-fno-trapping-math", "-fopenmp-simd", NULL};

typedef VEC(const char *) Words;

/* The library brings the runtime along: the one beside it, else the one of this prefix. */
static bool add_libtile(Arena *a, Words *argv, const char *to) {
    const char *folder = libtile_folder(a), *slash = strrchr(to, '/');
    if (!folder) return false;
    const char *words[] = {"-Xlinker", "-soname", "-Xlinker", slash ? slash + 1 : to,
                           "-Xlinker", "--enable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN", "-Xlinker", "-rpath",
                           "-Xlinker", folder, arena_format(a, "%s/libtile.so", folder)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) vec_push(a, argv, words[i]);
    return true;
}

/* TILE_DELAY=seed asks for delays at waits and signals (runtime/device/host.h). */
static bool run_compiler(const Outputs *out, const Program *p, const char *dir, Kind kind, const char *to, const char *as) {
    const Session *s = out->s;
    const char *cc = getenv("CC"), *runtime = runtime_folder(s->arena), *source = program_path(s, p, dir, "c");
    const char *last[] = {"-fPIC", getenv("TILE_DELAY") ? "-DTILE_TEST_DELAY" : "-DNDEBUG", kind == OBJECT ? "-c" : "-shared",
                          arena_format(s->arena, "-I%s/include", runtime), arena_format(s->arena, "-I%s", runtime),
                          arena_format(s->arena, "-Wa,-I,%s", dir), source, "-o", to, "-lm", NULL};
    Words argv = {0};
    vec_push(s->arena, &argv, cc && *cc ? cc : "cc");
    for (int i = 0; host_flags[i]; i++) vec_push(s->arena, &argv, host_flags[i]);
    for (int i = 0; i == 0 || last[i - 1]; i++) vec_push(s->arena, &argv, last[i]);
    argv.n--;
    for (int i = 0; i < out->ngpu; i++)
        if (out->gpu[i].target.emulated) vec_push(s->arena, &argv, device_code_path(s, p, &out->gpu[i].target, dir));
    if (kind == LIBRARY && !add_libtile(s->arena, &argv, as)) return false;
    vec_push(s->arena, &argv, NULL);
    Progress *progress = progress_begin(s->arena, arena_format(s->arena, "compiling %s", source));
    bool good = run_command(argv.p);
    progress_end(progress);
    return good;
}

/* The compiler writes beside its output, so that one that dies leaves an older output as it was. */
static bool compile_c(const Outputs *out, const Program *p, const char *dir, Kind kind, const char *to) {
    const Session *s = out->s;
    for (int i = 0; i < out->ngpu; i++)
        if (!device_compile(s, p, &out->gpu[i].target, dir)) return false;
    if (!runtime_folder(s->arena) || (kind == LIBRARY && !libtile_folder(s->arena))) return false; /* which has told */
    const char *temporary = arena_format(s->arena, "%s/.tilec-%ld", dir, (long)getpid());
    bool compiled = run_compiler(out, p, dir, kind, temporary, to);
    if (compiled && rename(temporary, to) == 0) return true;
    if (compiled)
        fprintf(stderr, "tilec: error: cannot write %s: %s\n", to, strerror(errno));
    else
        fprintf(stderr, "tilec: error: the C compiler failed on %s\n", program_path(s, p, dir, "c"));
    unlink(temporary);
    return false;
}

const char *library_path(const Session *s, const Program *p, const char *dir) {
    return arena_format(s->arena, "%s/lib%s.so", dir, c_program_name(s->arena, p));
}

bool emit_object(const Outputs *out, const Program *p, const char *dir) {
    return compile_c(out, p, dir, OBJECT, program_path(out->s, p, dir, "o"));
}

bool emit_library(const Outputs *out, const Program *p, const char *dir) {
    return compile_c(out, p, dir, LIBRARY, library_path(out->s, p, dir));
}

bool emit_plugin(const Outputs *out, const Program *p, const char *dir) {
    return compile_c(out, p, dir, PLUGIN, library_path(out->s, p, dir));
}
