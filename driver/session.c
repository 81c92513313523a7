/* session.c: the phases of a compilation, in order: lower (parse, check, instantiate), passes, report. */
#include "driver/session.h"

#include "base/text.h"
#include "codegen/codegen.h"
#include "ir/text/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a source file; chosen: no measurement is recorded. */
enum { SOURCE_LIMIT = 16 * 1024 * 1024 };

static const char *const style_text[] = {"text", "json", "sarif"};

/* The position of a word in a list; the first when it is not given; -1 with a message when it is not there. */
static int word_index(const char *option, const char *word, const char *const *list, int n) {
    if (!word) return 0;
    for (int i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0) return i;
    fprintf(stderr, "tilec: error: %s does not know '%s'; it takes", option, word);
    for (int i = 0; i < n; i++) fprintf(stderr, "%s%s", i == 0 ? " " : i + 1 < n ? ", " : " or ", list[i]);
    fputs("\n", stderr);
    return -1;
}

static bool known_pass(const char *name) {
    const char *list[32], *near;
    int n = 0;
    if (pass_find(name)) return true;
    while (n < 32 && pass_at((size_t)n)) list[n] = pass_at((size_t)n)->name, n++;
    fprintf(stderr, "tilec: error: there is no pass '%s'", name);
    if (!pass_renamed(name) && (near = spelling_nearest(name, list, n))) fprintf(stderr, "; did you mean '%s'?", near);
    if (pass_renamed(name)) fprintf(stderr, "\ntilec: note: '%s' is now '%s'", name, pass_renamed(name));
    fputs("\ntilec: note: passes are", stderr);
    for (size_t i = 0; pass_at(i); i++) fprintf(stderr, "%s %s", i ? "," : "", pass_at(i)->name);
    fputs("\n", stderr);
    return false;
}

/* --passes=none: the module as it was lowered. */
static bool no_passes(const Options *o) { return o->pass.n == 1 && strcmp(o->pass.p[0], "none") == 0; }

/* The pass of "PASS.STEP" that has steps; NULL: there is none, or no such step is asked for. */
static const Pass *pass_with_steps(const Options *o, const char *name) {
    const char *dot = strchr(name, '.');
    const Pass *p = dot ? pass_find(arena_text(o->arena, name, (size_t)(dot - name))) : NULL;
    return p && p->step ? p : NULL;
}

static bool known_step(const char *name, const Pass *p) {
    if (pass_has_step(name)) return true;
    fprintf(stderr, "tilec: error: there is no step '%s'\ntilec: note: steps of '%s' are", name, p->name);
    for (size_t i = 0; p->step(i); i++) fprintf(stderr, "%s %s", i ? "," : "", p->step(i)->name);
    fputs("\n", stderr);
    return false;
}

static bool known_print_after(const Options *o) {
    if (!o->print_after || strcmp(o->print_after, "all") == 0) return true;
    const Pass *with = pass_with_steps(o, o->print_after);
    return with ? known_step(o->print_after, with) : known_pass(o->print_after);
}

static bool known_passes(const Options *o) {
    bool good = known_print_after(o);
    for (int i = 0; i < o->off.n; i++) good = known_pass(o->off.p[i]) && good;
    for (int i = 0; i < o->pass.n && !no_passes(o); i++) good = known_pass(o->pass.p[i]) && good;
    return good;
}

bool session_open(Session *s, const Options *o) {
    TargetList list;
    return targets_read(o, &list) && session_open_for(s, o, &list.p[0]);
}

/* -Wperformance, -Wno-kernel-boundary, -Werror: the last one that names a warning decides. */
static bool known_warnings(Session *s) {
    static const char *const classes[] = {"performance", "all", "error"};
    for (int i = 0; i < s->o->warn.n; i++) {
        const char *given = s->o->warn.p[i], *name = given + (strncmp(given, "no-", 3) ? 0 : 3);
        bool known = false;
        for (int k = 0; k < 3; k++) known = known || strcmp(k == 2 ? given : name, classes[k]) == 0;
        if (!known && !id_known(s->arena, name)) return false;
        vec_push(s->arena, &s->diags->switches, given);
    }
    return true;
}

/* --comm=FORM, --comm=NAME=FORM */
static bool known_forms(Session *s) {
    for (int i = 0; i < s->o->comm.n; i++) {
        const char *word = s->o->comm.p[i], *is = strchr(word, '=');
        int form = word_index("--comm", is ? is + 1 : word, text_form, TEXT_FORMS);
        if (form < 0) return false;
        if (is) vec_push(s->arena, &s->asked, ((CommAsked){arena_format(s->arena, "%.*s", (int)(is - word), word), (CommForm)form}));
        else s->pass.comm = (CommForm)form;
    }
    s->pass.asked = s->asked.p, s->pass.nasked = s->asked.n;
    return true;
}

