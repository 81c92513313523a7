/* tile_random.c: random .tile programs mean the same in every form. Each is run by the interpreter on one rank (or on
   its own mesh, where results depend on it) and compared with its mesh, other sizes of tiles, every prefix of the
   pipeline in several forms, random schedules, compiled code, emulated GPUs, and its own canonical layout. What differs is made smaller and printed.
   usage: tile_random [--programs=N] [--first=SEED] [--compile=EVERY] [--emulate=EVERY] [--only-emulated] [--show=SEED]
   [--seconds=N] [--folder=DIR] [--stats] [--kinds] */
#include "test/gen/kinds.h"
#include "test/gen/program.h"
#include "test/gen/shrink.h"
#include "test/gen/stats.h"
#include "test/pipeline/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TASKS = 1500,
    TESTS = 400,
    SECONDS_EACH = 60,
    SECONDS_LATE = 600
}; /* of the processor; of the clock, when others use it */
static const rlim_t MEMORY_EACH = (rlim_t)4 << 30,
                    MEMORY_EMULATED = (rlim_t)32 << 30; /* addresses: each fiber has a stack */

enum { NOT_SUPPORTED = 77 }; /* exit code of a program that is refused on its GPU, as docs/reference/limits.md says */

typedef struct {
    int programs, compile, emulate, seconds;
    uint64_t first, show;
    const char *folder, *tools;
    bool stats, kinds, only_emulated;
    time_t start;
} Settings;

typedef struct {
    const Settings *o;
    uint64_t seed;
    const char *file;
    Text text;
    bool varies, compiled, emulated;
    int outcome;
} Case;

/* ---- one program, in a process of its own ---- */

static void sizes_set(Test *t) {
    for (t->nsize = 0; t->nsize < SRC_DIMS; t->nsize++)
        t->size[t->nsize].name = arena_format(t->arena, "N%d", t->nsize);
    Module *m = lowered(t, 0);
    for (int i = 0; i < m->symbol.n; i++)
        for (int k = 0; k < t->nsize; k++)
            if (strcmp(t->size[k].name, m->symbol.p[i].name) == 0)
                t->size[k].value = m->symbol.p[i].bound - m->symbol.p[i].bound / 4;
    t->axes = m->axis.n;
}

static void write_file(const char *path, const char *text) {
    Text t = {0};
    text_add(&t, text);
    const char *failed = text_write(&t, path);
    if (failed) fprintf(stderr, "%s: %s\n", path, failed), exit(2);
    text_free(&t);
}

/* The canonical layout of a program is the same program, and its own canonical layout. */
static void check_layout(Test *t) {
    const char *file = t->file, *other = arena_format(t->arena, "%s.fmt.tile", file);
    Text text = {0}, once = {0}, twice = {0};
    Diags *d = diags_new(t->arena);
    text_read(&text, file, 1 << 24);
    unit_print(&once, parse_source(t->arena, names_new(t->arena), d, diags_file(d, file, text_str(&text), text.n)), d);
    unit_print(&twice, parse_source(t->arena, names_new(t->arena), d, diags_file(d, other, text_str(&once), once.n)),
               d);
    if (strcmp(text_str(&once), text_str(&twice))) t->failures++, fprintf(stderr, "the canonical layout changes\n");
    write_file(other, text_str(&once));
    char *before = module_text(lowered(t, 0), t->arena);
    t->file = other;
    if (strcmp(before, module_text(lowered(t, 0), t->arena)))
        t->failures++, fprintf(stderr, "another program in canonical layout\n");
    t->file = file;
    unlink(other);
}

/* A size that is not `fixed` is no part of the meaning: with others the results are the same, but for the order of
 * sums. */
static void sizes_draw(Test *t, TunedSites *sites, Tuned *to, uint64_t seed) {
    for (int i = 0; i < sites->n; i++) {
        TunedEntry e = sites->p[i].entry;
        for (int k = 0; k < e.set.n; k++) {
            TunedPair *p = &e.set.p[k];
            if (!tuned_is_fact(p->name))
                p->value =
                    arena_format(t->arena, "%d", 1 + (int)(next_random(&seed) % (next_random(&seed) % 2 ? 8 : 80)));
        }
        vec_push(t->arena, to, e);
    }
}

