/* remap_verify.c: tilec remap --verify: each kernel as it was and with its order, in the emulator, at fewer workgroups.
   Both run on the same random memory, a workgroup at a time, and have to leave the same bytes behind. */
#include "driver/remap.h"
#include "driver/device.h"
#include "emu/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Workgroups along an axis; rows of an axis that is cut in rows and columns; bytes beside what is touched, on both
   sides. Chosen: odd, so that chiplets get unequal shares, and seconds. */
enum { MOST_ALONG = 11, MOST_ALONE = 77, MOST_ROWS = 3, MARGIN = 4096 };

typedef struct {
    char *bytes;
    size_t n;
} Memory;

typedef struct {
    int group[3];
    void *argument[64];
} Call;

/* ---- sizes ---- */

/* The kernel as a launch of fewer workgroups has it. */
static HipKernel smaller(Remap *r, int i) {
    const Remapped *k = &r->kernel.p[i];
    const bool alone = k->hip->grid[1] == 1 && k->hip->grid[2] == 1;
    HipInput in = r->in;
    for (int axis = 0; axis < 3; axis++) {
        int64_t most = alone ? MOST_ALONE : MOST_ALONG;
        if (axis == 0 && k->tasks.columns) most = k->tasks.columns * MOST_ROWS;
        in.grid[axis] = k->hip->grid[axis] > most ? most : k->hip->grid[axis];
        in.block[axis] = k->hip->block[axis];
    }
    return r->read(&in).kernel[i];
}

/* What the kernel touches at most of each parameter. */
static int64_t *bytes_touched(Remap *r, const HipKernel *hip) {
    int64_t *bytes = ARENA_ARRAY(r->arena, int64_t, hip->nparam + 1);
    const HipTasks t = hip_tasks(r->m, hip);
    for (int p = 0; p < hip->nparam; p++) {
        bytes[p] = 1;
        for (int d = 0; d < t.k->param.p[p].ndim; d++) bytes[p] *= t.k->param.p[p].dim[d].c;
    }
    return bytes;
}

/* ---- the program ---- */

/* Clang's text for the emulator: launches are taken out, and a function calls the kernel for one workgroup. */
static void program_write(const Text *source, const HipFile *f, const HipKernel *k, const int64_t *grid, Text *to) {
    uint32_t at = 0;
    for (int i = 0; i < f->nlaunch; i++) {
        if (f->launch[i].where || f->launch[i].begin < at) continue;
        text_add_n(to, source->p + at, f->launch[i].begin - at);
        text_add(to, "((void)0)");
        at = f->launch[i].end;
    }
    text_add_n(to, source->p + at, source->n - at);
    text_printf(to, "\nextern \"C\" __attribute__((visibility(\"default\"))) void tilec_run(const void *argument) {\n");
    text_printf(to,
                "    static const tile_emu_kernel kernel = {sizeof(int) * 4 + sizeof(void *) * 64, 0, %d, 1, {64, 1, "
                "false}};\n",
                (int)(k->block[0] * k->block[1] * k->block[2]));
    text_add(to, "    struct call { int group[3]; void *argument[64]; };\n    if (!tile_emu_begin(argument, &kernel)) "
                 "return;\n");
    text_add(to, "    const call &c = *(const call *)argument;\n");
    text_printf(to, "    gridDim = dim3(%d, %d, %d), blockDim = dim3(%d, %d, %d);\n", (int)grid[0], (int)grid[1],
                (int)grid[2], (int)k->block[0], (int)k->block[1], (int)k->block[2]);
    text_printf(to, "    blockIdx = {(unsigned)c.group[0], (unsigned)c.group[1], (unsigned)c.group[2]};\n    %s(",
                k->name);
    for (int p = 0; p < k->nparam; p++)
        text_printf(to, k->param[p].pointer ? "%s(%s)c.argument[%d]" : "%s*(%s *)c.argument[%d]", p ? ", " : "",
                    k->param[p].type, p);
    text_add(to, ");\n}\n");
}

/* Where the file's own headers are. */
static const char *folder_of(Arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : slash ? arena_text(a, path, (size_t)(slash - path)) : ".";
}

