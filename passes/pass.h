/* pass.h: passes, the pipelines that run them, and what they tell the user. */
#ifndef TILEC_PASSES_PASS_H
#define TILEC_PASSES_PASS_H

#include "ir/ir.h"

/* --comm=NAME=FORM: of collectives whose operand or result has this name. */
typedef struct {
    const char *name;
    CommForm form;
} CommAsked;

typedef struct {
    const char *target;     /* "host" */
    CommForm comm;          /* --comm=FORM: COMM_AUTO lets the model choose */
    const CommAsked *asked; /* of some collectives another */
    int nasked;
    int64_t split;          /* --split=..: parts of every loop that can be cut; 0: as the machine wants it */
    const char *const *off; /* --off=PASS */
    int noff;
    bool verify_each, print_after_all, time_passes;
    bool structural;        /* tests: flags are proved from the structure, as for sizes that are no numbers */
    const char *print_after; /* NULL, or the name of a pass, or PASS.STEP */
    FILE *out;              /* where --print-after and --time-passes write */
} PassOptions;

/* What `tilec explain` prints: one line per decision, in the order they were made. */
typedef struct {
    const char *pass;
    Loc loc;
    const char *text;
} Remark;

typedef struct {
    Module *m;
    const PassOptions *options;
    VEC(Remark) remark;
    const struct Pass *pass; /* that runs; NULL: none of a list */
} PassContext;

/* What a pass may rely on between its steps: a bit each, in the order of its list. */
typedef struct {
    const char *name, *means;
} PassFact;

/* A part of a pass, which it does for a kernel. */
typedef struct {
    const char *name, *help;
    int needs; /* facts that hold before */
    int gives; /* those that hold behind it, .. */
    int ends;  /* .. and those that hold no longer */
} PassStep;

typedef struct Pass {
    const char *name, *help;
    int needs;  /* FORM_ bits the module must have */
    int breaks; /* FORM_ bits it must not have yet */
    bool plans;  /* it gives kernels their plans (passes/plan/plan.h) */
    bool values;                /* all its kernels must be in value form */
    bool (*run)(PassContext *); /* false after errors */
    void (*kernel)(PassContext *, Kernel *); /* what it does to this kernel alone; NULL: it looks at more than one */
    const PassStep *(*step)(size_t); /* NULL: it has none that are told apart; else, as for facts, NULL behind the last one */
    const PassFact *(*fact)(size_t);
} Pass;

void remark(PassContext *, const char *pass, Loc, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A context whose module is one beside c's (ir/trial.h): remarks are dropped with it. */
PassContext pass_trial(const PassContext *);

/* false, reported: a collective is left before this pass. */
bool collectives_gone(PassContext *, const Program *, const char *pass);

/* Removes kernels and temporaries that nothing uses any more. */
void module_prune(Module *);

extern const Pass pass_fuse, pass_comm, pass_predicate, pass_static_block, pass_linearize, pass_stream_order, pass_flags, pass_barriers;
extern const Pass pass_pad, pass_pipe, pass_trim, pass_fold_gqa, pass_steps, pass_split, pass_layout, pass_roles, pass_remap;

const char *pass_renamed(const char *old); /* the name today of a pass that had another one; NULL: none had */
const Pass *pass_find(const char *name);
const Pass *pass_at(size_t); /* NULL behind the last one */
bool split_fits(const Module *, const Kernel *); /* it has a loop that split can cut */
bool pass_is_off(const PassOptions *, const Pass *);
const Pass *const *pipeline_of(const char *target, int *n); /* the default list for a target */
bool pass_has_step(const char *name);     /* PASS.STEP */
/* Prints the kernel, where the options ask for it behind this step. */
void step_print(PassContext *, const Pass *, const PassStep *, const Kernel *);
/* Runs a list of passes; the verifier runs between them as the options say. */
bool pipeline_run(PassContext *, const Pass *const *list, int n);

#endif
