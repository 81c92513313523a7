/* run_input.c: inputs and outputs of `tilec run`: sizes, inputs from files or drawn from the seed, outputs to files.
   */
#include "driver/draw.h"
#include "driver/run.h"
#include "driver/scalar.h"
#include "driver/stored.h"
#include "base/npy.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

const Tensor *run_tensor(const Run *r, int i) { return &r->p->tensor.p[r->p->io.p[i]]; }

static bool run_reads(const Tensor *t) { return t->role == ROLE_INPUT || t->role == ROLE_STATE; }

/* The field of a record's input that a file of tensors is for; NULL: of another, or no field. */
static const char *field_of(const Binding *b, const char *name) {
    size_t n = strlen(b->name);
    return !strncmp(name, b->name, n) && name[n] == '.' && stored_is_path(b->path) ? name + n + 1 : NULL;
}

/* What names the argument itself, else what names a record that it is a field of. */
static const Binding *binding_of(const Run *r, const char *name, bool output) {
    const Options *o = r->s.o;
    const Binding *whole = NULL;
    int n = output ? o->out.n : o->in.n;
    for (int i = 0; i < n; i++) {
        const Binding *b = output ? &o->out.p[i] : &o->in.p[i];
        if (strcmp(b->name, name) == 0) return b;
        if (!output && field_of(b, name)) whole = b;
    }
    return whole;
}

static bool is_bound(const Tensor *t, bool output) { return output ? t->role != ROLE_INPUT : run_reads(t); }

static void binding_unknown(const Run *r, const char *name, bool output) {
    const char *kind = output ? "output" : "input", *before = "";
    fprintf(stderr, "tilec: error: program '%s' has no %s '%s'\ntilec: note: its %ss are ", r->p->name, kind, name,
            kind);
    for (int i = 0; i < r->p->io.n; i++) {
        if (!is_bound(run_tensor(r, i), output)) continue;
        fprintf(stderr, "%s%s", before, run_tensor(r, i)->name);
        before = ", ";
    }
    fprintf(stderr, *before ? "\n" : "none\n");
}

static bool known_binding(const Run *r, const Binding *b, bool output) {
    for (int i = 0; i < r->p->io.n; i++)
        if ((strcmp(run_tensor(r, i)->name, b->name) == 0 || (!output && field_of(b, run_tensor(r, i)->name))) &&
            is_bound(run_tensor(r, i), output))
            return true;
    binding_unknown(r, b->name, output);
    return false;
}

static bool known_bindings(const Run *r, const Binding *b, int n, const char *option, bool output) {
    bool good = true;
    for (int i = 0; i < n; i++) {
        good = known_binding(r, &b[i], output) && good;
        for (int k = 0; k < i; k++) {
            if (strcmp(b[k].name, b[i].name) != 0) continue;
            fprintf(stderr, "tilec: error: %s names '%s' twice: %s and %s\n", option, b[i].name, b[k].path, b[i].path);
            good = false;
        }
    }
    return good;
}

static bool known_sizes(const Run *r) {
    for (int i = 0; i < r->s.o->size.n; i++) {
        const char *name = r->s.o->size.p[i].name;
        bool known = false;
        for (int k = 0; k < r->s.m->symbol.n; k++) known = known || strcmp(r->s.m->symbol.p[k].name, name) == 0;
        if (known) continue;
        fprintf(stderr, "tilec: error: --size: '%s' is no run-time dimension; -D gives a compile-time one its value\n",
                name);
        return false;
    }
    return true;
}

int run_open(Run *r, const Options *o) {
    if (!session_open(&r->s, o)) return EXIT_USAGE;
    if (!session_lower(&r->s)) return session_close(&r->s, EXIT_WRONG);
    int n = r->s.m->program.n;
    if (n == 0) fprintf(stderr, "tilec: error: %s has no program to run\n", o->file);
    if (n > 1) fprintf(stderr, "tilec: error: %s has %d programs; choose one with --program=NAME\n", o->file, n);
    if (n != 1) return EXIT_USAGE;
    r->p = r->s.m->program.p[0];
    r->nranks = (int)mesh_ranks(r->s.m);
    return -1;
}