static void *program_build(Remap *r, const char *folder, const char *name, const Text *text) {
    static const char *const compilers[] = {"clang++-22", "clang++-14", "clang++"};
    const char *source = arena_format(r->arena, "%s/%s.cpp", folder, name),
               *library = arena_format(r->arena, "%s/%s.so", folder, name);
    const char *given = getenv("TILEC_CLANGXX"), *runtime = runtime_folder(r->arena),
               *command = given && *given ? given : NULL;
    for (int i = 0; i < 3 && !command; i++) command = command_installed(r->arena, compilers[i]) ? compilers[i] : NULL;
    if (!command || text_write(text, source)) return NULL;
    VEC(const char *) argv = {0};
    const char *first[] = {command,
                           "-x",
                           "c++",
                           "-std=c++17",
                           "-O1",
                           "-fPIC",
                           "-shared",
                           "-DTILE_EMU",
                           "-w",
                           "-fvisibility=hidden",
                           arena_format(r->arena, "-I%s", folder_of(r->arena, r->o->file)),
                           arena_format(r->arena, "-I%s/hip", runtime),
                           arena_format(r->arena, "-I%s", runtime),
                           source,
                           "-o",
                           library};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) vec_push(r->arena, &argv, first[i]);
    for (int i = 0; i < r->in.nflag; i++)
        if (strncmp(r->in.flag[i], "-D", 2) == 0 || strncmp(r->in.flag[i], "-I", 2) == 0 ||
            strncmp(r->in.flag[i], "-std", 4) == 0)
            vec_push(r->arena, &argv, r->in.flag[i]);
    vec_push(r->arena, &argv, NULL);
    void *loaded = run_command(argv.p) ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(source);
    unlink(library);
    return loaded;
}

/* ---- runs ---- */

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Floats from -1 to 1; those of 16 bits have a few bits set, which are a small number of either type; small integers.
 */
static void memory_fill(Memory *m, const HipParam *p, uint64_t seed) {
    for (size_t i = 0; i + (size_t)p->bytes <= m->n; i += (size_t)p->bytes) {
        const uint64_t x = draw(&seed), half = 0x3c00 | (x & 0x3ff), whole = x & 7;
        const double d = (double)x / (double)(UINT64_C(1) << 30) - 1;
        const float f = (float)d;
        const void *from = !p->floats      ? (const void *)&whole
                           : p->bytes == 4 ? (const void *)&f
                           : p->bytes == 8 ? (const void *)&d
                                           : (const void *)&half;
        if (p->bytes <= 8)
            memcpy(m->bytes + i, from, (size_t)p->bytes);
        else
            memcpy(m->bytes + i, &f, sizeof f);
    }
}

static bool groups_run(void *library, const int64_t *grid, int threads, const Call *arguments) {
    void *run = dlsym(library, "tilec_run"), *context, *function;
    tile_emu_symbol symbol[2] = {{"kernel", NULL}, {NULL, NULL}};
    memcpy(&symbol[0].run, &run, sizeof run); /* as in remap.c */
    if (!run || tile_emu_context_retain(&context, 0) || tile_emu_context_set(context) ||
        tile_emu_function_get(&function, symbol, "kernel"))
        return false;
    for (int64_t g = 0; g < grid[0] * grid[1] * grid[2]; g++) {
        Call call = *arguments;
        void *argument[] = {&call};
        call.group[0] = (int)(g % grid[0]), call.group[1] = (int)(g / grid[0] % grid[1]),
        call.group[2] = (int)(g / grid[0] / grid[1]);
        if (tile_emu_launch(function, 1, 1, 1, (unsigned)threads, 1, 1, 0, NULL, argument, NULL) ||
            tile_emu_stream_sync(NULL)) {
            const char *text = NULL;
            tile_emu_error_text(719,
                                &text); /* CUDA_ERROR_LAUNCH_FAILED: what the emulator says of a kernel's mistake */
            return fprintf(stderr, "tilec: error: %s\n", text), false;
        }
    }
    return true;
}

static Call call_of(Remap *r, const HipKernel *hip, Memory *memory) {
    Call call = {0};
    for (int p = 0; p < hip->nparam; p++) {
        int64_t *value = ARENA_ARRAY(r->arena, int64_t, 8);
        const float f = hip->param[p].known ? (float)hip->param[p].value : 0.5f;
        const double d = f;
        *value = hip->param[p].value;
        if (hip->param[p].floats)
            memcpy(value, hip->param[p].bytes == 8 ? (const void *)&d : (const void *)&f, (size_t)hip->param[p].bytes);
        call.argument[p] = hip->param[p].pointer ? memory[p].bytes + MARGIN : (void *)value;
    }
    return call;
}

