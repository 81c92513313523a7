/* train.c: tilec tune --train: measures the arms of a program's choice on a folder of inputs, or takes a table of such
   times, and makes the decision tree. A folder has a folder for each sample, with a file NAME.npy for each input. */
#include "driver/train.h"
#include "driver/tune.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds of a measurement; its runs, at least and at most. Chosen: no measurement is recorded. */
static const double aim = 0.05;
enum { RUNS_LEAST = 3, RUNS_MOST = 50 };

typedef struct {
    const Options *o;
    Arena *arena;
    Samples *samples;
    const char *folder; /* of the sample */
    Array *first;       /* results of its first arm */
} Train;

static bool is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- names in folders ---- */

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool folder_list(Arena *a, const char *path, Words *names) {
    DIR *d = opendir(path);
    if (!d) return fprintf(stderr, "tilec: error: cannot read the folder %s\n", path), false;
    for (const struct dirent *e; (e = readdir(d));)
        if (*e->d_name != '.') vec_push(a, names, arena_format(a, "%s", e->d_name));
    closedir(d);
    if (names->n) qsort(names->p, (size_t)names->n, sizeof *names->p, compare);
    return true;
}

/* NAME.npy for input NAME */
static bool inputs_of(Arena *a, const char *folder, Options *o) {
    Words names = {0};
    if (!folder_list(a, folder, &names)) return false;
    for (int i = 0; i < names.n; i++) {
        const size_t n = strlen(names.p[i]);
        if (n <= 4 || strcmp(names.p[i] + n - 4, ".npy") != 0) continue;
        const Binding b = {arena_format(a, "%.*s", (int)n - 4, names.p[i]),
                           arena_format(a, "%s/%s", folder, names.p[i])};
        vec_push(a, &o->in, b);
    }
    return true;
}

/* ---- an arm ---- */

static void feature_put(Train *t, Words *names, double **to, const char *name, double value) {
    vec_push(t->arena, names, name);
    *(*to)++ = value;
}

/* Run-time dimensions and scalars: what a tree may ask. */
static void features_of(Train *t, const Run *r, Sample *x) {
    Words names = {0};
    double *to = x->feature = ARENA_ARRAY(t->arena, double, r->s.m->symbol.n + r->p->io.n + 1);
    for (int i = 0; i < r->s.m->symbol.n; i++) feature_put(t, &names, &to, r->s.m->symbol.p[i].name, (double)r->sym[i]);
    for (int i = 0; i < r->p->io.n; i++)
        if (run_tensor(r, i)->ndim == 0 && run_tensor(r, i)->role == ROLE_INPUT)
            feature_put(t, &names, &to, run_tensor(r, i)->name, array_get(&r->io[i], 0));
    if (!t->samples->feature.n) t->samples->feature = names;
}

static bool features_finite(const Train *t, const Sample *x) {
    for (int i = 0; i < t->samples->feature.n; i++)
        if (!isfinite(x->feature[i]))
            return fprintf(stderr, "tilec: error: %s: %s is no finite number\n", t->folder, t->samples->feature.p[i]),
                   false;
    return true;
}

static bool results_agree(Train *t, const Run *r, const char *arm) {
    Array *now = ARENA_ARRAY(t->arena, Array, r->p->io.n);
    for (int i = 0; i < r->p->io.n; i++) {
        now[i] = r->io[i];
        if (run_tensor(r, i)->role == ROLE_INPUT) continue;
        now[i].data =
            arena_copy(t->arena, now[i].data, ((size_t)array_count(&now[i]) * (size_t)elem_bits(now[i].elem) + 7) / 8);
        if (t->first && !tune_agrees(&now[i], &t->first[i]))
            return fprintf(stderr, "tilec: error: %s: arm '%s' gives another result than the first one\n", t->folder,
                           arm),
                   false;
    }
    if (!t->first) t->first = now;
    return true;
}

static int runs_of(const Options *o, double seconds) {
    return o->time ? (int)o->time : (int)fmax(RUNS_LEAST, fmin(RUNS_MOST, aim / fmax(seconds, 1e-9)));
}

