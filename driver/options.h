/* options.h: the command line, as tables that parsing, --help and the manual page share. */
#ifndef TILEC_DRIVER_OPTIONS_H
#define TILEC_DRIVER_OPTIONS_H

#include "base/diag.h"
#include "base/vec.h"
#include "frontend/sema/lower.h"
#include "passes/pass.h"

typedef struct {
    const char *name, *path; /* --in NAME=FILE.npy, or other files */
} Binding;

typedef struct {
    Arena *arena;
    const char *command, *file;
    VEC(Define) define, size;
    VEC(const char *) root, off, pass, warn, comm;
    VEC(Binding) in, out, expect;
    const char *outdir, *target, *emit, *program, *print_after, *depfile, *diagnostics, *explain, *trace, *tuned, *name,
        *completion, *html, *svg, *stop_at, *as, *train, *arch, *grid, *block, *cflags;
    bool depfiles, freestanding, verify_each, time_passes, relaxed, check, allow_nan, laws, write, processes, flags, cache_sim, report, verify, help, manual, version;
    const double *tolerance; /* NULL: the element type's */
    const Tuned *sizes; /* instead of a file's: of commands that try some */
    const char *arm;    /* of choices by trees, likewise; NULL: as the trees say */
    int64_t ranks, seed, time, timeout_ms, workers, split, variants, chiplets;
} Options;

/* Exit codes: docs/reference/command-line.md. */
enum { EXIT_OK = 0, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_RUN = 3, EXIT_DIFFERS = 4 };

typedef struct {
    const char *name, *operand, *help;
    int (*run)(Options *);
} Command;

extern const Command commands[];
extern const int ncommand;
int command_bit(const char *name); /* 1 << its place in commands; 0: no such */

typedef enum { FLAG, TEXT, NUMBER, COUNT, SOME, REAL, DEFINE, LIST, BINDING } OptionKind; /* a count fits int, some: > 0; real: >= 0 */

typedef struct {
    const char *name, *value, *help;
    int commands; /* which accept it */
    OptionKind kind;
    size_t at; /* offset in Options */
} Option;

extern const Option options[];
extern const int noption;

/* Fills o from the arguments; -1 to go on, else the exit code (a usage error was printed, or help was). */
int options_parse(Options *o, int argc, char **argv);

/* help.c, from the tables above */
void help_print(const char *command); /* of one command, or NULL */
void manual_print(void);
int completion_print(const char *shell); /* completion.c, likewise; the exit code */

/* explain_id.c */
int explain_id(Options *);
bool id_known(Arena *, const char *id); /* some message has it; else an error is printed */

int command_compile(Options *);
int command_run(Options *);
int command_check(Options *);
int command_explain(Options *);
int command_opt(Options *);
int command_targets(Options *);
int command_fmt(Options *);
int command_tune(Options *);
int command_compress(Options *);
int command_remap(Options *);

#endif
