/* run.c: tilec run: inputs from files or a seed, the program on the host or in the interpreter, outputs to files,
   and the comparison of --check. */
#include "codegen/codegen.h"
#include "driver/draw.h"
#include "driver/device.h"
#include "driver/progress.h"
#include "driver/ranks.h"
#include "driver/shard.h"
#include "ir/npy.h"
#include "passes/model.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    Session s;
    const Program *p;
    int64_t *sym;
    Array *io;      /* whole arrays, in the order of p->io */
    int nranks;
    void *const **part;
    size_t **bytes; /* [rank][argument], 0 for scalars */
    RankResult **result;
    const tile_program *program;
} Run;

static const Tensor *io_tensor(const Run *r, int i) { return &r->p->tensor.p[r->p->io.p[i]]; }

static bool is_read(const Tensor *t) { return t->role == ROLE_INPUT || t->role == ROLE_STATE; }

static const char *binding_of(const Run *r, const char *name, bool output) {
    const Options *o = r->s.o;
    int n = output ? o->out.n : o->in.n;
    for (int i = 0; i < n; i++) {
        const Binding *b = output ? &o->out.p[i] : &o->in.p[i];
        if (strcmp(b->name, name) == 0) return b->path;
    }
    return NULL;
}

static bool known_binding(const Run *r, const Binding *b, bool output) {
    for (int i = 0; i < r->p->io.n; i++)
        if (strcmp(io_tensor(r, i)->name, b->name) == 0 && (output ? io_tensor(r, i)->role != ROLE_INPUT : is_read(io_tensor(r, i))))
            return true;
    fprintf(stderr, "tilec: error: program '%s' has no %s '%s'\n", r->p->name, output ? "output" : "input", b->name);
    return false;
}

static bool known_bindings(const Run *r) {
    bool good = true;
    for (int i = 0; i < r->s.o->in.n; i++) good = known_binding(r, &r->s.o->in.p[i], false) && good;
    for (int i = 0; i < r->s.o->out.n; i++) good = known_binding(r, &r->s.o->out.p[i], true) && good;
    return good;
}

static bool known_sizes(const Run *r) {
    for (int i = 0; i < r->s.o->size.n; i++) {
        const char *name = r->s.o->size.p[i].name;
        bool known = false;
        for (int k = 0; k < r->s.m->symbol.n; k++) known = known || strcmp(r->s.m->symbol.p[k].name, name) == 0;
        if (known) continue;
        fprintf(stderr, "tilec: error: --size: '%s' is no run-time dimension; -D gives a compile-time one its value\n", name);
        return false;
    }
    return true;
}

/* ---- sizes and inputs ---- */

/* f32[N, 64]: extents as numbers where the run-time sizes are known. */
static const char *declared_text(const Run *r, const Tensor *t) {
    const char *s = arena_format(r->s.arena, "%s[", elem_text(t->elem));
    for (int d = 0; d < t->ndim; d++) {
        Size e = size_whole(t->dim[d]);
        const char *comma = d ? ", " : "";
        if (size_is_number(e) || r->sym)
            s = arena_format(r->s.arena, "%s%s%" PRId64, s, comma, size_eval(r->s.m, e, r->sym, NULL));
        else
            s = arena_format(r->s.arena, "%s%s%s", s, comma, r->s.m->symbol.p[e.sym].name);
    }
    return arena_format(r->s.arena, "%s]", s);
}

static const char *loaded_text(const Run *r, const Array *a) {
    const char *s = arena_format(r->s.arena, "%s[", elem_text(a->elem));
    for (int d = 0; d < a->ndim; d++) s = arena_format(r->s.arena, "%s%s%" PRId64, s, d ? ", " : "", a->dim[d]);
    return arena_format(r->s.arena, "%s]", s);
}

