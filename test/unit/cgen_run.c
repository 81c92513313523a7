/* cgen_run.c: runs the programs of an IR file twice, as generated C and in the interpreter, and compares the results.
   The generated code is that of the module after all passes of the host, the interpreter runs it before them.
   usage: cgen_run FILE.tir [comm=N: form of communication] [NAME=VALUE of run-time dimensions ..] */
#include "base/text.h"
#include "codegen/codegen.h"
#include "driver/shard.h"
#include "ir/interp/interp.h"
#include "passes/pass.h"
#include "tile_program.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 16, ARGS = 256, RUNS = 3 };
enum { REFUSED = 3 }; /* the exit code where there is no code for a program */

typedef struct {
    Arena *arena;
    Module *m;
    const Program *p;
    int64_t sym[16], dim[16]; /* of the module; those that the program takes */
    Array io[ARGS], expected[ARGS];
    const tile_program *code;
    int rank;
    const char *failed;
} Case;

static _Noreturn void die(const char *what, const char *detail) {
    fprintf(stderr, "cgen_run: %s%s\n", what, detail);
    exit(1);
}

static const Tensor *io_tensor(const Case *c, int i) { return &c->p->tensor.p[c->p->io.p[i]]; }

static Module *read_module(Arena *a, const char *path) {
    Text text = {0};
    const char *failed = text_read(&text, path, 1 << 24);
    if (failed) die(path, failed);
    Diags *diags = diags_new(a);
    Module *m =
        module_parse(a, names_new(a), diags, diags_file(diags, path, arena_text(a, text_str(&text), text.n), text.n));
    text_free(&text);
    bool good = m && diags->errors == 0 && module_verify(m);
    diags_print(diags, stderr, DIAG_TEXT, false);
    if (!good) die("not a module: ", path);
    return m;
}

static void read_sizes(Case *c, char **argument, int n) {
    for (int i = 0; i < c->m->symbol.n; i++) {
        c->sym[i] = c->m->symbol.p[i].bound;
        for (int k = 0; k < n; k++) {
            const char *value = strchr(argument[k], '=');
            size_t len = value ? (size_t)(value - argument[k]) : 0;
            if (value && strlen(c->m->symbol.p[i].name) == len && !strncmp(c->m->symbol.p[i].name, argument[k], len))
                c->sym[i] = atoll(value + 1);
        }
    }
}

static void run_passes(Module *m, CommForm comm) {
    int n;
    PassOptions options = {.target = "host", .comm = comm, .verify_each = true, .out = stderr};
    PassContext context = {.m = m, .options = &options};
    const Pass *const *list = pipeline_of("host", &n);
    bool good = pipeline_run(&context, list, n);
    diags_print(m->diags, stderr, DIAG_TEXT, false);
    if (!good || m->diags->errors) die("the passes failed", "");
}

/* ---- the generated code ---- */

static void write_text(Text *t, const char *folder, const char *name, const char *ending, Arena *a) {
    const char *failed = text_write(t, arena_format(a, "%s/%s.%s", folder, name, ending));
    if (failed) die("cannot write: ", failed);
    text_free(t);
}

static void emit(const Case *c, const char *folder) {
    Text source = {0}, header = {0}, manifest = {0}, again = {0}, other = {0}, another = {0};
    const Targets host = {.host = true};
    bool good =
        c_emit(c->m, c->p, &host, &source, &header, &manifest) && c_emit(c->m, c->p, &host, &again, &other, &another);
    if (!good) {
        diags_print(c->m->diags, stderr, DIAG_TEXT, false);
        fprintf(stderr, "cgen_run: no code for %s\n", c->p->name);
        exit(REFUSED);
    }
    if (source.n != again.n || memcmp(source.p, again.p, source.n)) die("not the same text twice: ", c->p->name);
    text_free(&again), text_free(&other), text_free(&another);
    write_text(&source, folder, c->p->name, "c", c->arena);
    write_text(&header, folder, c->p->name, "h", c->arena);
    write_text(&manifest, folder, c->p->name, "json", c->arena);
}