static Module *lowered_with(Test *t, const Tuned *tuned, TunedSites *sites) {
    Diags *d = diags_new(t->arena);
    LowerOptions o = t->lower;
    o.target = "host", o.tuned = tuned, o.sites = sites;
    Module *m = lower_file(t->arena, names_new(t->arena), d, t->file, &o, NULL);
    return d->errors ? NULL : m;
}

/* Where there are too many tasks then, or no order of them, it is refused. */
static void check_sizes(Test *t, uint64_t seed) {
    TunedSites sites = {0};
    Tuned tuned = {0};
    Array *got;
    lowered_with(t, NULL, &sites);
    sizes_draw(t, &sites, &tuned, seed);
    Module *m = lowered_with(t, &tuned, NULL);
    if (m && run(t, m, (InterpOptions){0}, &got, "other sizes of tiles"))
        compare(t, m, t->expected, got, false, "other sizes of tiles");
}

/* What the code generator refuses (docs/reference/limits.md) is interpreted alone. */
static void check_compiled(Test *t, const Case *c, int form) {
    Module *m = lowered(t, 0);
    const char *ir = arena_format(t->arena, "%s.tir", t->file), *sizes = "";
    write_file(ir, module_text(m, t->arena));
    for (int i = 0; i < t->nsize; i++)
        sizes = arena_format(t->arena, "%s %s=%" PRId64, sizes, t->size[i].name, t->size[i].value);
    const char *code = arena_format(t->arena, "%s.code", t->file);
    setenv("CGEN_FLAGS", c->seed % 4 ? "-O1" : "-O3", 1);
    if (mkdir(code, 0700) && errno != EEXIST) fprintf(stderr, "cannot make %s\n", code), exit(2);
    setenv("CGEN_KEEP", code, 1);
    const char *run = arena_format(t->arena, "%s/cgen_run %s comm=%d%s >&2", c->o->tools, ir, form, sizes);
    if (system(arena_format(t->arena, "%s || [ $? = %d ] && rm -r %s", run, CHECK_REFUSED, code))) t->failures++;
    unlink(ir);
}

/* What docs/reference/limits.md names. */
static bool is_refusal(const char *told) {
    return strstr(told, "error: not supported yet on ") || strstr(told, "that begins within a byte [unsupported]");
}

/* A tile that is too large. */
static bool is_budget(const char *told) { return strstr(told, "[register-budget]") || strstr(told, "[lds-budget]"); }

static const char *emulated_options(Test *t, const Case *c, int form) {
    static const char *const gpus[] = {"gfx90a", "gfx942", "gfx950", "sm_90a"};
    const char *options =
        arena_format(t->arena, "--target=emu:%s --comm=%s%s", gpus[c->seed / (uint64_t)c->o->emulate % 4], forms[form],
                     t->lower.relaxed ? " --relaxed" : "");
    for (int i = 0; i < t->nsize; i++)
        if (t->size[i].value)
            options = arena_format(t->arena, "%s --size=%s=%" PRId64, options, t->size[i].name, t->size[i].value);
    return t->split ? arena_format(t->arena, "%s --split=%" PRId64, options, t->split) : options;
}

/* By the command that users have, which compares with the interpreter. */
static int emulate(Test *t, const Case *c, const char *options, Text *told) {
    const char *file = arena_format(t->arena, "%s.told", t->file);
    const char *run = arena_format(
        t->arena, "TILE_EMU_SEED=%" PRIu64 " %s/../bin/tilec run --check --allow-nan --seed=%" PRIu64 " %s %s >%s 2>&1",
        c->seed, c->o->tools, c->seed, options, t->file, file);
    Text text = {0};
    int status = system(run);
    text_printf(told, "%s\n%s", run, text_read(&text, file, 1 << 24) ? "no output" : text_str(&text));
    text_free(&text);
    unlink(file);
    return status;
}

/* On a GPU drawn by the seed. Where a tile is too large, it is so in the kernels as they are written: fusing may not
 * make one. */