bool session_open_for(Session *s, const Options *o, const Target *target) {
    *s = (Session){.o = o, .arena = o->arena, .target = *target};
    s->names = names_new(s->arena);
    s->diags = diags_new(s->arena);
    if (word_index("--diagnostics", o->diagnostics, style_text, 3) < 0 || !known_passes(o) || !known_warnings(s)) return false;
    bool all = o->print_after && strcmp(o->print_after, "all") == 0;
    s->pass = (PassOptions){.target = target->machine,
                            .split = o->split, .off = o->off.p, .noff = o->off.n,
                            .verify_each = o->verify_each, .print_after_all = all, .time_passes = o->time_passes,
                            .print_after = all ? NULL : o->print_after, .out = stderr};
    return known_forms(s);
}

/* A file that passes never see: its number in diags; 0 after a message. */
static int read_file(Session *s, const char *path) {
    Text text = {0};
    const char *failed = text_read(&text, path, SOURCE_LIMIT);
    if (failed) fprintf(stderr, "tilec: error: %s: %s\n", path, failed);
    int file = failed ? 0 : diags_file(s->diags, path, arena_text(s->arena, text_str(&text), text.n), text.n);
    text_free(&text);
    return file;
}

static bool read_tuned(Session *s) {
    s->tuned = s->o->sizes;
    if (!s->o->tuned || s->tuned) return true;
    Tuned *t = ARENA_NEW(s->arena, Tuned);
    int file = read_file(s, s->o->tuned);
    if (file) vec_push(s->arena, &s->files, s->o->tuned);
    s->tuned = t;
    return file && tuned_parse(s->arena, s->diags, file, t);
}

/* --name: the only program has another one in everything that is made of it. */
static bool program_rename(Session *s) {
    const char *name = s->o->name;
    if (!name) return true;
    if (s->m->program.n != 1)
        return fprintf(stderr, "tilec: error: --name renames one program, and there are %d: choose one with --program=NAME\n",
                       s->m->program.n), false;
    if (!text_is_word(name) || strchr(name, '.'))
        return fprintf(stderr, "tilec: error: --name wants a name of letters, digits and '_', not '%s'\n", name), false;
    s->m->program.p[0]->name = name_of(s->names, name);
    if (strcmp(c_program_name(s->arena, s->m->program.p[0]), name))
        return fprintf(stderr, "tilec: error: --name: '%s' is a keyword of C, or a name that C, C++ or CUDA has taken\n",
                       name), false;
    return true;
}

bool session_lower(Session *s) {
    const Options *o = s->o;
    if (is_ir(o->file)) return session_read_ir(s) && program_rename(s);
    if (!read_tuned(s)) return false;
    LowerOptions lo = {.define = o->define.p,
                       .ndefine = o->define.n,
                       .root = o->root.p,
                       .nroot = o->root.n,
                       .program = o->program,
                       .ranks = o->ranks,
                       .relaxed = o->relaxed,
                       .tuned = s->tuned,
                       .target = s->target.machine,
                       .sites = &s->sites,
                       .arm = o->arm,
                       .arms = &s->arms,
                       .tree = &s->tree};
    s->m = lower_file(s->arena, s->names, s->diags, o->file, &lo, &s->files);
    return s->m && s->diags->errors == 0 && program_rename(s);
}

bool is_ir(const char *path) {
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".tir") == 0;
}

bool session_read_ir(Session *s) {
    int file = read_file(s, s->o->file);
    if (!file) return false;
    s->m = module_parse(s->arena, s->names, s->diags, file);
    return s->m && s->diags->errors == 0 && module_verify(s->m);
}

/* One thread runs all tasks in order: nothing waits. */
static void unsynchronised(Session *s) {
    static const char *const left[] = {"flags", "barriers"};
    VEC(const char *) off = {0};
    for (int i = 0; i < s->pass.noff; i++) vec_push(s->arena, &off, s->pass.off[i]);
    for (int i = 0; i < 2; i++) vec_push(s->arena, &off, left[i]);
    s->pass.off = off.p;
    s->pass.noff = off.n;
}

bool session_passes(Session *s) {
    s->context = (PassContext){.m = s->m, .options = &s->pass};
    int n = 0;
    const Pass *const *list = NULL;
    if (no_passes(s->o)) return true;
    if (s->o->freestanding) unsynchronised(s);
    if (s->o->pass.n) {
        n = s->o->pass.n;
        const Pass **own = ARENA_ARRAY(s->arena, const Pass *, n);
        for (int i = 0; i < n; i++) own[i] = pass_find(s->o->pass.p[i]);
        list = own;
    } else {
        list = pipeline_of(s->pass.target, &n);
    }
    return pipeline_run(&s->context, list, n);
}

/* https://no-color.org, and terminals that have none. */
static bool has_colour(void) {
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(off && *off) && !(term && strcmp(term, "dumb") == 0);
}

int session_close(Session *s, int code) {
    int style = word_index("--diagnostics", s->o->diagnostics, style_text, 3);
    if (s->diags->diag.n || style) diags_print(s->diags, stderr, (DiagStyle)style, has_colour());
    return code == EXIT_OK && s->diags->errors ? EXIT_WRONG : code;
}