/* Of a dimension that is split, the file has one rank's block. */
static bool is_part(const Run *r, const Tensor *t, const Array *a) {
    int coord[MAX_AXES] = {0};
    bool split = false;
    for (int d = 0; d < t->ndim && r->sym; d++) {
        if (a->dim[d] == size_eval(r->s.m, size_whole(t->dim[d]), r->sym, coord)) continue;
        if (a->dim[d] != size_eval(r->s.m, t->dim[d], r->sym, coord)) return false;
        split = true;
    }
    return split;
}

static bool file_report(const Run *r, int i, const char *path) {
    const Tensor *t = io_tensor(r, i);
    const Array *a = &r->io[i];
    fprintf(stderr, "tilec: error: %s: '%s' is %s, the file has %s\n", path, t->name, declared_text(r, t), loaded_text(r, a));
    if (a->ndim == t->ndim && a->elem == t->elem && is_part(r, t, a))
        fputs("tilec: note: files hold whole tensors; the ranks' parts are cut out of them\n", stderr);
    return false;
}

static bool load_inputs(Run *r) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = io_tensor(r, i);
        const char *path = is_read(t) ? binding_of(r, t->name, false) : NULL;
        const char *failed = path ? npy_load(r->s.arena, path, t->elem, &r->io[i]) : NULL;
        if (!failed && path && (r->io[i].elem != t->elem || r->io[i].ndim != t->ndim)) return file_report(r, i, path);
        if (failed) return fprintf(stderr, "tilec: error: %s: %s\n", path, failed), false;
    }
    return true;
}

/* A run-time dimension is told by --size, else by an input's extent, else it is its bound. */
static int64_t symbol_value(const Run *r, int sym) {
    const Options *o = r->s.o;
    for (int i = 0; i < o->size.n; i++)
        if (strcmp(o->size.p[i].name, r->s.m->symbol.p[sym].name) == 0) return o->size.p[i].value;
    for (int i = 0; i < r->p->io.n; i++)
        for (int d = 0; r->io[i].data && d < io_tensor(r, i)->ndim; d++)
            if (io_tensor(r, i)->dim[d].sym == sym) return r->io[i].dim[d] - io_tensor(r, i)->dim[d].c;
    return r->s.m->symbol.p[sym].bound;
}

static bool find_sizes(Run *r) {
    int n = r->s.m->symbol.n;
    r->sym = ARENA_ARRAY(r->s.arena, int64_t, n + 1);
    for (int i = 0; i < n; i++) {
        const Symbol *s = &r->s.m->symbol.p[i];
        r->sym[i] = symbol_value(r, i);
        if (r->sym[i] >= 0 && r->sym[i] <= s->bound) continue;
        fprintf(stderr, "tilec: error: %s = %" PRId64 " is outside its bound %" PRId64 "\n", s->name, r->sym[i], s->bound);
        return false;
    }
    return true;
}

static bool same_shape(const Array *a, const Array *b) {
    for (int d = 0; d < a->ndim; d++)
        if (a->dim[d] != b->dim[d]) return false;
    return true;
}

/* Does the machine's memory hold the tensor, whatever else there is? */
static bool memory_holds(const Run *r, const Tensor *t) {
    double bytes = (double)elem_bytes(t->elem), memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    for (int d = 0; d < t->ndim; d++) bytes *= (double)size_eval(r->s.m, size_whole(t->dim[d]), r->sym, NULL);
    return bytes < memory;
}

static bool make_arrays(Run *r) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = io_tensor(r, i);
        Array whole = {0};
        if (!memory_holds(r, t) || !array_for_tensor(r->s.arena, r->s.m, t, r->sym, &whole)) {
            fprintf(stderr, "tilec: error: '%s' is %s: too large for this machine\n", t->name, declared_text(r, t));
            return false;
        }
        if (r->io[i].data && !same_shape(&r->io[i], &whole)) return file_report(r, i, binding_of(r, t->name, false));
        bool drawn = !r->io[i].data && is_read(t);
        if (!r->io[i].data) r->io[i] = whole;
        if (drawn) array_draw(&r->io[i], r->s.m, t, r->sym, r->s.o->seed, i);
    }
    return true;
}