static void check_emulated(Test *t, const Case *c, int form) {
    const char *options = emulated_options(t, c, form);
    Text told = {0}, apart = {0};
    bool wrong = emulate(t, c, options, &told) != 0;
    bool budget = wrong && is_budget(text_str(&told));
    if (budget) emulate(t, c, arena_format(t->arena, "%s --off=fuse", options), &apart);
    t->refused = wrong && (budget ? is_budget(text_str(&apart)) : is_refusal(text_str(&told)));
    if (wrong && !t->refused) t->failures++, fprintf(stderr, "%s", text_str(&told));
    text_free(&told);
    text_free(&apart);
}

static void check_case(const Case *c) {
    Test t = {.arena = arena_new(), .file = c->file, .seeds = 2, .tasks = TASKS};
    static const Define one[] = {{"tp", 1}, {"dp", 1}, {"pp", 1}};
    int form = (int)(c->seed % 6), other = (int)(c->seed / 6 % 5);
    t.lower.relaxed = c->seed % 3 == 0;
    t.split = c->seed % 4 == 1 ? 2 + (int64_t)(c->seed / 4 % 4) : 0;
    sizes_set(&t);
    t.lower.define = one;
    t.lower.ndefine = c->varies ? 0 : t.axes;
    if (c->emulated) check_emulated(&t, c, form);
    int unsupported = t.refused ? NOT_SUPPORTED : 0;
    if (c->o->only_emulated) exit(t.failures ? 1 : unsupported);
    make_inputs(&t, 0);
    check_sizes(&t, c->seed);
    t.lower.ndefine = 0;
    check_layout(&t);
    check_pipeline(&t, 0, (CommForm)form, NULL);
    t.seeds = 1;
    if (t.axes)
        check_pipeline(&t, 0, (CommForm)(other + (other >= form)),
                       c->seed % 5 == 0   ? "flags"
                       : c->seed % 5 == 1 ? "fuse"
                                          : NULL);
    if (c->compiled) check_compiled(&t, c, form);
    exit(t.failures ? 1 : unsupported);
}

/* 0: all is the same. */
static int case_run(const Case *c, const char *log) {
    write_file(c->file, c->text.p);
    pid_t child = fork();
    if (child == 0) {
        int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(to, 1), dup2(to, 2);
        setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS_EACH, SECONDS_EACH});
        const rlim_t memory = c->emulated ? MEMORY_EMULATED : MEMORY_EACH;
        setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
        alarm(SECONDS_LATE);
        check_case(c);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- failures ---- */

static bool still_fails(Shrink *s, Tape *tape) {
    Case c = *(Case *)s->ctx;
    c.text = (Text){0};
    if (time(NULL) - c.o->start >= c.o->seconds) s->left = 0;
    bool fails =
        s->left > 0 && program_generate(s->arena, tape, &c.text, &c.varies) && case_run(&c, "/dev/null") == c.outcome;
    text_free(&c.text);
    return fails;
}

static void print_file(const char *path) {
    Text t = {0};
    if (!text_read(&t, path, 1 << 16)) fputs(text_str(&t), stdout);
    text_free(&t);
}

static void report_failure(Case *c, Arena *arena, const Tape *tape, const char *log) {
    Shrink s = {.arena = arena,
                .best = *tape,
                .left = c->compiled || c->emulated ? TESTS / 10 : TESTS,
                .fails = still_fails,
                .ctx = c};
    s.best.v.n = tape->at;
    printf("seed %" PRIu64 ": %s (%d)\n", c->seed,
           c->outcome == CHECK_REFUSED ? "refused"
           : c->outcome > 128          ? "crashed or late"
                                       : "differs",
           c->outcome);
    print_file(log);
    shrink_run(&s);
    Text text = {0};
    Tape best = tape_edited(arena, s.best.v.p, s.best.v.n);
    program_generate(arena, &best, &text, &c->varies);
    c->text = text;
    int again = case_run(c, log);
    if (again == c->outcome)
        print_file(log);
    else
        printf("made smaller, it ends with %d when it is run again\n", again);
    printf("%s\n", text_str(&text));
    fflush(stdout);
    text_free(&text);
}

