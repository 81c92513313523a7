/* fmt.c: tilec fmt: the canonical layout of a source file, printed, compared or written in its place.
   Takes a file without syntax errors; imports and meaning are not looked at. */
#include "driver/session.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The file and its canonical text; false after errors. */
static bool file_format(Session *s, Text *source, Text *out) {
    const char *path = s->o->file, *failed = text_read(source, path, SYNTAX_BYTES);
    if (failed) {
        diag_error(s->diags, (Loc){0}, "cannot-read", "cannot read %s: %s", path, failed);
        return false;
    }
    int file = diags_file(s->diags, path, text_str(source), source->n);
    const Unit *unit = parse_source(s->arena, s->names, s->diags, file);
    if (s->diags->errors) return false;
    unit_print(out, unit, s->diags);
    return true;
}

static int file_compare(Session *s, const Text *source, const Text *out) {
    bool same = source->n == out->n && (out->n == 0 || memcmp(source->p, out->p, out->n) == 0);
    if (!same) fprintf(stderr, "tilec: %s is not in canonical layout; see tilec fmt --write\n", s->o->file);
    return same ? EXIT_OK : EXIT_DIFFERS;
}

static int file_write(Session *s, const Text *out) {
    const char *failed = text_write(out, s->o->file);
    if (failed) diag_error(s->diags, (Loc){0}, "cannot-write", "cannot write %s: %s", s->o->file, failed);
    return failed ? EXIT_WRONG : EXIT_OK;
}

int command_fmt(Options *o) {
    Session s;
    Text source = {0}, out = {0};
    if (!session_open(&s, o)) return EXIT_USAGE;
    int code = EXIT_WRONG;
    if (file_format(&s, &source, &out))
        code = o->check ? file_compare(&s, &source, &out) : o->write ? file_write(&s, &out) : (fputs(text_str(&out), stdout), EXIT_OK);
    code = session_close(&s, code);
    text_free(&source);
    text_free(&out);
    return code;
}
