/* roles_run.c: runs the programs of an IR file by the bodies of their kernels, and by their roles under many schedules,
   and compares the results: equal bits, or within the bounds of the interpreter. usage: roles_run FILE.tir
   [schedules=N] [generations=N] [NAME=VALUE,VALUE.. of run-time dimensions ..] Prints a line for each program and
   sizes, and the faults of the first schedule that has some. */
#include "base/text.h"
#include "ir/interp/interp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 64, SYMBOLS = 16 };

typedef struct {
    const Module *m;
    const Program *p;
    int64_t sym[SYMBOLS];
    int schedules, generations;
    bool bad;
} Case;

static _Noreturn void die(const char *what, const char *detail) {
    fprintf(stderr, "roles_run: %s%s\n", what, detail);
    exit(2);
}

static Module *read_module(Arena *a, const char *path, bool unverified) {
    Text text = {0};
    const char *failed = text_read(&text, path, 1 << 24);
    if (failed) die(path, failed);
    Diags *diags = diags_new(a);
    int file = diags_file(diags, path, arena_text(a, text_str(&text), text.n), text.n);
    Module *m = (unverified ? module_read : module_parse)(a, names_new(a), diags, file);
    text_free(&text);
    diags_print(diags, stderr, DIAG_TEXT, false);
    if (!m) die("not a module: ", path);
    return m;
}

static const Tensor *io_tensor(const Case *c, int i) { return &c->p->tensor.p[c->p->io.p[i]]; }

/* ---- inputs ---- */

static double draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (1 << 23) - 1;
}

static void fill(Array *x, uint64_t seed) {
    for (int64_t i = 0, n = array_count(x); i < n; i++) {
        double value = draw(&seed);
        if (elem_is_float(x->elem))
            array_set(x, i, value);
        else
            array_set_int(x, i, x->elem == ELEM_BOOL ? value > 0 : (int64_t)(value * 8));
    }
}

static Array *inputs(const Case *c, Arena *a) {
    Array *io = ARENA_ARRAY(a, Array, ARGS);
    if (c->p->io.n > ARGS) die("too many tensors: ", c->p->name);
    for (int i = 0; i < c->p->io.n; i++) {
        if (!array_for_tensor(a, c->m, io_tensor(c, i), c->sym, &io[i])) die("too large: ", io_tensor(c, i)->name);
        if (io_tensor(c, i)->role != ROLE_OUTPUT) fill(&io[i], (uint64_t)i + 1);
    }
    return io;
}

/* ---- runs ---- */

typedef enum { SAME_BITS, WITHIN_BOUNDS, DIFFERENT } Verdict;

static Verdict compare_element(const Array *x, const Array *want, int64_t i) {
    if (!elem_is_float(x->elem)) return array_get_int(x, i) == array_get_int(want, i) ? SAME_BITS : DIFFERENT;
    double a = array_get(x, i), b = array_get(want, i);
    if (a == b || (isnan(a) && isnan(b))) return SAME_BITS;
    return want->bound && fabs(a - b) <= want->bound[i] ? WITHIN_BOUNDS : DIFFERENT;
}

static Verdict compare(Case *c, const Array *io, const Array *want, int schedule) {
    Verdict worst = SAME_BITS;
    for (int i = 0; i < c->p->io.n; i++)
        for (int64_t k = 0, n = array_count(&io[i]); k < n; k++) {
            Verdict v = compare_element(&io[i], &want[i], k);
            if (v > worst) worst = v;
            if (v != DIFFERENT) continue;
            printf("%s: schedule %d: '%s' element %lld: %.9g, the body has %.9g\n", c->p->name, schedule,
                   io_tensor(c, i)->name, (long long)k, array_get(&io[i], k), array_get(&want[i], k));
            return v;
        }
    return worst;
}

