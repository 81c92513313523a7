/* tune_measure.c: compiles variants of a program and measures them in turns, so that what else the machine does meets
   all of them. Takes: entries. Gives: the best time of each whose results agree with those of the program as written.
 */
#include "driver/progress.h"
#include "driver/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Turns among the variants, runs of a turn; chosen: no measurement is recorded. */
enum { ROUNDS = 6, RUNS_LEAST = 2, RUNS_MOST = 50 };
static const double aim = 0.03; /* seconds of a measurement */

/* ---- results ---- */

static double tolerance(Elem e) {
    int bits = elem_bits(e);
    return !elem_is_float(e) ? 0 : bits == 64 ? 1e-9 : bits == 32 ? 1e-3 : bits == 16 ? 4e-2 : 0.3;
}

/* Of the program's floats the shortest: a result of f32 may be made of rounded ones. 0: there are none. */
static double most_tolerance(const Run *r) {
    double most = 0;
    for (int i = 0; i < r->p->io.n; i++) most = fmax(most, tolerance(r->io[i].elem));
    return most;
}

/* Whole numbers that are made of floats may hang on a last bit here and there: a rounded quotient. */
static bool array_agrees(const Array *a, const Array *b, double near) {
    int64_t n = array_count(a), others = 0, few = near > 0 && !elem_is_float(a->elem) ? n / 1000 : 0;
    double most = 0;
    for (int64_t i = 0; i < n && elem_is_float(a->elem); i++)
        if (isfinite(array_get(b, i))) most = fmax(most, fabs(array_get(b, i)));
    for (int64_t i = 0; i < n; i++) others += array_error(a, b, i) > near * most;
    return others <= few;
}

bool tune_agrees(const Array *a, const Array *b) { return array_agrees(a, b, tolerance(a->elem)); }

static Array *arrays_copy(const Tune *t) {
    const Run *r = &t->base;
    Array *copy = ARENA_ARRAY(t->arena, Array, r->p->io.n + 1);
    for (int i = 0; i < r->p->io.n; i++) {
        copy[i] = r->io[i];
        bool changes = run_tensor(r, i)->role != ROLE_INPUT;
        size_t bytes = ((size_t)array_count(&r->io[i]) * (size_t)elem_bits(r->io[i].elem) + 7) / 8;
        if (changes) copy[i].data = arena_copy(t->arena, r->io[i].data, bytes);
    }
    return copy;
}

/* One run from the same beginning; results are in the arrays then. */
static bool run_once(const Tune *t, const Run *r) {
    run_fill(r, t->before);
    if (!run_ranks(r, t->o, 1)) return false;
    run_take(r);
    return true;
}

static bool results_agree(const Tune *t) {
    const Run *r = &t->base;
    for (int i = 0; i < r->p->io.n; i++)
        if (run_tensor(r, i)->role != ROLE_INPUT && !array_agrees(&r->io[i], &t->expected[i], most_tolerance(r))) return false;
    return true;
}

/* ---- variants ---- */

static const Tuned *tuned_with(const Tune *t, Arena *a, const TunedEntry *e) {
    Tuned *all = ARENA_NEW(a, Tuned);
    for (int i = 0; i < t->chosen.n; i++)
        if (!tuned_same_key(&t->chosen.p[i], e)) vec_push(a, all, t->chosen.p[i]);
    vec_push(a, all, *e);
    return all;
}

/* What a variant reports stays unprinted: a size that does not fit is no fault of the program's. */
Run *tune_lower(const Tune *t, Arena *a, const TunedEntry *e) {
    Run *r = ARENA_NEW(a, Run);
    Options *o = ARENA_NEW(a, Options);
    *o = *t->o;
    o->arena = a;
    o->time_passes = false;
    o->sizes = tuned_with(t, a, e);
    *r = (Run){0};
    if (!session_open(&r->s, o) || !session_lower(&r->s) || !session_passes(&r->s)) return NULL;
    r->p = r->s.m->program.p[0];
    r->sym = t->base.sym, r->io = t->base.io, r->nranks = t->base.nranks;
    r->part = t->base.part, r->bytes = t->base.bytes, r->result = t->base.result;
    return r;
}

/* What was asked of kernels is left out: those that come out alike have one text. */
const char *tune_text(const Run *r, Arena *a) {
    Module *m = module_clone(r->s.m, a);
    for (int i = 0; i < m->kernel.n; i++) plan_drop_asked(&m->kernel.p[i]->plan);
    return arena_format(a, "workers %d\n%s", r->p->workers, module_text(m, a));
}

static const Variant *known(const Variants *list, int n, const char *text) {
    for (int i = 0; i < n; i++)
        if (list->p[i].text && !strcmp(list->p[i].text, text)) return &list->p[i];
    return NULL;
}