bool run_options_known(const Run *r) {
    bool good = known_sizes(r);
    const Options *o = r->s.o;
    good = known_bindings(r, o->in.p, o->in.n, "--in", false) && good;
    good = known_bindings(r, o->out.p, o->out.n, "--out", true) && good;
    return known_bindings(r, o->expect.p, o->expect.n, "--expect", true) && good;
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

void array_place_print(FILE *to, const Array *a, int64_t i) {
    int64_t stride = array_count(a);
    for (int d = 0; d < a->ndim; d++) {
        stride /= a->dim[d];
        fprintf(to, "%s%" PRId64, d ? ", " : "[", i / stride % a->dim[d]);
    }
    if (a->ndim) fputs("]", to);
}

const char *array_text(Arena *arena, const Array *a) {
    const char *s = arena_format(arena, "%s[", elem_text(a->elem));
    for (int d = 0; d < a->ndim; d++) s = arena_format(arena, "%s%s%" PRId64, s, d ? ", " : "", a->dim[d]);
    return arena_format(arena, "%s]", s);
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
    const Tensor *t = run_tensor(r, i);
    const Array *a = &r->io[i];
    fprintf(stderr, "tilec: error: %s: '%s' is %s, the file has %s\n", path, t->name, declared_text(r, t),
            array_text(r->s.arena, a));
    const char *made = a->elem == t->elem ? NULL : npy_made(r->s.arena, t->elem);
    if (made) fprintf(stderr, "tilec: note: %s\n", made);
    if (a->ndim == t->ndim && a->elem == t->elem && is_part(r, t, a))
        fputs("tilec: note: files hold whole tensors; the ranks' parts are cut out of them\n", stderr);
    return false;
}

double machine_bytes(void) { return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE); }

/* Bytes of the tensor with its run-time sizes at their bounds, and no more than the machine has. */
static size_t bytes_most(const Run *r, const Tensor *t) {
    int64_t *bound = ARENA_ARRAY(r->s.arena, int64_t, r->s.m->symbol.n + 1);
    double bytes = (double)elem_bytes(t->elem);
    for (int i = 0; i < r->s.m->symbol.n; i++) bound[i] = r->s.m->symbol.p[i].bound;
    for (int d = 0; d < t->ndim; d++) bytes *= (double)size_eval(r->s.m, size_whole(t->dim[d]), bound, NULL);
    return (size_t)(bytes < machine_bytes() ? bytes : machine_bytes());
}

static bool load_file(Run *r, int i, const Binding *b) {
    const Tensor *t = run_tensor(r, i);
    const char *path = b->path, *failed;
    if (stored_is_path(b->path))
        failed = stored_load(r->s.arena, b->path, t->name, field_of(b, t->name), t->elem, bytes_most(r, t), &r->io[i],
                             &path);
    else
        failed = npy_load(r->s.arena, path, t->elem, bytes_most(r, t), &r->io[i]);
    bool shape_alone = failed && r->io[i].ndim > 0;
    if (shape_alone || (!failed && (r->io[i].elem != t->elem || r->io[i].ndim != t->ndim)))
        return file_report(r, i, path);
    if (failed) fprintf(stderr, "tilec: error: %s: %s\n", path, failed);
    if (failed && scalar_is_number(path))
        fprintf(stderr, "tilec: note: '%s' is %s, no scalar: a file has its value\n", t->name, declared_text(r, t));
    return !failed;
}

static bool load_input(Run *r, int i, const Binding *given) {
    const Tensor *t = run_tensor(r, i);
    ScalarText scalar = scalar_parse(r->s.arena, t, given->path, &r->io[i]);
    if (scalar == SCALAR_NO_NUMBER) return load_file(r, i, given);
    if (scalar == SCALAR_READ) return true;
    fprintf(stderr, "tilec: error: '%s' is %s, which has no value %s\n", t->name, elem_text(t->elem), given->path);
    return false;
}

