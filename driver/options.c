/* options.c: reads the command line by the table below. help.c prints that table. */
#define _GNU_SOURCE /* memfd_create */
#include "driver/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_WORKERS = 1024 }; /* as the runtime has it */

enum { COMPILE = 1, RUN = 2, CHECK = 4, EXPLAIN = 8, OPT = 16, TARGETS = 32, FMT = 64, TUNE = 128,
       SOURCE = COMPILE | RUN | CHECK | EXPLAIN | TUNE, ANY = 255 };

const Command commands[] = {
    {"compile", "FILE.tile", "write C, a header and a manifest for every program of a file", command_compile},
    {"run", "FILE.tile", "compile a program and run it on this machine", command_run},
    {"check", "FILE.tile", "check names, shapes, placements and the synchronisation", command_check},
    {"explain", "FILE.tile", "tell what each pass did and why", command_explain},
    {"opt", "FILE.tir", "run passes on a file of IR", command_opt},
    {"targets", "[NAME]", "list the targets, or tell about one", command_targets},
    {"fmt", "FILE.tile", "print a file in its canonical layout", command_fmt},
    {"tune", "FILE.tile", "measure the sizes that are predicted fastest, and write down the best", command_tune},
};
const int ncommand = (int)(sizeof commands / sizeof *commands);

#define AT(field) offsetof(Options, field)

const Option options[] = {
    {"-o", "DIR", "write outputs to DIR (default: .)", COMPILE, TEXT, AT(outdir)},
    {"-D", "NAME=N", "give dimension NAME the value N", SOURCE, DEFINE, AT(define)},
    {"--size", "NAME=N", "value of a run-time dimension (default: from the inputs, else its bound)", RUN | CHECK | TUNE, DEFINE, AT(size)},
    {"--tuned", "FILE", "sizes measured by tilec tune, which writes them there, or by hand", SOURCE, TEXT, AT(tuned)},
    {"-I", "DIR", "search DIR for imports", SOURCE, LIST, AT(root)},
    {"-MD", NULL, "write a Make dependency file beside each output", COMPILE, FLAG, AT(depfiles)},
    {"-MF", "FILE", "name of the dependency file", COMPILE, TEXT, AT(depfile)},
    {"--target", "NAME,..", "host (default), a GPU; for run also interp, emu:GPU; see tilec targets", SOURCE | OPT, TEXT, AT(target)},
    {"--emit", "KIND", "src (default), ir, deps, obj, lib, or programs: their names", COMPILE, TEXT, AT(emit)},
    {"--program", "NAME", "only this program", SOURCE, TEXT, AT(program)},
    {"--name", "NAME", "another name for the program, its files and its symbols", COMPILE, TEXT, AT(name)},
    {"--ranks", "N", "ranks of the mesh", SOURCE, SOME, AT(ranks)},
    {"--comm", "FORM", "auto (default), unfused, pull, staged, push or packet", SOURCE | OPT, TEXT, AT(comm)},
    {"--split", "N", "cut long loops into N parts (default: as a GPU needs it; 1: never)", SOURCE | OPT, SOME, AT(split)},
    {"--off", "PASS", "leave out a pass", SOURCE | OPT, LIST, AT(off)},
    {"--passes", "A,B,..", "run these passes instead of the target's; none: no passes", COMPILE | OPT, LIST, AT(pass)},
    {"--print-after", "PASS", "print the IR after a pass, or after all", COMPILE | OPT, TEXT, AT(print_after)},
    {"--relaxed", NULL, "sums into shared places in any order: not the same run to run", SOURCE, FLAG, AT(relaxed)},
    {"--verify-each", NULL, "verify the IR after every pass", SOURCE | OPT, FLAG, AT(verify_each)},
    {"--time-passes", NULL, "print how long each pass took", SOURCE | OPT, FLAG, AT(time_passes)},
    {"--in", "NAME=FILE.npy", "an input; a scalar also by its number (default: drawn from the seed)", RUN | TUNE, BINDING, AT(in)},
    {"--out", "NAME=FILE.npy", "write an output", RUN, BINDING, AT(out)},
    {"--expect", "NAME=FILE.npy", "compare an output with this file", RUN, BINDING, AT(expect)},
    {"--tolerance", "T", "a float of --expect may differ by T (1 + |x|) (default: by its type)", RUN, REAL, AT(tolerance)},
    {"--seed", "N", "seed of inputs that are not given, and of interp's schedule", RUN | CHECK | TUNE, NUMBER, AT(seed)},
    {"--check", NULL, "run: compare outputs with the interpreter; fmt: only compare", RUN | FMT, FLAG, AT(check)},
    {"--allow-nan", NULL, "NaN and infinities that both sides have agree", RUN, FLAG, AT(allow_nan)},
    {"--laws", NULL, "test every merge on random inputs: the loop whole and in parts", CHECK, FLAG, AT(laws)},
    {"--write", NULL, "rewrite the file instead of printing", FMT, FLAG, AT(write)},
    {"--time", "N", "run N times more and print the median time; tune: runs of each turn", RUN | TUNE, COUNT, AT(time)},
    {"--variants", "N", "how many of a kernel's variants are measured (default: 8)", TUNE, SOME, AT(variants)},
    {"--trace", "FILE", "write a Chrome trace of the run", RUN, TEXT, AT(trace)},
    {"--processes", NULL, "ranks are processes instead of threads", RUN | TUNE, FLAG, AT(processes)},
    {"--workers", "N", "worker threads of each rank (default: cores / ranks)", RUN | TUNE, SOME, AT(workers)},
    {"--timeout", "MS", "deadline of every wait (default: 30000)", RUN | TUNE, COUNT, AT(timeout_ms)},
    {"--flags", NULL, "print what the C compiler of a target is given", TARGETS, FLAG, AT(flags)},
    {"--diagnostics", "STYLE", "text (default), json or sarif", SOURCE | OPT | FMT, TEXT, AT(diagnostics)},
    {"-W", "[no-]NAME", "switch warnings: performance, all or an id; error makes them errors", SOURCE | OPT, LIST, AT(warn)},
    {"--explain", "ID", "tell what a message means, by the id in its brackets, and exit", ANY, TEXT, AT(explain)},
    {"--help", NULL, "print this and exit", ANY, FLAG, AT(help)},
    {"--completion", "SHELL", "print the completion for bash, zsh or fish, and exit", ANY, TEXT, AT(completion)},
    {"--manual", NULL, "print the manual page and exit", ANY, FLAG, AT(manual)},
    {"--version", NULL, "print the version and exit", ANY, FLAG, AT(version)},
};

