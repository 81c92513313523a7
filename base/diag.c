/* diag.c: what is reported, and where it stands.
   Printing as text is diag_text.c, as JSON and SARIF diag_json.c. */
#include "base/diag.h"

#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { ERRORS_KEPT = 100, REPEATS_FOUND = 256 };

Diags *diags_new(Arena *a) {
    Diags *d = ARENA_NEW(a, Diags);
    d->arena = a;
    d->limit = ERRORS_KEPT;
    return d;
}

int diags_file(Diags *d, const char *path, const char *text, size_t len) {
    SourceFile file = {.path = arena_text(d->arena, path, strlen(path)), .text = text, .len = len};
    vec_push(d->arena, &file.line, 0);
    for (size_t i = 0; i < len && i < UINT32_MAX; i++)
        if (text[i] == '\n') vec_push(d->arena, &file.line, (uint32_t)i + 1);
    vec_push(d->arena, &d->file, file);
    return d->file.n;
}

int diags_unshown(const Diags *d) {
    int said = d->errors - d->repeated;
    return d->limit && said > d->limit ? said - d->limit : 0;
}

static bool switch_names(const char *word, DiagKind kind, const char *id) {
    if (strcmp(word, "all") == 0) return true;
    return strcmp(word, "performance") == 0 ? kind == DIAG_PERF : strcmp(word, id) == 0;
}

/* Errors cannot be switched off; with "error" the warnings that are left are errors. */
static DiagKind kind_switched(Diags *d, DiagKind kind, const char *id) {
    bool error = false;
    d->silent = false;
    for (int i = 0; i < d->switches.n && kind != DIAG_ERROR; i++) {
        const char *word = d->switches.p[i];
        bool off = strncmp(word, "no-", 3) == 0;
        if (strcmp(word, "error") == 0) error = true;
        else if (switch_names(word + (off ? 3 : 0), kind, id)) d->silent = off;
    }
    return error ? DIAG_ERROR : kind;
}

/* What one call of a kernel reports, the next would again: it is said once, and counted as an error, so that
   whoever asks "was there an error since?" is told. */
static bool is_repeated(const Diags *d, const Diag *fresh) {
    if (fresh->kind == DIAG_NOTE || !fresh->loc.file) return false;
    for (int i = d->diag.n - 1; i >= 0 && i >= d->diag.n - REPEATS_FOUND; i--) {
        const Diag *held = &d->diag.p[i];
        bool same =
            held->kind == fresh->kind && held->loc.file == fresh->loc.file && held->loc.begin == fresh->loc.begin;
        if (same && strcmp(held->id, fresh->id) == 0 && strcmp(held->message, fresh->message) == 0) return true;
    }
    return false;
}

static void diag_add(Diags *d, DiagKind kind, Loc loc, const char *id, const char *format, va_list ap) {
    if (kind != DIAG_NOTE) kind = kind_switched(d, kind, id);
    if (d->silent) return;
    Text t = {0};
    text_vprintf(&t, format, ap);
    Diag diag = {.kind = kind, .loc = loc, .id = id, .message = arena_text(d->arena, text_str(&t), t.n)};
    text_free(&t);
    d->silent = is_repeated(d, &diag);
    if (kind == DIAG_ERROR) d->errors++, d->repeated += d->silent;
    if (d->silent) return;
    if (kind == DIAG_WARNING || kind == DIAG_PERF) d->warnings++;
    if ((kind == DIAG_ERROR || kind == DIAG_NOTE) && diags_unshown(d)) return;
    vec_push(d->arena, &d->diag, diag);
}

#define ADD(kind, id)                                                                                                  \
    va_list ap;                                                                                                        \
    va_start(ap, format);                                                                                              \
    diag_add(d, kind, loc, id, format, ap);                                                                            \
    va_end(ap)

void diag_error(Diags *d, Loc loc, const char *id, const char *format, ...) { ADD(DIAG_ERROR, id); }
void diag_warning(Diags *d, Loc loc, const char *id, const char *format, ...) { ADD(DIAG_WARNING, id); }
void diag_perf(Diags *d, Loc loc, const char *id, const char *format, ...) { ADD(DIAG_PERF, id); }
void diag_note(Diags *d, Loc loc, const char *format, ...) { ADD(DIAG_NOTE, NULL); }

bool diag_refuse(Diags *d, Loc loc, const char *id, const char *text) {
    diag_error(d, loc, id, "%s", text);
    return false;
}

static bool in_word(char c) { return c == '_' || isalnum((unsigned char)c); }

/* Where the word stands first inside of the place; .file 0: nowhere. */
static Loc word_at(const SourceFile *f, Loc loc, const char *word) {
    size_t n = strlen(word), end = loc.end > loc.begin ? loc.end : loc.begin + n;
    for (size_t i = loc.begin; i + n <= end && i + n <= f->len; i++) {
        bool alone = (i == 0 || !in_word(f->text[i - 1])) && (i + n == f->len || !in_word(f->text[i + n]));
        if (alone && memcmp(f->text + i, word, n) == 0) return (Loc){loc.file, (uint32_t)i, (uint32_t)(i + n)};
    }
    return (Loc){0};
}

void diag_suggest(Diags *d, Loc loc, const char *wrong, const char *near) {
    int before = d->diag.n;
    diag_note(d, loc, "did you mean '%s'?", near);
    if (d->diag.n == before || loc.file < 1 || loc.file > d->file.n) return;
    Diag *note = &d->diag.p[before];
    note->fix_at = word_at(&d->file.p[loc.file - 1], loc, wrong);
    if (note->fix_at.file) note->fix = arena_text(d->arena, near, strlen(near));
}

static const SourceFile *file_of(const Diags *d, Loc loc) {
    return loc.file > 0 && loc.file <= d->file.n ? &d->file.p[loc.file - 1] : NULL;
}

int loc_line(const Diags *d, Loc loc) {
    const SourceFile *f = file_of(d, loc);
    if (!f) return 0;
    int low = 0, high = f->line.n; /* line[low] <= begin < line[high] */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (f->line.p[middle] <= loc.begin)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

int loc_column(const Diags *d, Loc loc) {
    const SourceFile *f = file_of(d, loc);
    return f ? (int)(loc.begin - f->line.p[loc_line(d, loc) - 1]) + 1 : 0;
}

const char *loc_path(const Diags *d, Loc loc) {
    const SourceFile *f = file_of(d, loc);
    return f ? f->path : "tilec";
}