/* What it comes out as; true: that has to be compiled. */
static bool variant_lower(const Tune *t, Variants *list, int i) {
    Variant *v = &list->p[i];
    Run *r = tune_lower(t, t->arena, &v->entry);
    v->measured = INFINITY;
    v->why = r ? NULL : "refused";
    if (!r) return false;
    v->predicted = run_predicted(r);
    v->text = tune_text(r, t->arena);
    if (known(list, i, v->text)) v->why = "same";
    const Variant *before = known(&t->known, t->known.n, v->text);
    if (!v->why && before) v->why = before->why, v->run = before->run;
    if (v->why || before) return false;
    v->run = r;
    return true;
}

static const char *run_refused(const Tune *t, const Run *r) {
    if (!run_once(t, r)) return "refused";
    return results_agree(t) ? NULL : "differs";
}

/* As many compilers at a time as there are cores; each variant is run once. */
static void variants_compile(const Tune *t, Variants *list) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < list->n + cores; i++) {
        Variant *end = i >= cores ? &list->p[i - cores] : NULL, *begin = i < list->n ? &list->p[i] : NULL;
        if (end && end->run && !run_compile_end(end->run)) end->why = "refused";
        if (begin && begin->run && !run_compile_begin(begin->run)) begin->why = "refused", begin->run = NULL;
    }
    for (int i = 0; i < list->n; i++) {
        Variant *v = &list->p[i];
        if (v->run && !v->why) v->why = run_refused(t, v->run);
        if (v->why) v->run = NULL;
    }
}

static void variants_prepare(Tune *t, Variants *list) {
    Variants fresh = {0};
    VEC(int) at = {0};
    for (int i = 0; i < list->n; i++)
        if (variant_lower(t, list, i)) {
            vec_push(t->arena, &fresh, list->p[i]);
            vec_push(t->arena, &at, i);
        }
    variants_compile(t, &fresh);
    for (int i = 0; i < fresh.n; i++) {
        list->p[at.p[i]] = fresh.p[i];
        vec_push(t->arena, &t->known, fresh.p[i]);
    }
}

static bool variant_time(const Tune *t, Variant *v) {
    run_fill(v->run, t->before);
    if (!run_ranks(v->run, t->o, t->runs + 1)) return false;
    v->measured = fmin(v->measured, run_time(v->run, t->runs + 1).best);
    return true;
}

/* The program as written takes part, so that all times are of one hour. */
static bool variants_time(Tune *t, Variants *list) {
    Variant *written = &t->known.p[0];
    bool good = !list->p[0].why, apart = list->p[0].run != written->run;
    written->measured = INFINITY;
    for (int round = 0; round < ROUNDS && good; round++) {
        if (apart) good = variant_time(t, written);
        for (int i = 0; i < list->n && good; i++) good = !list->p[i].run || variant_time(t, &list->p[i]);
    }
    t->written = apart ? written->measured : list->p[0].measured;
    return good;
}

static bool has_choice(const Variants *list) {
    for (int i = 1; i < list->n; i++)
        if (!list->p[i].why || strcmp(list->p[i].why, "same")) return true;
    return false;
}

bool tune_measure(Tune *t, Variants *list, bool *choice) {
    Progress *progress = progress_begin(t->arena, arena_format(t->arena, "measuring '%s'", list->p[0].entry.name));
    variants_prepare(t, list);
    *choice = has_choice(list);
    bool good = !*choice || variants_time(t, list);
    progress_end(progress);
    if (!good) fprintf(stderr, "tilec: error: the program does not run as it did before\n");
    return good;
}

/* ---- the program as written ---- */

static int runs_of(const Tune *t, double seconds) {
    if (t->o->time) return (int)t->o->time;
    return (int)fmax(RUNS_LEAST, fmin(RUNS_MOST, aim / fmax(seconds, 1e-9)));
}

bool tune_begin(Tune *t) {
    Run *r = &t->base;
    int most = t->o->time > RUNS_MOST ? (int)t->o->time : RUNS_MOST;
    t->before = arrays_copy(t);
    if (!run_compile(r) || !run_parts(r, most + 1) || !run_once(t, r)) return false;
    t->expected = arrays_copy(t);
    run_fill(r, t->before);
    if (!run_ranks(r, t->o, 2)) return false;
    t->runs = runs_of(t, run_time(r, 2).best);
    Variant written = {.run = r, .measured = INFINITY, .text = tune_text(r, t->arena)};
    if (!variant_time(t, &written)) return false;
    vec_push(t->arena, &t->known, written);
    t->written = t->found = written.measured;
    return true;
}
