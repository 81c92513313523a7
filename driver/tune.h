/* tune.h: what the files of `tilec tune` share. */
#ifndef TILEC_DRIVER_TUNE_H
#define TILEC_DRIVER_TUNE_H

#include "driver/run.h"

/* One way to compile the program: an entry in the place of the one with its key. */
typedef struct {
    TunedEntry entry;
    double predicted; /* seconds of the program */
    Run *run;         /* NULL: not measured */
    const char *why;  /* not: refused, differs, same */
    double measured;  /* seconds, the best of its runs */
    const char *text; /* of its module: sizes that a machine cannot hold may come out as others */
    uint64_t hash;    /* of that, where it was lowered for a prediction alone */
} Variant;

typedef VEC(Variant) Variants;

typedef struct {
    Options *o; /* without the file of sizes */
    Arena *arena;
    Run base;        /* as written: sizes, arguments, sites; of explain, as compiled and without arguments */
    Tuned chosen;    /* what was found so far */
    Array *before;   /* arguments before any run */
    Array *expected; /* and after one of the program as written */
    int runs;        /* of a measurement */
    int lowered;     /* on a GPU: so many kernels go through the passes, for predictions of variants */
    Variants known;  /* what was compiled so far, the program as written first */
    double written;  /* seconds of the program as written, and with what was chosen: both in the same turns */
    double found;
} Tune;

/* tune_variant.c: by the module of the program as written */
double tune_seconds(const Tune *, int site); /* predicted, of a site's nodes; 0: it has none */
double tune_tasks(const Tune *, int site);
int64_t tune_size_after(const Tune *, int site, const TunedPair *); /* of a range: what the passes have made of it */
/* The present choice, then the model's best few, which are at most so many; *count gets how many there are in all. */
Variants tune_kernel_variants(const Tune *, int site, int most, int *count);
/* The present choice, then the others for the first, second, .. thing that is no size: of tune_choices() things. */
Variants tune_choice_variants(const Tune *, const TunedEntry *now, double tasks, int choice);
int tune_choices(void);

/* tune.c: `before`, then "i = 64, j = 128", without the facts; nothing of an empty list */
void tune_print_pairs(const TunedPairs *, const char *before);

/* train.c: of tilec tune --train; an exit code */
int train(Options *);

/* tune_measure.c: floats within what other orders of sums may differ by; integers are equal */
bool tune_agrees(const Array *, const Array *);

/* tune_measure.c: false after a message */
Run *tune_lower(const Tune *, Arena *, const TunedEntry *); /* with that entry, through the passes; NULL: refused */
const char *tune_text(const Run *, Arena *);                /* what is compiled */
bool tune_begin(Tune *); /* compiles and runs the program as written */
/* The first one must run, the others may fall out; *choice gets whether there is another, else nothing is measured. */
bool tune_measure(Tune *, Variants *, bool *choice);

#endif