static Memory *memory_of(Remap *r, const HipKernel *hip, const int64_t *bytes) {
    Memory *m = ARENA_ARRAY(r->arena, Memory, hip->nparam + 1);
    for (int p = 0; p < hip->nparam; p++) {
        if (!hip->param[p].pointer) continue;
        m[p].n = (size_t)bytes[p] + 2 * MARGIN;
        m[p].bytes = mem_realloc(NULL, m[p].n);
        memory_fill(&m[p], &hip->param[p], (uint64_t)p + 1);
    }
    return m;
}

static int memories_compare(const HipKernel *hip, const Memory *a, const Memory *b) {
    for (int p = 0; p < hip->nparam; p++)
        if (hip->param[p].pointer && memcmp(a[p].bytes, b[p].bytes, a[p].n) != 0) return p;
    return -1;
}

static int kernel_compare(Remap *r, const HipKernel *hip, void *before, void *after) {
    const int64_t *bytes = bytes_touched(r, hip);
    Memory *a = memory_of(r, hip, bytes), *b = memory_of(r, hip, bytes);
    const Call x = call_of(r, hip, a), y = call_of(r, hip, b);
    const int threads = (int)(hip->block[0] * hip->block[1] * hip->block[2]);
    int code =
        groups_run(before, hip->grid, threads, &x) && groups_run(after, hip->grid, threads, &y) ? EXIT_OK : EXIT_RUN;
    const int wrong = code == EXIT_OK ? memories_compare(hip, a, b) : -1;
    if (wrong >= 0)
        fprintf(stderr, "tilec: error: '%s': '%s' differs\n", hip->name, hip->param[wrong].name), code = EXIT_DIFFERS;
    else if (code == EXIT_OK)
        printf("verify: '%s': %lld, %lld, %lld workgroups leave the same behind\n", hip->name, (long long)hip->grid[0],
               (long long)hip->grid[1], (long long)hip->grid[2]);
    for (int p = 0; p < hip->nparam; p++) free(a[p].bytes), free(b[p].bytes);
    return code;
}

/* In a process of its own, as a kernel may touch what is not there. */
static int compare_apart(Remap *r, const HipKernel *hip, void *before, void *after) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int code = kernel_compare(r, hip, before, after);
        fflush(NULL);
        _exit(code);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (child > 0 && WIFEXITED(status)) return WEXITSTATUS(status);
    return fprintf(stderr, "tilec: error: '%s' cannot be run in the emulator: it touches memory that it is not given\n",
                   hip->name),
           EXIT_RUN;
}

static int kernel_verify(Remap *r, const HipFile *after, int i, const char *folder) {
    const Remapped *k = &r->kernel.p[i];
    const HipKernel hip = smaller(r, i);
    Text a = {0}, b = {0};
    if (k->tasks.lost || hip.nparam > 64)
        return printf("verify: '%s': not run: not all of its accesses are followed\n", hip.name), EXIT_OK;
    program_write(&r->source, &r->file, &hip, hip.grid, &a);
    program_write(&r->result, after, &hip, hip.grid, &b);
    void *before = program_build(r, folder, "before", &a),
         *then = before ? program_build(r, folder, "after", &b) : NULL;
    text_free(&a);
    text_free(&b);
    if (!then) return fprintf(stderr, "tilec: error: '%s' cannot be compiled for the emulator\n", hip.name), EXIT_RUN;
    const int code = compare_apart(r, &hip, before, then);
    dlclose(before);
    dlclose(then);
    return code;
}

int remap_verify(Remap *r) {
    const char *tmp = getenv("TMPDIR");
    char *folder = (char *)arena_format(r->arena, "%s/tilec-remap-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    HipInput in = r->in;
    int code = EXIT_OK;
    in.text = text_str(&r->result);
    const HipFile after = r->read(&in);
    if (!mkdtemp(folder))
        return fprintf(stderr, "tilec: error: cannot make a folder in %s\n", tmp && *tmp ? tmp : "/tmp"), EXIT_RUN;
    for (int i = 0; i < r->kernel.n && code == EXIT_OK; i++)
        if (!r->kernel.p[i].why) code = kernel_verify(r, &after, i, folder);
    rmdir(folder);
    return code;
}