static bool write_outputs(const Run *r) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = io_tensor(r, i);
        const char *path = t->role == ROLE_INPUT ? NULL : binding_of(r, t->name, true);
        const char *failed = path ? npy_save(path, &r->io[i]) : NULL;
        if (failed) return fprintf(stderr, "tilec: error: %s: %s\n", path, failed), false;
    }
    return true;
}

/* ---- the host ---- */

static bool make_parts(Run *r) {
    Arena *a = r->s.arena;
    int n = r->p->io.n, coord[MAX_AXES];
    size_t result = sizeof(RankResult) + sizeof(double) * (size_t)(r->s.o->time + 1);
    r->part = ARENA_ARRAY(a, void *const *, r->nranks);
    r->bytes = ARENA_ARRAY(a, size_t *, r->nranks);
    r->result = ARENA_ARRAY(a, RankResult *, r->nranks);
    for (int k = 0; k < r->nranks; k++) {
        void **part = ARENA_ARRAY(a, void *, n);
        mesh_coord(r->s.m, k, coord);
        r->bytes[k] = ARENA_ARRAY(a, size_t, n + 1);
        for (int i = 0; i < n; i++) {
            int64_t dim[MAX_DIMS];
            const Tensor *t = io_tensor(r, i);
            size_t bytes = shard_bytes(t->elem, shard_shape(r->s.m, t, r->sym, coord, dim));
            if (t->ndim) r->bytes[k][i] = bytes;
            if (!(part[i] = shared_memory(bytes))) return false;
            shard_copy(r->s.m, t, r->sym, coord, &r->io[i], part[i], false);
        }
        r->part[k] = part;
        if (!(r->result[k] = shared_memory(result))) return false;
    }
    return true;
}

/* Rank 0 last: what is replicated is taken from it. */
static void take_parts(const Run *r) {
    int coord[MAX_AXES];
    for (int k = r->nranks - 1; k >= 0; k--) {
        mesh_coord(r->s.m, k, coord);
        for (int i = 0; i < r->p->io.n; i++)
            if (io_tensor(r, i)->role != ROLE_INPUT)
                shard_copy(r->s.m, io_tensor(r, i), r->sym, coord, &r->io[i], r->part[k][i], true);
    }
}

static bool write_library(const Run *r, const char *dir) {
    Outputs out = outputs_of(&r->s, 1);
    bool good = outputs_add_source(&out, r->p, dir) && outputs_write(&out, dir);
    outputs_free(&out);
    return good && emit_library(&out, r->p, dir);
}

static bool load_program(Run *r, const char *dir) {
    if (!write_library(r, dir)) return false;
    void *library = dlopen(library_path(&r->s, r->p, dir), RTLD_NOW | RTLD_LOCAL);
    const char *symbol = arena_format(r->s.arena, "%s_program", c_program_name(r->s.arena, r->p));
    r->program = library ? dlsym(library, symbol) : NULL;
    if (!r->program) fprintf(stderr, "tilec: error: %s\n", dlerror());
    return r->program != NULL;
}

static void remove_folder(const Run *r, const char *dir) {
    static const char *const ending[] = {"c", "h", "json"};
    for (int i = 0; i < 3; i++) unlink(program_path(&r->s, r->p, dir, ending[i]));
    if (r->s.target.gpu) {
        unlink(device_source_path(&r->s, r->p, &r->s.target, dir));
        unlink(device_code_path(&r->s, r->p, &r->s.target, dir));
    }
    unlink(library_path(&r->s, r->p, dir));
    rmdir(dir);
}

static bool report_failure(const RankJob *j) {
    for (int k = 0; k < j->nranks; k++)
        if (j->result[k]->code)
            fprintf(stderr, "tilec: error: rank %d: %s: %s\n", k, tile_error_name(j->result[k]->code), j->result[k]->text);
    return false;
}

