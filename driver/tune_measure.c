/* tune_measure.c: compiles variants of a program and measures them in turns, so that what else the machine does meets
   all of them. Takes: entries. Gives: the best time of each whose results agree with those of the program as written.
 */
#include "driver/progress.h"
#include "driver/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 6, RUNS_LEAST = 2, RUNS_MOST = 50 };
static const double aim = 0.03; /* seconds of a measurement */

/* ---- results ---- */

static double tolerance(Elem e) {
    int bits = elem_bits(e);
    return !elem_is_float(e) ? 0 : bits == 64 ? 1e-9 : bits == 32 ? 1e-3 : bits == 16 ? 4e-2 : 0.3;
}

static bool array_agrees(const Array *a, const Array *b) {
    int64_t n = array_count(a);
    double most = 0;
    for (int64_t i = 0; i < n && elem_is_float(a->elem); i++)
        if (isfinite(array_get(b, i))) most = fmax(most, fabs(array_get(b, i)));
    for (int64_t i = 0; i < n; i++)
        if (array_error(a, b, i) > tolerance(a->elem) * most) return false;
    return true;
}

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
        if (run_tensor(r, i)->role != ROLE_INPUT && !array_agrees(&r->io[i], &t->expected[i])) return false;
    return true;
}

/* ---- variants ---- */

static const Tuned *tuned_with(const Tune *t, const TunedEntry *e) {
    Tuned *all = ARENA_NEW(t->arena, Tuned);
    for (int i = 0; i < t->chosen.n; i++)
        if (!tuned_same_key(&t->chosen.p[i], e)) vec_push(t->arena, all, t->chosen.p[i]);
    vec_push(t->arena, all, *e);
    return all;
}

/* What a variant reports stays unprinted: a size that does not fit is no fault of the program's. */
Run *tune_lower(const Tune *t, const TunedEntry *e) {
    Run *r = ARENA_NEW(t->arena, Run);
    Options *o = ARENA_NEW(t->arena, Options);
    *o = *t->o;
    o->sizes = tuned_with(t, e);
    *r = (Run){0};
    if (!session_open(&r->s, o) || !session_lower(&r->s) || !session_passes(&r->s)) return NULL;
    r->p = r->s.m->program.p[0];
    r->sym = t->base.sym, r->io = t->base.io, r->nranks = t->base.nranks;
    r->part = t->base.part, r->bytes = t->base.bytes, r->result = t->base.result;
    return r;
}

static bool is_new(const Variants *list, int i) {
    for (int k = 0; k < i; k++)
        if (list->p[k].text && !strcmp(list->p[k].text, list->p[i].text)) return false;
    return true;
}

/* NULL: it may be measured. */
static const char *variant_prepare(const Tune *t, Variants *list, int i) {
    Variant *v = &list->p[i];
    Run *r = tune_lower(t, &v->entry);
    v->measured = INFINITY;
    if (!r) return "refused";
    v->predicted = run_predicted(r);
    v->text = arena_format(t->arena, "workers %d\n%s", r->p->workers, module_text(r->s.m, t->arena));
    if (!is_new(list, i)) return "same";
    if (!run_compile(r) || !run_once(t, r)) return "refused";
    if (!results_agree(t)) return "differs";
    v->run = r;
    return NULL;
}

static bool variant_time(const Tune *t, Variant *v) {
    run_fill(v->run, t->before);
    if (!run_ranks(v->run, t->o, t->runs + 1)) return false;
    v->measured = fmin(v->measured, run_time(v->run, t->runs + 1).best);
    return true;
}

bool tune_measure(const Tune *t, Variants *list) {
    Progress *progress = progress_begin(t->arena, "measuring");
    bool good = true;
    for (int i = 0; i < list->n; i++) list->p[i].why = variant_prepare(t, list, i);
    good = !list->p[0].why;
    for (int round = 0; round < ROUNDS && good; round++)
        for (int i = 0; i < list->n && good; i++) good = !list->p[i].run || variant_time(t, &list->p[i]);
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
    Variant written = {.run = r, .measured = INFINITY};
    if (!variant_time(t, &written)) return false;
    t->written = written.measured;
    return true;
}
