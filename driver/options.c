/* options.c: reads the command line by the tables of table.c. help.c prints those tables. */
#define _GNU_SOURCE /* memfd_create */
#include "driver/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_WORKERS = 1024 }; /* as the runtime has it */

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
    for (int i = 0; i < noption; i++) {
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
        const char **names = ARENA_ARRAY(o->arena, const char *, noption);
        for (int k = 0; k < noption; k++) names[k] = options[k].name;
        const char *near = spelling_nearest(argv[*i], names, noption);
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
    bool tune = strcmp(o->command, "tune") == 0;
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
    bool reads = o->file && strcmp(o->command, "targets") && strcmp(o->file, "-") == 0;
    return reads ? input_take(o) : -1;
}