enum { NOPTION = sizeof options / sizeof *options };
const int noption = NOPTION;

static int usage_error(const char *format, const char *a, const char *b) {
    fputs("tilec: error: ", stderr);
    fprintf(stderr, format, a, b);
    fputs("\ntilec: note: see tilec --help\n", stderr);
    return EXIT_USAGE;
}

static bool parse_number(const char *s, int64_t *value) {
    char *end;
    errno = 0;
    long long n = strtoll(s, &end, 10);
    if (errno || end == s || *end || *s < '0' || *s > '9') return false;
    *value = n;
    return true;
}

static int set_real(Options *o, const Option *t, const double **at, const char *value) {
    char *end;
    double *x = ARENA_NEW(o->arena, double);
    *x = strtod(value, &end);
    if (end == value || *end || !isfinite(*x) || *x < 0) return usage_error("%s wants a number, not '%s'", t->name, value);
    *at = x;
    return -1;
}

/* "NAME=VALUE" in two parts; false without a '='. */
static bool split_pair(Arena *a, const char *text, const char **name, const char **value) {
    const char *eq = strchr(text, '=');
    if (!eq || eq == text) return false;
    *name = arena_text(a, text, (size_t)(eq - text));
    *value = eq + 1;
    return true;
}

typedef VEC(const char *) Strings;
typedef VEC(Define) Defines;
typedef VEC(Binding) Bindings;

static int set_define(Options *o, Defines *to, const char *value) {
    Define d = {0};
    const char *number;
    if (!split_pair(o->arena, value, &d.name, &number) || !parse_number(number, &d.value))
        return usage_error("expected NAME=N, not '%s'", value, "");
    vec_push(o->arena, to, d);
    return -1;
}

static int set_binding(Options *o, Bindings *to, const char *value) {
    Binding b = {0};
    if (!split_pair(o->arena, value, &b.name, &b.path)) return usage_error("expected NAME=FILE.npy, not '%s'", value, "");
    vec_push(o->arena, to, b);
    return -1;
}

static void set_list(Options *o, Strings *to, const char *value) {
    while (*value) {
        size_t n = strcspn(value, ",");
        vec_push(o->arena, to, arena_text(o->arena, value, n));
        value += n + (value[n] == ',');
    }
}

static int set_option(Options *o, const Option *t, const char *value) {
    char *at = (char *)o + t->at;
    switch (t->kind) {
    case FLAG: *(bool *)at = true; return -1;
    case TEXT: *(const char **)at = value; return -1;
    case NUMBER:
    case COUNT:
    case SOME:
        if (!parse_number(value, (int64_t *)at) || (t->kind != NUMBER && *(int64_t *)at >= INT_MAX))
            return usage_error("%s wants a number, not '%s'", t->name, value);
        return t->kind == SOME && *(int64_t *)at == 0 ? usage_error("%s wants at least 1%s", t->name, "") : -1;
    case REAL: return set_real(o, t, (const double **)at, value);
    case DEFINE: return set_define(o, (Defines *)at, value);
    case LIST: set_list(o, (Strings *)at, value); return -1;
    case BINDING: return set_binding(o, (Bindings *)at, value);
    }
    return -1;
}