static bool arm_time(Train *t, Run *r, const Options *o, const char *arm, double *us) {
    const int most = o->time > RUNS_MOST ? (int)o->time : RUNS_MOST;
    if (!session_passes(&r->s) || !run_compile(r) || !run_parts(r, most + 1) || !run_ranks(r, o, 1)) return false;
    run_take(r);
    if (!results_agree(t, r, arm) || !run_ranks(r, o, 2)) return false;
    const int runs = runs_of(o, run_time(r, 2).best);
    if (!run_ranks(r, o, runs + 1)) return false;
    *us = fmax(1e6 * run_time(r, runs + 1).best, 1e-3);
    return true;
}

/* Arm -1: the first, whose names are taken; 0 us. */
static int arm_measure(Train *t, Sample *x, int arm) {
    Options own = *t->o;
    Run r = {0};
    own.tuned = NULL, own.train = NULL;
    vec_copy(t->arena, &own.warn);
    vec_push(t->arena, &own.warn, "no-all"); /* of what other arms read */
    own.arm = arm < 0 ? "" : t->samples->arm.p[arm];
    vec_copy(t->arena, &own.in);
    if (!inputs_of(t->arena, t->folder, &own)) return EXIT_RUN;
    int code = run_open(&r, &own);
    if (code >= 0) return code;
    bool good = run_options_known(&r) && run_inputs(&r);
    if (good && arm < 0) {
        for (int i = 0; i < r.s.arms.n && !t->samples->arm.n; i++)
            t->samples->arm = (Words){r.s.arms.p, r.s.arms.n, r.s.arms.n};
        features_of(t, &r, x);
        good = features_finite(t, x);
    }
    if (good && arm >= 0) good = arm_time(t, &r, &own, own.arm, &x->us[arm]);
    return session_close(&r.s, good ? EXIT_OK : EXIT_RUN);
}

static int sample_measure(Train *t, const char *name) {
    Sample x = {.name = name};
    t->folder = arena_format(t->arena, "%s/%s", t->o->train, name);
    t->first = NULL;
    int code = arm_measure(t, &x, -1);
    if (code == EXIT_OK && !t->samples->arm.n)
        return fprintf(stderr, "tilec: error: the program has no choice by a tree\n"), EXIT_WRONG;
    x.us = ARENA_ARRAY(t->arena, double, t->samples->arm.n + 1);
    for (int i = 0; i < t->samples->arm.n && code == EXIT_OK; i++) code = arm_measure(t, &x, i);
    if (code != EXIT_OK) return code;
    printf("%s:", name);
    for (int i = 0; i < t->samples->arm.n; i++)
        printf(" %s %.1f us%s", t->samples->arm.p[i], x.us[i], i + 1 < t->samples->arm.n ? "," : "\n");
    fflush(stdout);
    vec_push(t->arena, &t->samples->sample, x);
    return EXIT_OK;
}

static int folder_measure(const Options *o, Samples *s) {
    Train t = {.o = o, .arena = o->arena, .samples = s};
    Words names = {0};
    int code = folder_list(o->arena, o->train, &names) ? EXIT_OK : EXIT_USAGE;
    for (int i = 0; i < names.n && code == EXIT_OK; i++)
        if (is_folder(arena_format(o->arena, "%s/%s", o->train, names.p[i]))) code = sample_measure(&t, names.p[i]);
    if (code == EXIT_OK && !s->sample.n)
        return fprintf(stderr, "tilec: error: no folders of inputs in %s\n", o->train), EXIT_USAGE;
    return code;
}

/* spmv.tile -> spmv.tree */
static const char *tree_path(const Options *o) {
    const char *dot = strrchr(o->file, '.');
    const size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - o->file) : strlen(o->file);
    return o->tuned ? o->tuned : arena_format(o->arena, "%.*s.tree", (int)n, o->file);
}

int train(Options *o) {
    Samples s = {0};
    const int code = is_folder(o->train)                    ? folder_measure(o, &s)
                     : samples_read(o->arena, o->train, &s) ? EXIT_OK
                                                            : EXIT_WRONG;
    if (code != EXIT_OK) return code;
    return samples_train(o->arena, &s, tree_path(o)) ? EXIT_OK : EXIT_WRONG;
}
