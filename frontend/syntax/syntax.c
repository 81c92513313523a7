/* syntax.c: the words of a syntax error.
   Takes: what was found and what was possible there. Gives: one message, with a note where a bracket is open. */
#include "frontend/syntax/parse.h"

#include <ctype.h>
#include <string.h>

/* "';'" and one more wish at most, and the next thing is no continuation: the statement is just not ended. */
static bool is_unended(const Parse *p, const SyntaxError *e) {
    bool wants = false;
    for (int i = 0; i < e->nwanted && i < SYNTAX_WANTED; i++) wants |= strcmp(e->wanted[i], "';'") == 0;
    if (!wants || p->before.end == 0) return false;
    if (e->found_ends) return true;
    for (uint32_t i = p->before.end; i < e->loc.begin && i < p->source->len; i++)
        if (p->source->text[i] == '\n') return true;
    return false;
}

static void wanted_text(Text *t, const SyntaxError *e) {
    if (e->nwanted == 0 || e->nwanted > SYNTAX_WANTED) {
        text_printf(t, "unexpected %s", e->found);
        return;
    }
    text_add(t, "expected ");
    for (int i = 0; i < e->nwanted; i++)
        text_printf(t, "%s%s", i == 0 ? "" : i + 1 < e->nwanted ? ", " : " or ", e->wanted[i]);
    text_printf(t, ", found %s", e->found);
}

/* Keywords, numbers and names are told as they stand in the source. */
static void found_text(Text *t, const Parse *p, const SyntaxError *e) {
    size_t len = e->loc.end - e->loc.begin;
    bool told = e->found[0] == 'a' && e->found[1] == ' ' && len > 0 && len <= 40;
    if (told)
        text_printf(t, "%s'%.*s'", isdigit((unsigned char)p->source->text[e->loc.begin]) ? "number " : "", (int)len,
                    p->source->text + e->loc.begin);
}

static void wish_report(Parse *p, const SyntaxError *e) {
    Text found = {0}, message = {0};
    SyntaxError told = *e;
    found_text(&found, p, e);
    if (found.n) told.found = text_str(&found);
    wanted_text(&message, &told);
    diag_error(p->diags, e->loc, "syntax", "%s", text_str(&message));
    text_free(&found);
    text_free(&message);
}

static bool wants_name(const SyntaxError *e) {
    static const char *const word[] = {"a name", "an expression", "a statement"};
    for (int i = 0; i < 3 && e->nwanted > 0; i++)
        if (strcmp(e->wanted[0], word[i]) == 0) return true;
    return false;
}

static bool word_is(const Parse *p, Loc at, const char *word) {
    size_t n = strlen(word);
    return at.end - at.begin == n && memcmp(p->source->text + at.begin, word, n) == 0;
}

static bool is_word(const Parse *p, Loc at) {
    return at.end > at.begin && isalpha((unsigned char)p->source->text[at.begin]);
}

/* What other languages write here. */
static const char *familiar_fix(const Parse *p, const SyntaxError *e) {
    if (word_is(p, p->before, "return")) return "there is no return: assign to the results by their names";
    if (p->nopen && p->open[p->nopen - 1].close == ']' && strcmp(e->found, "':'") == 0)
        return "there are no slices: a whole dimension is a range, each c: * of d, and its subscript is c";
    if (word_is(p, p->before, "*") && strcmp(e->found, "'*'") == 0) return "there is no operator for powers: pow(x, y)";
    if (word_is(p, p->before, "fixed") && word_is(p, e->loc, "fixed"))
        return "behind 'fixed' stands a number or a name, and there 'fixed' itself is no name";
    if (is_word(p, p->before) && is_word(p, e->loc) && e->nwanted && strcmp(e->wanted[0], "'='") == 0)
        return "a name is declared with its type behind it: x: f32 = ..";
    return NULL;
}

/* ---- misspelt keywords ---- */

enum { WORD_BYTES = 32, KEYWORDS = 8 };

typedef struct {
    const char *behind; /* kinds of tokens behind which the words stand */
    const char *word[KEYWORDS];
} Keywords;

static const Keywords keyword_lists[] = {
    {"{;", {"each", "for", "let", "assert", "if", "repeat"}},
    {"}", {"each", "for", "let", "assert", "if", "repeat", "else"}},
    {"(,", {"const", "unique", "ascending", "state", "inout"}},
    {":", {"fixed"}},
    {"=", {"choose"}},
};
static const Keywords declarations = {"", {"dim", "mesh", "kernel", "program", "record", "format", "import"}};

static const char *keyword_near(const Parse *p, Loc at, const Keywords *list) {
    char word[WORD_BYTES] = {0};
    int n = 0;
    if (!is_word(p, at) || at.end - at.begin >= WORD_BYTES) return NULL;
    memcpy(word, p->source->text + at.begin, at.end - at.begin);
    while (n < KEYWORDS && list->word[n]) n++;
    return spelling_nearest(word, list->word, n);
}

/* The keywords that were possible where the error is. */
static Keywords keywords_wanted(Parse *p, const SyntaxError *e) {
    Keywords list = {"", {NULL}};
    for (int i = 0, n = 0; i < e->nwanted && i < SYNTAX_WANTED; i++) {
        const char *quoted = e->wanted[i];
        if (strcmp(quoted, "a declaration") == 0) return declarations;
        if (isalpha((unsigned char)quoted[1]) && quoted[0] == '\'')
            list.word[n++] = arena_text(p->arena, quoted + 1, strlen(quoted) - 2);
    }
    return list;
}

/* A misspelt keyword reads as a name: the error is there, or at what follows. */
static const char *keyword_meant(Parse *p, const SyntaxError *e, Loc *at) {
    int behind = p->kind[2];
    Keywords wanted = keywords_wanted(p, e);
    const char *near = keyword_near(p, *at = e->loc, &wanted);
    *at = near ? e->loc : p->before;
    if (near || behind <= 0 || behind > 127) return near;
    for (size_t i = 0; i < sizeof keyword_lists / sizeof *keyword_lists && !near; i++)
        if (strchr(keyword_lists[i].behind, behind)) near = keyword_near(p, *at, &keyword_lists[i]);
    return near;
}

/* ---- the report ---- */

static void note_cause(Parse *p, const SyntaxError *e) {
    Loc at;
    const char *near = keyword_meant(p, e, &at), *fix = familiar_fix(p, e);
    if (near)
        diag_suggest(p->diags, at, arena_text(p->arena, p->source->text + at.begin, at.end - at.begin), near);
    else if (fix)
        diag_note(p->diags, (Loc){0}, "%s", fix);
}

void syntax_report(Parse *p, const SyntaxError *e) {
    if (e->loc.begin < p->quiet_to) return;
    if (is_unended(p, e)) {
        Loc end = {p->before.file, p->before.end, p->before.end};
        diag_error(p->diags, end, "syntax", "expected ';' after this %s",
                   p->nopen || e->found[1] == '}' ? "statement" : "declaration");
        return;
    }
    wish_report(p, e);
    if (wants_name(e) && e->found[0] == '\'' && isalpha((unsigned char)e->found[1]))
        diag_note(p->diags, (Loc){0}, "%s is a keyword", e->found);
    note_cause(p, e);
    if (e->found_ends && p->mismatch.file)
        diag_note(p->diags, p->mismatch, "to match this '%c'", p->source->text[p->mismatch.begin]);
}
