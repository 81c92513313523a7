/* check.h: a program means the same before and after every pass, in every form of its collectives.
   The judge is the interpreter on one rank; after `flags` (and `barriers`) agents run concurrently under random
   schedules, several generations each: no race, no deadlock, no read of what nothing wrote, and the same bits. */
#ifndef TILEC_TEST_PIPELINE_CHECK_H
#define TILEC_TEST_PIPELINE_CHECK_H

#include "base/text.h"
#include "frontend/sema/lower.h"
#include "ir/interp/interp.h"
#include "passes/pass.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_REFUSED = 3 };

/* What a file was lowered to: the same text gives the same module again, faster. */
typedef struct {
    const char *file;
    int64_t ranks;
    int ndefine;
    const char *text;
} Lowered;

typedef struct {
    Arena *arena;
    const char *file;
    LowerOptions lower;
    Define define[32], size[16];
    int nsize, seeds;
    Array *in;        /* what every run reads, in the order of io */
    Array *expected;  /* of the interpreter on one rank, with bounds */
    int axes;         /* of the mesh: without one there is one rank */
    const char *target; /* whose passes; NULL: the host's */
    VEC(Lowered) lowered;
    int64_t split;  /* parts of loops that can be cut; 0: as the target's machine wants it */
    int64_t tasks;  /* a program of more is not run concurrently; 0: all are */
    int64_t judged; /* 1 + the ranks whose module was the last one compared before the passes */
    int failures, runs;
    bool refused; /* on its GPU */
} Test;

static const char *const forms[] = {"auto", "unfused", "pull", "staged", "push", "packet"};

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Numbers that the type has. */
static int64_t draw_limit(Elem e) { return e == ELEM_BOOL || e == ELEM_T2 ? 2 : 8; }

static void draw(Array *a, uint64_t seed) {
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        uint64_t x = next_random(&seed);
        if (elem_is_float(a->elem)) array_set(a, i, (double)x / (double)(1u << 30) - 1.0);
        else array_set_int(a, i, (int64_t)x % draw_limit(a->elem));
    }
}

static _Noreturn void refuse(const Test *t, Diags *d) {
    diags_print(d, stderr, DIAG_TEXT, false);
    fprintf(stderr, "%s: not one correct program\n", t->file);
    exit(CHECK_REFUSED);
}

static const char *lowered_before(const Test *t, int64_t ranks) {
    for (int i = 0; i < t->lowered.n; i++) {
        const Lowered *l = &t->lowered.p[i];
        if (l->file == t->file && l->ranks == ranks && l->ndefine == t->lower.ndefine) return l->text;
    }
    return NULL;
}

/* ranks: of the only axis; 0: as the file has them. */
static Module *lowered(Test *t, int64_t ranks) {
    Diags *d = diags_new(t->arena);
    LowerOptions o = t->lower;
    o.ranks = ranks;
    const char *text = lowered_before(t, ranks);
    Names *names = names_new(t->arena);
    Module *m = text ? module_parse(t->arena, names, d, diags_file(d, t->file, text, strlen(text)))
                     : lower_file(t->arena, names, d, t->file, &o, NULL);
    if (!m || d->errors || m->program.n != 1 || !module_verify(m)) refuse(t, d);
    if (!text) vec_push(t->arena, &t->lowered, ((Lowered){t->file, ranks, o.ndefine, module_text(m, t->arena)}));
    return m;
}

static int64_t *symbols(const Test *t, const Module *m) {
    int64_t *sym = ARENA_ARRAY(t->arena, int64_t, m->symbol.n + 1);
    for (int i = 0; i < m->symbol.n; i++) {
        sym[i] = m->symbol.p[i].bound < 24 ? m->symbol.p[i].bound : 24;
        for (int k = 0; k < t->nsize; k++)
            if (strcmp(t->size[k].name, m->symbol.p[i].name) == 0) sym[i] = t->size[k].value;
    }
    return sym;
}

static const Tensor *io_tensor(const Module *m, int i) { return &m->program.p[0]->tensor.p[m->program.p[0]->io.p[i]]; }

/* Runs on copies of the inputs; the results stay in *io. */
static bool run(Test *t, const Module *m, InterpOptions o, Array **io, const char *what) {
    const Program *p = m->program.p[0];
    o.sym = symbols(t, m);
    *io = ARENA_ARRAY(t->arena, Array, p->io.n + 1);
    for (int i = 0; i < p->io.n; i++) {
        (*io)[i] = t->in[i];
        size_t bytes = (size_t)array_count(&t->in[i]) * elem_bytes(t->in[i].elem);
        (*io)[i].data = io_tensor(m, i)->role == ROLE_OUTPUT ? NULL : arena_copy(t->arena, t->in[i].data, bytes);
    }
    InterpReport report = {0};
    t->runs++;
    if (interp_run(t->arena, m, p, &o, *io, &report)) return true;
    fprintf(stderr, "%s: %s:\n", t->file, what);
    interp_report_print(p, &report, stderr);
    t->failures++;
    return false;
}