/* Runs take any floats: who gives others than are drawn may not know it. */
static void floats_look(const Run *r, int i) {
    const Tensor *t = run_tensor(r, i);
    const Array *a = &r->io[i];
    if (t->above == t->below) return;
    for (int64_t at = 0, n = array_count(a); at < n; at++) {
        const double x = array_get(a, at);
        if (x >= t->above && x <= t->below) continue;
        fprintf(stderr, "tilec: note: '%s' is declared in %g .. %g, and is %g at ", t->name, t->above, t->below, x);
        array_place_print(stderr, a, at);
        fputs("; nothing looks at that in a run\n", stderr);
        return;
    }
}

static bool load_inputs(Run *r) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = run_tensor(r, i);
        const Binding *given = run_reads(t) ? binding_of(r, t->name, false) : NULL;
        if (given && !load_input(r, i, given)) return false;
        if (given) floats_look(r, i);
    }
    return true;
}

/* A run-time dimension is told by --size, else by an input's extent, else it is its bound. */
static int64_t symbol_value(const Run *r, int sym) {
    const Options *o = r->s.o;
    for (int i = 0; i < o->size.n; i++)
        if (strcmp(o->size.p[i].name, r->s.m->symbol.p[sym].name) == 0) return o->size.p[i].value;
    for (int i = 0; i < r->p->io.n; i++)
        for (int d = 0; r->io[i].data && d < run_tensor(r, i)->ndim; d++)
            if (run_tensor(r, i)->dim[d].sym == sym) return r->io[i].dim[d] - run_tensor(r, i)->dim[d].c;
    return r->s.m->symbol.p[sym].bound;
}

static bool find_sizes(Run *r) {
    int n = r->s.m->symbol.n;
    r->sym = ARENA_ARRAY(r->s.arena, int64_t, n + 1);
    for (int i = 0; i < n; i++) {
        const Symbol *s = &r->s.m->symbol.p[i];
        r->sym[i] = symbol_value(r, i);
        if (r->sym[i] >= 0 && r->sym[i] <= s->bound) continue;
        fprintf(stderr, "tilec: error: %s = %" PRId64 " is outside its bound %" PRId64 "\n", s->name, r->sym[i],
                s->bound);
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
    double bytes = (double)elem_bytes(t->elem);
    for (int d = 0; d < t->ndim; d++) bytes *= (double)size_eval(r->s.m, size_whole(t->dim[d]), r->sym, NULL);
    return bytes < machine_bytes();
}

static bool make_arrays(Run *r) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = run_tensor(r, i);
        Array whole = {0};
        if (!memory_holds(r, t) || !array_for_tensor(r->s.arena, r->s.m, t, r->sym, &whole)) {
            fprintf(stderr, "tilec: error: '%s' is %s: too large for this machine\n", t->name, declared_text(r, t));
            return false;
        }
        if (r->io[i].data && !same_shape(&r->io[i], &whole)) return file_report(r, i, binding_of(r, t->name, false)->path);
        bool drawn = !r->io[i].data && run_reads(t);
        if (!r->io[i].data) r->io[i] = whole;
        if (drawn) array_draw(&r->io[i], r->s.m, r->p, t, r->sym, r->s.o->seed, i);
    }
    return true;
}

bool run_inputs(Run *r) {
    r->io = ARENA_ARRAY(r->s.arena, Array, r->p->io.n + 1);
    return load_inputs(r) && find_sizes(r) && make_arrays(r);
}

Array *inputs_copy(const Run *r, const Array *io) {
    Array *copy = ARENA_ARRAY(r->s.arena, Array, r->p->io.n + 1);
    for (int i = 0; i < r->p->io.n; i++) {
        if (run_reads(run_tensor(r, i))) copy[i] = io[i];
        if (run_tensor(r, i)->role != ROLE_STATE) continue;
        copy[i].data = arena_copy(r->s.arena, io[i].data, (size_t)array_count(&io[i]) * elem_bytes(io[i].elem));
    }
    return copy;
}

bool run_write(const Run *r) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = run_tensor(r, i);
        const Binding *to = t->role == ROLE_INPUT ? NULL : binding_of(r, t->name, true);
        const char *failed = to ? npy_save(to->path, &r->io[i]) : NULL;
        if (failed) return fprintf(stderr, "tilec: error: %s: %s\n", to->path, failed), false;
    }
    return true;
}
