/* compile.c: tilec compile: C, header and manifest for every program; or IR, dependences, objects, libraries. */
#include "codegen/codegen.h"
#include "driver/emit.h"
#include "ir/poly/relation_deps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Spaces and dollars as Make wants them. */
static void add_make_name(Text *t, const char *name) {
    for (; *name; name++) {
        if (*name == ' ' || *name == '#') text_add(t, "\\");
        text_add_n(t, *name == '$' ? "$$" : name, *name == '$' ? 2 : 1);
    }
}

/* What a rebuild makes: the file that the dependencies are those of. */
static const char *target_path(const Session *s, const Program *p, const char *dir, const char *emit) {
    if (strcmp(emit, "obj") == 0) return program_path(s, p, dir, "o");
    return strcmp(emit, "lib") ? program_path(s, p, dir, "c") : library_path(s, p, dir);
}

/* One rule: the files of n programs depend on every file that was read. */
static void add_depfile(Outputs *out, Program *const *p, int n, const char *dir, const char *emit, const char *path) {
    const Session *s = out->s;
    Text *t = ARENA_NEW(s->arena, Text);
    for (int i = 0; i < n; i++) {
        if (i) text_add(t, " ");
        add_make_name(t, target_path(s, p[i], dir, emit));
    }
    text_add(t, ":");
    for (int i = 0; i < s->files.n; i++) {
        text_add(t, " \\\n  ");
        add_make_name(t, s->files.p[i]);
    }
    text_add(t, "\n");
    vec_push(s->arena, &out->file, ((OutFile){t, path}));
}

static void add_depfiles(Outputs *out, const char *dir, const char *emit) {
    const Session *s = out->s;
    Program *const *p = s->m->program.p;
    int n = s->m->program.n;
    if (s->o->depfile) add_depfile(out, p, n, dir, emit, s->o->depfile);
    for (int i = 0; i < n && !s->o->depfile; i++)
        add_depfile(out, p + i, 1, dir, emit, program_path(s, p[i], dir, "d"));
}

/* Programs named `do` and `do_` would both be do_.c. */
static bool outputs_differ(const Outputs *out) {
    for (int i = 0; i < out->file.n; i++)
        for (int j = 0; j < i; j++) {
            if (strcmp(out->file.p[i].path, out->file.p[j].path)) continue;
            fprintf(stderr, "tilec: error: two programs would be written to %s\n", out->file.p[i].path);
            return false;
        }
    return true;
}

static bool write_sources(Outputs *out, const char *dir, const char *emit) {
    const Session *s = out->s;
    bool good = true;
    for (int i = 0; i < s->m->program.n; i++) good = outputs_add_source(out, s->m->program.p[i], dir) && good;
    if (s->o->depfiles || s->o->depfile) add_depfiles(out, dir, emit);
    good = good && outputs_differ(out) && outputs_write(out, dir);
    outputs_free(out);
    return good;
}

/* What the files of the programs are called, without their endings: for build systems. */
static bool list_programs(const Session *s) {
    for (int i = 0; i < s->m->program.n; i++) puts(c_program_name(s->arena, s->m->program.p[i]));
    return true;
}

/* DIR/FILE.tir of FILE.tile */
static const char *module_path(const Session *s, const char *emit) {
    const char *slash = strrchr(s->o->file, '/'), *base = slash ? slash + 1 : s->o->file, *dot = strrchr(base, '.');
    int n = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    return arena_format(s->arena, "%s/%.*s.%s", s->o->outdir, n, base, strcmp(emit, "ir") ? "deps" : "tir");
}

/* The whole module, on standard output unless a folder is given that is not `-`. */
static bool write_module(const Session *s, const char *emit) {
    char *text = NULL;
    size_t size = 0;
    bool file = s->o->outdir && strcmp(s->o->outdir, "-");
    FILE *to = file ? open_memstream(&text, &size) : stdout;
    if (!to) return fputs("tilec: error: out of memory\n", stderr), false;
    if (strcmp(emit, "ir") == 0) module_print(s->m, to);
    else deps_print(s->m, to);
    if (!file) return true;
    fclose(to);
    Text *t = ARENA_NEW(s->arena, Text);
    text_add_n(t, text, size);
    free(text);
    Outputs out = outputs_of(s, 1);
    vec_push(s->arena, &out.file, ((OutFile){t, module_path(s, emit)}));
    bool good = outputs_write(&out, s->o->outdir);
    outputs_free(&out);
    return good;
}