/* Ranks share the cores. */
static double predict_host(const Run *r) {
    double cores = r->s.o->workers > 0 ? (double)r->s.o->workers : (double)sysconf(_SC_NPROCESSORS_ONLN) / r->nranks;
    const TargetFacts *facts = target_facts("host");
    if (model_workers(facts, r->s.m, r->p) == 1) cores = fmin(cores, 1);
    return model_program(facts, r->s.m, r->p, r->sym, cores);
}

static void report_time(const Run *r, RanksTime time, int runs) {
    printf("%s: %.3f ms, median of %d runs on %d rank%s; best %.4g ms", r->p->name, time.median * 1e3, runs, r->nranks,
           r->nranks == 1 ? "" : "s", time.best * 1e3);
    if (!r->s.target.gpu) {
        double predicted = predict_host(r);
        printf(", predicted %.4g ms, error %+.0f %%", predicted * 1e3, 100 * (predicted / time.median - 1));
    }
    printf("\n");
}

static bool run_host(Run *r) {
    const char *target = r->s.target.emulated ? "emu" : r->s.target.gpu ? "gpu" : "host";
    RankJob job = {r->s.o, r->program, r->nranks, 1, r->sym, target, r->bytes, r->part, r->result};
    if (!ranks_run(&job)) return report_failure(&job);
    take_parts(r);
    if (!r->s.o->time) return true;
    Options timed = *r->s.o;
    timed.trace = NULL;
    job.o = &timed;
    job.runs = (int)r->s.o->time + 1;
    if (!ranks_run(&job)) return report_failure(&job);
    report_time(r, ranks_time(&job, 1), job.runs - 1);
    return true;
}

static int run_compiled(Run *r) {
    const char *base = getenv("TMPDIR");
    char *dir = arena_format(r->s.arena, "%s/tilec-XXXXXX", base && *base ? base : "/tmp");
    if (!session_passes(&r->s)) return EXIT_WRONG;
    if (!mkdtemp(dir)) return fprintf(stderr, "tilec: error: cannot make a folder in %s\n", base ? base : "/tmp"), EXIT_RUN;
    bool good = load_program(r, dir);
    remove_folder(r, dir);
    if (good && !(good = make_parts(r))) fprintf(stderr, "tilec: error: out of memory\n");
    return good && run_host(r) ? EXIT_OK : EXIT_RUN;
}

/* ---- the interpreter ---- */

static int run_interp(Run *r, bool bounds) {
    InterpOptions io = {.sym = r->sym, .seed = (uint64_t)r->s.o->seed, .bounds = bounds};
    InterpReport report = {0};
    Progress *progress = progress_begin(r->s.arena, bounds ? "checking with the interpreter" : "interpreting");
    bool good = interp_run(r->s.arena, r->s.m, r->p, &io, r->io, &report);
    progress_end(progress);
    if (good) return EXIT_OK;
    interp_report_print(r->p, &report, stderr);
    return EXIT_RUN;
}

/* ---- --check ---- */

typedef struct {
    double worst, bound; /* the largest error relative to its bound: both of that element */
    int64_t at, over;    /* where; how many elements are past their bound */
    int64_t open;        /* how many have none: the check says nothing of them */
    int64_t nan;         /* how many are NaN in both */
} Difference;

static double element_error(const Array *a, const Array *b, int64_t i) {
    if (!elem_is_float(a->elem)) return array_get_int(a, i) == array_get_int(b, i) ? 0 : INFINITY;
    double x = array_get(a, i), y = array_get(b, i);
    if (x == y || (isnan(x) && isnan(y))) return 0;
    double e = fabs(x - y);
    return isnan(e) ? INFINITY : e;
}

