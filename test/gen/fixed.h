/* fixed.h: the generator draws sizes of tiles without asking what depends on them; the compiler names those that have to be
   declared `fixed`, and they are. All others may be replaced, so that tuning has something to vary. */
#ifndef TILEC_TEST_GEN_FIXED_H
#define TILEC_TEST_GEN_FIXED_H

#include "frontend/sema/lower.h"
#include "test/gen/called.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXED_TURNS = 8 };

/* NULL after errors, which are in the diagnostics. */
static Module *generated_lower(Arena *arena, const Text *text, Diags *diags) {
    char folder[] = "/tmp/generated.XXXXXX";
    Text tree = {0};
    LowerOptions lower = {0};
    if (!mkdtemp(folder)) return NULL;
    const char *path = arena_format(arena, "%s/program.tile", folder), *beside = arena_format(arena, "%s/choice.tree", folder);
    text_add(&tree, choice_tree);
    bool written = !text_write(text, path) && !text_write(&tree, beside);
    Module *m = written ? lower_file(arena, names_new(arena), diags, path, &lower, NULL) : NULL;
    unlink(path), unlink(beside), rmdir(folder);
    text_free(&tree);
    return m;
}

/* "i: 64 of n" becomes "i: fixed 64 of n", as the note has it. */
static void range_replace(Text *to, const Diag *note, const char *fixed) {
    Text old = *to;
    const char *end = strstr(old.p + note->loc.begin, strstr(fixed, " of ") ? " of " : " in ");
    const char *rest = strstr(fixed, " of ") ? strstr(fixed, " of ") : strstr(fixed, " in ");
    *to = (Text){0};
    text_add_n(to, old.p, note->loc.begin);
    text_add_n(to, fixed, (size_t)(rest - fixed));
    text_add(to, end);
    text_free(&old);
}

/* The last range first: the places of the others stay. */
static bool ranges_fix(const Diags *d, Text *to) {
    static const char said[] = "if this size is meant: ";
    bool changed = false;
    for (uint32_t before = UINT32_MAX, at;; before = at, changed = true) {
        const Diag *last = NULL;
        for (int i = 0; i < d->diag.n; i++) {
            const Diag *n = &d->diag.p[i];
            bool names = n->kind == DIAG_NOTE && n->loc.file == 1 && strncmp(n->message, said, sizeof said - 1) == 0;
            if (names && n->loc.begin < before && (!last || n->loc.begin > last->loc.begin)) last = n;
        }
        if (!last) return changed;
        at = last->loc.begin;
        range_replace(to, last, last->message + sizeof said - 1);
    }
}

static void sizes_declare(Text *to) {
    bool changed = true;
    for (int turn = 0; changed && turn < FIXED_TURNS; turn++) {
        Arena *arena = arena_new();
        Diags *diags = diags_new(arena);
        diags->limit = 0;
        generated_lower(arena, to, diags);
        changed = ranges_fix(diags, to);
        arena_free(arena);
    }
}

#endif