static bool write_outputs(const Session *s, int n) {
    const char *emit = s->o->emit ? s->o->emit : "src", *dir = s->o->outdir ? s->o->outdir : ".";
    if (strcmp(emit, "ir") == 0 || strcmp(emit, "deps") == 0) return write_module(s, emit);
    Outputs out = outputs_of(s, n);
    bool good = write_sources(&out, dir, emit);
    for (int i = 0; i < s->m->program.n && good; i++) {
        if (strcmp(emit, "obj") == 0) good = emit_object(&out, s->m->program.p[i], dir);
        if (strcmp(emit, "lib") == 0) good = emit_library(&out, s->m->program.p[i], dir);
    }
    return good;
}

static bool known_kind(const Options *o) {
    static const char *const kinds[] = {"src", "ir", "deps", "obj", "lib", "programs"};
    bool known = !o->emit;
    for (int i = 0; i < 6; i++) known = known || strcmp(o->emit, kinds[i]) == 0;
    if (known) return true;
    fprintf(stderr, "tilec: error: --emit does not know '%s'; it takes src, ir, deps, obj, lib or programs\n", o->emit);
    return false;
}

/* Without the runtime there is text, or an object, for the host alone. */
static bool stands_alone(const Options *o, const TargetList *list) {
    bool host = list->n == 1 && !list->p[0].gpu, lib = o->emit && strcmp(o->emit, "lib") == 0;
    if (!o->freestanding || (host && !lib)) return true;
    fprintf(stderr, "tilec: error: --freestanding is for %s\n", host ? "sources and objects, not for --emit=lib" : "the host alone");
    return false;
}

/* The program once for each target: every one has its own passes. */
static bool compile_all(Session *s, int n) {
    bool good = true, list = s->o->emit && strcmp(s->o->emit, "programs") == 0;
    for (int i = 0; i < n && good; i++) good = session_lower(&s[i]) && (list || session_passes(&s[i]));
    return good && (list ? list_programs(s) : write_outputs(s, n));
}

static bool was_said(const Diags *before, const Diag *d) {
    for (int i = 0; i < before->diag.n; i++) {
        const Diag *b = &before->diag.p[i];
        bool same = b->kind == d->kind && b->loc.file == d->loc.file && b->loc.begin == d->loc.begin;
        if (same && d->id && strcmp(b->id, d->id) == 0 && strcmp(b->message, d->message) == 0) return true;
    }
    return false;
}

/* Warnings of another target's passes. The front end said the same for both, of the same files. */
static void warnings_join(const Session *to, const Session *from) {
    const Diags *d = from->diags;
    bool fresh = true;
    for (int i = 0; i < d->diag.n; i++) {
        if (d->diag.p[i].kind != DIAG_NOTE) fresh = !was_said(to->diags, &d->diag.p[i]);
        if (fresh) vec_push(to->arena, &to->diags->diag, d->diag.p[i]);
    }
}

int command_compile(Options *o) {
    TargetList list;
    if (!known_kind(o) || !targets_read(o, &list) || !stands_alone(o, &list)) return EXIT_USAGE;
    Session *s = ARENA_ARRAY(o->arena, Session, list.n);
    for (int i = 0; i < list.n; i++)
        if (!session_open_for(&s[i], o, &list.p[i])) return EXIT_USAGE;
    int code = compile_all(s, list.n) ? EXIT_OK : EXIT_WRONG;
    for (int i = 1; i < list.n; i++)
        if (s[i].diags->errors == 0) warnings_join(&s[0], &s[i]);
    for (int i = 0; i < list.n; i++)
        if (i == 0 || s[i].diags->errors) code = session_close(&s[i], code);
    return code;
}
