/* run.h: one program of a session, the arrays it is run on, and its compiled form. */
#ifndef TILEC_DRIVER_RUN_H
#define TILEC_DRIVER_RUN_H

#include "driver/emit.h"
#include "driver/ranks.h"
#include "ir/interp/interp.h"

#include <sys/types.h>

typedef struct {
    Session s;
    const Program *p;
    int64_t *sym;
    Array *io; /* whole arrays, in the order of p->io */
    const Array *expected; /* of a reference: its results with expected bounds; NULL: none are needed */
    int nranks;
    void *const **part; /* of each rank, its parts of them */
    size_t **bytes;     /* [rank][argument], 0 for scalars */
    RankResult **result;
    const tile_program *program;
    const char *folder; /* from run_compile_begin to run_compile_end */
    pid_t compiler;     /* and who fills it */
} Run;

/* run_input.c: false after a message. */
int run_open(Run *, const Options *); /* a session and its only program; -1 to go on, else the exit code */
bool run_options_known(const Run *);  /* --in, --out and --size name what the program has */
bool run_inputs(Run *);               /* sizes, and the arrays of all arguments */
bool run_write(const Run *);          /* the files of --out */
Array *inputs_copy(const Run *, const Array *io); /* what a run reads: state, which it updates in place, once more; no results */
const Tensor *run_tensor(const Run *, int i);
const char *array_text(Arena *, const Array *); /* f32[8, 64] */
void array_place_print(FILE *, const Array *, int64_t i); /* [3, 7]: of its element i */
double machine_bytes(void); /* of memory */

typedef enum { NO_BOUNDS, WORST_BOUNDS, EXPECTED_BOUNDS } RunBounds;
int run_interp(Run *, RunBounds); /* run_check.c: before any pass; an exit code */

/* run_reference.c: the source again, before any pass and with its own sizes, for so many ranks; 0: as it was run */
bool reference_open(const Run *, int64_t ranks, Run *reference);
bool same_extents(const Run *, const Run *reference); /* the arguments are what the reference takes: no extent counts ranks */

/* run_print.c: records of print and of assertions in the interpreter, for one run of it */
const InterpPrints *run_prints(const Run *);
bool run_prints_show(const InterpPrints *); /* sorted; false: an assertion failed, of which it has told */

int run_stop(Run *); /* run_stop.c: of a program before the passes, as --stop-at says; an exit code */

/* run_check.c: the results against the interpreter's on the same arguments, which are given as they were; an exit code */
int run_check(const Run *, const Array *before);

int run_expect(const Run *); /* run_expect.c: the results against the files of --expect; an exit code */

/* run_compile.c: of a program that went through the passes; false after a message. */
bool run_compile(Run *);       /* to a library, which is loaded */
bool run_compile_begin(Run *); /* the same by a process of its own */
bool run_compile_end(Run *);   /* after each that began */

/* run_host.c: of a program that was compiled; false after a message. */
bool run_parts(Run *, int runs); /* the arrays cut up for the ranks, and room for the times of so many runs */
void run_fill(const Run *, const Array *io); /* the parts once more, from these arrays */
bool run_ranks(const Run *, const Options *, int runs);
RanksTime run_time(const Run *, int runs); /* of the last so many, without the first */
void run_take(const Run *);                /* results, from the ranks' parts to the arrays */
double run_cores(const Run *);             /* of a rank: cores, or a GPU's processors */
double run_predicted(const Run *);         /* seconds */

#endif