static bool run(const Case *c, Arena *a, InterpOptions o, Array *io, InterpReport *report) {
    o.sym = c->sym;
    o.generations = c->generations;
    o.once = !(c->m->form & FORM_FLAGS);
    o.concurrent = !o.once && o.roles;
    o.workers = 1 + (int)(o.seed % 3);
    return interp_run(a, c->m, c->p, &o, io, report);
}

static void print_sizes(const Case *c) {
    printf("%s:", c->p->name);
    for (int i = 0; i < c->m->symbol.n; i++) printf(" %s %lld", c->m->symbol.p[i].name, (long long)c->sym[i]);
    if (c->m->symbol.n) putchar(':');
}

static void case_run(Case *c) {
    static const char *const text[] = {"the same bits", "within bounds", "different"};
    Arena *all = arena_new();
    Array *want = inputs(c, all);
    InterpReport report;
    Verdict worst = SAME_BITS;
    int faulty = 0;
    if (!run(c, all, (InterpOptions){.bounds = true}, want, &report)) {
        interp_report_print(c->p, &report, stdout);
        die("the body has faults: ", c->p->name);
    }
    for (int i = 1; i <= c->schedules && worst != DIFFERENT; i++) {
        Arena *a = arena_new();
        Array *io = inputs(c, a);
        if (!run(c, a, (InterpOptions){.roles = true, .seed = (uint64_t)i}, io, &report)) {
            if (!faulty++) interp_report_print(c->p, &report, stdout);
        } else {
            Verdict v = compare(c, io, want, i);
            if (v > worst) worst = v;
        }
        arena_free(a);
    }
    print_sizes(c);
    if (faulty)
        printf(" faults under %d of %d schedules\n", faulty, c->schedules);
    else
        printf(" %s under %d schedules\n", text[worst], c->schedules);
    c->bad |= faulty || worst == DIFFERENT;
    arena_free(all);
}

static bool has_roles(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && p->node.p[i]->kernel->roles) return true;
    return false;
}

/* ---- arguments ---- */

static const char *argument_of(char **argument, int n, const char *name) {
    for (int i = 0; i < n; i++) {
        size_t length = strlen(name);
        if (!strncmp(argument[i], name, length) && argument[i][length] == '=') return argument[i] + length + 1;
    }
    return NULL;
}

static bool has_word(char **argument, int n, const char *word) {
    for (int i = 0; i < n; i++)
        if (!strcmp(argument[i], word)) return true;
    return false;
}

/* Of each dimension from the number `from` on, with each of its values. */
static void sizes_run(Case *c, char **argument, int n, int from) {
    if (from == c->m->symbol.n) {
        case_run(c);
        return;
    }
    const char *value = argument_of(argument, n, c->m->symbol.p[from].name);
    c->sym[from] = c->m->symbol.p[from].bound;
    if (!value) sizes_run(c, argument, n, from + 1);
    while (value) {
        c->sym[from] = atoll(value);
        sizes_run(c, argument, n, from + 1);
        value = strchr(value, ',');
        if (value) value++;
    }
}

int main(int argc, char **argv) {
    if (argc < 2)
        die("usage: roles_run FILE.tir [unverified] [schedules=N] [generations=N] [NAME=VALUE,VALUE.. ..]", "");
    Arena *a = arena_new();
    Case c = {
        .m = read_module(a, argv[1], has_word(argv + 2, argc - 2, "unverified")), .schedules = 100, .generations = 1};
    const char *schedules = argument_of(argv + 2, argc - 2, "schedules");
    const char *generations = argument_of(argv + 2, argc - 2, "generations");
    if (schedules) c.schedules = atoi(schedules);
    if (generations) c.generations = atoi(generations);
    if (c.m->symbol.n > SYMBOLS) die("too many dimensions: ", argv[1]);
    for (int i = 0; i < c.m->program.n; i++) {
        c.p = c.m->program.p[i];
        if (has_roles(c.p))
            sizes_run(&c, argv + 2, argc - 2, 0);
        else
            printf("%s: no kernel has roles\n", c.p->name);
    }
    arena_free(a);
    return c.bad;
}