static Difference difference(const Array *a, const Array *b) {
    Difference d = {0};
    double ratio = -1;
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        double e = element_error(a, b, i), bound = b->bound ? b->bound[i] : 0;
        d.over += e > bound;
        d.open += isinf(bound);
        d.nan += elem_is_float(a->elem) && isnan(array_get(a, i)) && isnan(array_get(b, i));
        double q = isinf(bound) ? -0.5 : e == 0 ? 0 : bound > 0 ? e / bound : INFINITY;
        if (q <= ratio) continue;
        ratio = q;
        d = (Difference){e, bound, i, d.over, d.open, d.nan};
    }
    return d;
}

/* The reference: the interpreter on one rank, on the same inputs. */
static bool make_reference(const Run *r, Run *reference, Options *one) {
    *one = *r->s.o;
    one->ranks = 1;
    one->target = "interp";
    *reference = (Run){0};
    if (!session_open(&reference->s, one) || !session_lower(&reference->s)) return false;
    reference->p = reference->s.m->program.p[0];
    reference->sym = r->sym;
    reference->io = ARENA_ARRAY(r->s.arena, Array, r->p->io.n);
    return true;
}

static int check_outputs(const Run *r, const Array *before) {
    Run reference;
    Options one;
    if (!make_reference(r, &reference, &one)) return session_close(&reference.s, EXIT_WRONG);
    for (int i = 0; i < r->p->io.n; i++)
        if (is_read(io_tensor(r, i))) reference.io[i] = before[i];
    int code = run_interp(&reference, true);
    for (int i = 0; i < r->p->io.n && code != EXIT_RUN; i++) {
        if (io_tensor(r, i)->role == ROLE_INPUT) continue;
        Difference d = difference(&r->io[i], &reference.io[i]);
        printf("%s: %s: largest error %.3g, bound there %.3g: %s", r->p->name, io_tensor(r, i)->name, d.worst, d.bound,
               d.over ? "differs" : "agrees");
        if (d.open) printf("; nothing is known of %" PRId64 " elements, which have no bound", d.open);
        if (d.nan) printf("; %" PRId64 " elements are NaN in both", d.nan);
        printf("\n");
        if (d.over) code = EXIT_DIFFERS;
    }
    return code;
}

/* State is updated in place: the check needs what it was. */
static Array *inputs_copy(const Run *r) {
    Array *copy = ARENA_ARRAY(r->s.arena, Array, r->p->io.n);
    for (int i = 0; i < r->p->io.n; i++) {
        copy[i] = r->io[i];
        if (io_tensor(r, i)->role == ROLE_STATE)
            copy[i].data = arena_copy(r->s.arena, r->io[i].data, (size_t)array_count(&r->io[i]) * elem_bytes(r->io[i].elem));
    }
    return copy;
}

static int run_program(Run *r) {
    r->io = ARENA_ARRAY(r->s.arena, Array, r->p->io.n + 1);
    if (!known_bindings(r) || !known_sizes(r)) return EXIT_USAGE;
    if (!load_inputs(r) || !find_sizes(r) || !make_arrays(r)) return EXIT_RUN;
    r->nranks = (int)mesh_ranks(r->s.m);
    Array *before = inputs_copy(r);
    bool interp = r->s.target.interp;
    int code = interp ? run_interp(r, false) : run_compiled(r);
    if (code == EXIT_OK && !write_outputs(r)) code = EXIT_RUN;
    return code == EXIT_OK && r->s.o->check ? check_outputs(r, before) : code;
}

int command_run(Options *o) {
    Run r = {0};
    if (!session_open(&r.s, o)) return EXIT_USAGE;
    if (!session_lower(&r.s)) return session_close(&r.s, EXIT_WRONG);
    if (r.s.m->program.n != 1) {
        if (r.s.m->program.n == 0) fprintf(stderr, "tilec: error: %s has no program to run\n", o->file);
        else fprintf(stderr, "tilec: error: %s has %d programs; choose one with --program=NAME\n", o->file, r.s.m->program.n);
        return EXIT_USAGE;
    }
    r.p = r.s.m->program.p[0];
    return session_close(&r.s, run_program(&r));
}