static void load(Case *c, const char *folder) {
    /* Random programs compare values with themselves, and bytes with what no byte is. */
    const char *flags = "-std=gnu11 -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math -fPIC -shared "
                        "-Wall -Wextra -Wno-unused-parameter -Wno-tautological-compare "
                        "-Wno-type-limits -Werror";
    const char *library = arena_format(c->arena, "%s/%s.so", folder, c->p->name);
    const char *more = getenv("CGEN_FLAGS"); /* sanitizers */
    const char *given = getenv("TILEC_RUNTIME"), *runtime = given ? given : TILEC_SOURCE "/runtime", *cc = getenv("CC");
    const char *command = arena_format(c->arena, "%s %s %s -I%s -I%s/include %s/%s.c -o %s -lm", cc ? cc : "cc", flags, more ? more : "",
                                       runtime, runtime, folder, c->p->name, library);
    if (system(command)) die("the C compiler failed: ", command);
    void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!lib) die("cannot load: ", dlerror());
    c->code = dlsym(lib, arena_format(c->arena, "%s_program", c->p->name));
    if (!c->code) die("no program in ", library);
}

/* ---- ranks ---- */

static void copy_part(const Case *c, int i, const int *coord, void *part, bool back) {
    shard_copy(c->m, io_tensor(c, i), c->sym, coord, &c->io[i], part, back);
}

static int run_instance(Case *c, tile_mesh *mesh, void **arg, const int *coord) {
    tile_instance *instance;
    int error = tile_instance_open(mesh, c->code, &instance);
    for (int run = 0; run < RUNS && !error; run++) {
        for (int i = 0; i < c->p->io.n; i++) copy_part(c, i, coord, arg[i], false);
        error = tile_instance_run(instance, arg, c->dim, NULL);
        if (!error) error = tile_stream_sync(mesh, NULL);
    }
    if (!error) error = tile_mesh_barrier(mesh);
    if (!error) tile_instance_close(instance);
    return error;
}

static void *rank_main(void *p) {
    Case *c = p;
    int coord[MAX_AXES] = {0};
    void *arg[ARGS];
    mesh_coord(c->m, c->rank, coord);
    for (int i = 0; i < c->p->io.n; i++) {
        int64_t dim[MAX_DIMS], n = shard_shape(c->m, io_tensor(c, i), c->sym, coord, dim);
        size_t bytes = shard_bytes(io_tensor(c, i)->elem, n);
        arg[i] = aligned_alloc(64, (bytes + 127) / 64 * 64);
        memset(arg[i], 0x7f, bytes);
    }
    tile_mesh *mesh;
    bool ordered = c->m->form & FORM_FLAGS;
    tile_mesh_config config = {.size = sizeof config,
                               .rank = c->rank,
                               .nranks = (int)mesh_ranks(c->m),
                               .workers = ordered ? 2 : 1,
                               .timeout_ms = 20000,
                               .group = "cgen"};
    int error = tile_mesh_open(&config, &mesh);
    if (!error) error = run_instance(c, mesh, arg, coord);
    if (error) c->failed = arena_format(c->arena, "%s: %s", tile_error_name(error), tile_last_error());
    for (int i = 0; i < c->p->io.n; i++) {
        if (io_tensor(c, i)->role != ROLE_INPUT) copy_part(c, i, coord, arg[i], true);
        free(arg[i]);
    }
    if (!error) tile_mesh_close(mesh);
    return NULL;
}

static void run_ranks(Case *c) {
    pthread_t thread[RANKS];
    Case own[RANKS];
    int n = (int)mesh_ranks(c->m);
    if (n > RANKS || (n > 1 && !(c->m->form & FORM_FLAGS))) die("not for this test: ", c->p->name);
    for (int r = 0; r < n; r++) {
        own[r] = *c;
        own[r].rank = r;
        own[r].arena = arena_new();
        pthread_create(&thread[r], NULL, rank_main, &own[r]);
    }
    for (int r = 0; r < n; r++) pthread_join(thread[r], NULL);
    for (int r = 0; r < n; r++) {
        if (own[r].failed) die("the run failed: ", own[r].failed);
        arena_free(own[r].arena);
    }
}