static bool close_enough(const Array *want, const Array *got, int64_t i) {
    if (!elem_is_float(want->elem)) return array_get_int(want, i) == array_get_int(got, i);
    double x = array_get(want, i), y = array_get(got, i);
    if (x == y || (isnan(x) && isnan(y))) return true;
    return want->bound && fabs(x - y) <= want->bound[i];
}

static void compare(Test *t, const Module *m, const Array *want, const Array *got, bool exact, const char *what) {
    for (int i = 0; i < m->program.p[0]->io.n; i++) {
        if (io_tensor(m, i)->role == ROLE_INPUT) continue;
        size_t bytes = (size_t)array_count(&want[i]) * elem_bytes(want[i].elem);
        if (exact && memcmp(want[i].data, got[i].data, bytes) == 0) continue;
        for (int64_t k = 0, n = array_count(&want[i]); k < n; k++) {
            bool same = exact ? array_get(&want[i], k) == array_get(&got[i], k) : close_enough(&want[i], &got[i], k);
            if (same || (exact && isnan(array_get(&want[i], k)))) continue;
            fprintf(stderr, "%s: %s: %s[%" PRId64 "] is %.9g, not %.9g\n", t->file, what, io_tensor(m, i)->name, k,
                    array_get(&got[i], k), array_get(&want[i], k));
            t->failures++;
            return;
        }
    }
}

static void make_inputs(Test *t, int64_t ranks) {
    Module *m = lowered(t, ranks);
    t->in = ARENA_ARRAY(t->arena, Array, m->program.p[0]->io.n + 1);
    t->axes = m->axis.n;
    for (int i = 0; i < m->program.p[0]->io.n; i++) {
        if (!array_for_tensor(t->arena, m, io_tensor(m, i), symbols(t, m), &t->in[i])) exit(1);
        draw(&t->in[i], (uint64_t)i + 1);
    }
    run(t, m, (InterpOptions){.bounds = true, .once = true}, &t->expected, "one rank");
}

/* Concurrent runs take memory with the square of this: of all ranks together. */
static int64_t count_tasks(const Test *t, const Module *m) {
    const int64_t *sym = symbols(t, m);
    int64_t sum = 0;
    for (int i = 0; i < m->program.p[0]->node.n; i++) {
        const Kernel *k = m->program.p[0]->node.p[i]->kernel;
        int64_t tasks = 1;
        for (int d = 0; k && d < k->ngrid; d++) tasks *= range_tiles(m, k, d, sym);
        sum += tasks;
    }
    return sum * mesh_ranks(m);
}

/* (Copies of a relaxed sum need not have the same bits on all ranks, which the interpreter asks for.) */
static void schedules(Test *t, const Module *m, const Array *sequential, const char *what) {
    if ((t->lower.relaxed && mesh_ranks(m) > 1) || (t->tasks && count_tasks(t, m) > t->tasks)) return;
    for (int s = 0; s < t->seeds; s++) {
        Array *got;
        InterpOptions o = {.concurrent = true, .roles = true, .seed = (uint64_t)s, .generations = s % 2 ? 4 : 1, .workers = 1 + s % 3};
        const Array *want = t->lower.relaxed ? t->expected : sequential;
        if (run(t, m, o, &got, what) && o.generations == 1) compare(t, m, want, got, !t->lower.relaxed, what);
    }
}

/* One pipeline: after each pass that changes something the results stay. */
static void check_pipeline(Test *t, int64_t ranks, CommForm form, const char *off) {
    Module *m = lowered(t, ranks);
    const char *target = t->target ? t->target : "host";
    PassOptions o = {.target = target, .comm = form, .split = t->split, .off = &off, .noff = off != NULL, .verify_each = true, .out = stderr};
    PassContext c = {.m = m, .options = &o};
    int n;
    const Pass *const *list = pipeline_of(target, &n);
    Array *before, *after;
    if (t->judged != 1 + ranks) {
        if (!run(t, m, (InterpOptions){.once = true}, &before, "before the passes")) return;
        compare(t, m, t->expected, before, false, "before the passes");
        t->judged = 1 + ranks;
    }
    const char *last = module_text(m, t->arena), *now;
    for (int i = 0; i < n; i++) {
        const char *what = arena_format(t->arena, "%s, %d ranks, form %s%s%s, %d parts, after %s", target, (int)ranks, forms[form],
                                        off ? ", without " : "", off ? off : "", (int)t->split, list[i]->name);
        if (!pipeline_run(&c, &list[i], 1)) {
            diags_print(m->diags, stderr, DIAG_TEXT, false);
            fprintf(stderr, "%s: %s: the pass failed\n", t->file, what);
            t->failures++;
            return;
        }
        now = module_text(m, t->arena);
        if (strcmp(now, last) == 0) continue;
        last = now;
        if (!run(t, m, (InterpOptions){.roles = true}, &after, what)) return;
        compare(t, m, t->expected, after, false, what);
        if (m->form & FORM_FLAGS) schedules(t, m, after, what);
    }
}

#endif