typedef struct {
    int made, failed, refused;
} Counts;

static void seed_run(const Settings *o, uint64_t seed, Counts *n) {
    Arena *arena = arena_new();
    Tape tape = tape_new(arena, seed);
    Case c = {.o = o,
              .seed = seed,
              .compiled = o->compile && seed % (uint64_t)o->compile == 0,
              .emulated = o->emulate && seed % (uint64_t)o->emulate == 0};
    const char *log = arena_format(arena, "%s/random-%d.log", o->folder, (int)getpid());
    c.file = arena_format(arena, "%s/random-%d.tile", o->folder, (int)getpid());
    if (program_generate(arena, &tape, &c.text, &c.varies)) {
        c.outcome = case_run(&c, log);
        bool refused = c.outcome == NOT_SUPPORTED, failed = c.outcome && !refused;
        n->made++, n->refused += refused, n->failed += failed;
        if (failed) report_failure(&c, arena, &tape, log);
        unlink(log), unlink(c.file);
    }
    arena_free(arena);
}

static int show(uint64_t seed) {
    Arena *arena = arena_new();
    Tape tape = tape_new(arena, seed);
    Text text = {0};
    bool varies, good = program_generate(arena, &tape, &text, &varies);
    if (good) fputs(text_str(&text), stdout);
    text_free(&text);
    arena_free(arena);
    return !good;
}

/* What the programs use: nothing is run. */
static int stats(const Settings *o) {
    int made = 0;
    Kinds kinds = kinds_begin();
    features_open();
    for (uint64_t seed = o->first; made < o->programs; seed++) {
        Arena *arena = arena_new();
        Tape tape = tape_new(arena, seed);
        Text text = {0};
        bool varies;
        if (program_generate(arena, &tape, &text, &varies)) {
            if (o->kinds)
                kinds_count(&kinds, text_str(&text));
            else
                features_count(text_str(&text));
            made++;
        }
        text_free(&text);
        arena_free(arena);
    }
    if (o->kinds) return kinds_print(&kinds, made) != 0;
    features_print(made);
    return 0;
}

static const char *value_of(const char *arg, const char *option) {
    size_t n = strlen(option);
    return strncmp(arg, option, n) == 0 ? arg + n : NULL;
}

int main(int argc, char **argv) {
    Settings o = {.programs = 100, .first = 1, .compile = 20, .seconds = 1 << 30, .folder = "/tmp"};
    const char *v, *slash = strrchr(argv[0], '/');
    Arena *arena = arena_new();
    o.tools = arena_text(arena, argv[0], slash ? (size_t)(slash - argv[0]) : 0);
    for (int i = 1; i < argc; i++) {
        if ((v = value_of(argv[i], "--programs=")))
            o.programs = atoi(v);
        else if ((v = value_of(argv[i], "--first=")))
            o.first = strtoull(v, NULL, 10);
        else if ((v = value_of(argv[i], "--compile=")))
            o.compile = atoi(v);
        else if ((v = value_of(argv[i], "--emulate=")))
            o.emulate = atoi(v);
        else if (strcmp(argv[i], "--only-emulated") == 0)
            o.only_emulated = true;
        else if ((v = value_of(argv[i], "--seconds=")))
            o.seconds = atoi(v);
        else if ((v = value_of(argv[i], "--folder=")))
            o.folder = v;
        else if (strcmp(argv[i], "--stats") == 0)
            o.stats = true;
        else if (strcmp(argv[i], "--kinds") == 0)
            o.kinds = true;
        else if ((v = value_of(argv[i], "--show=")))
            return show(strtoull(v, NULL, 10));
        else
            return 2;
    }
    if (o.stats || o.kinds) return stats(&o);
    write_file(arena_format(arena, "%s/choice.tree", o.folder), choice_tree);
    Counts n = {0};
    o.start = time(NULL);
    for (uint64_t seed = o.first; n.made < o.programs && time(NULL) - o.start < o.seconds; seed++)
        seed_run(&o, seed, &n);
    printf("%d programs, %d differ, %d runs not supported\n", n.made, n.failed, n.refused);
    arena_free(arena);
    return n.failed != 0;
}