/* The option that an argument names, and where its value starts: "--x=v" and "-Dv" carry it, else it is the next argument. */
static const Option *find_option(const char *arg, const char **value) {
    *value = NULL;
    for (int i = 0; i < NOPTION; i++) {
        const Option *t = &options[i];
        size_t n = strlen(t->name);
        if (strcmp(arg, t->name) == 0) return t;
        if (strncmp(arg, t->name, n) || !t->value) continue;
        bool joined = t->name[1] == '-';
        if (joined && arg[n] != '=') continue;
        if (!joined && n != 2) continue;
        *value = arg + n + (joined ? 1 : 0);
        return t;
    }
    return NULL;
}

static int take_option(Options *o, int argc, char **argv, int *i) {
    const char *value;
    const Option *t = find_option(argv[*i], &value);
    if (!t) {
        const char *names[NOPTION];
        for (int k = 0; k < NOPTION; k++) names[k] = options[k].name;
        const char *near = spelling_nearest(argv[*i], names, NOPTION);
        return usage_error(near ? "unknown option '%s'; did you mean '%s'?" : "unknown option '%s'", argv[*i], near ? near : "");
    }
    if (o->command && !(t->commands & command_bit(o->command)))
        return usage_error("'%s' is not an option of 'tilec %s'", t->name, o->command);
    if (t->value && !value) {
        if (*i + 1 >= argc) return usage_error("%s wants %s", t->name, t->value);
        value = argv[++*i];
    }
    return set_option(o, t, value);
}

static int take_word(Options *o, const char *word) {
    if (!o->command) {
        const char *names[16];
        for (int k = 0; k < ncommand; k++) names[k] = commands[k].name;
        if (!command_bit(word)) {
            const char *near = spelling_nearest(word, names, ncommand);
            return usage_error(near ? "unknown command '%s'; did you mean '%s'?" : "unknown command '%s'", word, near ? near : "");
        }
        o->command = word;
    } else if (!o->file) {
        o->file = word;
    } else {
        return usage_error("one file at a time: '%s'%s", word, "");
    }
    return -1;
}

/* "-" is standard input: kept, as commands read their file more than once. */
static bool input_keep(Options *o) {
    char block[4096];
    ssize_t n;
    int kept = memfd_create("tilec-input", MFD_CLOEXEC);
    while (kept >= 0 && (n = read(STDIN_FILENO, block, sizeof block)) > 0)
        if (write(kept, block, (size_t)n) != n) n = -1, close(kept), kept = -1;
    if (kept < 0 || dup2(kept, STDIN_FILENO) < 0) return perror("tilec: error: standard input"), false;
    close(kept);
    o->file = "/dev/stdin";
    return true;
}

/* It has no place of its own: what is written goes elsewhere. */
static int input_take(Options *o) {
    bool tune = command_bit(o->command) == TUNE;
    if (o->write || (tune && !o->tuned))
        return usage_error("%s cannot write beside standard input%s", o->write ? "--write" : "'tilec tune'",
                           tune ? ": --tuned=FILE says where to" : "");
    return input_keep(o) ? -1 : EXIT_USAGE;
}

int options_parse(Options *o, int argc, char **argv) {
    for (int i = 1, code; i < argc; i++) {
        bool word = argv[i][0] != '-' || argv[i][1] == 0;
        if ((code = word ? take_word(o, argv[i]) : take_option(o, argc, argv, &i)) >= 0) return code;
    }
    if (o->version) return printf("tilec %s\n", TILEC_VERSION), EXIT_OK;
    if (o->explain) return explain_id(o);
    if (o->completion) return completion_print(o->completion);
    if (o->manual) return manual_print(), EXIT_OK;
    if (o->help) return help_print(o->command), EXIT_OK;
    if (!o->command) return help_print(NULL), EXIT_USAGE;
    if (o->workers > MOST_WORKERS)
        return usage_error("--workers=%s: a rank has at most %s worker threads",
                           arena_format(o->arena, "%lld", (long long)o->workers),
                           arena_format(o->arena, "%d", MOST_WORKERS));
    if (!o->file && strcmp(o->command, "targets")) return usage_error("'tilec %s' wants a file%s", o->command, "");
    bool reads = o->file && command_bit(o->command) != TARGETS && strcmp(o->file, "-") == 0;
    return reads ? input_take(o) : -1;
}
