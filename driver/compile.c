/* compile.c: tilec compile: C, header and manifest for every program; or IR, dependences, objects, libraries. */
#include "driver/emit.h"
#include "ir/relation_deps.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Spaces and dollars as Make wants them. */
static void add_make_name(Text *t, const char *name) {
    for (; *name; name++) {
        if (*name == ' ' || *name == '#') text_add(t, "\\");
        text_add_n(t, *name == '$' ? "$$" : name, *name == '$' ? 2 : 1);
    }
}

static bool write_depfile(const Session *s, const Program *p, const char *dir) {
    const char *path = s->o->depfile ? s->o->depfile : arena_format(s->arena, "%s/%s.d", dir, p->name);
    Text t = {0};
    add_make_name(&t, arena_format(s->arena, "%s/%s.c", dir, p->name));
    text_add(&t, ":");
    for (int i = 0; i < s->files.n; i++) {
        text_add(&t, " \\\n  ");
        add_make_name(&t, s->files.p[i]);
    }
    text_add(&t, "\n");
    const char *failed = text_write(&t, path);
    text_free(&t);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed);
    return !failed;
}

static bool write_program(const Session *s, const Program *p, const char *emit) {
    const char *dir = s->o->outdir ? s->o->outdir : ".";
    if (!emit_source(s, p, dir)) return false;
    if (s->o->depfiles && !write_depfile(s, p, dir)) return false;
    if (strcmp(emit, "obj") == 0) return emit_object(s, p, dir);
    return strcmp(emit, "lib") ? true : emit_library(s, p, dir);
}

static bool write_outputs(Session *s) {
    const char *emit = s->o->emit ? s->o->emit : "src";
    if (strcmp(emit, "ir") == 0) return module_print(s->m, stdout), true;
    if (strcmp(emit, "deps") == 0) return deps_print(s->m, stdout), true;
    for (int i = 0; i < s->m->program.n; i++)
        if (!write_program(s, s->m->program.p[i], emit)) return false;
    return true;
}

int command_compile(Options *o) {
    static const char *const kinds[] = {"src", "ir", "deps", "obj", "lib"};
    bool known = !o->emit;
    for (int i = 0; i < 5; i++) known = known || strcmp(o->emit, kinds[i]) == 0;
    if (!known) return fprintf(stderr, "tilec: error: --emit does not know '%s'\n", o->emit), EXIT_USAGE;
    Session s;
    if (!session_open(&s, o)) return EXIT_USAGE;
    bool good = session_lower(&s);
    good = good && session_passes(&s) && write_outputs(&s);
    return session_close(&s, good ? EXIT_OK : EXIT_WRONG);
}
