/* tune.c: tilec tune: kernel by kernel, those predicted to take longest first, the sizes that the model likes best are
   measured; then forms of collectives and workers. Writes the file that --tuned reads (docs/reference/tuning.md). */
#include "driver/tune.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEASURED = 8, /* variants of a kernel, where --variants does not say */
    LOWERED = 4096
};
static const double share = 0.02;      /* of the time: kernels below are left alone */
static const double least_gain = 0.98; /* of the time: more is taken for noise */

/* ---- what is printed ---- */

void tune_print_pairs(const TunedPairs *list, const char *before) {
    for (int i = 0, n = 0; i < list->n; i++)
        if (!tuned_is_fact(list->p[i].name))
            printf("%s%s = %s", n++ ? ", " : before, list->p[i].name, list->p[i].value);
}

static bool is_empty(const TunedPairs *list) {
    for (int i = 0; i < list->n; i++)
        if (!tuned_is_fact(list->p[i].name)) return false;
    return true;
}

static void print_variant(const Variant *v, bool first) {
    if (!v->text)
        printf("  %10s %10s  ", "", v->why); /* there is no code to predict the time of */
    else if (v->why)
        printf("  %10.4g %10s  ", v->predicted * 1e3, v->why);
    else
        printf("  %10.4g %10.4g  ", v->predicted * 1e3, v->measured * 1e3);
    tune_print_pairs(&v->entry.set, "");
    printf("%s%s\n", is_empty(&v->entry.set) ? "left to the compiler" : "", first ? "  (now)" : "");
}

static void print_table(const Variants *list, const char *what, int count) {
    const TunedEntry *e = &list->p[0].entry;
    printf("%s %s", what, e->name);
    tune_print_pairs(&e->key, " with ");
    printf(": %d of %d variants\n    predicted   measured  (ms of the program)\n", list->n - 1, count);
    for (int i = 0; i < list->n; i++) print_variant(&list->p[i], i == 0);
    fflush(stdout);
}

/* ---- choosing ---- */

static const Variant *fastest(const Variants *list) {
    const Variant *best = &list->p[0];
    for (int i = 1; i < list->n; i++)
        if (list->p[i].run && list->p[i].measured < best->measured * (best == list->p ? least_gain : 1))
            best = &list->p[i];
    return best;
}

static void set_fact(const Tune *t, TunedEntry *e, const char *name, double seconds) {
    TunedPairs kept = {0};
    for (int i = 0; i < e->set.n; i++)
        if (strcmp(e->set.p[i].name, name) != 0) vec_push(t->arena, &kept, e->set.p[i]);
    vec_push(t->arena, &kept, ((TunedPair){.name = name, .value = arena_format(t->arena, "%.1f", seconds * 1e6)}));
    e->set = kept;
}

static void entry_put(Tune *t, Tuned *to, TunedEntry e) {
    for (int i = 0; i < to->n; i++)
        if (tuned_same_key(&to->p[i], &e)) {
            to->p[i] = e;
            return;
        }
    vec_push(t->arena, to, e);
}

static bool choose(Tune *t, Variants *list, const char *what, int count) {
    bool is_choice;
    if (list->n < 2) return true;
    if (!tune_measure(t, list, &is_choice)) return false;
    if (!is_choice) return true;
    print_table(list, what, count);
    TunedEntry e = fastest(list)->entry;
    t->found = fastest(list)->measured;
    set_fact(t, &e, "measured_us", t->found);
    set_fact(t, &e, "written_us", t->written);
    entry_put(t, &t->chosen, e);
    return true;
}

/* The site that is predicted to take longest of those that are left; -1: none is worth it. */
static int next_site(const Tune *t, const bool *done) {
    int best = -1;
    double most = share * run_predicted(&t->base);
    for (int i = 0; i < t->base.s.sites.n; i++) {
        double seconds = done[i] || t->base.s.sites.p[i].entry.program ? 0 : tune_seconds(t, i);
        if (seconds > most) best = i, most = seconds;
    }
    return best;
}

/* What was found for a site so far. */
static const TunedEntry *entry_of(const Tune *t, int site) {
    const TunedEntry *written = &t->base.s.sites.p[site].entry;
    for (int i = 0; i < t->chosen.n; i++)
        if (tuned_same_key(&t->chosen.p[i], written)) return &t->chosen.p[i];
    return written;
}

static bool tune_choices_of(Tune *t, int site, const char *what) {
    double tasks = tune_tasks(t, site);
    for (int i = 0; i < tune_choices(); i++) {
        Variants list = tune_choice_variants(t, entry_of(t, site), tasks, i);
        if (!choose(t, &list, what, list.n - 1)) return false;
    }
    return true;
}

