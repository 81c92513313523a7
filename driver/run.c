/* run.c: tilec run: a program on the host, on a GPU or in the interpreter. */
#include "driver/progress.h"
#include "driver/run.h"

#include <stdio.h>

static void report_time(const Run *r, int runs) {
    RanksTime time = run_time(r, runs + 1);
    printf("%s: %.3f ms, median of %d runs on %d rank%s; best %.4g ms", r->p->name, time.median * 1e3, runs, r->nranks,
           r->nranks == 1 ? "" : "s", time.best * 1e3);
    if (!r->s.target.emulated) {
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
    if (r->s.o->outdir && !r->s.o->stop_at)
        return fputs("tilec: error: run takes -o for the tiles of --stop-at; --out NAME=FILE.npy writes a result\n", stderr), EXIT_USAGE;
    if (!run_inputs(r)) return EXIT_RUN;
    if (r->s.o->stop_at) return run_stop(r);
    Array *before = inputs_copy(r, r->io);
    int code = r->s.target.interp ? run_interp(r, NO_BOUNDS) : run_compiled(r);
    if (code == EXIT_OK && !run_write(r)) code = EXIT_RUN;
    if (code == EXIT_OK && r->s.o->check) code = run_check(r, before);
    if (code != EXIT_OK && code != EXIT_DIFFERS) return code;
    int expected = run_expect(r);
    return expected ? expected : code;
}

int command_run(Options *o) {
    Run r = {0};
    int code = run_open(&r, o);
    return code >= 0 ? code : session_close(&r.s, run_program(&r));
}