/* ---- comparison ---- */

static void fill(Array *a, unsigned seed) {
    for (int64_t k = 0, n = array_count(a); k < n; k++) {
        seed = seed * 1664525u + 1013904223u;
        if (elem_is_float(a->elem))
            array_set(a, k, (double)(seed >> 8) / (1 << 23) - 1);
        else
            array_set_int(a, k, (seed >> 16) % (a->elem == ELEM_BOOL || a->elem == ELEM_T2 ? 2 : 8));
    }
}

static void prepare(Case *c) {
    if (c->p->io.n > ARGS) die("too many arguments: ", c->p->name);
    for (int i = 0; i < c->p->io.n; i++)
        for (int side = 0; side < 2; side++) {
            Array *a = side ? &c->expected[i] : &c->io[i];
            if (!array_for_tensor(c->arena, c->m, io_tensor(c, i), c->sym, a))
                die("too large: ", io_tensor(c, i)->name);
            if (io_tensor(c, i)->role != ROLE_OUTPUT) fill(a, (unsigned)i + 1);
        }
}

static bool is_close(const Array *a, const Array *b, int64_t k) {
    if (!elem_is_float(a->elem)) return array_get_int(a, k) == array_get_int(b, k);
    double x = array_get(a, k), y = array_get(b, k), bound = b->bound ? b->bound[k] : 0;
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= bound + 1e-30;
}

static void compare(const Case *c) {
    for (int i = 0; i < c->p->io.n; i++) {
        if (io_tensor(c, i)->role == ROLE_INPUT) continue;
        for (int64_t k = 0, n = array_count(&c->io[i]); k < n; k++) {
            if (is_close(&c->io[i], &c->expected[i], k)) continue;
            fprintf(stderr, "%s: '%s' element %lld: %.9g, the interpreter has %.9g (bound %.3g)\n", c->p->name,
                    io_tensor(c, i)->name, (long long)k, array_get(&c->io[i], k), array_get(&c->expected[i], k),
                    c->expected[i].bound ? c->expected[i].bound[k] : 0.0);
            exit(1);
        }
    }
}

static void interpret(Case *c) {
    InterpReport report = {0};
    InterpOptions options = {.sym = c->sym, .bounds = true};
    if (interp_run(c->arena, c->m, c->p, &options, c->expected, &report)) return;
    interp_report_print(c->p, &report, stderr);
    die("the interpreter found faults in ", c->p->name);
}

static void code_and_compare(Case *c, const char *folder) {
    for (int i = 0; i < c->p->dim.n; i++) c->dim[i] = c->sym[c->p->dim.p[i]];
    emit(c, folder);
    load(c, folder);
    run_ranks(c);
    compare(c);
    printf("%s: same\n", c->p->name);
}

int main(int argc, char **argv) {
    if (argc < 2) die("usage: cgen_run FILE.tir [comm=N] [NAME=VALUE ..]", "");
    Arena *a = arena_new();
    const char *keep = getenv("CGEN_KEEP");
    char made[] = "/tmp/cgen.XXXXXX";
    const char *folder = keep ? keep : mkdtemp(made);
    Module *m = read_module(a, argv[1]);
    Case *c = ARENA_ARRAY(a, Case, m->program.n);
    for (int i = 0; i < m->program.n; i++) {
        c[i] = (Case){.arena = a, .m = m, .p = m->program.p[i]};
        read_sizes(&c[i], argv + 2, argc - 2);
        prepare(&c[i]);
        interpret(&c[i]);
    }
    run_passes(m, argc > 2 && !strncmp(argv[2], "comm=", 5) ? (CommForm)atoi(argv[2] + 5) : COMM_AUTO);
    for (int i = 0; i < m->program.n; i++) code_and_compare(&c[i], folder);
    if (!keep && system(arena_format(a, "rm -rf %s", folder))) die("cannot remove ", folder);
    arena_free(a);
    return 0;
}
