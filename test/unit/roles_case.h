/* roles_case.h: a module of a file, inputs of its programs, and runs of them by bodies and by roles. */
#ifndef TILEC_TEST_UNIT_ROLES_CASE_H
#define TILEC_TEST_UNIT_ROLES_CASE_H

#include "base/text.h"
#include "ir/interp/interp.h"
#include "ir/size.h"

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

static inline _Noreturn void die(const char *what, const char *detail) {
    fprintf(stderr, "%s%s\n", what, detail);
    exit(2);
}

static inline Module *read_module(Arena *a, const char *path, bool unverified) {
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

static inline const Tensor *io_tensor(const Case *c, int i) { return &c->p->tensor.p[c->p->io.p[i]]; }

/* ---- inputs ---- */

static inline double draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (1 << 23) - 1;
}

static inline void fill(Array *x, uint64_t seed) {
    for (int64_t i = 0, n = array_count(x); i < n; i++) {
        double value = draw(&seed);
        if (elem_is_float(x->elem))
            array_set(x, i, value);
        else
            array_set_int(x, i, x->elem == ELEM_BOOL ? value > 0 : (int64_t)(value * 8));
    }
}

/* Groups of several lengths, the second one empty. */
static inline void fill_starts(Array *x, int64_t n) {
    int64_t count = array_count(x);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i == 2 ? 1 : i;
        array_set_int(x, i, i + 1 == count ? n : n * at * at / (count * count));
    }
}

static inline Array *inputs(const Case *c, Arena *a) {
    Array *io = ARENA_ARRAY(a, Array, ARGS);
    if (c->p->io.n > ARGS) die("too many tensors: ", c->p->name);
    for (int i = 0; i < c->p->io.n; i++) {
        if (!array_for_tensor(a, c->m, io_tensor(c, i), c->sym, &io[i])) die("too large: ", io_tensor(c, i)->name);
        Size of;
        if (tensor_has_starts(c->p, c->p->io.p[i], &of))
            fill_starts(&io[i], size_eval(c->m, of, c->sym, NULL));
        else if (io_tensor(c, i)->role != ROLE_OUTPUT)
            fill(&io[i], (uint64_t)i + 1);
    }
    return io;
}

/* ---- runs ---- */

typedef enum { SAME_BITS, WITHIN_BOUNDS, DIFFERENT } Verdict;

static inline Verdict compare_element(const Array *x, const Array *want, int64_t i) {
    if (!elem_is_float(x->elem)) return array_get_int(x, i) == array_get_int(want, i) ? SAME_BITS : DIFFERENT;
    double a = array_get(x, i), b = array_get(want, i);
    if (a == b || (isnan(a) && isnan(b))) return SAME_BITS;
    return want->bound && fabs(a - b) <= want->bound[i] ? WITHIN_BOUNDS : DIFFERENT;
}

/* The first element that is different is printed to `to`, unless that is NULL. */
static inline Verdict compare(const Case *c, const Array *io, const Array *want, int schedule, FILE *to) {
    Verdict worst = SAME_BITS;
    for (int i = 0; i < c->p->io.n; i++)
        for (int64_t k = 0, n = array_count(&io[i]); k < n; k++) {
            Verdict v = compare_element(&io[i], &want[i], k);
            if (v > worst) worst = v;
            if (v != DIFFERENT) continue;
            if (to)
                fprintf(to, "%s: schedule %d: '%s' element %lld: %.9g, the body has %.9g\n", c->p->name, schedule,
                        io_tensor(c, i)->name, (long long)k, array_get(&io[i], k), array_get(&want[i], k));
            return v;
        }
    return worst;
}

static inline bool run(const Case *c, Arena *a, InterpOptions o, Array *io, InterpReport *report) {
    o.sym = c->sym;
    o.generations = c->generations;
    o.concurrent = o.roles && ((c->m->form & FORM_FLAGS) || o.seed % 2);
    o.once = !o.concurrent && !(c->m->form & FORM_FLAGS);
    o.workers = 1 + (int)(o.seed % 3);
    return interp_run(a, c->m, c->p, &o, io, report);
}

/* ---- arguments ---- */

static inline const char *argument_of(char **argument, int n, const char *name) {
    for (int i = 0; i < n; i++) {
        size_t length = strlen(name);
        if (!strncmp(argument[i], name, length) && argument[i][length] == '=') return argument[i] + length + 1;
    }
    return NULL;
}

static inline bool has_word(char **argument, int n, const char *word) {
    for (int i = 0; i < n; i++)
        if (!strcmp(argument[i], word)) return true;
    return false;
}

#endif
