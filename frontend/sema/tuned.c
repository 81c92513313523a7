/* tuned.c: reads and prints files of measured sizes. Takes: a file of Diags. Gives: its entries, or the first error. */
#include "frontend/sema/tuned.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Diags *diags;
    const char *text;
    uint32_t at, len;
    int file;
    Loc loc;          /* of the word at hand */
    const char *word; /* a name, a number, a sign; NULL at the end */
} TunedText;

static bool is_word(char c) { return isalnum((unsigned char)c) || (c && strchr("_.:+-", c)); }

static void blank_skip(TunedText *t) {
    while (t->at < t->len) {
        if (isspace((unsigned char)t->text[t->at]))
            t->at++;
        else if (t->text[t->at] == '/' && t->text[t->at + 1] == '/')
            while (t->at < t->len && t->text[t->at] != '\n') t->at++;
        else
            return;
    }
}

static void next(TunedText *t) {
    blank_skip(t);
    uint32_t begin = t->at;
    while (t->at < t->len && is_word(t->text[t->at])) t->at++;
    if (t->at == begin && t->at < t->len) t->at++;
    t->loc = (Loc){t->file, begin, t->at};
    t->word = t->at > begin ? arena_text(t->arena, t->text + begin, t->at - begin) : NULL;
}

static bool at(const TunedText *t, const char *word) { return t->word && strcmp(t->word, word) == 0; }

static bool expected(TunedText *t, const char *what) {
    diag_error(t->diags, t->loc, "syntax", "expected %s%s", what, t->word ? "" : " before the end of the file");
    return false;
}

static bool take(TunedText *t, const char *word, const char *what) {
    if (!at(t, word)) return expected(t, what);
    next(t);
    return true;
}

static bool take_word(TunedText *t, const char **word, const char *what) {
    if (!t->word || !is_word(*t->word)) return expected(t, what);
    *word = t->word;
    next(t);
    return true;
}

static bool pair_read(TunedText *t, TunedPairs *to) {
    TunedPair p = {.loc = t->loc};
    if (!take_word(t, &p.name, "a name") || !take(t, "=", "'='")) return false;
    p.at = t->loc;
    if (!take_word(t, &p.value, "a value")) return false;
    if (tuned_get(to, p.name)) {
        diag_error(t->diags, p.loc, "bad-tuning", "'%s' stands here twice", p.name);
        return false;
    }
    vec_push(t->arena, to, p);
    return true;
}

static bool keys_read(TunedText *t, TunedPairs *to) {
    do {
        next(t);
        if (!pair_read(t, to)) return false;
    } while (at(t, ","));
    return true;
}

/* kernel matmul on host with m = 512, T = f32 { i = 64; j = 128; } */
static bool entry_read(TunedText *t, TunedEntry *e) {
    e->program = at(t, "program");
    if (!e->program && !at(t, "kernel")) return expected(t, "'kernel' or 'program'");
    next(t);
    e->loc = t->loc;
    if (!take_word(t, &e->name, "a name") || !take(t, "on", "'on'") || !take_word(t, &e->target, "a target"))
        return false;
    if (at(t, "with") && !keys_read(t, &e->key)) return false;
    if (!take(t, "{", e->key.n ? "',' or '{'" : "'with' or '{'")) return false;
    while (t->word && !at(t, "}"))
        if (!pair_read(t, &e->set) || !take(t, ";", "';'")) return false;
    return take(t, "}", "'}'");
}

bool tuned_parse(Arena *arena, Diags *diags, int file, Tuned *to) {
    const SourceFile *f = &diags->file.p[file - 1];
    TunedText t = {.arena = arena, .diags = diags, .text = f->text, .len = (uint32_t)f->len, .file = file};
    if (f->len > TUNED_BYTES) {
        diag_error(diags, (Loc){file, 0, 0}, "source-size", "file of sizes larger than 1 MiB");
        return false;
    }
    for (next(&t); t.word;) {
        TunedEntry e = {0};
        if (!entry_read(&t, &e)) return false;
        vec_push(arena, to, e);
    }
    return true;
}

/* ---- text ---- */

void tuned_print(Text *out, const Tuned *tuned) {
    for (int i = 0; i < tuned->n; i++) {
        const TunedEntry *e = &tuned->p[i];
        text_printf(out, "%s%s %s on %s", i ? "\n" : "", e->program ? "program" : "kernel", e->name, e->target);
        for (int k = 0; k < e->key.n; k++)
            text_printf(out, "%s%s = %s", k ? ", " : " with ", e->key.p[k].name, e->key.p[k].value);
        text_add(out, " {\n");
        for (int k = 0; k < e->set.n; k++) text_printf(out, "    %s = %s;\n", e->set.p[k].name, e->set.p[k].value);
        text_add(out, "}\n");
    }
}

/* ---- entries ---- */

const char *tuned_get(const TunedPairs *list, const char *name) {
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->p[i].name, name) == 0) return list->p[i].value;
    return NULL;
}

bool tuned_is_fact(const char *name) {
    static const char *const facts[] = {"source", "measured_us", "written_us"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i], name) == 0) return true;
    return false;
}

bool tuned_same_key(const TunedEntry *a, const TunedEntry *b) {
    if (a->program != b->program || strcmp(a->name, b->name) || strcmp(a->target, b->target)) return false;
    for (int i = 0; i < a->key.n; i++) {
        const char *other = tuned_get(&b->key, a->key.p[i].name);
        if (!other || strcmp(other, a->key.p[i].value)) return false;
    }
    return a->key.n == b->key.n;
}

bool tuned_number(const TunedPair *p, int64_t most, int64_t *n) {
    size_t digits = strspn(p->value, "0123456789");
    if (digits == 0 || digits > 18 || p->value[digits]) return false;
    *n = strtoll(p->value, NULL, 10);
    return *n >= 1 && *n <= most;
}