static bool tune_kernels(Tune *t) {
    int most = t->o->variants ? (int)t->o->variants : MEASURED, count;
    bool *done = ARENA_ARRAY(t->arena, bool, t->base.s.sites.n + 1);
    for (int site; (site = next_site(t, done)) >= 0;) {
        done[site] = true;
        Variants list = tune_kernel_variants(t, site, most, &count);
        if (!choose(t, &list, "kernel", count) || !tune_choices_of(t, site, "kernel")) return false;
    }
    return true;
}

static bool tune_program(Tune *t) {
    int site = 0;
    while (!t->base.s.sites.p[site].entry.program) site++;
    return tune_choices_of(t, site, "program");
}

/* ---- the file ---- */

/* What stands in the file and was not measured now is kept. */
static bool read_kept(Tune *t, const char *path, Tuned *kept) {
    Text text = {0};
    const char *failed = text_read(&text, path, TUNED_BYTES);
    Diags *diags = t->base.s.diags;
    bool good = true;
    if (!failed) {
        int file = diags_file(diags, path, arena_text(t->arena, text_str(&text), text.n), text.n);
        good = tuned_parse(t->arena, diags, file, kept);
    }
    text_free(&text);
    return good;
}

static bool write_file(Tune *t, const char *path, Tuned *all) {
    Text text = {0};
    for (int i = 0; i < t->chosen.n; i++) entry_put(t, all, t->chosen.p[i]);
    text_printf(&text, "// Sizes that tilec tune %s measured for %s.\n\n", TILEC_VERSION, t->o->file);
    tuned_print(&text, all);
    const char *failed = text_write(&text, path);
    text_free(&text);
    if (failed)
        fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed);
    else
        printf("written to %s\n", path);
    return !failed;
}

/* gemm.tile -> gemm.tuned */
static const char *default_path(const Tune *t) {
    const char *file = t->o->file, *dot = strrchr(file, '.');
    size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - file) : strlen(file);
    return arena_format(t->arena, "%.*s.tuned", (int)n, file);
}

/* ---- the command ---- */

/* What won table by table may be no gain in the end: then all stays as it is written. */
static void settle(Tune *t) {
    if (t->found < t->written) return;
    for (int i = 0; i < t->base.s.sites.n; i++) {
        TunedEntry e = t->base.s.sites.p[i].entry;
        if (entry_of(t, i) == &t->base.s.sites.p[i].entry) continue;
        set_fact(t, &e, "measured_us", t->written);
        set_fact(t, &e, "written_us", t->written);
        entry_put(t, &t->chosen, e);
    }
    t->found = t->written;
}

static void print_result(const Tune *t) {
    const char *name = t->base.p->name;
    if (t->chosen.n)
        printf("%s: %.4g ms, as written %.4g ms\n", name, t->found * 1e3, t->written * 1e3);
    else
        printf("%s: nothing to choose: no kernel that counts has a size or a loop that may be another\n", name);
}

static int tune_open(Tune *t, const char *path, Tuned *kept) {
    int code = run_open(&t->base, t->o);
    if (code >= 0) return code;
    if (!read_kept(t, path, kept)) return session_close(&t->base.s, EXIT_WRONG);
    if (!run_options_known(&t->base)) return EXIT_USAGE;
    if (!run_inputs(&t->base)) return EXIT_RUN;
    return session_passes(&t->base.s) ? -1 : session_close(&t->base.s, EXIT_WRONG);
}

int command_tune(Options *o) {
    if (o->train) return train(o);
    Options own = *o;
    Tune t = {.o = &own, .arena = o->arena, .lowered = LOWERED};
    const char *path = o->tuned ? o->tuned : default_path(&t);
    Tuned kept = {0};
    own.tuned = NULL;
    int code = tune_open(&t, path, &kept);
    if (code >= 0) return code;
    if (!tune_begin(&t)) return session_close(&t.base.s, EXIT_RUN);
    printf("%s as written: %.4g ms, predicted %.4g ms\n", t.base.p->name, t.written * 1e3,
           run_predicted(&t.base) * 1e3);
    if (!tune_kernels(&t) || !tune_program(&t)) return session_close(&t.base.s, EXIT_RUN);
    settle(&t);
    print_result(&t);
    return session_close(&t.base.s, write_file(&t, path, &kept) ? EXIT_OK : EXIT_WRONG);
}
