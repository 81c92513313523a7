/* run.c: tilec run: a program on the host, on a GPU or in the interpreter, and the comparison of --check. */
#include "driver/progress.h"
#include "driver/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- the interpreter ---- */

static int run_interp(Run *r, bool bounds) {
    InterpOptions io = {.sym = r->sym, .seed = (uint64_t)r->s.o->seed, .bounds = bounds};
    InterpReport report = {0};
    Progress *progress = progress_begin(r->s.arena, bounds ? "checking with the interpreter" : "interpreting");
    bool good = interp_run(r->s.arena, r->s.m, r->p, &io, r->io, &report);
    progress_end(progress);
    if (good) return EXIT_OK;
    interp_report_print(r->p, &report, stderr);
    return EXIT_RUN;
}

/* ---- --check ---- */

typedef struct {
    double worst, bound; /* the largest error relative to its bound: both of that element */
    int64_t at, over;    /* where; how many elements are past their bound */
    int64_t open;        /* how many have none: the check says nothing of them */
    int64_t nan;         /* how many are NaN in both */
} Difference;

static double element_error(const Array *a, const Array *b, int64_t i) {
    if (!elem_is_float(a->elem)) return array_get_int(a, i) == array_get_int(b, i) ? 0 : INFINITY;
    double x = array_get(a, i), y = array_get(b, i);
    if (x == y || (isnan(x) && isnan(y))) return 0;
    double e = fabs(x - y);
    return isnan(e) ? INFINITY : e;
}

static Difference difference(const Array *a, const Array *b) {
    Difference d = {0};
    double ratio = -1;
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        double e = element_error(a, b, i), bound = b->bound ? b->bound[i] : 0;
        d.over += e > bound;
        d.open += isinf(bound);
        d.nan += elem_is_float(a->elem) && isnan(array_get(a, i)) && isnan(array_get(b, i));
        double q = isinf(bound) ? -0.5 : e == 0 ? 0 : bound > 0 ? e / bound : INFINITY;
        if (q <= ratio) continue;
        ratio = q;
        d = (Difference){e, bound, i, d.over, d.open, d.nan};
    }
    return d;
}

/* The reference: the interpreter on one rank, on the same inputs. */
static bool make_reference(const Run *r, Run *reference, Options *one) {
    *one = *r->s.o;
    one->ranks = 1;
    one->target = "interp";
    *reference = (Run){0};
    if (!session_open(&reference->s, one) || !session_lower(&reference->s)) return false;
    reference->p = reference->s.m->program.p[0];
    reference->sym = r->sym;
    reference->io = ARENA_ARRAY(r->s.arena, Array, r->p->io.n);
    return true;
}

static int check_outputs(const Run *r, const Array *before) {
    Run reference;
    Options one;
    if (!make_reference(r, &reference, &one)) return session_close(&reference.s, EXIT_WRONG);
    for (int i = 0; i < r->p->io.n; i++)
        if (run_reads(run_tensor(r, i))) reference.io[i] = before[i];
    int code = run_interp(&reference, true);
    for (int i = 0; i < r->p->io.n && code != EXIT_RUN; i++) {
        if (run_tensor(r, i)->role == ROLE_INPUT) continue;
        Difference d = difference(&r->io[i], &reference.io[i]);
        printf("%s: %s: largest error %.3g, bound there %.3g: %s", r->p->name, run_tensor(r, i)->name, d.worst, d.bound,
               d.over ? "differs" : "agrees");
        if (d.open) printf("; nothing is known of %" PRId64 " elements, which have no bound", d.open);
        if (d.nan) printf("; %" PRId64 " elements are NaN in both", d.nan);
        printf("\n");
        if (d.over) code = EXIT_DIFFERS;
    }
    return code;
}

/* State is updated in place: the check needs what it was. */
static Array *inputs_copy(const Run *r) {
    Array *copy = ARENA_ARRAY(r->s.arena, Array, r->p->io.n);
    for (int i = 0; i < r->p->io.n; i++) {
        copy[i] = r->io[i];
        if (run_tensor(r, i)->role == ROLE_STATE)
            copy[i].data =
                arena_copy(r->s.arena, r->io[i].data, (size_t)array_count(&r->io[i]) * elem_bytes(r->io[i].elem));
    }
    return copy;
}

static void report_time(const Run *r, int runs) {
    RanksTime time = run_time(r, runs + 1);
    printf("%s: %.3f ms, median of %d runs on %d rank%s; best %.4g ms", r->p->name, time.median * 1e3, runs, r->nranks,
           r->nranks == 1 ? "" : "s", time.best * 1e3);
    if (!r->s.target.gpu) {
        double predicted = run_predicted(r);
        printf(", predicted %.4g ms, error %+.0f %%", predicted * 1e3, 100 * (predicted / time.median - 1));
    }
    printf("\n");
}

/* Once for the results, then for the time. */
static bool run_and_time(const Run *r) {
    int runs = (int)r->s.o->time;
    Options timed = *r->s.o;
    timed.trace = NULL;
    if (!run_ranks(r, r->s.o, 1)) return false;
    run_take(r);
    if (!runs) return true;
    if (!run_ranks(r, &timed, runs + 1)) return false;
    report_time(r, runs);
    return true;
}

static int run_compiled(Run *r) {
    if (!session_passes(&r->s)) return EXIT_WRONG;
    return run_compile(r) && run_parts(r, (int)r->s.o->time + 1) && run_and_time(r) ? EXIT_OK : EXIT_RUN;
}

static int run_program(Run *r) {
    if (!run_options_known(r)) return EXIT_USAGE;
    if (!run_inputs(r)) return EXIT_RUN;
    Array *before = inputs_copy(r);
    int code = r->s.target.interp ? run_interp(r, false) : run_compiled(r);
    if (code == EXIT_OK && !run_write(r)) code = EXIT_RUN;
    return code == EXIT_OK && r->s.o->check ? check_outputs(r, before) : code;
}

int command_run(Options *o) {
    Run r = {0};
    int code = run_open(&r, o);
    return code >= 0 ? code : session_close(&r.s, run_program(&r));
}
