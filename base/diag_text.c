/* diag_text.c: diagnostics in clang's look: the message, the source line, a caret and its underline.
   Columns of the underline count characters as shown: tabs widened, bytes that are no text shown as <XX>. */
#include "base/diag_print.h"
#include "base/text.h"

#include <string.h>

enum { TAB = 8, BEFORE = 80, SHOWN = 200 }; /* bytes of a long line shown before the caret, and in all */

static const char *const kind_name[] = {"error", "warning", "performance warning", "note"};
static const char *const kind_colour[] = {"\033[1;31m", "\033[1;35m", "\033[1;35m", "\033[1;36m"};

typedef struct {
    Text line, marks;
    int column;
} Excerpt;

static void excerpt_add(Excerpt *e, const char *s, size_t bytes, int width, char mark) {
    text_add_n(&e->line, s, bytes);
    for (int i = 0; i < width; i++) text_add_n(&e->marks, i && mark == '^' ? "~" : &mark, 1);
    e->column += width;
}

static char mark_at(Loc loc, size_t at) { return at == loc.begin ? '^' : at > loc.begin && at < loc.end ? '~' : ' '; }

/* Adds the character at `at` and returns its length in the source. */
static size_t excerpt_char(Excerpt *e, const SourceFile *f, Loc loc, size_t at, size_t end) {
    int len = utf8_length(f->text + at, end - at);
    char mark = mark_at(loc, at);
    if (len) {
        excerpt_add(e, f->text + at, (size_t)len, 1, mark);
    } else if (f->text[at] == '\t') {
        int width = TAB - e->column % TAB;
        excerpt_add(e, "        ", (size_t)width, width, mark);
    } else {
        char hex[8];
        snprintf(hex, sizeof hex, "<%02X>", (unsigned char)f->text[at]);
        excerpt_add(e, hex, 4, 4, mark);
    }
    return len ? (size_t)len : 1;
}

static size_t line_end(const SourceFile *f, int line) {
    size_t end = line < f->line.n ? f->line.p[line] - 1 : f->len;
    return end > f->line.p[line - 1] && f->text[end - 1] == '\r' ? end - 1 : end;
}

static void excerpt_line(Excerpt *e, const Diags *d, Loc loc) {
    const SourceFile *f = &d->file.p[loc.file - 1];
    int line = loc_line(d, loc);
    size_t begin = f->line.p[line - 1], end = line_end(f, line), at = begin;
    if (loc.begin - begin > SHOWN - BEFORE / 2) {
        excerpt_add(e, "...", 3, 3, ' ');
        at = loc.begin - BEFORE;
        while (at < loc.begin && (f->text[at] & 0xc0) == 0x80) at++;
    }
    size_t stop = end - at > SHOWN ? at + SHOWN : end;
    while (at < stop) at += excerpt_char(e, f, loc, at, end);
    if (loc.begin >= end) text_add(&e->marks, "^");
    if (stop < end) text_add(&e->line, "...");
    while (e->marks.n && e->marks.p[e->marks.n - 1] == ' ') e->marks.p[--e->marks.n] = 0;
}

static void print_excerpt(const Diags *d, FILE *out, Loc loc, bool colour) {
    Excerpt e = {0};
    excerpt_line(&e, d, loc);
    fprintf(out, "%s\n%s%s%s\n", text_str(&e.line), colour ? "\033[1;32m" : "", text_str(&e.marks),
            colour ? "\033[0m" : "");
    text_free(&e.line);
    text_free(&e.marks);
}

static void print_one(const Diags *d, FILE *out, const Diag *g, bool colour) {
    bool placed = g->loc.file > 0 && g->loc.file <= d->file.n;
    const char *bold = colour ? "\033[1m" : "", *off = colour ? "\033[0m" : "";
    if (placed)
        fprintf(out, "%s%s:%d:%d: ", bold, loc_path(d, g->loc), loc_line(d, g->loc), loc_column(d, g->loc));
    else if (g->kind != DIAG_NOTE)
        fprintf(out, "%stilec: ", bold);
    fprintf(out, "%s%s:%s%s %s", colour ? kind_colour[g->kind] : "", kind_name[g->kind], off, bold, g->message);
    if (g->id) fprintf(out, " [%s]", g->id);
    fprintf(out, "%s\n", off);
    if (placed) print_excerpt(d, out, g->loc, colour);
}

static void diags_print_text(const Diags *d, FILE *out, bool colour) {
    for (int i = 0; i < d->diag.n; i++) print_one(d, out, &d->diag.p[i], colour);
    if (diags_unshown(d)) fprintf(out, "note: %d more errors are not shown\n", diags_unshown(d));
}

void diags_print(const Diags *d, FILE *out, DiagStyle style, bool colour) {
    if (style == DIAG_TEXT) diags_print_text(d, out, colour);
    if (style == DIAG_JSON) diags_print_json(d, out);
    if (style == DIAG_SARIF) diags_print_sarif(d, out);
}
